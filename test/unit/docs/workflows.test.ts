// The workflows that people copy: linted by actionlint, least in permissions, and the short one equal in what matters.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { promisify } from 'node:util'
import { parse } from 'yaml'
import { ROOT } from '../../e2e/site.ts'
import { actionlint } from '../../machine/actionlint.ts'
import { lacks } from '../../machine/needs.ts'
import { readPages } from './pages.ts'

const starter = await readFile(join(ROOT, 'examples', 'ralph.yml'), 'utf8')
const byHand = await readFile(join(ROOT, 'docs', 'how-to', 'workflow.md'), 'utf8')
const quick = /```yaml\n(name: Ralph\n[\s\S]*?)```/.exec(byHand)?.[1] ?? ''

test('every workflow passes actionlint, except for `queue`', async () => {
  const said = await actionlint(ROOT, 'examples/*.yml', '.github/workflows/*.yml')
  const findings = said.split('\n').filter((line) => /\.yml:\d+:\d+/.test(line))
  assert.deepEqual(
    findings.filter((line) => !/"queue"/.test(line)),
    [],
    said,
  )
})

test('the workflow of docs/how-to/workflow.md has at most 25 lines and equals the starter workflow', () => {
  assert.ok(quick.trimEnd().split('\n').length <= 25)
  const [short, long] = [parse(quick), parse(starter)]
  assert.deepEqual(short.jobs.work.permissions, long.jobs.work.permissions)
  assert.deepEqual(short.jobs.comment.permissions, long.jobs.comment.permissions)
  assert.deepEqual(short.jobs.work.concurrency, long.jobs.work.concurrency)
  assert.equal(short.jobs.comment.if, long.jobs.comment.if)
  // Hosted runners have no agent (facts/github-actions.md 10).
  const version = (jobs: typeof short.jobs) => jobs.work.steps[1].with['agent-version']
  assert.match(version(short.jobs), /^\d+\.\d+\.\d+$/)
  assert.equal(version(short.jobs), version(long.jobs))
  assert.deepEqual(
    Object.keys(short.on.workflow_dispatch.inputs),
    Object.keys(long.on.workflow_dispatch.inputs),
  )
})

