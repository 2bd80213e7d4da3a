// `ralph init` as a person types it: what is written, what is left, and that a second time does nothing.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmod, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { Ajv } from 'ajv'
import { parse } from 'yaml'
import { writeFiles } from '../../../src/cli/write-files.ts'
import { readSettings } from '../../../src/settings/read-settings.ts'
import { NODE, openProject as open, PIN } from './init-project.ts'

const ROOT = join(import.meta.dirname, '..', '..', '..')
const inFolder = (folder: string, files: Record<string, string>) =>
  Object.fromEntries(Object.entries(files).map(([path, text]) => [`${folder}/${path}`, text]))

const expression = (inner: string) => `$\{{ ${inner} }}`
const WRITTEN = [
  '.github/ISSUE_TEMPLATE/ralph.yml',
  '.github/workflows/ralph-resume.yml',
  '.github/workflows/ralph.yml',
  '.ralph/.gitattributes',
  '.ralph/.gitignore',
  'ralph.config.yml',
]

test('init of a Node project shows the files, writes them, and does nothing the second time', async () => {
  await using project = await open(NODE)
  const first = project.init('--yes')
  assert.equal(first.code, 0, first.err)
  assert.deepEqual(Object.keys(await project.all()), [...WRITTEN, 'package.json'].sort())
  assert.ok(first.out.indexOf('+name: Ralph') < first.out.indexOf('Written:'))
  const before = await project.all()
  const second = project.init('--yes')
  assert.match(second.out, /^Nothing was written: every file is already there/m)
  assert.doesNotMatch(second.out, /^\+/m)
  assert.deepEqual(await project.all(), before)
  assert.equal(
    execFileSync('git', ['status', '--porcelain', '-uall'], { cwd: project.folder, encoding: 'utf8' }).split(
      '\n',
    ).length,
    8,
  )
})

test('init writes the workflow that answers a required check when asked, with the prefix of its branches', async () => {
  await using project = await open(NODE)
  project.init('--yes', '--branch-prefix', 'bots/ralph/')
  assert.deepEqual(Object.keys(await project.all()), [...WRITTEN, 'package.json'].sort())
  const { code, out } = project.init('--yes', '--required')
  assert.equal(code, 0)
  assert.match(out, /^ {2}\.github\/workflows\/ralph-required\.yml$/m)
  const text = await project.read('.github/workflows/ralph-required.yml')
  assert.doesNotMatch(text, /'ralph\/'|<sha>/)
  const { name, steps } = parse(text).jobs.answer
  assert.ok(name.includes("startsWith(github.head_ref, 'bots/ralph/')"), name)
  assert.equal(steps[1].env.PREFIX, 'bots/ralph/')
})

test("init adds an exception for `queue` to the project's actionlint configuration", async () => {
  const config = '.github/actionlint.yaml'
  await using project = await open({ ...NODE, [config]: 'self-hosted-runner:\n  labels: [big]\n' })
  const { out } = project.init('--yes', '--diff')
  assert.match(out, /^\+paths:$/m)
  assert.deepEqual(Object.keys(parse(await project.read(config))), ['self-hosted-runner', 'paths'])
  assert.match(project.init('--yes').out, /^Nothing was written: every file is already there/m)
  await project.write({ [config]: 'paths: { "**/own.yml": { ignore: [SC2086] } }\n' })
  assert.match(
    project.init('--yes').out,
    /^warning: actionlint .* add to \.github\/actionlint\.yaml: paths: /m,
  )
})

