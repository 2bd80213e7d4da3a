// `ralph prompt` and `ralph log`: what a session is told before it runs, and what it said afterwards.
import assert from 'node:assert/strict'
import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { bad, FOLDER, GATE, good, openPlace } from './place.ts'

test('prompt prints exactly what a session gets, at every attempt', async () => {
  await using place = await openPlace(
    [{ id: 'US-001', title: 'part {{gates}} ${GATES}', tags: ['ui'] }, { id: 'US-002' }],
    {
      [`${FOLDER}/context.md`]: 'Sessions live in src/session.ts.\n',
    },
  )
  const say = { ...bad('US-001'), say: '<ralph>LEARNING:the port is taken</ralph>' }
  await place.setScript({ 'US-001': [say, good('US-001')] })
  const settings = [...place.agent, ...GATE, '--instructions', 'Use the house style.']
  const given = join(place.repository, '.git', 'ralph', 'prompt.md')
  for (const attempt of [1, 2]) {
    const { out, err, code } = await place.ralph('prompt', 'us-001', ...settings)
    assert.equal(code, 0, err)
    assert.match(out, new RegExp(`attempt ${attempt}`))
    assert.match(out, /part \{\{gates\}\} \$\{GATES\}/)
    assert.match(err, /^part +bytes +limit\n/m)
    assert.match(err, /^template: built in$/m)
    const refs = place.refs()
    assert.equal((await place.ralph('prompt', 'US-002', ...settings)).code, 0)
    assert.equal(place.refs(), refs)
    await place.ralph('run', ...settings, '--once')
    assert.equal(await readFile(given, 'utf8'), out)
  }
})

test('the prompt names the services of the gates, alike for every story', async () => {
  await using place = await openPlace([{ id: 'US-001', tags: ['ui'] }, { id: 'US-002' }])
  await place.write({
    'ralph.config.yml': `services:
  db: { start: 'true', ready: 5433 }
  web: { start: npm start, ready: 'http://localhost:3000/health', when: ui }
`,
  })
  const all =
    /^- Ralph also starts .*\n- db: port 5433\n- web: http:\/\/localhost:3000\/health \(for stories tagged ui\)\n- Do not /m
  for (const id of ['US-001', 'US-002']) assert.match((await place.ralph('prompt', id, ...GATE)).out, all, id)
})

test('an uncommitted prompt template is shown by prompt, then used by a run', async () => {
  await using place = await openPlace([{ id: 'US-001' }, { id: 'US-002' }])
  await place.setScript({ 'US-001': [good('US-001')] })
  await place.write({ '.ralph/prompts/run.md': 'Do ${STORY_ID} of {{feature}}: {{acceptanceCriteria}}\n' })
  const { out, err } = await place.ralph('prompt', ...GATE)
  assert.equal(out, 'Do US-001 of sample: - US-001 works\n')
  assert.match(err, /^template: \.ralph\/prompts\/run\.md$/m)
  await place.ralph('run', ...place.agent, ...GATE, '--once')
  assert.equal(await readFile(join(place.repository, '.git', 'ralph', 'prompt.md'), 'utf8'), out)
  // On the branch it is committed; a link out of the repository is nobody's template.
  await rm(join(place.repository, '.ralph/prompts/run.md'))
  await symlink('/etc/passwd', join(place.repository, '.ralph/prompts/run.md'))
  assert.doesNotMatch((await place.ralph('prompt', ...GATE)).out, /root:/)
})

test('prompt reports saved work that conflicts with newer code before a run tries it', async () => {
  await using place = await openPlace([{ id: 'US-001' }, { id: 'US-002' }])
  await place.setScript({ 'US-001': [{ files: { 'src/base.txt': 'bad US-001\n' } }] })
  await place.ralph('run', ...place.agent, ...GATE, '--once')
  assert.match(
    (await place.ralph('prompt', 'US-001')).out,
    /The work of the last attempt is in the work tree/,
  )
  await place.setScript({ 'US-002': [{ files: { 'src/base.txt': 'good US-002\n' } }] })
  await place.ralph('skip', 'US-001')
  await place.ralph('run', ...place.agent, ...GATE, '--once')
  const refs = place.refs()
  const { out } = await place.ralph('prompt', 'US-001')
  assert.match(out, /put aside: it conflicts with the newest code \(src\/base\.txt\)/)
  assert.deepEqual([place.refs(), place.git('status', '--porcelain')], [refs, ''])
})

