// `ralph validate`: everything that is wrong, and everything that means something else here, at once.
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { COMPILED, MAIN } from './place.ts'

const FIXTURES = join(import.meta.dirname, '..', '..', 'fixtures', 'prd')
const PRD = '.ralph/2026-01-31-sample/prd.json'
const folder = mkdtempSync(join(tmpdir(), 'ralph-validate-'))
after(() => rmSync(folder, { recursive: true }))

type Ran = { code: number | null; out: string; err: string }

/** Runs the command in a new repository with these files. */
function ralph(name: string, files: Record<string, string>, ...args: string[]): Ran {
  const cwd = join(folder, name)
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(cwd, path)), { recursive: true })
    writeFileSync(join(cwd, path), text)
  }
  const env = { ...COMPILED, PATH: process.env.PATH, HOME: folder }
  const who = ['-c', 'user.name=a', '-c', 'user.email=a@a.test']
  for (const command of [
    ['init', '-q', '-b', 'main', '.'],
    ['add', '-A'],
    [...who, 'commit', '-qm', 'start'],
  ])
    execFileSync('git', command, { cwd, env })
  const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, ...args], {
    cwd,
    env,
    encoding: 'utf8',
  })
  return { code: status, out: stdout, err: stderr }
}

const GOOD = JSON.stringify({ userStories: [{ id: 'US-001', title: 'x', acceptanceCriteria: ['y'] }] })

test('validate reports a missing browser with all other mistakes', () => {
  const browser = 'browser: { baseUrl: "http://localhost:1", executablePath: ./no-chrome }\n'
  const agent = 'agent: custom\nagentCommand: cat\n'
  for (const [name, config, prd, before, behind] of [
    ['browser-config', 'maxAttemps: 2\n', GOOD, ['ralph.config.yml: maxAttemps'], ['gates']],
    ['browser-prd', '', '{', [`${PRD}: line 1 column 2`], ['gates']],
    ['browser-prd-gates', 'gates: none\n', '{', [`${PRD}: line 1 column 2`], []],
    ['browser', 'gates: none\n', GOOD, [], []],
  ] as const) {
    const { code, out } = ralph(
      name,
      { 'ralph.config.yml': config + agent + browser, [PRD]: prd },
      'validate',
      '--json',
    )
    assert.equal(code, 64)
    const paths = JSON.parse(out).errors.map(({ path }: { path: string }) => path)
    assert.deepEqual(paths, [...before, 'browser.executablePath', ...behind])
  }
})

test('validate reports mistakes of the configuration and of prd.json together', () => {
  const files = {
    'ralph.config.yml':
      'maxAttemps: 2\nsignCommits: always\nagentEnv: [GITHUB_TOKEN]\nagent: custom\nagentCommand: cat\n',
    [PRD]: JSON.stringify({
      userStories: [
        { id: 'US-001', title: 'x' },
        { id: 'US-001', title: '' },
      ],
    }),
  }
  const { code, out, err } = ralph('both', files, 'validate', '--json', '--max-iterations', 'many')
  assert.equal(code, 64)
  const { errors, warnings } = JSON.parse(out)
  assert.deepEqual(
    errors.map(({ path }: { path: string }) => path),
    [
      'ralph.config.yml: maxAttemps',
      '--max-iterations',
      'ralph.config.yml: signCommits',
      `${PRD}: userStories[0].acceptanceCriteria`,
      `${PRD}: userStories[1].title`,
      `${PRD}: userStories[1].acceptanceCriteria`,
      `${PRD}: userStories[1].id`,
      'gates',
    ],
    err,
  )
  assert.match(warnings.join('\n'), /ralph\.config\.yml: agentEnv: GITHUB_TOKEN is never passed to the agent/)
  assert.match(err, /^warning: ralph\.config\.yml: agentEnv/m)
})

test('validate reports obstacles to a run together with mistakes of prd.json', () => {
  const files = { [PRD]: '{"userStories": []}', '.ralph/prompts/run.md': '{{storyId}} {{gatse}}\n' }
  const wrong = ['--agent', 'amp', '--working-directory', 'nowhere']
  for (const asked of ['validate', 'next', 'run']) {
    const { code, out, err } = ralph(`all-${asked}`, files, asked, '--json', ...wrong)
    assert.equal(code, 64, err)
    assert.deepEqual(
      JSON.parse(out).errors.map(({ path }: { path: string }) => path.replace(/:\d+$/, '')),
      [`${PRD}: userStories`, '.ralph/prompts/run.md', 'working-directory', 'agent', 'gates'],
      asked,
    )
  }
})

test('validate warns about a workflow that GitHub cannot start, which does not stop a local run', () => {
  const workflow = 'on: push\njobs: { work: { runs-on: x, steps: [{ uses: ralph/action@v1 }] } }\n'
  const files = { [PRD]: GOOD, '.github/workflows/ralph.yml': workflow }
  const needs = ['--gate', 'test=true', '--agent', 'custom', '--agent-command', 'cat']
  const { code, out } = ralph('workflow', files, 'validate', ...needs)
  assert.equal(code, 0, out)
  assert.match(out, /^warning: workflow: .*ralph\.yml has no workflow_dispatch trigger; fix: add on: /m)
})

