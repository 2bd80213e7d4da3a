// A whole run over hostile stories, an agent with hostile words and file names, and a gate that repeats them: nothing of it
// comes to a command line, every commit says what it should, and the log is lines of ours.
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { hostileStrings } from '../fixtures/hostile-strings.ts'
import { heard } from '../unit/heard.ts'
import { assertHarmless, assertVisible } from '../unit/report/structure.ts'
import { annotationsOf, badTurn, goodTurn, openSite, outputsOf, ROOT, RUN_TESTS, story } from './site.ts'

const CLI = join(ROOT, 'dist', 'cli', 'main.js')
const REAL = (name: string) => execFileSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim()

/** Some of every kind, and those that a commit, a prompt or a shell would fall for. */
const WANTED = new Set([
  'command substitution',
  'backticks',
  'line feed',
  'both quotes',
  'option',
  'error',
  'legacy mid-line',
  'trailer of a story',
  'skip ci',
  'zero inside',
  'high half',
  'our marker',
  'end of a label',
  'colour',
  'section',
  'proto in JSON',
])
const texts = hostileStrings.filter(({ name }) => WANTED.has(name)).map(({ text }) => text)

/** Names that a file may have, and names that the guard refuses. */
const NAMES = [
  'src/$(touch hostile-was-here).txt',
  'src/`touch hostile-was-here`.txt',
  'src/a;touch hostile-was-here;.txt',
  'src/::error::x.txt',
  'src/see ##[error]x.txt',
  'src/-rf',
  'src/a|b.txt',
  'src/<b>@octocat #1.txt',
  "src/it's.txt",
  'src/%0A::error::x.txt',
  '--upload-pack=touch hostile-was-here',
]
const REFUSED = ['src/a\nb.txt', 'src/\u001b[31mred.txt', 'src/\u202egnp.txt', 'src/a\r::error::x.txt']

const AGENT = `
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
const { texts, names, refused, seen } = JSON.parse(readFileSync(process.argv[2], 'utf8'))
const prompt = readFileSync(0, 'utf8')
const env = Object.entries(process.env).filter(([name]) => name.startsWith('RALPH_'))
appendFileSync(seen, JSON.stringify({ args: process.argv.slice(3), env: Object.fromEntries(env), prompt }) + '\\n')
const id = process.env.RALPH_STORY_ID ?? ''
mkdirSync('src', { recursive: true })
for (const text of texts) {
  process.stdout.write(text + '\\n')
  process.stderr.write(text + '\\n')
}
for (const text of texts) process.stdout.write('<ralph>LEARNING:' + text.replaceAll('\\n', ' ') + '</ralph>\\n')
if (id === 'US-001') for (const name of names) writeFileSync(name, 'x')
if (id === 'US-002' && process.env.RALPH_ATTEMPT === '1') for (const name of refused) writeFileSync(name, 'x')
if (id === 'US-003' && process.env.RALPH_ATTEMPT === '1') writeFileSync('src/bad.txt', 'bad')
else if (id === 'US-003') writeFileSync('src/bad.txt', 'good')
writeFileSync('src/' + id + '.txt', id)
process.stdout.write('<ralph>DONE</ralph>\\n')
`