test("init's configuration is valid against its schema and has the gates of the workflow", async () => {
  await using project = await open(NODE)
  project.init('--yes', '--max-iterations', '30')
  const text = await project.read('ralph.config.yml')
  assert.match(
    text,
    /^# yaml-language-server: \$schema=https:\/\/\S+\/schemas\/ralph\.config\.schema\.json$/m,
  )
  const config = parse(text)
  const schema = JSON.parse(await readFile(join(ROOT, 'schemas', 'ralph.config.schema.json'), 'utf8'))
  const isConfig: boolean = new Ajv({ strictTypes: false }).validate(schema, config)
  assert.ok(isConfig)
  assert.deepEqual(config.gates, { lint: 'npm run lint', test: 'npm test' })
  assert.equal(config.maxIterations, 30)
  const { with: inputs, uses } = parse(await project.read('.github/workflows/ralph.yml')).jobs.work.steps[1]
  assert.deepEqual(parse(inputs.gates), config.gates)
  assert.equal(inputs['max-iterations'], 30)
  assert.equal(uses, `ralph/action@${PIN}`)
})

const workflow = '.github/workflows/ralph.yml'

test('init leaves existing files and names them', async () => {
  await using project = await open({ ...NODE, [workflow]: 'name: ours\n', '.ralph/.gitignore': 'own\n' })
  const { code, out } = project.init('--yes')
  assert.equal(code, 0)
  assert.match(out, /left unchanged: \.github\/workflows\/ralph\.yml, \.ralph\/\.gitignore$/m)
  assert.equal(await project.read(workflow), 'name: ours\n')
  assert.equal(await project.read('.ralph/.gitignore'), 'own\n')
  assert.ok((await project.read('ralph.config.yml')).includes('npm test'))
})

test("init takes the workflow's settings from an existing configuration", async () => {
  await using project = await open({
    ...NODE,
    'ralph.config.json': JSON.stringify({
      maxRetries: 5,
      verify: { default: ['npm test'], ui: ['npm run e2e'] },
    }),
  })
  project.init('--yes')
  const { with: inputs } = parse(await project.read(workflow)).jobs.work.steps[1]
  const gates = {
    'npm-test': 'npm test',
    'npm-run-e2e': { run: 'npm run e2e', when: 'ui', behindPages: true },
  }
  assert.deepEqual(parse(inputs.gates), gates)
  assert.ok(!('ralph.config.yml' in (await project.all())), 'it would be read in the place of the other')
})

test('init proposes gates of older configurations with their source, but not those that a workflow would evaluate', async () => {
  const prd = {
    project: 'x',
    branchName: 'ralph/x',
    config: {
      qualityGates: {
        typecheck: 'tsc -p .',
        test: 'npm run all',
        lint: null,
        build: `echo ${expression('secrets.KEY')}`,
      },
    },
    userStories: [{ id: 'US-001', title: 'one', acceptanceCriteria: ['a'], priority: 1, passes: false }],
  }
  await using project = await open({ ...NODE, 'ralph/prd.json': JSON.stringify(prd) })
  const { out } = project.init('--yes')
  assert.match(out, /gate test +npm run all \(ralph\/prd\.json\)/)
  const { with: inputs } = parse(await project.read(workflow)).jobs.work.steps[1]
  assert.deepEqual(parse(inputs.gates), { lint: 'npm run lint', test: 'npm run all', typecheck: 'tsc -p .' })
})

