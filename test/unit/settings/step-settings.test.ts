// The steps of an iteration: both spellings, named lists, the files of the Ralph with steps, and what is wrong with one.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: `${NAME}` is what the settings replace.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { formatPipeline } from '../../../src/engine/model/pipeline-step.ts'
import { resolveSettings } from '../../../src/settings/read-settings.ts'
import { json, onlyWrong, paths, right, wrong, yml } from './reading.ts'

const work = { name: 'work', type: 'agent' }
const PLAIN = { timeoutMs: null, maxRetries: 0, retryDelayMs: 0, continueOnError: false, circuit: null }
/** The names of what runs before and behind the commit. */
const ran = (steps: unknown) => {
  const { steps: pipeline } = right(json({ steps })).settings
  return [
    pipeline?.before.map(({ name }) => name).join(' '),
    pipeline?.after.map(({ name }) => name).join(' '),
  ]
}

/** With files of the trusted side; gives what was looked for, too. */
async function resolved(files: Record<string, unknown>, inputs: Record<string, string> = {}) {
  const looked: string[] = []
  const read = await resolveSettings({ surface: 'action', env: {}, inputs }, async (path) => {
    looked.push(path)
    const file = files[path]
    return file === undefined ? null : typeof file === 'string' ? file : JSON.stringify(file)
  })
  return { ...read, looked }
}

describe('reading steps', () => {
  test('takes both spellings, durations and defaults', () => {
    const step = {
      name: 'run-claude',
      type: 'agent',
      enabled: true,
      timeout: '20m',
      max_retries: 1,
      retryDelay: '30s',
      continue_on_error: false,
      circuit_breaker: { threshold: 3, reset_after: '60s' },
      config: { prompt_file: '.ralph/prompts/${P}', model: 'sonnet', timeout: '15m' },
    }
    const { settings } = right({
      env: { P: 'LOOP.md' },
      ...json({ steps: [step, { name: 'c', type: 'noop' }] }),
    })
    assert.deepEqual(settings.steps, {
      name: 'default',
      setsUp: true,
      before: [
        {
          name: 'run-claude',
          type: 'agent',
          timeoutMs: 900_000,
          maxRetries: 1,
          retryDelayMs: 30_000,
          continueOnError: false,
          circuit: { threshold: 3, resetAfterMs: 60_000 },
          agent: null,
          model: 'sonnet',
          args: [],
          prompt: { kind: 'file', path: '.ralph/prompts/LOOP.md' },
        },
        { ...PLAIN, name: 'c', type: 'noop' },
      ],
      after: [],
    })
  })

  test('takes none or an empty list as the session alone', () => {
    for (const steps of [[], {}, { default: [] }]) assert.equal(right(json({ steps })).settings.steps, null)
    assert.equal(right({}).settings.steps, null)
  })

  test('divides them at git-commit, which is last by default', () => {
    const late = { name: 'tell', type: 'command', config: { command: './tell.sh' } }
    assert.deepEqual(ran([work, { name: 'commit', type: 'git-commit' }, late]), ['work', 'tell'])
    assert.deepEqual(ran([work, late]), ['work tell', ''])
    const { notes, settings } = right(
      json({ steps: [work, { name: 'commit', type: 'git-commit', enabled: false }, late] }),
    )
    assert.match(notes.join(), /steps\[1\]: this step cannot be switched off/)
    assert.equal(settings.steps?.after[0]?.name, 'tell')
  })

  test('leaves out a disabled one, and takes a set-up step as the session that runs once', () => {
    const setUp = {
      name: 'setup',
      type: 'agent',
      config: { marker_file: '.ralph/.setup_done', prompt_file: 'x.md' },
    }
    assert.deepEqual(ran([setUp, { ...work, name: 'b', enabled: false }, work]), ['work', ''])
    assert.equal(right(json({ steps: [setUp, work] })).settings.steps?.setsUp, true)
    assert.equal(right(json({ steps: [{ ...setUp, enabled: false }, work] })).settings.steps?.setsUp, false)
  })

  test('prints them in a line', () => {
    const { steps } = right(
      yml(
        'steps: [{ name: a, type: agent }, { name: b, type: agent, config: { agent: codex, model: gpt } }, { name: c, type: git-commit }, { name: d, type: noop }]',
      ),
    ).settings
    assert.ok(steps !== null)
    assert.equal(
      formatPipeline(steps, 'claude'),
      'default: a (claude) > b (codex, gpt) > git-commit (guard, gates, commit) > d (noop)',
    )
  })
})

