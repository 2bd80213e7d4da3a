// Sealed examples: a wrong product is refused by an example although its gates are green, and no worker can read what examples expect.
import assert from 'node:assert/strict'
import test from 'node:test'
import { openClone } from '../fakes/clone.ts'
import { CLI } from './laptop.ts'
import { openSite, outputsOf, story } from './site.ts'

const PRD = '.ralph/2026-01-31-sample/prd.json'
/** A value that stands nowhere but in the answer of the session that writes examples. */
const EXPECTED = 'zq-hidden-7741'
const CRITERIA = ['slug("Zq HIDDEN 7741") is the lower-case name with dashes', 'the page looks good']
const STORIES = [story('US-001', 'slug', { acceptanceCriteria: CRITERIA })]

const json = (value: unknown) => `\`\`\`json\n${JSON.stringify(value)}\n\`\`\``
const WRITTEN = json({
  examples: [{ criterion: 1, given: { name: 'Zq HIDDEN 7741' }, expect: EXPECTED }],
  none: [{ criterion: 2, why: `it is about looks, not ${EXPECTED}` }],
})
const GLUE_LINES = [
  "import { readFileSync } from 'node:fs'",
  "import { slug } from './src/slug.mjs'",
  "for (const line of readFileSync(process.env.RALPH_GIVENS, 'utf8').trim().split('\\n')) {",
  '  const { example, given } = JSON.parse(line)',
  '  console.log(JSON.stringify({ example, actual: slug(given.name) }))',
  '}',
]
const GLUE = json({ files: { 'ralph-glue.mjs': GLUE_LINES }, run: 'node ralph-glue.mjs', none: [] })

const slug = (body: string) => ({ 'src/slug.mjs': `export const slug = (name) => ${body}\n` })
const RIGHT = slug("name.toLowerCase().replaceAll(' ', '-')")
const WRONG = slug("name.replaceAll(' ', '-')")

async function run(
  turns: readonly unknown[],
  more: Record<string, unknown> = {},
  stories: unknown[] = STORIES,
  given: string[] = [],
) {
  const clone = await openClone(CLI, { [PRD]: JSON.stringify({ schemaVersion: 2, userStories: stories }) })
  await clone.setScript({ examples: [{ say: WRITTEN }], glue: [{ say: GLUE }], 'US-001': turns, ...more })
  const flags = ['--gate', 'there=test -f src/slug.mjs', '--examples', 'sealed', '--baseline', 'off']
  const ended = await clone.start(['run', ...clone.agent, ...flags, '--needs-proof', 'off', ...given]).ended
  const state = JSON.parse(clone.git('show', 'refs/ralph/2026-01-31-sample:.ralph-state/state.json'))
  return { ...ended, clone, state, called: await clone.called() }
}