test('init proposes limits and settings of older configurations with their source, and mentions every other key', async () => {
  await using at = await open({
    ...NODE,
    'ralph/prd.json': JSON.stringify({
      project: 'x',
      config: { maxIterations: 40, stuckThreshold: 4, qualityGates: { typecheck: 'npm run types' } },
      userStories: [{ id: 'US-1', title: 'a', acceptanceCriteria: ['b'], priority: 1, passes: false }],
    }),
    '.ralphrc': [
      'PROJECT_NAME="x"',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a shell's default
      'MAX_CALLS_PER_HOUR="${MAX_CALLS_PER_HOUR:-80}"',
      'CLAUDE_TIMEOUT_MINUTES=20',
      'ALLOWED_TOOLS="Write,Bash(npm *)"',
      'CB_NO_PROGRESS_THRESHOLD=4',
      'CB_COOLDOWN_MINUTES=15',
      'CB_AUTO_RESET=false',
      'SESSION_CONTINUITY=true',
      'SOMETHING_ELSE=1',
      '',
    ].join('\n'),
  })
  const { code, out, err } = at.init('--yes')
  assert.equal(code, 0, err)
  for (const line of [
    /max-iterations +40 \(ralph\/prd\.json\)/,
    /max-attempts +4 \(ralph\/prd\.json\)/,
    /gate typecheck +npm run types \(ralph\/prd\.json\)/,
    /calls-per-hour +80 \(\.ralphrc\)/,
    /breaker +\{"noProgress":4,"coolDown":"15m"\} \(\.ralphrc\)/,
    /CB_AUTO_RESET: Ralph allows a trial after breaker\.coolDown/,
    /SESSION_CONTINUITY: Ralph starts every session fresh/,
    /SOMETHING_ELSE/,
  ])
    assert.match(out, line)
  const config = parse(await at.read('ralph.config.yml'))
  assert.deepEqual(
    [config.maxIterations, config.maxAttempts, config.callsPerHour, config.iterationTimeout],
    [40, 4, 80, '20m'],
  )
  assert.deepEqual(config.agentArgs, ['--allowedTools', 'Write,Bash(npm *)'])
  assert.deepEqual(config.breaker, { noProgress: 4, coolDown: '15m' })
  const workflow = await at.read('.github/workflows/ralph.yml')
  assert.match(workflow, /^ +max-attempts: 4$/m)
  assert.match(workflow, /^ +calls-per-hour: 80$/m)
  assert.doesNotMatch(workflow, /breaker/)
})

test('init makes a repository of an empty folder, and asks for a gate where it knows no test', async () => {
  await using empty = await open({ 'README.md': '# later\n' })
  const { code, out } = empty.init('--yes')
  assert.equal(code, 0)
  assert.match(out, /warning: `gates: none` means/)
  const config = parse(await empty.read('ralph.config.yml'))
  assert.deepEqual([config.gates, config.baseline], ['none', 'off'])
  assert.equal(
    execFileSync('git', ['symbolic-ref', 'HEAD'], { cwd: empty.folder, encoding: 'utf8' }),
    'refs/heads/main\n',
  )

  await using grown = await open({ 'main.zig': 'pub fn main() void {}\n' })
  const refused = grown.init('--yes')
  assert.equal(refused.code, 64)
  assert.match(refused.err, /--gate test=/)
  assert.deepEqual(await grown.all(), { 'main.zig': 'pub fn main() void {}\n' })
  assert.equal(grown.init('--yes', '--gate', 'test=zig build test').code, 0)
})

test('init exits 64 and writes nothing for invalid flags and limits, a link and a folder that does not exist', async () => {
  await using project = await open(NODE)
  for (const [args, said] of [
    [['--agent', 'clod'], /did you mean claude|claude/],
    [['--gate', 'test'], /NAME=COMMAND/],
    [['--max-iterations', 'many'], /--max-iterations/],
    [['--agent', 'codex', '--max-cost-usd', '5'], /prices/],
    [['--agent', 'custom'], /agent-command/],
    [['--pin', 'v1'], /40/],
    [['-C', 'nowhere'], /nowhere/],
  ] as const) {
    const { code, err } = project.init('--yes', ...args)
    assert.equal(code, 64, args.join(' '))
    assert.match(err, said)
    assert.deepEqual(Object.keys(await project.all()), ['package.json'])
  }
  await mkdir(join(project.folder, 'elsewhere'))
  await symlink('elsewhere', join(project.folder, '.github'))
  await writeFile(join(project.folder, '.ralph'), '')
  const { code, err } = project.init('--yes')
  assert.equal(code, 64)
  assert.match(err, /\.github: found a link/)
  assert.match(err, /\.ralph: found a file/)
  assert.deepEqual(await readdir(join(project.folder, 'elsewhere')), [])
  assert.deepEqual(Object.keys(await project.all()), ['.ralph', 'package.json'])
  assert.ok(!(await readdir(project.folder)).includes('.git'), 'not even a repository')
})