test('validate checks prd.json although the configuration is unreadable or missing', () => {
  const broken = { [PRD]: '{"userStories": []}' }
  const unreadable = ralph('yaml', { ...broken, 'ralph.config.yml': 'gates: [\n' }, 'validate', '--json')
  const paths = (ran: Ran): string[] => JSON.parse(ran.out).errors.map(({ path }: { path: string }) => path)
  assert.match(paths(unreadable).join('\n'), /^ralph\.config\.yml: line \d.*\n[^\n]*userStories$/)
  const missing = ralph('missing', broken, 'validate', '--json', '--config-file', 'none.yml')
  assert.deepEqual(paths(missing), ['--config-file', `${PRD}: userStories`])
})

test('validate warns about what it changed or ignored in prd.json, and about settings without effect', () => {
  const prd = JSON.parse(readFileSync(join(FIXTURES, 'bmad.json'), 'utf8'))
  prd.userStories[1].dependOn = ['US-001']
  const config = [
    'logs: 5',
    'agentEnv: [GITHUB_TOKEN]',
    'gates: { test: "true" }',
    'agent: custom',
    'agentCommand: ./agent.sh',
  ]
  const files = { [PRD]: JSON.stringify(prd), 'ralph.config.yml': config.join('\n') }
  const { code, out } = ralph('notes', files, 'validate')
  assert.equal(code, 0, out)
  const place = PRD.replaceAll('.', '\\.')
  assert.match(
    out,
    new RegExp(
      `^warning: ${place}: Ralph does not run gates from prd\\.json, such as config\\.qualityGates \\(`,
      'm',
    ),
  )
  assert.match(out, new RegExp(`^warning: ${place}: US-\\d+: Ralph does not read "dependOn"`, 'm'))
  assert.match(out, /^warning: ralph\.config\.yml: agentEnv: GITHUB_TOKEN is never passed to the agent/m)
})

test('validate of one feature reports nothing of another', () => {
  const other = JSON.stringify({ tasks: [{ title: 'x', completed: true }] })
  const files = { [PRD]: GOOD, '.ralph/2026-01-30-other/prd.json': other }
  const { out } = ralph('other', files, 'validate', 'sample', '--gate', 'test=true')
  assert.doesNotMatch(out, /read as user stories/)
  assert.match(out, /^warning: .*sample\/prd\.json: Ralph converted the file to schema version 2/m)
})

test('validate reports invisible characters by story, field, kind and place, and leaves the file unchanged', () => {
  const hidden = 'Sign in\u{e0064}\u{e006f}\u{e006e}\u{e0065}'
  const stories = [
    { id: 'US-001', title: hidden, description: 'a\u202eb', acceptanceCriteria: ['fine', 'x\u200by'] },
    { id: 'US-002', title: 'می‌خواهم 👩‍💻 ❤️', acceptanceCriteria: ['y'] },
  ]
  const files = { [PRD]: JSON.stringify({ userStories: stories }) }
  const { code, out } = ralph(
    'hidden',
    files,
    'validate',
    '--gate',
    'test=true',
    '--agent',
    'custom',
    '--agent-command',
    'x',
  )
  assert.equal(code, 0, out)
  assert.deepEqual(
    out.split('\n').filter((line) => line.includes('neither shows')),
    [
      'US-001 title: 4 tag characters, the first at character 8',
      'US-001 description: 1 bidirectional control, the first at character 2',
      'US-001 acceptanceCriteria[1]: 1 zero-width character, the first at character 2',
    ].map((found) => `warning: ${PRD}: ${found}: Ralph neither shows this nor puts it into prompts.`),
  )
})

test('the dry run calls passes in prd.json imported, and says of no gate that it ran', () => {
  const story = { title: 'x', acceptanceCriteria: ['y'], passes: true }
  const files = {
    [PRD]: JSON.stringify({
      userStories: [
        { ...story, id: 'US-001' },
        { ...story, id: 'US-002' },
      ],
    }),
  }
  const needs = ['--gate', 'test=true', '--agent', 'custom', '--agent-command', 'x']
  const judged = ralph('imported', files, 'run', '--dry-run', ...needs)
  assert.match(
    judged.out,
    /^Next: the final verification \(2 imported as passed; no gate of this run has checked them\)$/m,
  )
  const plain = ralph('imported-plain', files, 'run', '--dry-run', ...needs, '--final-verification', 'false')
  assert.match(
    plain.out,
    /no story passed its gates, 2 had passed before this run, and no gate of this run has checked them/,
  )
  for (const { out } of [judged, plain])
    assert.doesNotMatch(out, /(?<!no story )passed its gates|passed their gates/)
})
