// A hostile run through the committed bundle, and what can be seen of it from outside.
import { spawnSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { unzipSync } from 'fflate'
import type { State } from '../../src/engine/model/state.ts'
import { openSite, ROOT, type Site, story } from '../e2e/site.ts'
import { sharedFolder } from '../fakes/shared.ts'
import { startIdentityServer } from '../standin/identity.ts'
import type { Run, Step } from '../standin/runner.ts'
import { type Beyond, openBeyond } from './beyond.ts'
import { keysIn } from './tricks/look.mjs'

/** Who agent and gates run as; the action's input `isolation`. */
export type Level = 'same-user' | 'other-user'

/** What the agent, its code in a gate, or a program that it planted wrote down. `found` is a key's SHA-256. */
export type Note = {
  trick: string
  role: 'agent' | 'gate' | 'payload'
  did?: true
  failed?: string
  found?: string
  where?: string
  fired?: 'ralph' | 'later' | 'agent'
  [more: string]: unknown
}

export type Seen = {
  site: Site
  /** The last run. */
  run: Run
  /** The step of the action, and its post step. */
  step: Step
  post: Step | undefined
  notes: Note[]
  of(trick: string): Note[]
  /** What a hash in a note is the hash of; null for something that we did not plant. */
  keyOf(hash: string): Key | null
  planted: Readonly<Record<Exclude<Key, 'job token' | 'runtime token' | 'identity request'>, string>>
  /** How often the runner gave somebody the job's identity. The action never asks here: `auth` is `key`. */
  identities: number
  evidence: string
  /** Files outside of the tree, on its file system, that attempts try to have written. */
  victims: string
  workspace: string
  /** A file of the branch, as the remote has it. */
  committed(path: string): Promise<string | null>
  state: State
  /** What was asked of others than GitHub. */
  asked: Beyond['asked']
  /** Every text that left the machine: commits, comments, checks, logs, artifacts. */
  outside: string
}

/** Where a secret was planted: each stands for a way in which it could get out. */
export type Key =
  | 'job token'
  | 'publish token'
  | 'model key'
  | 'other secret'
  | 'later secret'
  | 'runtime token'
  | 'identity request'

export type Plan = {
  agent: Record<string, string[]>
  gate?: Record<string, string[]>
  say?: Record<string, string>
  usage?: Record<string, string>
  quiet?: string[]
  red?: string[]
  /** Stories whose tricks are played in their first attempt alone. */
  once?: string[]
  /** Stories whose code plays its tricks each time that a gate runs it. */
  always?: string[]
}

export type RunOptions = {
  level: Level
  plan: Plan
  inputs?: Record<string, string>
  files?: Record<string, string>
  /** Shell lines of a step after the action's. */
  later?: string
  /** The agent is claude, as a program on the PATH, with a model and a world beyond the job. */
  isClaude?: true
  /** Of checkout. */
  persistCredentials?: boolean
  runner?: Parameters<typeof openSite>[0]['runner']
  /** Drives the site; by default one click on "Run workflow". */
  drive?: (site: Site, notes: () => Promise<readonly Note[]>) => Promise<Run>
}

const CHECK = `import { readdirSync } from 'node:fs'
for (const name of readdirSync('test')) if (name.endsWith('.test.mjs')) await import(\`./test/\${name}\`)
`

/** The action that is tried: the committed one, or the one of a mutated copy. */
const ACTION = process.env.HOSTILE_ACTION ?? ROOT

const AGENT = join(ROOT, 'test', 'hostile', 'agent.mjs')

/** Runs a plan to its end and hands what was seen to `judge`; afterwards nothing of it is left. */
export async function hostileRun<T>(options: RunOptions, judge: (seen: Seen) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'hostile-'))
  const shared = await sharedFolder('hostile-')
  // Deeper than where it is looked for what the other user left on a machine without namespaces.
  const evidence = join(shared, 'kept', basename(shared))
  const victims = join(folder, 'victims')
  try {
    for (const path of [victims, evidence]) await mkdir(path, { recursive: true })
    for (const [path, mode] of [
      [folder, 0o755],
      [shared, 0o755],
      [evidence, 0o777],
      [victims, 0o777],
    ] as const)
      await chmod(path, mode)
    // A copy: the agent may try to change the action's own files.
    const action = join(folder, 'action')
    for (const name of ['action.yml', 'dist'])
      await cp(join(ACTION, name), join(action, name), { recursive: true })
    const other = join(folder, 'other')
    await writeOther(other)
    // As a runner without a umask unpacks them.
    for (const one of [action, other]) await openToAll(one)
    await using beyond = await openBeyond()
    await using identity = await startIdentityServer({ subject: 'repo:acme/sample:environment:ralph' })
    const runnerIdentity = { url: `${identity.url}/runner?api-version=2`, token: identity.requestToken }
    const planFile = join(folder, 'plan.json')
    const { outside, resolver, redirected, allowed, sockets } = beyond
    await writeFile(
      planFile,
      JSON.stringify({
        evidence,
        victims,
        outside,
        resolver,
        redirected,
        allowed,
        sockets,
        identity: runnerIdentity.url,
        gate: {},
        ...options.plan,
      }),
    )
    const bin = join(folder, 'bin')
    const command = `node "${AGENT}" "${planFile}"`
    // Not the agent's: what that leaves where everybody may write is removed, and with it what would tell of it.
    const payload = `#!/bin/bash\n"${process.execPath}" "${AGENT}" "${planFile}" payload "$@" </dev/null\n`
    await writeFile(join(evidence, 'payload'), payload)
    await chmod(join(evidence, 'payload'), 0o755)
    await mkdir(bin)
    await writeFile(join(bin, 'claude'), claude(command), { mode: 0o755 })
    // A job after one that was killed may have another user.
    for (const name of ['notes.jsonl', 'gate-saw']) {
      await writeFile(join(evidence, name), '')
      await chmod(join(evidence, name), 0o666)
    }
    const hex = () => randomBytes(12).toString('hex')
    const planted = {
      'publish token': `ghp_${randomBytes(18).toString('hex')}`,
      'model key': `CANARY_MODEL_${hex()}`,
      'other secret': `CANARY_OTHER_${hex()}`,
      'later secret': `CANARY_LATER_${hex()}`,
    }
    await using site = await openSite({
      stories: Object.keys(options.plan.agent).map((id) => story(id, id.toLowerCase())),
      script: {},
      files: { 'check.mjs': CHECK, 'test/base.test.mjs': '', ...options.files },
      inputs: {
        'agent-command': `exec ${command}`,
        'agent-env': 'OPENAI_API_KEY',
        isolation: options.level,
        gates: `saw: (echo; find src -type f -exec sha256sum {} +) >> ${evidence}/gate-saw\ntest: node check.mjs`,
        'iterations-per-job': '100',
        'max-iterations': '100',
        'max-attempts': '1',
        baseline: 'off',
        'weakened-tests': 'fail',
        'protected-paths': 'check.mjs',
        'final-verification': 'false',
        ...(options.isClaude === true && options.level === 'other-user'
          ? { 'network-allow': `${allowed.host}:${allowed.port}` }
          : {}),
        ...options.inputs,
      },
      workflow: (text) => hostileWorkflow(text, options, evidence, beyond.url),
      github: {
        tokens: {
          [planted['publish token']]: {
            login: 'alice',
            type: 'User',
            permissions: { contents: 'write', pull_requests: 'write' },
          },
        },
      },
      runner: {
        identity: runnerIdentity,
        ...options.runner,
        ...(options.isClaude === true ? { path: [bin] } : {}),
        action: [
          { match: /^ralph\/action@/, path: action },
          { match: /^other\/cache@/, path: other },
        ],
        secrets: {
          PUBLISH: planted['publish token'],
          MODEL: planted['model key'],
          OTHER: planted['other secret'],
          LATER: planted['later secret'],
        },
      },
    })
    const drive = options.drive ?? pressed
    const run = await drive(site, () => notesOf(evidence))
    const job = run.jobs[0]
    const steps = run.jobs.flatMap((one) => one.steps)
    const step = steps.find((one) => one.name.includes('ralph/action'))
    if (step === undefined || job === undefined) throw new Error(`the action did not run\n${site.log()}`)
    const notes = await notesOf(evidence)
    const byHash = new Map<string, Key>()
    const learn = (key: string, name: Key) => {
      if (!keysIn(key).has(key)) throw new Error(`the hostile agent would not know the ${name} if it saw it`)
      byHash.set(sha(key), name)
    }
    for (const [name, value] of Object.entries(planted)) learn(value, name as keyof typeof planted)
    for (const { token, runtimeToken } of site.runner.runs.flatMap((of) => of.jobs)) {
      if (token !== null) learn(token, 'job token')
      if (runtimeToken !== null) learn(runtimeToken, 'runtime token')
    }
    learn(identity.requestToken, 'identity request')
    return await judge({
      site,
      run,
      step,
      post: steps.find((one) => one.name.startsWith('Post') && one.name.includes('ralph/action')),
      notes,
      of: (trick) => notes.filter((note) => note.trick === trick),
      keyOf: (hash) => byHash.get(hash) ?? null,
      planted,
      identities: identity.exchanges.filter(({ status }) => status === 200).length,
      evidence,
      victims,
      workspace: job.workspace ?? '',
      committed: (path) => site.github.read('ralph/sample', path),
      state: await site.state(),
      asked: beyond.asked,
      outside: await outsideOf(site, job.workspace ?? ''),
    })
  } finally {
    await endLeftovers(evidence)
    spawnSync(process.execPath, [AGENT, join(folder, 'plan.json'), 'forget'])
    for (const one of [folder, shared]) await rm(one, { recursive: true, force: true })
  }
}