test('init that fails halfway restores every file', async () => {
  await using project = await open({ 'a/old.txt': 'old\n', 'b/in-the-way/x': 'x\n' })
  const before = await project.all()
  const fresh = { 'c/d/e.txt': 'new\n', 'a/old.txt': 'new\n' }
  // A folder is in the way of the last file; a file in that of a folder; and a name that no file system takes.
  for (const last of ['b/in-the-way', 'a/old.txt/f', `b/${'x'.repeat(300)}`])
    await assert.rejects(writeFiles(project.folder, { ...fresh, [last]: 'new\n' }))
  assert.deepEqual(await project.all(), before)
  assert.deepEqual((await readdir(project.folder)).sort(), ['a', 'b'])
  await writeFiles(project.folder, fresh)
  assert.equal(await project.read('a/old.txt'), 'new\n')
})

test('init refuses a base that no run would find, a wrong working directory and an agent that cannot be installed', async () => {
  await using project = await open({
    ...inFolder('api', NODE),
    'go.mod': 'module x\n',
  })
  execFileSync('git', ['init', '-q', '-b', 'trunk'], { cwd: project.folder })
  const { out } = project.init('--yes', '--working-directory', 'api', '--agent', 'cursor')
  const { baseBranch, gates, workingDirectory } = parse(await project.read('ralph.config.yml'))
  assert.equal(baseBranch, 'trunk')
  assert.equal(workingDirectory, 'api')
  assert.deepEqual(gates, { lint: 'npm run lint', test: 'npm test' })
  assert.match(out, /warning: Ralph cannot install cursor: .*https/)
})

test('init limits an agent without costs by iterations, and puts its key, version and tools into the workflow', async () => {
  await using project = await open({ ...NODE, 'pnpm-lock.yaml': 'lockfileVersion: "9.0"\n' })
  project.init('--yes', '--agent', 'codex')
  const { steps } = parse(await project.read(workflow)).jobs.work
  assert.deepEqual(steps[1], { run: 'npm install --global pnpm@latest' })
  assert.equal(steps[2].with['max-cost-usd'], undefined)
  assert.match(steps[2].with['agent-version'], /^\d+\.\d+\.\d+$/)
  assert.deepEqual(steps[2].env, { OPENAI_API_KEY: expression('secrets.OPENAI_API_KEY') })
})

test('init writes a shell variable to both files in a form that a run expands', async () => {
  await using project = await open(NODE)
  const command = ['echo "$', '{HOME} $', '{X:-1}"'].join('')
  project.init('--yes', '--gate', `home=${command}`)
  const { with: inputs } = parse(await project.read(workflow)).jobs.work.steps[1]
  assert.equal(parse(inputs.gates).home, command)
  const text = await project.read('ralph.config.yml')
  const { settings } = readSettings({ file: { path: 'ralph.config.yml', text }, env: {}, surface: 'cli' })
  assert.equal(settings.gates.find(({ name }) => name === 'home')?.run, command)
  assert.match(project.init('--yes').out, /^Nothing was written: every file is already there/m)
})

test('init with an agent on this machine pins its version in CI only', async () => {
  await using project = await open(NODE)
  execFileSync('git', ['init', '-q'], { cwd: project.folder })
  await project.write({ '.git/bin/gemini': '#!/bin/sh\necho 9.8.7\n' })
  await chmod(join(project.folder, '.git', 'bin', 'gemini'), 0o755)
  assert.match(project.init('--yes').out, /agent +gemini 9\.8\.7/)
  const { with: inputs } = parse(await project.read(workflow)).jobs.work.steps[1]
  assert.equal(inputs['agent-version'], '9.8.7')
  const { agent, agentVersion } = parse(await project.read('ralph.config.yml'))
  assert.deepEqual([agent, agentVersion], ['gemini', undefined])
})