test('a run with hostile text in stories, agent output and file names', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'ralph-hostile-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const repository = join(folder, 'clone')
  const [bin, seen, asked] = [join(folder, 'bin'), join(folder, 'seen.jsonl'), join(folder, 'asked')]
  await mkdir(bin)
  // What is run, and with what: each argument ends with a NUL, each call with a unit separator.
  for (const name of ['bash', 'git']) {
    const shim = `#!/bin/sh\nprintf '%s\\0' ${name} "$@" >>'${asked}'\nprintf '\\037' >>'${asked}'\nexec ${REAL(name)} "$@"\n`
    await writeFile(join(bin, name), shim)
    await chmod(join(bin, name), 0o755)
  }
  await writeFile(join(folder, 'agent.mjs'), AGENT)
  await writeFile(join(folder, 'plan.json'), JSON.stringify({ texts, names: NAMES, refused: REFUSED, seen }))
  await mkdir(join(repository, '.ralph', '2026-01-31-sample'), { recursive: true })
  const userStories = texts.map((text, at) => ({
    id: `US-${String(at + 1).padStart(3, '0')}`,
    title: text,
    description: text,
    acceptanceCriteria: [text],
    tags: [text],
    notes: text,
  }))
  const prd = { schemaVersion: 2, project: texts[0], description: texts[1], userStories }
  await writeFile(join(repository, '.ralph', '2026-01-31-sample', 'prd.json'), JSON.stringify(prd))
  const env = { PATH: `${bin}:${process.env.PATH}`, HOME: folder }
  const git = (...args: string[]) =>
    execFileSync(REAL('git'), args, { cwd: repository, env, encoding: 'utf8', maxBuffer: 1e8 })
  git('init', '-q', '-b', 'main', '.')
  git('config', 'user.name', 'Ann')
  git('config', 'user.email', 'ann@a.test')
  git('add', '-A')
  git('commit', '-q', '-m', 'start')
  const gate = 'cat src/*.txt; find src; ! grep -qr bad src'
  const ran = spawnSync(
    process.execPath,
    [
      CLI,
      'run',
      ...[
        '--agent',
        'custom',
        '--agent-command',
        `exec "${process.execPath}" "${folder}/agent.mjs" "${folder}/plan.json"`,
      ],
      ...['--gate', `test=${gate}`, '--final-verification', 'false'],
    ],
    { cwd: repository, env, encoding: 'utf8', maxBuffer: 1e8 },
  )
  assert.equal(ran.status, 0, ran.stdout + ran.stderr)

  await t.test('the log has no workflow command and no terminal sequence of that text', () => {
    for (const text of [ran.stdout, ran.stderr]) {
      assert.deepEqual(heard(text).done, [])
      assert.doesNotMatch(text, /[^\P{Cc}\n\t]|[\u2028\u2029\u202a-\u202e\u2066-\u2069]/u)
    }
    assert.match(ran.stdout, /US-002 rejected/)
    assert.match(ran.stdout, /US-003 rejected/)
  })

  await t.test('every story has one commit, with no other trailer', () => {
    const log = git(
      'log',
      '--reverse',
      '--format=%(trailers:only,unfold)%x00%s%x00',
      'main..ralph/sample',
    ).split('\0')
    const commits = log.flatMap((one, at) =>
      at % 2 === 0 ? [{ trailers: one.trim(), subject: log[at + 1] ?? '' }] : [],
    )
    const stories = commits.filter(({ trailers }) => trailers.includes('Ralph-Story'))
    assert.deepEqual(
      stories.map(({ trailers }) =>
        trailers.replace(/Ralph-Run: [\w-]+$/, 'Ralph-Run: n').replace(/(?<=Iteration: )\d+/, 'i'),
      ),
      userStories.map(({ id }) => `Ralph-Story: ${id}\nRalph-Iteration: i\nRalph-Run: n`),
    )
    for (const { subject } of commits) assert.doesNotMatch(subject, /\[skip ci\]|@[\w-]|#\d/)
  })

  await t.test(
    'files keep the names that the agent gave, and those that the guard refuses are not on the branch',
    () => {
      const files = git('ls-tree', '-r', '-z', '--name-only', 'ralph/sample').split('\0')
      for (const name of NAMES) assert.ok(files.includes(name), name)
      for (const name of REFUSED) assert.ok(!files.includes(name), JSON.stringify(name))
      assert.equal(git('status', '--porcelain'), '')
    },
  )

  await t.test('no hostile text is in an argument or a variable of a process, and none was run', async () => {
    const calls = (await readFile(asked, 'utf8')).split('\u001f').map((call) => call.split('\0'))
    assert.ok(calls.some(([name, ...args]) => name === 'bash' && args.includes(gate)))
    assert.ok(calls.filter(([name]) => name === 'git').length > userStories.length)
    const sessions = (await readFile(seen, 'utf8'))
      .split('\n')
      .filter(Boolean)
      .map((line): { args: string[]; env: Record<string, string>; prompt: string } => JSON.parse(line))
    assert.equal(sessions.length, userStories.length + 2)
    const hostile = [...texts, ...NAMES, ...REFUSED]
    for (const words of [
      ...calls,
      ...sessions.map(({ args, env: set }) => [...args, ...Object.values(set)]),
    ]) {
      for (const text of hostile) {
        assert.ok(
          !words.some((word) => word.includes(text)),
          `${JSON.stringify(text)} in ${JSON.stringify(words)}`,
        )
      }
    }
    const everything = await readdir(folder, { recursive: true })
    assert.deepEqual(
      everything.filter((path) => path.endsWith('hostile-was-here') && !path.includes('--upload-pack')),
      [],
    )
    const again = sessions.find(
      ({ env: set }) => set.RALPH_STORY_ID === 'US-002' && set.RALPH_ATTEMPT === '2',
    )
    // The refused names are told, on lines of ours.
    assert.match(again?.prompt ?? '', /^Left out of it, because it may not be changed: .*gnp\.txt/m)
    assert.doesNotMatch(again?.prompt ?? '', /^b\.txt|^::error::x\.txt/m)
  })

  await t.test('progress.txt has an entry for every iteration, and prd.json every passed story', () => {
    const progress = git('show', 'ralph/sample:.ralph/2026-01-31-sample/progress.txt')
    assert.equal(progress.match(/^## Iteration \d+ - US-\d{3}: /gm)?.length, userStories.length + 2)
    assert.equal(progress.match(/^\*\*Status:\*\* (?:PASSED|FAILED)$/gm)?.length, userStories.length + 2)
    const written = JSON.parse(git('show', 'ralph/sample:.ralph/2026-01-31-sample/prd.json'))
    assert.deepEqual(
      written.userStories.map(({ id, title, passes }: Record<string, unknown>) => [id, title, passes]),
      userStories.map(({ id, title }) => [id, title, true]),
    )
  })
})

const UNSEEN =
  /^\.ralph\/2026-01-31-sample\/prd\.json: (?:US-\d+ \w+(?:\[\d+\])?: \d+ [a-z -]+, the first at character \d+: Ralph neither shows this nor puts it into prompts|\d+ more places with characters that are not shown)\.$/

test('a job with hostile text in stories, agent output and file names: texts on GitHub are escaped', async () => {
  // Each costs a second.
  const few = texts.filter((text) => /::|##|<!--|"\]|skip ci|[^\P{Cc}\n]/u.test(text))
  const ids = few.map((_, at) => `US-${String(at + 1).padStart(3, '0')}`)
  const say = `${texts.join('\n')}\n${texts.map((text) => `<ralph>LEARNING:${text}</ralph>`).join('\n')}\n<ralph>DONE</ralph>`
  const turns = ids.map((id, at) => [id, [{ ...goodTurn(`part${at}`, at), say }]])
  const script = Object.fromEntries(turns)
  script['US-001'] = [
    { ...badTurn('part0', 0), say },
    { ...goodTurn('part0', 0), say },
  ]
  script['US-002'] = [{ ...badTurn('part1', 1), say }]
  await using site = await openSite({
    stories: few.map((text, at) =>
      story(ids[at] ?? '', text, {
        description: text,
        acceptanceCriteria: [text],
        tags: [text],
        notes: text,
      }),
    ),
    script,
    inputs: {
      gates: `test: cat prose.txt 2>/dev/null; ${RUN_TESTS}`,
      'iterations-per-job': '5',
      'max-attempts': '2',
      'final-verification': 'false',
    },
    files: { 'prose.txt': `${texts.join('\n')}\n` },
  })
  const { github, runner } = site
  const run = await site.go()
  assert.equal(outputsOf(run).outcome, 'stuck', site.log())
  assert.equal(outputsOf(run)['stories-passed'], String(ids.length - 1))
  assert.equal(outputsOf(run)['stories-blocked'], '1')

  const names =
    'ref commit outcome feature branch pull-request-number pull-request-url iterations stories-total stories-passed stories-blocked cost-usd next-run-id report-path attestation-path attestation-subject'
  assert.ok(runner.runs.some((one) => annotationsOf(one, 'notice').length > 0))
  for (const one of runner.runs) {
    // Of what nobody sees a job tells where it stood, without the texts themselves.
    for (const notice of annotationsOf(one, 'notice')) assert.match(notice, UNSEEN)
    assert.deepEqual(annotationsOf(one, 'warning'), [])
    assert.equal(annotationsOf(one, 'error').length, one === run ? 1 : 0)
    const keys = one.jobs.flatMap((job) => job.steps.flatMap((step) => Object.keys(step.outputs)))
    assert.deepEqual(new Set(keys), new Set(names.split(' ')))
  }
  const pull = await site.pull()
  const links = [`${github.url}/${github.fullName}/`]
  const [comment, ...others] = github.comments(pull.number)
  assert.deepEqual(others, [])
  assertHarmless(comment?.body ?? '', '<!-- ralph:sticky:sample -->', links, 'the comment')
  const seal = /<!-- \/ralph:pull:sample title=\w{16} text=\w{16} -->$/
  assert.match(pull.body ?? '', seal)
  const text = pull.body?.replace(seal, '') ?? ''
  assertHarmless(text, '<!-- ralph:pull:sample -->', links, 'the pull request')
  assertVisible(pull.title, pull.title)
  const checks = await site.checks()
  assert.deepEqual([...checks.keys()].sort(), ['ralph', ...ids.map((id) => `ralph / ${id}`)])
  for (const { name, title, summary, text } of checks.values()) {
    assertVisible(title ?? '', name)
    assertHarmless(summary ?? '', null, links, name)
    assertHarmless(text ?? '', null, links, name)
  }
  // Nothing but the state, the branch and the pull request was moved.
  assert.deepEqual(
    [...new Set(github.pushes.filter(({ job }) => job !== null).map(({ ref }) => ref))].sort(),
    ['refs/heads/ralph/sample', 'refs/ralph/2026-01-31-sample'],
  )
})
