// What settings say together: agents and their commands, timeouts, cost limits.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onlyWrong, right, wrong, yml } from './reading.ts'

const input = (inputs: Record<string, string>) => right({ inputs })

test('agent-command without agent means a custom agent', () => {
  const { settings, notes } = input({ 'agent-command': './agent.sh' })
  assert.equal(settings.agent, 'custom')
  assert.deepEqual(notes, ['input agent-command: the agent is custom, because this command is given'])
})

test('agent-command of a higher level than agent means a custom agent', () => {
  const flags = { agentCommand: './fake.sh' }
  assert.equal(right({ surface: 'cli', flags, ...yml('agent: codex') }).settings.agent, 'custom')
  const lower = right({ surface: 'cli', flags: { agent: 'codex' }, ...yml('agentCommand: ./x') })
  assert.equal(lower.settings.agent, 'codex')
  assert.match(lower.notes.join(), /ignored, because only agent: custom uses a command/)
})

test('an agent-command of the same or lower rank than a named agent is not used, with a note', () => {
  for (const sources of [
    { inputs: { agent: 'codex', 'agent-command': './x' } },
    { inputs: { 'agent-command': './x' }, flags: { agent: 'codex' } },
  ]) {
    const { settings, notes } = right(sources)
    assert.equal(settings.agent, 'codex')
    assert.deepEqual(notes, [
      'input agent-command: ignored, because only agent: custom uses a command, and the agent is codex',
    ])
  }
})

test('agent-version applies to the agent of its own level only', () => {
  const file = yml('agent: claude\nagentVersion: 2.1.0')
  const other = right({ surface: 'cli', flags: { agent: 'codex' }, ...file })
  assert.equal(other.settings.agentVersion, null)
  assert.deepEqual(other.notes, [
    'ralph.config.yml: agentVersion: ignored, because it is a version of claude and the agent is codex',
  ])
  const alone = right({ surface: 'cli', flags: { agent: 'codex' }, ...yml('agentVersion: 2.1.0') })
  assert.equal(alone.settings.agentVersion, '2.1.0', 'beside no agent it is of whichever is chosen')
  for (const flags of [{ agent: 'claude' }, { agent: 'codex', agentVersion: '2.1.0' }, {}])
    assert.equal(right({ surface: 'cli', flags, ...file }).settings.agentVersion, '2.1.0')
})

test('agent: custom needs agent-command', () => {
  const mistake = onlyWrong({ inputs: { agent: 'custom' } })
  assert.equal(mistake.path, 'input agent')
  assert.match(mistake.fix, /agent-command/)
  assert.equal(onlyWrong({ inputs: { 'fallback-agent': 'custom' } }).path, 'input fallback-agent')
  const { settings, notes } = input({ 'fallback-agent': 'custom', 'agent-command': './x' })
  assert.deepEqual([settings.agent, settings.fallbackAgent, notes], ['claude', 'custom', []])
})

test('fallback-agent equal to agent is a mistake', () => {
  assert.equal(onlyWrong({ inputs: { agent: 'amp', 'fallback-agent': 'amp' } }).path, 'input fallback-agent')
  assert.equal(onlyWrong({ inputs: { 'fallback-agent': 'claude' } }).path, 'input fallback-agent')
})

test('iteration-timeout must fit into job-deadline', () => {
  const mistake = onlyWrong({ inputs: { 'iteration-timeout': '2h', 'job-deadline': '90m' } })
  assert.equal(mistake.path, 'input iteration-timeout')
  assert.equal(mistake.found, '2h is longer than the job-deadline, 90m.')
  assert.equal(onlyWrong(yml('iterationTimeout: 6h')).path, 'ralph.config.yml: iterationTimeout')
  assert.equal(input({ 'iteration-timeout': '5h' }).settings.iterationTimeoutMs, 18_000_000)
  // Nobody asked for the default, so it gives way.
  assert.equal(input({ 'job-deadline': '20m' }).settings.iterationTimeoutMs, 1_200_000)
})