test('init for separate-job writes four jobs, and every setting into the configuration', async () => {
  await using project = await open(NODE)
  project.init('--yes', '--isolation', 'separate-job')
  const { jobs } = parse(await project.read(workflow))
  assert.deepEqual(Object.keys(jobs), ['claim', 'work', 'gate', 'land', 'comment'])
  const { isolation, agentVersion, gates } = parse(await project.read('ralph.config.yml'))
  assert.equal(isolation, 'separate-job')
  assert.match(agentVersion, /^\d/)
  assert.deepEqual(gates, { lint: 'npm run lint', test: 'npm test' })
  assert.match(project.init('--yes').out, /^Nothing was written: every file is already there/m)
})

test('init for separate-job with max-parallel writes the workflow with matrices', async () => {
  await using project = await open(NODE)
  project.init('--yes', '--isolation', 'separate-job', '--max-parallel', '3')
  const { jobs } = parse(await project.read(workflow))
  assert.deepEqual(Object.keys(jobs), ['claim', 'work', 'gate', 'land', 'comment'])
  assert.ok([jobs.work, jobs.gate].every(({ strategy }) => strategy.matrix.worker !== undefined))
  const { isolation, maxParallel } = parse(await project.read('ralph.config.yml'))
  assert.deepEqual([isolation, maxParallel], ['separate-job', 3])
})