test('prompt --json has the prompt, and its parts with their limits', async () => {
  await using place = await openPlace([{ id: 'US-001' }, { id: 'US-002' }])
  const found = await place.json('prompt', 'US-002', ...GATE)
  const { prompt, bytes, parts, storyId, template } = found
  assert.ok(typeof prompt === 'string' && Array.isArray(parts))
  assert.deepEqual([storyId, template, bytes], ['US-002', null, Buffer.byteLength(prompt)])
  const sum = parts.reduce((all: number, part: { bytes: number }) => all + part.bytes, 0)
  assert.equal(sum, bytes)
  assert.deepEqual(
    parts.find((part: { name: string }) => part.name === 'gates'),
    { name: 'gates', bytes: Buffer.byteLength('- good: ! grep -rq bad src'), bound: 700 },
  )
})

test("prompt before a set-up session prints that one's, and its transcript is the attempt's", async () => {
  await using place = await openPlace([{ id: 'US-001' }, { id: 'US-002' }], {
    '.ralph/prompts/setup.md': 'Set up {{feature}}.\n',
  })
  await place.setScript({
    setup: [{ files: { 'src/tool.txt': 'set up\n' }, say: 'The tool is there.' }],
    'US-001': [good('US-001')],
  })
  const { out } = await place.ralph('run', ...place.agent, ...GATE, '--once')
  assert.match(out, /sets up the project first, as \.ralph\/prompts\/setup\.md says/)
  assert.equal(place.git('show', `ralph/sample:src/tool.txt`), 'set up')
  assert.match((await place.ralph('log', 'US-001')).out, /US-001-1-setup\.log\nThe tool is there\./)
})

test('prompt for an unknown story is refused', async () => {
  await using place = await openPlace([{ id: 'US-001' }])
  for (const [args, message] of [
    [['US-01'], 'error: ralph prompt: there is no story US-01.\n  fix: ralph prompt US-001\n'],
  ] as const) {
    const { code, err, out } = await place.ralph('prompt', ...args)
    assert.deepEqual([code, err, out], [64, message, ''])
  }
})

test('a prompt template with a mistake is reported by validate, and no run begins', async () => {
  const files = { '.ralph/prompts/run.md': 'Do {{storyId}}\n{{acceptanceCriterias}}\n' }
  await using place = await openPlace([{ id: 'US-001' }], files)
  const refs = place.refs()
  for (const command of ['validate', 'run', 'next']) {
    const { code, err } = await place.ralph(command, ...place.agent, ...GATE)
    assert.equal(code, 64)
    assert.match(
      err,
      /^error: \.ralph\/prompts\/run\.md:2: found "\{\{acceptanceCriterias\}\}"[\s\S]*write \{\{acceptanceCriteria\}\}/,
    )
  }
  assert.equal(place.refs(), refs)
})

test('a prompt template of another tool in .ralph/prompts is used, with a notice', async () => {
  await using place = await openPlace([{ id: 'US-001' }, { id: 'US-002' }], {
    '.ralph/prompts/LOOP_PROMPT.md': 'You work in a loop.\n',
    'PROMPT_plan.md': 'Plan.\n',
  })
  await place.setScript({ 'US-001': [good('US-001')] })
  const { out, err } = await place.ralph('run', ...place.agent, ...GATE, '--once')
  assert.match(`${out}${err}`, /Ralph uses \.ralph\/prompts\/LOOP_PROMPT\.md/)
  assert.doesNotMatch(`${out}${err}`, /PROMPT_plan/)
  const prompt = await readFile(join(place.repository, '.git', 'ralph', 'prompt.md'), 'utf8')
  assert.match(prompt, /^You work in a loop\.\n\nYou are working unattended/)
  assert.match(
    (await place.ralph('validate', ...place.agent, ...GATE)).out,
    /Ralph does not use PROMPT_plan\.md: .* \.ralph\/prompts\/plan\.md/,
  )
})

