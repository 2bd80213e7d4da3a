// `ralph plan` of the bundle on a laptop: by a session, by an interview on a terminal, by documents; and what it refuses.
import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { chmod, cp, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { KEYS } from '../fakes/terminal.ts'
import { PRELOAD, pointsOf } from '../faults/points.ts'
import { hostileStrings } from '../fixtures/hostile-strings.ts'
import { type Place, place } from './laptop.ts'
import type { Turn } from './site.ts'

const TODAY = new Date().toISOString().slice(0, 10)
const FOLDER = `.ralph/${TODAY}-auth`
const LIST = '# Auth\n\n- [ ] Sign in with a passkey\n  - works offline\n- [x] Sign out\n'

type Planned = { id: string; title: string; passes: boolean; dependsOn: string[] }

async function storiesOf(at: Place): Promise<Planned[]> {
  return JSON.parse(await at.read(`${FOLDER}/prd.json`)).userStories
}

const one = (id: string, title: string, more: Record<string, unknown> = {}) => ({
  id,
  title,
  acceptanceCriteria: [`${title} works`],
  ...more,
})

function proposal(stories: readonly Record<string, unknown>[], more: Record<string, unknown> = {}): Turn {
  const plan = {
    project: 'Shop',
    description: 'Sign in.',
    context: 'Node 24.',
    questions: [],
    stories,
    ...more,
  }
  return { say: `I looked.\n\`\`\`json\n${JSON.stringify(plan)}\n\`\`\`` }
}

const PASSKEY = [
  one('US-001', 'Register a passkey', { passes: true }),
  one('US-002', 'Sign in', { dependsOn: ['US-001'] }),
]

test('ralph plan from a sentence: changes of its session are discarded, and a run works on the stories', async () => {
  await using at = await place(
    { '.gitignore': 'ignored/\n' },
    {
      plan: [
        { ...proposal(PASSKEY), files: { 'src/base.txt': 'agent\n', 'new.txt': 'x', 'staged.txt': null } },
      ],
      'US-001': [{ files: { 'src/one.txt': 'good\n' } }],
      'US-002': [{ files: { 'src/two.txt': 'good\n' } }],
    },
  )
  await at.write({ 'src/base.txt': 'mine\n', 'staged.txt': 'staged\n', 'loose.txt': 'loose\n' })
  at.git('add', 'staged.txt')
  const before = at.git('status', '--porcelain')
  const { code, out, err } = await at.ralph([
    'plan',
    'auth',
    '--yes',
    '--json',
    '--',
    'sign in with a passkey',
  ])
  assert.equal(code, 0, err)
  const answer = JSON.parse(out)
  assert.equal(out.trim().split('\n').length, 1)
  assert.deepEqual(answer.written, [`${FOLDER}/context.md`, `${FOLDER}/prd.md`, `${FOLDER}/prd.json`])
  assert.equal(answer.costUsd, 0.01)
  assert.deepEqual(
    answer.stories.map(({ id, imported }: { id: string; imported: boolean }) => [id, imported]),
    [
      ['US-001', false],
      ['US-002', false],
    ],
  )
  assert.match(err, /the session changed files; Ralph undid that/)
  assert.match(err, /cost \$0\.01/)
  assert.equal(at.git('status', '--porcelain', '--', '.', ':!.ralph'), before)
  assert.deepEqual(await Promise.all(['src/base.txt', 'staged.txt', 'loose.txt'].map(at.read)), [
    'mine\n',
    'staged\n',
    'loose\n',
  ])
  assert.match((await at.prompts())[0] ?? '', /sign in with a passkey/)
  assert.match(await at.read(`${FOLDER}/prd.md`), /### US-002: Sign in\n\n\*\*Depends on:\*\* US-001/)
  at.git('checkout', '-q', '--', 'src/base.txt')
  at.git('rm', '-qf', '--cached', 'staged.txt')
  await Promise.all(['staged.txt', 'loose.txt'].map((path) => rm(join(at.repository, path))))
  const run = await at.ralph(['run', 'auth', '--gate', 'good=test -s src/base.txt'])
  assert.equal(run.code, 0, run.err)
  assert.equal(at.git('show', 'ralph/auth:src/two.txt'), 'good')
})

test('a killed `ralph plan` leaves every file whole, old or new, and writes prd.json last', async () => {
  await using at = await place({ 'fix_plan.md': LIST, 'more.md': `${LIST}- [ ] Sign out everywhere\n` })
  const faults = (folder: string) => ({ FAULTS: folder, NODE_OPTIONS: `--import ${PRELOAD}` })
  const names = ['context.md', 'prd.md', 'prd.json']
  const texts = () => Promise.all(names.map((name) => at.read(`${FOLDER}/${name}`).catch(() => null)))
  for (const [from, already] of [
    ['fix_plan.md', false],
    ['more.md', true],
  ] as const) {
    const before = await texts()
    const whole = join(at.folder, `whole-${from}`)
    await mkdir(whole)
    const copy = join(at.folder, `copy-${from}`)
    await cp(at.repository, copy, { recursive: true })
    const plan = ['plan', 'auth', '--from', from, '--yes']
    assert.equal((await at.ralph(plan, faults(whole))).code, 0)
    const after = await texts()
    const all = (await pointsOf(whole, 'main-1')).filter(({ effect }) =>
      /prd\.|context\.md/.test(effect.what),
    )
    assert.ok(all.length > 10, `${all.length} moments`)
    // Between them the two plans meet every second one.
    const ours = all.filter((_, index) => index % 4 === (already ? 0 : 2))
    for (const [number, { effect, when }] of ours.entries()) {
      await rm(at.repository, { recursive: true })
      await cp(copy, at.repository, { recursive: true })
      const folder = join(at.folder, `kill-${from}-${number}`)
      await mkdir(folder)
      await writeFile(
        join(folder, 'plans.json'),
        JSON.stringify({ 'main-1': { at: effect.n, when, how: 'kill' } }),
      )
      await at.ralph(plan, faults(folder))
      const status = await at.ralph(['status', 'auth'])
      const left = await texts()
      const isNew = left[2] === after[2]
      for (const [index, text] of left.entries())
        assert.ok(
          text === after[index] || (!isNew && text === before[index]),
          `${effect.what} ${when}: ${names[index]}`,
        )
      assert.equal(status.code, isNew || already ? 0 : 64, status.err)
    }
    await rm(at.repository, { recursive: true })
    await cp(copy, at.repository, { recursive: true })
    assert.equal((await at.ralph(plan)).code, 0)
  }
})

test('a source that cannot be planned from is refused with its path, and nothing is written', async () => {
  await using at = await place({
    'odd.json': JSON.stringify({ schemaVersion: 2, userStories: [{ id: 'US-001' }, 7] }),
    'many.md': Array.from({ length: 2100 }, (_, index) => `- [ ] part ${index}\n`).join(''),
    'large.md': `- [ ] a\n${'x'.repeat(5_100_000)}\n`,
  })
  const cases: [string[], RegExp][] = [
    [['--from', 'odd.json'], /odd\.json: userStories\[0\].*no story has a title or a description/],
    [['--from', 'many.md'], /2100 stories.*at most/],
    [['--from', 'large.md'], /large\.md.*are larger than 5 MB/],
    [['--from', 'nowhere.md'], /--from: there is no document "nowhere\.md"/],
    [['--from', 'odd.json', 'auth'], /--from: there is no document "auth"/],
    [[], /--from docs.*ralph plan auth --/],
    [['auth', 'more', 'words'], /ralph plan auth -- more words/],
    [['a..b', '--from', 'many.md'], /feature/],
  ]
  for (const [args, message] of cases) {
    const { code, out, err } = await at.ralph(['plan', ...args, '--yes', '--json'])
    assert.equal(code, 64, `${args}: ${out}${err}`)
    assert.match(err.replace(/\n {2}fix:/g, ''), message)
    assert.ok(JSON.parse(out).errors.length > 0)
    assert.ok(!existsSync(join(at.repository, '.ralph')), `${args}`)
  }
})

test('a cycle and a story without criteria are notices, and the plan is written', async () => {
  await using at = await place({
    'cycle.json': JSON.stringify({
      userStories: [
        one('US-001', 'a', { dependsOn: ['US-002'] }),
        one('US-002', 'b', { dependsOn: ['US-001'] }),
        { id: 'US-003', title: 'c' },
      ],
    }),
  })
  const { code, out, err } = await at.ralph(['plan', 'auth', '--from', 'cycle.json', '--yes'])
  assert.equal(code, 0, err)
  const said = out.replace(/\s+/g, ' ')
  assert.match(said, /"US-001" waits for this story itself .*, so Ralph drops this dependency/)
  assert.match(said, /1 story had no acceptance criteria: .*userStories\[2\]/)
  assert.equal((await storiesOf(at)).length, 3)
})

const LARGE = ['Search', 'Export', 'Import', 'Print']
  .map(
    (part) =>
      `## ${part}\n\n${Array.from({ length: 100 }, (_, at) => `- [ ] ${part} part ${at}\n`).join('')}`,
  )
  .join('\n')

test('of 400 boxes a person chooses a part on a terminal, and reads its flag without one', async () => {
  await using at = await place({ 'fix_plan.md': LARGE, 'ralph.config.yml': 'gates: none\n' })
  const { code, out } = await at.ralph(['plan', 'whole', '--from', 'fix_plan.md'])
  assert.equal(code, 64)
  const said = out.replace(/\s+/g, ' ')
  assert.match(said, /400 open stories are a lot for one run/)
  assert.match(said, /--epic "Search" \(100 open\), --epic "Export" \(100 open\)/)
  const part = await at.ralph(['plan', 'search', '--from', 'fix_plan.md', '--epic', 'Search', '--yes'])
  assert.equal(part.code, 0, part.err)
  assert.doesNotMatch(part.out, /a lot for one run/)
  await using terminal = at.terminal(['plan', 'export', '--from', 'fix_plan.md'])
  await terminal.see('400 open stories are a lot for one run. Which part should Ralph plan?')
  await terminal.see('Export (100)')
  terminal.type(KEYS.down, KEYS.enter)
  await terminal.see('Leave it')
  terminal.type(KEYS.enter)
  assert.equal(await terminal.ended, 0, terminal.shown())
  assert.doesNotMatch(terminal.shown(), /Search part/)
  assert.match(terminal.shown(), /100 stories/)
})

test('without a terminal a plan is printed and written only with `--yes`; for an existing feature the changes are printed', async () => {
  await using at = await place({ 'fix_plan.md': LIST })
  const first = await at.ralph(['plan', 'auth', '--from', 'fix_plan.md'])
  assert.equal(first.code, 64)
  assert.match(first.out, /fix_plan\.md:3 +check list +2 stories: US-001, US-002/)
  assert.match(first.err, /add --yes/)
  assert.ok(!existsSync(join(at.repository, '.ralph')))
  assert.equal((await at.ralph(['plan', 'auth', '--yes'])).code, 0)
  const again = await at.ralph(['plan', 'auth'])
  assert.deepEqual([again.code, again.err], [0, ''])
  assert.match(again.out, /nothing was changed/)
  await at.write({ 'fix_plan.md': `${LIST}- [ ] Sign out everywhere\n` })
  const changed = await at.ralph(['plan', 'auth'])
  assert.equal(changed.code, 64)
  assert.match(changed.out, /\+ US-003 {2}Sign out everywhere/)
  assert.equal((await storiesOf(at)).length, 2)
  assert.equal((await at.ralph(['plan', 'auth', '--yes'])).code, 0)
  assert.deepEqual(
    (await storiesOf(at)).map(({ id, passes }) => [id, passes]),
    [
      ['US-001', false],
      ['US-002', true],
      ['US-003', false],
    ],
  )
})

for (const [how, isCommitted] of [
  ['committed', true],
  ['left in the work tree', false],
] as const)
  test(`a finished feature is planned again on its branch, the new prd.json ${how}: the run works on it without a warning`, async () => {
    await using at = await place(
      { 'fix_plan.md': '- [ ] Sign in\n', '.gitignore': 'more.md\n' },
      {
        'US-001': [{ files: { 'src/one.txt': 'good\n' } }],
        'US-002': [{ files: { 'src/two.txt': 'good\n' } }],
      },
    )
    const run = ['run', 'auth', '--gate', 'good=test -s src/base.txt']
    assert.equal((await at.ralph(['plan', 'auth', '--from', 'fix_plan.md', '--yes'])).code, 0)
    assert.equal((await at.ralph(run)).code, 0)
    await at.write({ 'more.md': '- [ ] Sign in\n- [ ] Sign out\n' })
    const again = await at.ralph(['plan', 'auth', '--from', 'more.md', '--yes'])
    assert.equal(again.code, 0, again.err)
    if (isCommitted) {
      at.git('add', '-A')
      at.git('commit', '-q', '-m', 'more')
    }
    const { code, out, err } = await at.ralph(run)
    assert.equal(code, 0, err)
    assert.equal(at.git('show', 'ralph/auth:src/two.txt'), 'good')
    assert.doesNotMatch(`${out}${err}`, /after the run began|warning.*pushed/)
  })

test('an edited prd.md is planned from with --from, else the plan is refused, and no edit is lost', async () => {
  await using at = await place({ 'fix_plan.md': LIST })
  await at.ralph(['plan', 'auth', '--from', 'fix_plan.md', '--yes'])
  const page = await at.read(`${FOLDER}/prd.md`)
  await at.write({
    [`${FOLDER}/prd.md`]: page.replace('Sign in with a passkey', 'Sign in with two passkeys'),
  })
  const refused = await at.ralph(['plan', 'auth', '--from', 'fix_plan.md', '--yes'])
  assert.equal(refused.code, 64)
  assert.match(refused.err, /prd\.md: .*\n {2}fix: take its text \(--from/)
  const taken = await at.ralph(['plan', 'auth', '--from', `${FOLDER}/prd.md`, '--yes'])
  assert.equal(taken.code, 0, taken.err)
  assert.equal((await storiesOf(at))[0]?.title, 'Sign in with two passkeys')
})

test('prose is planned from by one session, and not again while unchanged', async () => {
  await using at = await place(
    { 'idea.md': '# Idea\n\nPeople want passkeys.\n' },
    { plan: [proposal(PASSKEY, { questions: ['Which browsers?'] })] },
  )
  const first = await at.ralph(['plan', 'auth', '--from', 'idea.md', '--yes'])
  assert.equal(first.code, 0, first.err)
  assert.match(
    first.out,
    / {2}idea\.md\n {2}Ralph reads stories in these formats without a session:\n {2}- a heading .*\n {2}- a check list/,
  )
  assert.match(first.out, /\? Which browsers\?\n {2}To answer: ralph plan auth on a terminal, then "Refine/)
  assert.match((await at.prompts())[0] ?? '', /People want passkeys/)
  const again = await at.ralph(['plan', 'auth', '--from', 'idea.md', '--yes'])
  assert.match(again.out, /unchanged since the last plan, so no session reads it again/)
  assert.match(again.out, /nothing was changed/)
  assert.equal((await at.prompts()).length, 1)
})

test('an answer without a plan is passed to a second session; then it is an error, and nothing is written', async () => {
  await using at = await place({}, { plan: [{ say: 'I think so.' }, { say: 'Still words.' }] })
  const { code, out, err } = await at.ralph(['plan', 'auth', '--yes', '--json', '--', 'passkeys'])
  assert.equal(code, 64)
  const { costUsd, usage } = JSON.parse(out)
  assert.deepEqual([costUsd, usage.calls], [0.02, 2], 'what was paid is told')
  assert.match(err, /the answer from custom contains no plan/)
  assert.match((await at.prompts())[1] ?? '', /no block of JSON in the answer/)
  assert.ok(!existsSync(join(at.repository, '.ralph')))
})

test('when sessions return no plan the interview asks for more, and plans with the answer', async () => {
  await using at = await place(
    { 'ralph.config.yml': 'gates: none\n' },
    { plan: [{ say: 'I think so.' }, { say: 'Still words.' }, proposal(PASSKEY)] },
  )
  await using terminal = at.terminal(['plan', 'auth', '--', 'passkeys'])
  await terminal.see('What should the session know?')
  terminal.type('on every page', KEYS.enter)
  await terminal.see('Leave it')
  terminal.type(KEYS.enter)
  assert.equal(await terminal.ended, 0, terminal.shown())
  assert.equal((await storiesOf(at)).length, 2)
  assert.match((await at.prompts())[2] ?? '', /passkeys[\s\S]*on every page/)
})

test('the interview: a sentence, a feature name, gates, limits and instructions become a plan, which is refined and written', async () => {
  const split = [...PASSKEY, one('US-003', 'Sign out')]
  await using at = await place(
    { 'package.json': '{"scripts":{"test":"node --test"}}' },
    { plan: [proposal(PASSKEY, { questions: ['Which browsers?'] }), proposal(split)] },
  )
  await using terminal = at.terminal(['plan'])
  await terminal.see('What is the feature for?')
  terminal.type('people sign in with a passkey', KEYS.enter)
  await terminal.see('What is the feature called?')
  terminal.type('auth', KEYS.enter)
  await terminal.see('Which gates must be green')
  terminal.type(KEYS.enter)
  for (const gate of ['lint=true', 'docs=test -s README.md', '']) {
    await terminal.see('◆  Another gate as')
    terminal.type(gate, KEYS.enter)
  }
  await terminal.see('How many iterations')
  terminal.type('12', KEYS.enter)
  await terminal.see('After how many failed attempts')
  terminal.type('4', KEYS.enter)
  await terminal.see('How many dollars')
  terminal.type(KEYS.enter)
  await terminal.see('Instructions for every session?')
  terminal.type('use the mailer', KEYS.enter)
  await terminal.see('? Which browsers?')
  await terminal.see('To answer, choose "Refine it in words" below.')
  await terminal.see('Take it')
  await terminal.see('Leave it')
  terminal.type(KEYS.down, KEYS.down, KEYS.enter)
  await terminal.see('- [ ] Sign in works')
  await terminal.see('Leave it')
  terminal.type(KEYS.down, KEYS.down, KEYS.down, KEYS.enter)
  await terminal.see('What should be different?')
  terminal.type('sign out, too', KEYS.enter)
  await terminal.see('US-003  Sign out')
  await terminal.see('Leave it')
  terminal.type(KEYS.enter)
  assert.equal(await terminal.ended, 0, terminal.shown())
  assert.match(
    await at.read('ralph.config.yml'),
    /gates:\n {2}test: npm test\n {2}lint: "?true"?\n {2}docs: test -s README.md\nmaxIterations: 12\nmaxAttempts: 4\ninstructions: use the mailer/,
  )
  assert.equal((await storiesOf(at)).length, 3)
  const [, second = ''] = await at.prompts()
  assert.match(second, /people sign in with a passkey[\s\S]*sign out, too/)
  assert.match(second, /use the mailer/)
})

test('--ask: a session asks first, letters answer in one line, a wrong letter is refused, and the plan uses the answers', async () => {
  const asked = {
    questions: [
      { text: 'What is the primary goal?', options: ['Fewer passwords', 'Fewer calls'] },
      { text: 'Which browsers?', options: ['All', 'Chromium'] },
    ],
  }
  await using at = await place(
    { 'ralph.config.yml': 'gates: none\n' },
    { plan: [{ say: `\`\`\`json\n${JSON.stringify(asked)}\n\`\`\`` }, proposal(PASSKEY)] },
  )
  await using terminal = at.terminal(['plan', 'auth', '--ask', '--', 'passkeys'])
  await terminal.see('1. What is the primary goal?')
  await terminal.see('B. Chromium')
  await terminal.see('Your answers')
  terminal.type('1A, 2C', KEYS.enter)
  await terminal.see('2C: question 2 has the options A to B')
  terminal.type('\u007f', 'B', KEYS.enter)
  await terminal.see('Leave it')
  terminal.type(KEYS.enter)
  assert.equal(await terminal.ended, 0, terminal.shown())
  const [first = '', second = ''] = await at.prompts()
  assert.match(first, /Plan nothing yet: ask first/)
  assert.match(
    second,
    /passkeys[\s\S]*primary goal\?\n {3}Fewer passwords\n2\. Which browsers\?\n {3}Chromium/,
  )
  assert.equal((await storiesOf(at)).length, 2)
})

test('--ask without a terminal is a warning, and the plan is made without questions', async () => {
  await using at = await place({}, { plan: [proposal(PASSKEY)] })
  const { code, err } = await at.ralph(['plan', 'auth', '--ask', '--yes', '--', 'passkeys'])
  assert.equal(code, 0, err)
  assert.match(err, /warning: ask: the plan is made without questions, because there is no terminal/)
  assert.equal((await at.prompts()).length, 1)
})

test('a run started from the interview works on the chosen stories, after a commit of the configuration', async () => {
  await using at = await place(
    { 'fix_plan.md': '- [ ] Sign in\n- [ ] Sign out\n' },
    { 'US-002': [{ files: { 'src/two.txt': 'good\n' } }] },
  )
  await using terminal = at.terminal(['plan', 'auth', '--from', 'fix_plan.md'])
  await terminal.see('some of them, by name')
  terminal.type(KEYS.down, KEYS.enter)
  await terminal.see('Which stories?')
  terminal.type(KEYS.down, ' ', KEYS.enter)
  await terminal.see('A gate as')
  terminal.type('good=test -s src/base.txt', KEYS.enter)
  await terminal.see('◆  Another gate')
  terminal.type(KEYS.enter)
  await terminal.see('How many iterations')
  terminal.type(KEYS.enter)
  await terminal.see('After how many failed attempts')
  terminal.type(KEYS.enter)
  await terminal.see('How many dollars')
  terminal.type(KEYS.enter)
  await terminal.see('Instructions for every session?')
  terminal.type(KEYS.enter)
  await terminal.see('Start the run with it')
  await terminal.see('Leave it')
  terminal.type(KEYS.down, KEYS.enter)
  assert.equal(await terminal.ended, 0, terminal.shown())
  assert.equal(at.git('show', 'ralph/auth:src/two.txt'), 'good')
  assert.equal(at.git('log', '-1', '--format=%s', '--', 'ralph.config.yml'), 'chore: configure ralph')
  assert.doesNotMatch(await at.read('ralph.config.yml'), /maxAttempts/)
  assert.deepEqual(
    (await storiesOf(at)).map(({ id, passes }) => [id, passes]),
    [['US-002', true]],
  )
})

test('a configuration that cannot be committed is an error whose --json names the files that were written', async () => {
  await using at = await place({ 'fix_plan.md': '- [ ] Sign in\n' })
  const hook = join(at.repository, '.git/hooks/pre-commit')
  await mkdir(join(hook, '..'), { recursive: true })
  await writeFile(hook, '#!/bin/sh\necho no commits today >&2\nexit 1\n', { mode: 0o755 })
  await using terminal = at.terminal(['plan', 'auth', '--from', 'fix_plan.md', '--json'])
  await terminal.see('A gate as')
  terminal.type('good=test -s src/base.txt', KEYS.enter)
  await terminal.see('◆  Another gate')
  terminal.type(KEYS.enter)
  await terminal.see('How many iterations')
  terminal.type(KEYS.enter)
  await terminal.see('After how many failed attempts')
  terminal.type(KEYS.enter)
  await terminal.see('How many dollars')
  terminal.type(KEYS.enter)
  await terminal.see('Instructions for every session?')
  terminal.type(KEYS.enter)
  await terminal.see('Start the run with it')
  await terminal.see('Leave it')
  terminal.type(KEYS.down, KEYS.enter)
  assert.equal(await terminal.ended, 64, terminal.shown())
  assert.match(
    terminal.shown(),
    /"written":\["ralph\.config\.yml","\.ralph\/[^"]+\/prd\.md","\.ralph\/[^"]+\/prd\.json"\]/,
  )
})

test('no session starts without --yes or a terminal; --epic plans the epic with its dependencies', async () => {
  const epics = [
    one('US-001', 'Pay', { epicId: 'E1' }),
    one('US-002', 'Ship', { epicId: 'E2', dependsOn: ['US-001'] }),
    one('US-003', 'Search', { epicId: 'E1' }),
  ]
  const files = { 'idea.md': 'Passkeys.\n', 'epics.json': JSON.stringify({ userStories: epics }) }
  await using at = await place(files, { plan: [proposal(PASSKEY)] })
  const { code, err } = await at.ralph(['plan', 'auth', '--from', 'idea.md'])
  assert.equal(code, 64)
  assert.match(err, /add --yes to start it/)
  assert.equal((await at.prompts()).length, 0)
  const part = await at.ralph(['plan', 'auth', '--from', 'epics.json', '--epic', 'e2', '--yes'])
  assert.equal(part.code, 0, part.err)
  assert.deepEqual(
    (await storiesOf(at)).map(({ id }) => id),
    ['US-001', 'US-002'],
  )
  const wrong = await at.ralph(['plan', 'other', '--from', 'epics.json', '--stories', 'US-009', '--yes'])
  assert.equal(wrong.code, 64)
  assert.match(wrong.err, /US-009.*a story of this feature/)
})

test('without an agent or its key the interview is not started', async () => {
  await using at = await place()
  await using terminal = at.terminal(['plan', 'auth', '--agent', 'amp'])
  assert.equal(await terminal.ended, 64, terminal.shown())
  assert.match(terminal.shown(), /error: agent: amp is not on your PATH/)
  assert.doesNotMatch(terminal.shown(), /What is|Gate/)
})

test('the plan in the editor: an invalid edit is reported and kept, and the corrected one is written', async () => {
  const list = `${LIST}- [ ] Sign out everywhere\n`
  await using at = await place({ 'fix_plan.md': list, 'ralph.config.yml': 'gates: none\n' })
  const editor = join(at.folder, 'editor.sh')
  await writeFile(
    editor,
    '#!/bin/sh\nif [ -e "$0.again" ]; then sed -i "s/: nothing/: [\\"it works\\"]/" "$1"; else touch "$0.again"; sed -i "s/Sign in with a passkey/Sign in fast/; s/\\"acceptanceCriteria\\": \\[$/\\"acceptanceCriteria\\": nothing, \\"old\\": [/" "$1"; fi\n',
  )
  await chmod(editor, 0o755)
  await using terminal = at.terminal(['plan', 'auth'], { editor })
  await terminal.see('Which of the stories?')
  terminal.type(KEYS.enter)
  await terminal.see('Leave it')
  terminal.type(...Array(5).fill(KEYS.down), KEYS.enter)
  await terminal.see('prd.json: line')
  await terminal.see('Open prd.json again?')
  terminal.type(KEYS.enter)
  await terminal.see('Sign in fast')
  await terminal.see('Leave it')
  terminal.type(KEYS.enter)
  assert.equal(await terminal.ended, 0, terminal.shown())
  assert.equal((await storiesOf(at))[0]?.title, 'Sign in fast')
})

test('Ctrl+C in the interview writes nothing to the tree, and the paid plan can be used with --from', async () => {
  await using at = await place({ 'ralph.config.yml': 'gates: none\n' }, { plan: [proposal(PASSKEY)] })
  await using terminal = at.terminal(['plan', 'auth', '--', 'passkeys'])
  await terminal.see('Leave it')
  terminal.type(KEYS.interrupt)
  assert.equal(await terminal.ended, 130, terminal.shown())
  assert.match(terminal.shown(), /nothing was written/)
  assert.ok(!existsSync(join(at.repository, '.ralph')))
  const kept = join('.git', 'ralph', 'plan', 'auth.json')
  const { code, err } = await at.ralph(['plan', 'auth', '--from', kept, '--yes'])
  assert.equal(code, 0, err)
  assert.equal((await storiesOf(at)).length, 2)
})

test('a plan that was saved as prd.md only is written as prd.json by the next `ralph plan`', async () => {
  await using at = await place({ 'fix_plan.md': LIST, 'ralph.config.yml': 'gates: none\n' })
  await using first = at.terminal(['plan', 'auth', '--from', 'fix_plan.md'])
  await first.see('Leave it')
  first.type(...Array(6).fill(KEYS.down), KEYS.enter)
  assert.equal(await first.ended, 0, first.shown())
  assert.deepEqual(readdirSync(join(at.repository, FOLDER)), ['prd.md'])
  const { code, err } = await at.ralph(['plan', 'auth', '--yes'])
  assert.equal(code, 0, err)
  assert.equal((await storiesOf(at)).length, 2)
})

test('hostile text of documents and sessions reaches no terminal as a sequence, and no log as a workflow command', async () => {
  const texts = hostileStrings.map(({ text }) => text.replace(/[\r\n]+/g, ' ').trim()).filter(Boolean)
  const list = `# Auth\n\n${texts.map((text) => `- [ ] ${text}\n`).join('')}`
  await using at = await place({ 'fix_plan.md': list, 'ralph.config.yml': 'gates: none\n' })
  const { out, err } = await at.ralph(['plan', 'auth', '--from', 'fix_plan.md', '--yes'])
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there.
  assert.doesNotMatch(out + err, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/)
  assert.doesNotMatch(out + err, /^(?:::|##\[)/m)
})