test("init pins the action's commit; where it is unknown, a placeholder is reported, refused by doctor, and filled in by the next init", async () => {
  const released = 'action'
  await using project = await open(NODE)
  await using action = await open()
  const at = join(action.folder, released)
  const who = ['-c', 'user.name=a', '-c', 'user.email=a@b.test']
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', at, ...who, ...args], { encoding: 'utf8' }).trim()
  const rewrite = `[url "file://${at}"]\n  insteadOf = https://github.com/ralph/action\n`
  await project.write({ '.git/nobody/.gitconfig': rewrite })
  execFileSync('git', ['init', '-q'], { cwd: project.folder })
  const init = () => project.ralph('init', '--yes', '--no-try').out
  assert.match(
    init(),
    /warning: Ralph could not look up the commit of the action.*`ralph init`.*ralph init --pin COMMIT/,
  )
  assert.match(await project.read(workflow), /ralph\/action@<sha> # v1/)
  const refused = (job: string) =>
    new RegExp(`fault .*${job} has no version of the action yet: ralph/action@<sha>; .*ralph init --pin`)
  const doctor = () => project.ralph('doctor', '--no-gates').out
  const inProject = (...args: string[]) =>
    execFileSync('git', ['-C', project.folder, ...who, ...args], { encoding: 'utf8' })
  inProject('commit', '-q', '--allow-empty', '-m', 'one')
  assert.match(doctor(), refused('ralph.yml: job work'), 'before it is committed')
  inProject('add', '--all')
  inProject('commit', '-q', '-m', 'two')
  for (const job of ['ralph.yml: job work', 'ralph.yml: job comment', 'ralph-resume.yml: job [a-z-]+'])
    assert.match(doctor(), refused(job))

  execFileSync('git', ['init', '-q', at])
  git('commit', '-q', '--allow-empty', '-m', 'one')
  git('tag', '-a', 'v1', '-m', 'v1')
  const edited = (await project.read(workflow)).replace('name: Ralph', 'name: ours')
  await project.write({ [workflow]: edited })
  assert.doesNotMatch(init(), /warning: Ralph could not look up the commit/)
  const pinned = `ralph/action@${git('rev-parse', 'HEAD')} # v1`
  assert.equal(await project.read(workflow), edited.replaceAll('ralph/action@<sha> # v1', pinned))
  assert.ok((await project.read('.github/workflows/ralph-resume.yml')).includes(pinned))
  assert.match(init(), /^Nothing was written: every file is already there/m)
})

test('init indents the configuration as .editorconfig says, and adds git-ignored files by force', async () => {
  const style = (lines: string) =>
    `root = true\n[*]\nindent_size = 8\n[*.{yml,yaml}]\n${lines}\n[*.md]\nindent_size = 3\n`
  const gates = { lint: 'npm run lint', test: 'npm test' }
  for (const [text, shape] of [
    [style('indent_size = 4'), /^gates:\n {4}lint: npm run lint$/m],
    [style('indent_style = tab'), /^gates: \{ lint: npm run lint, test: npm test \}$/m],
    ['[*]\nindent_size = tab\n', /^gates:\n {2}lint: npm run lint$/m],
  ] as const) {
    await using project = await open({
      ...NODE,
      '.editorconfig': text,
      '.gitignore': '.ralph/\n*.config.yml\n',
    })
    execFileSync('git', ['init', '-q'], { cwd: project.folder })
    const { out } = project.init('--yes')
    const config = await project.read('ralph.config.yml')
    assert.match(config, shape)
    assert.deepEqual(parse(config).gates, gates)
    const [, command = ''] = /^Next +(git add .*) && git commit/m.exec(out) ?? []
    assert.match(out, /warning: git ignores ralph\.config\.yml, \.ralph\/\.gitattributes/)
    execFileSync('bash', ['-ec', command], { cwd: project.folder })
    const staged = execFileSync('git', ['diff', '--cached', '--name-only'], {
      cwd: project.folder,
      encoding: 'utf8',
    })
    assert.deepEqual(staged.trim().split('\n').sort(), WRITTEN)
  }
})

test('init --bmad writes the workflow, the command and the status line, and keeps every other byte', async () => {
  const map =
    '# ours\nproject: "x"   # odd\nworkflow_status:\n  prd: docs/prd-x.md # done\n  sprint-planning:   required\n\nend: 1\n'
  await using project = await open({
    ...NODE,
    '_bmad/bmm/config.yaml': 'a: 1\n',
    'docs/bmm-workflow-status.yaml': map,
  })
  assert.equal(project.init('--yes', '--bmad').code, 0)
  assert.equal(
    await project.read('docs/bmm-workflow-status.yaml'),
    map.replace('\n\nend', '\n  ralph: required\n\nend'),
  )
  assert.match(await project.read('.claude/commands/ralph.md'), /_bmad\/bmm\/workflows\/ralph\.md/)
  assert.match(await project.read('_bmad/bmm/workflows/ralph.md'), /ralph plan/)
  assert.match(project.init('--yes', '--bmad').out, /^Nothing was written: every file is already there/m)

  const list = 'workflow_status:\n  - name: prd\n    phase: 2\n    status: "required"\n'
  await using other = await open({ ...NODE, 'docs/bmm-workflow-status.yaml': list })
  other.init('--yes', '--bmad', '--agent', 'gemini')
  const { workflow_status: status } = parse(await other.read('docs/bmm-workflow-status.yaml'))
  assert.deepEqual(status[1], {
    name: 'ralph',
    phase: 5,
    status: 'required',
    description: status[1].description,
  })
  assert.match(
    await other.read('.gemini/commands/ralph.toml'),
    /^prompt = "Read bmad\/bmm\/workflows\/ralph\.md/m,
  )
})

test('init --json is one line with each file and its state, and the rest goes to stderr', async () => {
  await using project = await open(NODE)
  const { out, err } = project.init('--json', '--diff')
  const { files, outcome } = JSON.parse(out)
  assert.equal(outcome, null)
  assert.deepEqual(files.map(({ path }: { path: string }) => path).sort(), WRITTEN)
  assert.ok(files.every(({ kind }: { kind: string }) => kind === 'new'))
  assert.match(err, /\+name: Ralph/)
  assert.equal(JSON.parse(project.init('--json', '--agent', 'clod').out).errors.length, 1)
})