test('max-cost-usd needs an agent that reports its cost, or prices', () => {
  for (const agent of ['claude', 'opencode']) input({ agent, 'max-cost-usd': '5' })
  input({ 'agent-command': './x', 'max-cost-usd': '5' })
  for (const agent of ['codex', 'amp', 'gemini', 'copilot']) {
    const mistake = onlyWrong({ inputs: { agent, 'max-cost-usd': '5' } })
    assert.equal(mistake.path, 'input max-cost-usd')
    assert.match(mistake.found, new RegExp(agent))
    assert.match(mistake.fix, /prices/)
  }
  assert.match(onlyWrong({ inputs: { 'fallback-agent': 'codex', 'max-cost-usd': '5' } }).found, /codex/)
  input({ agent: 'codex' })
  const cursor = { inputs: { agent: 'cursor', 'max-cost-usd': '5' } }
  assert.match(onlyWrong(cursor).found, /neither cost nor tokens/)
  assert.match(
    onlyWrong({ ...cursor, ...yml('prices: { x: { input: 1, output: 2 } }') }).fix,
    /max-agent-time/,
  )
})

test('with prices, a named model needs a price', () => {
  const prices = yml('prices: { gpt: { input: 1, output: 2 } }')
  const inputs = { agent: 'codex', 'max-cost-usd': '5' }
  assert.deepEqual(right({ inputs: { ...inputs, model: 'gpt' }, ...prices }).notes, [])
  assert.match(right({ inputs, ...prices }).notes.join(), /name the model/)
  assert.equal(onlyWrong({ inputs: { ...inputs, model: 'gtp' }, ...prices }).path, 'input model')
  assert.equal(
    wrong({ inputs: { ...inputs, model: '{ plan: x, verify: y, default: gpt }' }, ...prices }).length,
    2,
  )
  // The model is the first agent's; the fallback's own is not known here.
  right({ inputs: { 'fallback-agent': 'codex', 'max-cost-usd': '5', model: 'sonnet' }, ...prices })
})

test('settings with a mistake are not compared with others', () => {
  assert.equal(wrong({ inputs: { 'iteration-timeout': '9h', 'job-deadline': 'x' } }).length, 1)
  assert.equal(wrong({ inputs: { agent: 'x', 'fallback-agent': 'claude' } }).length, 1)
  assert.equal(wrong({ flags: { agent: true, fallbackAgent: 'claude' } }).length, 1)
  assert.equal(wrong({ inputs: { agent: 'codex', 'max-cost-usd': '5' }, ...yml('prices: 3') }).length, 1)
})

test('mistakes of several settings are reported together: a pattern as a page, steps, the pipeline, a count', () => {
  const text = `notify: { slack: foo, every: 0 }
pipeline: foo
browser: { viewports: [1280], urls: ['/users/:id'], tag: ui }
steps: [{ name: a, type: agnt }, { name: A, type: command }]`
  const told = wrong(yml(text)).map(({ path, found, fix }) => [
    path.replace('ralph.config.yml: ', ''),
    found,
    fix,
  ])
  for (const one of [
    ['notify.every', '0', 'write a number such as 5'],
    ['browser.viewports[0]', '1280', 'write it as 1280x800'],
    ['browser.urls[0]', '"/users/:id"', 'write a path such as /users/1'],
    ['steps[0].type', '"agnt"', 'did you mean agent?'],
    ['steps[1].name', 'step 1 has the same name.', 'rename one of the two'],
    ['steps[1].config.command', 'nothing', 'add `config: { command: ... }`'],
    ['pipeline', 'there is no pipeline "foo".', 'define it under `steps`, or commit .ralph/configs/foo.json'],
  ])
    assert.ok(
      told.some((other) => other.join() === one.join()),
      `${one.join()}\n${told.join('\n')}`,
    )
  const unknown = wrong(yml(text)).find(({ path }) => path.endsWith('browser.tag'))
  assert.equal(unknown?.found, '"tag" is not a key that Ralph knows here.')
  assert.doesNotMatch(unknown.fix, /screenshotDir/)
})

test('auto-merge cannot merge a stack of pull requests', () => {
  const inputs = { 'pull-request': 'stacked', 'auto-merge': 'true' }
  assert.deepEqual(onlyWrong({ inputs }), {
    path: 'input auto-merge',
    found: 'true with pull-request: stacked',
    expected: 'false',
    fix: 'leave auto-merge out: people merge a stack from the bottom',
  })
  right({ inputs: { ...inputs, 'auto-merge': 'false' } })
})