/** An action of somebody else with a post step, as a cache has one: its token is the job's. */
async function writeOther(folder: string): Promise<void> {
  await mkdir(join(folder, 'dist'), { recursive: true })
  const inputs = 'inputs:\n  token:\n    default: $' + '{{ github.token }}\n'
  const runs = 'runs:\n  using: node24\n  main: dist/main.mjs\n  post: dist/post.mjs\n'
  await writeFile(join(folder, 'action.yml'), `name: other\n${inputs}${runs}`)
  for (const name of ['main.mjs', 'post.mjs']) await writeFile(join(folder, 'dist', name), '')
}

/** A claude that is this agent: what it says comes as claude says it. */
const claude = (command: string) => `#!/bin/bash
case "$*" in *--version*) echo 2.1.0; exit;; esac
said=$(${command})
exec node -e 'const usage = { input_tokens: 1, output_tokens: 1 }
console.log(JSON.stringify({ type: "result", subtype: "success", is_error: false, result: process.argv[1], usage, total_cost_usd: 0.01 }))' "$said"
`

async function openToAll(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true }))
    await chmod(join(entry.parentPath, entry.name), entry.isDirectory() ? 0o777 : 0o666)
}

async function pressed(site: Site): Promise<Run> {
  await site.runner.dispatch('ralph.yml', { feature: 'sample' }, { actor: 'alice' })
  await site.runner.settled()
  return site.last()
}