describe('mistakes of steps', () => {
  const cases: [string, unknown, string, RegExp][] = [
    ['no agent', [{ name: 'a', type: 'noop' }], 'steps', /no enabled step has type: agent/],
    ['an agent that is disabled', [{ ...work, enabled: false }], 'steps', /no enabled step has type: agent/],
    ['an unknown type', [{ name: 'a', type: 'agnet' }], 'steps[0].type', /did you mean agent\?/],
    ['an unknown key', [{ ...work, time_out: '3m' }], 'steps[0].time_out', /did you mean timeout\?/],
    [
      'an unknown key of its type',
      [{ ...work, config: { promt: 'x' } }],
      'steps[0].config.promt',
      /did you mean prompt\?/,
    ],
    [
      'a key of another type',
      [{ ...work, config: { command: 'x' } }],
      'steps[0].config.command',
      /a step of type agent has no key command/,
    ],
    [
      'an unknown agent',
      [{ ...work, config: { agent: 'claud' } }],
      'steps[0].config.agent',
      /did you mean claude\?/,
    ],
    ['retries without end', [{ ...work, max_retries: 1000 }], 'steps[0].max_retries', /from 0 to 10/],
    [
      'a command without one',
      [work, { name: 'c', type: 'command' }],
      'steps[1].config.command',
      /a command line/,
    ],
    ['two of one name', [work, { ...work, name: 'Work' }], 'steps[1].name', /step 1 has the same name/],
    [
      'a prompt that an attempt could change',
      [{ ...work, config: { prompt_file: 'docs/p.md' } }],
      'steps[0].config.promptFile',
      /\.ralph\/prompts\//,
    ],
    [
      'a prompt beside a file',
      [{ ...work, config: { prompt: 'a', prompt_file: '.ralph/prompts/a.md' } }],
      'steps[0].config.prompt',
      /one of the two/,
    ],
    [
      'an exit code that is none',
      [work, { name: 'c', type: 'command', config: { command: 'a', endRunOn: [256] } }],
      'steps[1].config.endRunOn[0]',
      /0 to 255/,
    ],
    [
      'two commits',
      [work, { name: 'a', type: 'git-commit' }, { name: 'b', type: 'git-commit' }],
      'steps[2]',
      /a git-commit step already/,
    ],
    [
      'a session behind the commit',
      [work, { name: 'a', type: 'git-commit' }, { ...work, name: 'late' }],
      'steps[2]',
      /after git-commit/,
    ],
    [
      'a file outside',
      [work, { name: 'r', type: 'readme-check', config: { path: '../README' } }],
      'steps[1].config.path',
      /./,
    ],
  ]
  for (const [name, steps, path, told] of cases) {
    test(name, () => {
      const mistake = onlyWrong(json({ steps }))
      assert.equal(mistake.path, `ralph.config.json: ${path}`)
      assert.match(Object.values(mistake).join(' '), told)
    })
  }

  test('no list, or an item that is no step, with its path', () => {
    assert.equal(onlyWrong(json({ steps: 3 })).path, 'ralph.config.json: steps')
    assert.deepEqual(paths(wrong(json({ steps: [{ type: 'agnet' }, 3] }))), [
      'ralph.config.json: steps[0].name',
      'ralph.config.json: steps[0].type',
      'ralph.config.json: steps[1]',
    ])
    assert.deepEqual(paths(wrong(json({ steps: { a: [{ name: 'x', type: 'y' }] } }))), [
      'ralph.config.json: steps.a[0].type',
    ])
  })

  test('a custom agent without a command, and a cost limit with an agent that reports no cost', () => {
    const custom = [work, { name: 'b', type: 'agent', config: { agent: 'custom' } }]
    assert.match(onlyWrong(json({ steps: custom })).found, /the agent custom needs an agent-command/)
    const silent = [work, { name: 'b', type: 'agent', config: { agent: 'codex' } }]
    assert.match(
      onlyWrong(json({ steps: silent, maxCostUsd: 5 })).found,
      /needs prices, because Ralph gets only tokens from codex/,
    )
  })
})