test('log prints the last session and its gates with their files, or an earlier attempt', async () => {
  await using place = await openPlace([{ id: 'US-001' }, { id: 'US-001-2' }])
  const none = await place.ralph('log', 'US-001')
  assert.deepEqual([none.code, none.err], [1, ''])
  assert.match(none.out, /^there is no log of US-001 on this machine: no session has worked on it yet$/m)
  await place.setScript({
    'US-001': [
      { ...bad('US-001'), say: 'first words\n::error::x' },
      { ...good('US-001'), say: 'second words' },
    ],
  })
  for (let once = 0; once < 2; once += 1)
    await place.ralph('run', ...place.agent, '--gate', 'good=echo seen; ! grep -rq bad src', '--once')
  const last = await place.ralph('log', 'us-001')
  assert.equal(last.code, 0, last.err)
  assert.match(
    last.out,
    /^== .*\.git\/ralph\/transcripts\/2-sample\/US-001-2\.log\nsecond words\n-- 1k tokens, \$0\.01\n/m,
  )
  assert.match(last.out, /^== .*\.git\/ralph\/logs\/2-sample\/US-001-2-good\.log\nseen\n/m)
  assert.doesNotMatch(last.out, /first words/)
  const first = await place.ralph('log', 'US-001', '--attempt', '1')
  assert.match(first.out, /first words\n: :error::x/)
  assert.match(
    (await place.ralph('log')).out,
    /^[-\dT:.]+Z +\d+ {2}\/.*\/transcripts\/1-sample\/US-001-1\.log\n[\s\S]*US-001-2\.log\n/m,
  )
  assert.equal(
    (await place.ralph('log', 'US-001-2')).code,
    1,
    'its name is the same as a second attempt on the other',
  )
  const wrong = await place.ralph('log', 'nobody')
  assert.equal(wrong.code, 64)
  assert.match(
    wrong.err,
    /there is no story \S+\. The logs that belong to no story are verify, plan and baseline\./,
  )
  for (const [args, says] of [
    [['US-001', '--attempt', '3'], /found 3, expected an attempt with logs on this machine: 1, 2\n/],
    [
      ['US-001', '--attempt', '0'],
      /found 0, expected .*, 1 for the first\n {2}fix: ralph log US-001 --attempt 1/,
    ],
    [['--attempt', '1'], /found 1 without a story, expected /],
  ] as const) {
    const { code, err } = await place.ralph('log', ...args)
    assert.equal(code, 64, args.join(' '))
    assert.match(err, says)
  }
  const { logs } = await place.json('log', 'US-001', '--attempt', '1')
  assert.ok(Array.isArray(logs) && logs.length === 2)
})

test("log prints an agent's transcript as text, --raw as stored, and follows no link", async () => {
  await using place = await openPlace([{ id: 'US-001' }])
  const folder = join(place.repository, '.git', 'ralph', 'transcripts')
  await mkdir(folder, { recursive: true })
  const events = [
    { type: 'system', subtype: 'init', model: 'm' },
    { type: 'assistant', message: { id: '1', content: [{ type: 'text', text: 'I look at the code.' }] } },
    {
      type: 'assistant',
      message: { id: '2', content: [{ type: 'tool_use', name: 'Read', input: { file_path: 'src/a.ts' } }] },
    },
  ]
  const raw = ['agent: claude', ...events.map((event) => JSON.stringify(event)), 'a word on stderr'].join(
    '\n',
  )
  await writeFile(join(folder, 'US-001-1.log'), `${raw}\n`)
  await symlink('/etc/passwd', join(folder, 'US-001-2.log'))
  const { out } = await place.ralph('log', 'US-001')
  assert.match(out, /US-001-1\.log\nI look at the code\.\n> Read src\/a\.ts\na word on stderr\n/)
  assert.doesNotMatch(out, /root:|"type"/)
  assert.ok((await place.ralph('log', 'US-001', '--raw')).out.includes(raw))
})