test('a wrong product is rejected by an example although its gates are green, and a right one passes', async () => {
  const { clone, code, out, err, state, called } = await run([{ files: WRONG }, { files: RIGHT }])
  await using _ = clone
  assert.equal(code, 0, out + err)
  assert.deepEqual(
    called.map(({ mode }) => mode),
    ['examples', 'run', 'glue', 'run', 'glue', 'verify'],
  )
  const [rejected, passed] = state.timeline
  assert.deepEqual([rejected.result, rejected.kind, passed.result], ['rejected', 'examples', 'passed'])
  const retry = called[3]?.prompt ?? ''
  assert.match(retry, /"name":"Zq HIDDEN 7741"/)
  assert.match(retry, /Zq-HIDDEN-7741/)
  assert.deepEqual(
    state.records['US-001'].examples.results.map(({ criterion, result }: Record<string, unknown>) => [
      criterion,
      result,
    ]),
    [[1, 'met']],
  )
  assert.deepEqual(state.records['US-001'].examples.none, [
    { criterion: 2, why: 'it is about looks, not (sealed)' },
  ])
  const kinds = state.sessions.map(({ kind, storyId, calls }: Record<string, unknown>) => [
    kind,
    storyId,
    calls,
  ])
  assert.deepEqual(kinds, [
    ['examples', 'US-001', 1],
    ['run', 'US-001', 1],
    ['glue', 'US-001', 1],
    ['run', 'US-001', 1],
    ['glue', 'US-001', 1],
    ['verify', null, 1],
  ])
  const prompts = called.filter(({ mode }) => mode !== 'examples').map(({ prompt }) => prompt)
  assert.ok(!prompts.join('\n').includes(EXPECTED))
  assert.ok(!JSON.stringify(state).includes(EXPECTED), 'the state has boxes')
  assert.ok(!(out + err).includes(EXPECTED), 'the log')
  assert.match(clone.git('show', `ralph/sample:${PRD}`), /"sealed": "v1:/)
  const { out: report } = await clone.start(['report', '--markdown']).ended
  const html = await clone.start(['report']).ended
  assert.ok(![report, html.out].join().includes(EXPECTED), 'the report')
})

/** Prints where the value is in all that a session can read: files, git objects in both git directories, its prompt and variables. */
const look = (value: string) => ({
  shell: [
    `grep -rIl --binary-files=text -e '${value}' . "$TMPDIR" "$HOME" "$(dirname "$RALPH_PROMPT_FILE")" && echo FOUND in a file`,
    ...['.git', '.git/ralph/git'].map(
      (dir) =>
        `GIT_DIR=${dir} git cat-file --batch-all-objects --batch | grep -a -q -e '${value}' && echo FOUND in ${dir}`,
    ),
    `find /tmp /var/tmp -maxdepth 4 -newer .git/HEAD -type f -not -name script.json -not -name seen.jsonl 2>/dev/null | xargs -r grep -l -e '${value}' 2>/dev/null && echo FOUND in a temporary folder`,
    `env | grep -e '${value}' && echo FOUND in a variable`,
    'echo looked',
  ].join('; '),
})

test('no worker session can read what an example expects before the third mismatch, whose prompt then has it', async () => {
  const wrong = { ...look(EXPECTED), files: WRONG }
  const turns = [
    wrong,
    { ...wrong, files: slug("name + '1'") },
    { ...wrong, files: slug("name + '2'") },
    { files: RIGHT },
  ]
  const { clone, code, out, err, state, called } = await run(turns, {}, STORIES, ['--max-attempts', '4'])
  await using _ = clone
  assert.equal(code, 0, out + err)
  const transcripts = state.timeline.map(({ result }: { result: string }) => result)
  assert.deepEqual(transcripts, ['rejected', 'rejected', 'rejected', 'passed'])
  const logs = clone.git('ls-files', '-o', '--ignored', '--exclude-standard')
  assert.doesNotMatch(logs, /FOUND/)
  assert.equal((out.match(/looked/g) ?? []).length, 3, out)
  assert.doesNotMatch(out + err, /FOUND/)
  const prompts = called.filter(({ mode }) => mode === 'run').map(({ prompt }) => prompt.includes(EXPECTED))
  assert.deepEqual(prompts, [false, false, false, true])
})

test('examples of people need no session, are sealed on the branch, and no state or log has what they expect', async () => {
  const examples = [{ criterion: 1, given: { name: 'Zq HIDDEN 7741' }, expect: EXPECTED }, 'rubbish']
  const one = { ...STORIES[0], acceptanceCriteria: [CRITERIA[0]], examples }
  const { clone, code, out, err, state, called } = await run([{ files: WRONG }, { files: RIGHT }], {}, [one])
  await using _ = clone
  assert.equal(code, 0, out + err)
  assert.deepEqual(
    called.map(({ mode }) => mode),
    ['run', 'glue', 'run', 'glue', 'verify'],
  )
  assert.ok(!JSON.stringify(state).includes(EXPECTED))
  assert.ok(!(out + err).includes(EXPECTED))
  const commits = clone.git('rev-list', 'main..ralph/sample').split('\n')
  for (const commit of commits) assert.ok(!clone.git('show', `${commit}:${PRD}`).includes(EXPECTED), commit)
})

test('examples that contradict each other block their story, and say why to people', async () => {
  const examples = [1, 2].map((expect) => ({ criterion: 1, given: 'a', expect }))
  const one = { ...STORIES[0], examples }
  const { clone, out, state, called } = await run([{ files: RIGHT }], {}, [one])
  await using _ = clone
  assert.deepEqual(called, [])
  const [story1] = state.prd.userStories
  assert.equal(story1.blocked, true, out)
  assert.match(story1.notes, /two examples give the same input, but expect different values/)
})

test('settings that cannot keep the promise are refused', async () => {
  const clone = await openClone(CLI, { [PRD]: JSON.stringify({ schemaVersion: 2, userStories: STORIES }) })
  await using _ = clone
  for (const more of [
    ['--clean-room', 'off'],
    ['--isolation', 'separate-job'],
    ['--max-parallel', '2'],
  ]) {
    const flags = ['--gate', 'ok=true', '--examples', 'sealed', ...more]
    const { code, err, out } = await clone.start(['run', ...clone.agent, ...flags]).ended
    assert.equal(code, 64, out)
    assert.match(
      out + err,
      /sealed examples .*(?:clean-room is off|isolation: separate-job|max-parallel is set)/,
    )
  }
})

test('on GitHub a secret opens in the second job what the first one sealed, and no check, comment or log has it', async () => {
  const examples = [{ criterion: 1, given: { name: 'Zq HIDDEN 7741' }, expect: EXPECTED }]
  const second = {
    ...STORIES[0],
    id: 'US-002',
    acceptanceCriteria: [CRITERIA[0]],
    dependsOn: ['US-001'],
    examples,
  }
  await using site = await openSite({
    stories: [STORIES[0], second] as never,
    script: {
      'US-001': [{ files: RIGHT }],
      'US-002': [{ files: { 'src/more.mjs': 'export const more = 1\n' } }],
      examples: [{ say: WRITTEN }],
      glue: [{ say: GLUE }],
    } as never,
    inputs: {
      ...{
        gates: 'there: test -f src/slug.mjs',
        baseline: 'off',
        'needs-proof': 'off',
        'iterations-per-job': '1',
      },
      ...{ examples: 'sealed', 'examples-key': 'a-key-of-many-characters' },
    },
  })
  await site.runner.dispatch('ralph.yml', { feature: 'sample' }, { actor: 'alice' })
  await site.runner.settled()
  const log = site.log()
  const outcomes = site.runner.runs.map((run) => outputsOf(run).outcome)
  assert.deepEqual(outcomes, ['continued', 'complete'], log)
  assert.match(log, /example 1 of criterion 1: met/)
  const shown = JSON.stringify([log, site.github.world.checks ?? [], await site.github.pulls()])
  assert.ok(!shown.includes(EXPECTED))
})