describe('named pipelines', () => {
  const steps = {
    default: [work],
    careful: [work, { name: 'review', type: 'agent', config: { agent: 'codex' } }],
  }
  test('the default is the one called default, else the named one', () => {
    assert.equal(right(json({ steps })).settings.steps?.name, 'default')
    const { settings } = right({ ...json({ steps }), inputs: { pipeline: 'careful' } })
    assert.deepEqual(
      settings.steps?.before.map(({ name }) => name),
      ['work', 'review'],
    )
    assert.equal(right(json({ steps: { only: [work] } })).settings.steps?.name, 'only')
  })

  test('a missing pipeline, or several without a named or default one, is a mistake', async () => {
    const mistake = onlyWrong({ ...json({ steps }), inputs: { pipeline: 'carefull' } })
    assert.deepEqual([mistake.path, mistake.found], ['input pipeline', 'there is no pipeline "carefull".'])
    assert.match(mistake.fix, /default or careful/)
    assert.match(onlyWrong(json({ steps: { a: [work], b: [work] } })).fix, /pipeline: a or b/)
    const none = await resolved({}, { pipeline: 'fast' })
    assert.ok(!none.ok)
    assert.match(none.mistakes[0]?.fix ?? '', /commit \.ralph\/configs\/fast\.json/)
    assert.equal(onlyWrong({ inputs: { pipeline: 'configs/fast.json' } }).path, 'input pipeline')
  })

  test('without one no file is searched', async () => {
    assert.ok(
      !(await resolved({ 'ralph.config.yml': 'agent: claude' })).looked.some((path) =>
        path.startsWith('.ralph'),
      ),
    )
  })
})

describe('a configuration of steps Ralph', () => {
  const path = '.ralph/configs/default.json'
  const file = {
    name: 'default-loop',
    description: 'all of it',
    max_loops_per_task: 10,
    steps: [
      {
        type: 'agent',
        name: 'setup',
        enabled: true,
        config: {
          prompt_file: '.ralph/prompts/SETUP_PROMPT.md',
          prd_file: '.ralph/prd.json',
          marker_file: '.ralph/.setup_done',
        },
      },
      {
        type: 'agent',
        name: 'run-claude',
        enabled: true,
        timeout: '20m',
        max_retries: 1,
        retry_delay: '30s',
        continue_on_error: false,
        circuit_breaker: { threshold: 3, reset_after: '60s' },
        config: {
          prompt_file: '.ralph/prompts/LOOP_PROMPT.md',
          prd_file: '.ralph/prd.json',
          model: 'sonnet',
          timeout: '15m',
          allowed_tools: 'Write,Read',
        },
      },
      { type: 'git-commit', name: 'git-commit', enabled: true, config: { add_all: true } },
    ],
  }

  test('is read with its steps and limit, and notes for what differs', async () => {
    const { ok, settings, notes } = await resolved({ [path]: file }, { pipeline: 'default' })
    assert.ok(ok)
    assert.deepEqual(
      settings.steps?.before.map(({ name, type }) => [name, type]),
      [['run-claude', 'agent']],
    )
    assert.equal(settings.maxAttempts, 10)
    assert.match(
      notes.join('\n'),
      /steps\[1\]\.config\.allowedTools: ignored: pass --allowedTools and its list in `args`/,
    )
    assert.match(
      notes.join('\n'),
      /configs\/default\.json: steps\[2\]\.config\.add_all: ignored, because Ralph does not use this key/,
    )
    assert.match(notes.join('\n'), /max_loops_per_task: read as maxAttempts/)
  })

  test('gives a note for continueOnError of the only agent, which has no effect', async () => {
    const steps = [file.steps[0], { ...work, continue_on_error: true }, { name: 'tell', type: 'noop' }]
    const { ok, notes } = await resolved({ [path]: { steps } }, { pipeline: 'default' })
    assert.ok(ok)
    assert.match(
      notes.join('\n'),
      /default\.json: steps\[1\]\.continueOnError: ignored on the only agent step/,
    )
    assert.match(
      right(json({ steps })).notes.join('\n'),
      /steps\[1\]\.continueOnError: ignored on the only agent step/,
    )
    const two = [...steps, { ...work, name: 'review' }]
    const both = await resolved({ [path]: { steps: two } }, { pipeline: 'default' })
    assert.doesNotMatch(both.notes.join('\n'), /continueOnError/)
    assert.ok(both.ok)
  })

  test('has lower precedence than the configuration file, except for its steps', async () => {
    const own = { maxAttempts: 2, pipeline: 'default', steps: { other: [work] } }
    const { settings } = await resolved({ [path]: file, 'ralph.config.json': own })
    assert.deepEqual([settings.maxAttempts, settings.steps?.before[0]?.name], [2, 'run-claude'])
  })

  test('gives mistakes with its paths', async () => {
    for (const [text, at] of [
      ['{', `${path}: line 1, column 2`],
      ['[]', path],
      ['{}', path],
      [JSON.stringify({ steps: [{ name: 'a', type: 'noop' }] }), `${path}: steps`],
      [JSON.stringify({ steps: [{ ...work, max_retries: 99 }] }), `${path}: steps[0].max_retries`],
    ] as const) {
      const read = await resolved({ [path]: text }, { pipeline: 'default' })
      assert.ok(!read.ok, text)
      assert.deepEqual(paths(read.mistakes), [at], text)
    }
  })
})