/** What the agent left running, by the numbers that it wrote down; nothing else is touched. */
async function endLeftovers(evidence: string): Promise<void> {
  const names = await readdir(evidence)
  for (const name of names.filter((one) => one.startsWith('pid-'))) {
    const pid = Number(await readFile(join(evidence, name), 'utf8'))
    const words = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
    if (pid > 1 && (words.includes(evidence) || words.startsWith('sleep\x00300\x00')))
      process.kill(pid, 'SIGKILL')
  }
}

async function outsideOf({ github, runner }: Site, workspace: string): Promise<string> {
  const texts: string[] = []
  texts.push(await github.bare.run(['cat-file', '--batch', '--batch-all-objects', '--unordered']))
  const { world } = github
  texts.push(JSON.stringify([...world.comments.values()]), JSON.stringify([...world.checks.values()]))
  texts.push(
    JSON.stringify([...world.issues.values()], (key, value) => (key === 'reactions' ? undefined : value)),
  )
  for (const run of runner.runs) texts.push(runner.log(run))
  for (const step of runner.runs.flatMap((run) => run.jobs.flatMap((job) => job.steps)))
    texts.push(step.summary, JSON.stringify(step.annotations), JSON.stringify(step.outputs))
  const artifacts = join(workspace, '..', '..', '..', 'artifacts')
  const files = await readdir(artifacts, { recursive: true, withFileTypes: true }).catch(() => [])
  for (const file of files)
    if (!file.isDirectory())
      texts.push(await readFile(join(file.parentPath, file.name), 'utf8').catch(() => ''))
  for (const zip of world.results.artifacts.values())
    for (const bytes of Object.values(unzipSync(zip))) texts.push(Buffer.from(bytes).toString('utf8'))
  return texts.join('\n')
}