test('workflows for users have no expression in a script, and conditions read only the start of a comment', async () => {
  const pages = await readPages()
  const others = pages.flatMap(({ blocks }) =>
    blocks.filter(({ lang }) => lang === 'yaml').map(({ text }) => text),
  )
  const examples = (await readdir(join(ROOT, 'examples'))).filter((name) => name.endsWith('.yml'))
  const files = await Promise.all(examples.map((name) => readFile(join(ROOT, 'examples', name), 'utf8')))
  let scripts = 0
  const look = (value: unknown, key: string): void => {
    if (typeof value === 'string') {
      if (['run', 'prepare', 'gates', 'agent-command', 'agent-wrapper'].includes(key)) {
        scripts += 1
        assert.doesNotMatch(value, /\$\{\{/, value)
      }
      const told = value
        .replaceAll("startsWith(github.event.comment.body, '/ralph')", '')
        // Only the start of a branch's name, compared with a constant.
        .replaceAll("startsWith(github.event.pull_request.head.ref, 'ralph/')", '')
        // A number, compared with a number.
        .replaceAll('github.event.pull_request.head.repo.id == github.event.repository.id', '')
      assert.doesNotMatch(
        told,
        /github\.event\.(?:comment|issue|pull_request|review)\.(?:body|title|head)/,
        value,
      )
    } else if (typeof value === 'object' && value !== null) {
      for (const [name, inner] of Object.entries(value)) look(inner, name)
    }
  }
  for (const text of [...files, ...others]) look(parse(text), '')
  assert.ok(scripts > 3)
})

test('workflows for users give tokens only the permissions needed, and none at the top level', () => {
  const { permissions, jobs } = parse(starter)
  assert.deepEqual(permissions, {})
  assert.deepEqual(Object.keys(jobs.work.permissions).sort(), [
    'actions',
    'checks',
    'contents',
    'issues',
    'pull-requests',
  ])
  assert.equal(jobs.work.steps[0].with['persist-credentials'], false)
})

type Step = { uses?: string; run?: string; with?: Record<string, unknown>; env?: Record<string, string> }
type Job = {
  steps: Step[]
  permissions?: Record<string, string>
  needs?: string | string[]
  environment?: string
}
const OWN = join(ROOT, '.github', 'workflows')
const own = await Promise.all(
  (await readdir(OWN)).map(async (name) => {
    const text = await readFile(join(OWN, name), 'utf8')
    const { permissions, jobs }: { permissions: object; jobs: Record<string, Job> } = parse(text)
    return { name, text, permissions, jobs }
  }),
)

test("zizmor finds nothing in this repository's workflows", { skip: lacks('zizmor') }, async () => {
  // Without a network: what it would ask GitHub is left out.
  const args = ['--offline', '--persona=pedantic', '--no-progress', '--format=plain', '.github']
  const run = promisify(execFile)('zizmor', args, { cwd: ROOT })
  const { stdout } = await run.catch((error: { stdout: string; stderr: string }) =>
    assert.fail(`${error.stdout}${error.stderr}`),
  )
  assert.match(stdout, /No findings to report/)
})

type Finding = {
  ident: string
  locations: { symbolic: { kind: string; key: { Local: { verbatim_path: string } } } }[]
}

test('docs/internals/security.md answers every finding of zizmor in examples/', {
  skip: lacks('zizmor'),
}, async () => {
  const folder = join(ROOT, 'examples')
  const names = (await readdir(folder)).filter((name) => name.endsWith('.yml'))
  const args = ['--offline', '--persona=pedantic', '--no-progress', '--format=json', '--no-exit-codes']
  const { stdout } = await promisify(execFile)('zizmor', [...args, ...names], { cwd: folder })
  const found = (JSON.parse(stdout) as Finding[]).flatMap(({ ident, locations }) =>
    locations
      .filter(({ symbolic }) => symbolic.kind === 'Primary')
      .map(({ symbolic }) => `${ident} ${symbolic.key.Local.verbatim_path}`),
  )
  const page = await readFile(join(ROOT, 'docs', 'internals', 'security.md'), 'utf8')
  const [, rows = ''] = /^\[zizmor\][^\n]*\n\n((?:\|.*\n)+)/m.exec(page) ?? []
  const answered = [...rows.matchAll(/^\| ([a-z-]+) \| ([\w., -]+\.yml) \|/gm)].flatMap(
    ([, ident, files = '']) => files.split(', ').map((file) => `${ident} ${file}`),
  )
  assert.deepEqual([...new Set(found)].sort(), answered.sort())
})

test("this repository's workflows pin actions by SHA, leave no token in a checkout, and have no expression in a script", () => {
  assert.deepEqual(own.map(({ name }) => name).sort(), [
    'ci.yml',
    'nightly.yml',
    'release-pr.yml',
    'release.yml',
    'scorecard.yml',
  ])
  for (const { name, text, jobs } of own) {
    assert.doesNotMatch(text, /pull_request_target|write-all/, name)
    for (const [, used = ''] of text.matchAll(/uses: (.*)/g))
      assert.match(used, /^[\w-]+(?:\/[\w-]+)+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/, name)
    for (const { run = '', uses, with: inputs } of Object.values(jobs).flatMap(({ steps }) => steps)) {
      if (uses?.startsWith('actions/checkout@')) assert.equal(inputs?.['persist-credentials'], false, name)
      if (/npm (?:ci|install|i)\b/.test(run)) assert.match(run, /--ignore-scripts/, name)
      assert.doesNotMatch(run, /\$\{\{/, name)
    }
  }
})

test('jobs that test a change have a read-only token and no secret', () => {
  for (const { name, text, permissions, jobs } of own.filter(({ name }) => /^(?:ci|nightly)/.test(name))) {
    assert.deepEqual(permissions, { contents: 'read' }, name)
    assert.doesNotMatch(text, /\bsecrets\./, name)
    for (const job of Object.values(jobs)) assert.equal(job.permissions, undefined, name)
  }
})

test('release jobs: the build has a read-only token, jobs that write run no package, and only npm and the attestation sign', () => {
  for (const { name, permissions, jobs } of own.filter(({ name }) => name.startsWith('release'))) {
    assert.deepEqual(permissions, {}, name)
    for (const [id, { permissions: given = {}, steps }] of Object.entries(jobs)) {
      const isBuilding = steps.some(({ run = '' }) => /npm (?:ci|run)/.test(run))
      const isWriting = Object.values(given).includes('write')
      assert.ok(!(isBuilding && isWriting), `${name}: ${id}`)
      const isSigning = given['id-token'] === 'write'
      assert.equal(isSigning, name === 'release.yml' && ['attest', 'npm'].includes(id), `${name}: ${id}`)
    }
  }
  const { jobs } = own.find(({ name }) => name === 'release.yml') ?? assert.fail()
  assert.equal(jobs.publish?.environment, 'release', 'a person approves')
  assert.deepEqual(jobs.major?.needs, ['look', 'npm', 'canary'])
  const secrets = Object.entries(jobs).filter(([, job]) => JSON.stringify(job).includes('secrets.'))
  assert.deepEqual(
    secrets.map(([id]) => id),
    ['canary'],
  )
})

test('one package only may run an install script', async () => {
  const { packages } = JSON.parse(await readFile(join(ROOT, 'package-lock.json'), 'utf8'))
  const withScripts = Object.keys(packages).filter((path) => packages[path].hasInstallScript === true)
  assert.deepEqual(withScripts, ['node_modules/esbuild', 'node_modules/node'])
  const { allowScripts } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'))
  assert.deepEqual(allowScripts, { esbuild: false, node: true }, 'one is allowed: it fetches node itself')
})

for (const example of ['ralph-separate.yml', 'ralph-separate-parallel.yml'])
  test(`${example}: agent and gates have a read-only token, gates no key, and no job leaves a token in the checkout`, async () => {
    const text = await readFile(join(ROOT, 'examples', example), 'utf8')
    const { permissions, jobs } = parse(text)
    assert.deepEqual(permissions, {})
    const writing = parse(starter).jobs.work.permissions
    assert.deepEqual(
      ['claim', 'work', 'gate', 'land'].map((name) => jobs[name].permissions),
      [writing, { contents: 'read' }, { contents: 'read' }, writing],
    )
    type Step = { uses?: string; env?: Record<string, string>; with?: Record<string, unknown>; run?: string }
    for (const [name, { steps }] of Object.entries<{ steps: Step[] }>(jobs)) {
      for (const step of steps) {
        assert.equal(step.run, undefined, 'nothing that is handed over stands in a script')
        assert.match(step.uses ?? '', /^(ralph\/action@<sha>|actions\/[a-z-]+@[0-9a-f]{40})$/)
        if (step.uses?.startsWith('actions/checkout')) assert.equal(step.with?.['persist-credentials'], false)
        const secrets = Object.values(step.env ?? {}).filter((value) => String(value).includes('secrets.'))
        assert.equal(secrets.length > 0, name === 'work' && step.with?.command === 'work', name)
      }
    }
  })