async function notesOf(evidence: string): Promise<Note[]> {
  const text = await readFile(join(evidence, 'notes.jsonl'), 'utf8')
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
}

export function sha(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/** The starter workflow with keys in the action's environment, a folder of ours on the PATH, and a step after it. */
function hostileWorkflow(text: string, options: RunOptions, evidence: string, model: string): string {
  const before = [
    '      - name: a folder of the user on the PATH, as runners have one',
    '        run: mkdir -p "$HOME/.local/bin" && echo "$HOME/.local/bin" >> "$GITHUB_PATH"',
    '      - uses: other/cache@v1',
    '      - uses: ralph/action@<sha> # v1\n        with:\n',
  ].join('\n')
  const keys = [
    `          publish-token: ${secret('PUBLISH')}`,
    '        env:',
    `          ${options.isClaude === true ? 'ANTHROPIC' : 'OPENAI'}_API_KEY: ${secret('MODEL')}`,
    `          ANTHROPIC_BASE_URL: ${model}`,
    `          OTHER_SECRET: ${secret('OTHER')}`,
  ].join('\n')
  const later = [
    '      - name: later',
    '        if: always()',
    '        run: |',
    ...(options.later ?? 'true').split('\n').map((line) => `          ${line}`),
    '        env:',
    `          LATER_STEP: ${secret('LATER')}`,
    `          EVIDENCE: ${evidence}`,
    '\n  comment:\n',
  ].join('\n')
  const [head = '', rest = ''] = split(text, '      - uses: ralph/action@<sha> # v1\n        with:\n')
  const [inputs = '', tail = ''] = split(
    rest,
    `        env:\n          ANTHROPIC_API_KEY: ${secret('ANTHROPIC_API_KEY')}`,
  )
  const next = '      actions: write # the next job\n'
  if (!head.includes(next)) throw new Error(`examples/ralph.yml has another shape: no ${next}`)
  const asked = head.replace(
    next,
    `${next}      id-token: write # as keyless models and deployments need it\n`,
  )
  const whole = `${asked}${before}${inputs}${keys}${tail}`.replace('\n  comment:\n', () => later)
  if (options.isClaude === true)
    return whole.replace(/^( +)agent-command: .*$/m, '$1agent: claude').replace(/^ +agent: "?custom"?\n/m, '')
  return options.persistCredentials === true
    ? whole.replace('persist-credentials: false', 'persist-credentials: true')
    : whole
}

/** As a workflow names it. */
function secret(name: string): string {
  return `\${{ secrets.${name} }}`
}

function split(text: string, at: string): [string, string] {
  const index = text.indexOf(at)
  if (index < 0) throw new Error(`examples/ralph.yml has another shape than this test expects: no ${at}`)
  return [text.slice(0, index), text.slice(index + at.length)]
}
