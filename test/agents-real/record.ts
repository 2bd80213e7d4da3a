// Records what a real agent CLI prints and how it ends, as Ralph starts it, into test/fixtures/agents; nothing is written
// when one of its sessions is not told apart as expected.

import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { agentVariables, type ParsedEnd, type SessionStatus } from '../../src/agents/agent.ts'
import { findAgent } from '../../src/agents/registry.ts'
import { agentEnv } from '../../src/isolation/untrusted-env.ts'
import { lineSplitter } from '../../src/system/output.ts'
import { type Exit, runUntrusted } from '../../src/system/process.ts'
import { type Cli, clis } from './clis.ts'
import { binOf, install } from './drive.ts'
import { type Failure, type Script, startModel } from './model.ts'

const FIXTURES = join(import.meta.dirname, '..', 'fixtures', 'agents')
/** A session that has not ended by then is ended: it hangs, or asks again and again. */
const SESSION_MS = 20_000
/** A session that ends by itself, on a busy machine. */
const WHOLE_SESSION_MS = 120_000
const TURNS: Script['sessions'][number]['turns'] = [
  { say: 'I create the file.', wishes: [{ write: 'hello.txt', content: 'hello from the model\n' }] },
  { say: 'Now I run a command.', wishes: [{ shell: 'cat hello.txt && git status --short' }] },
  { say: 'All finished.\n\n<ralph>DONE</ralph>' },
]

type Case = {
  cli: string
  case: string
  exit: Exit
  status: SessionStatus
  done?: boolean
  resetsAt?: number
}
type Scene = { name: string; status: SessionStatus; failure?: Failure }
type Take = { case: Case; files: ReadonlyMap<string, string> }

/** What servers answer with HTTP 400, where only a person can help. */
const REFUSALS = {
  key: {
    code: 400,
    message: 'API key not valid. Please pass a valid API key.',
    status: 'INVALID_ARGUMENT',
    details: [
      {
        '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
        reason: 'API_KEY_INVALID',
        domain: 'googleapis.com',
        metadata: { service: 'generativelanguage.googleapis.com' },
      },
    ],
  },
  credit: {
    type: 'invalid_request_error',
    message:
      'Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.',
  },
  model: {
    message: "The requested model 'sample' does not exist.",
    type: 'invalid_request_error',
    param: 'model',
    code: 'model_not_found',
  },
}

/** The reset is more than a day away, so that those who say a time of day add the date. */
function scenesOf(cli: Cli): Scene[] {
  // opencode's log does not say the status of the request that it tries again.
  const limited = cli.name === 'opencode' ? 'overloaded' : 'limit'
  const reset = Math.ceil(Date.now() / 60_000) * 60 + 2 * 86_400
  return [
    { name: 'story', status: 'finished' },
    { name: '401', status: 'auth', failure: { status: 401 } },
    ...Object.entries(REFUSALS).map(([name, error]): Scene => {
      return { name: `400-${name}`, status: 'auth', failure: { status: 400, body: { type: 'error', error } } }
    }),
    { name: '429', status: limited, failure: { status: 429 } },
    { name: '500', status: 'overloaded', failure: { status: 500 } },
    {
      name: 'limit',
      status: limited,
      failure: cli.limit?.(reset) ?? { status: 429, headers: { 'retry-after': '7200' } },
    },
    { name: 'hang', status: 'timeout', failure: { hang: true } },
  ]
}

/** Records all scenes of these agents; the exit code: 0, 1 where one was not recorded, 64 for a name that is none. */
export async function record(names: readonly string[]): Promise<number> {
  const wanted = clis.filter((cli) => names.includes(cli.name))
  if (wanted.length === 0 || wanted.length < names.length) {
    process.stderr.write(
      `usage: npm run record -- AGENT...\nagents: ${clis.map((cli) => cli.name).join(', ')}\n`,
    )
    return 64
  }
  let failed = false
  for (const cli of wanted) failed = !(await recordOne(cli)) || failed
  return failed ? 1 : 0
}

async function recordOne(cli: Cli): Promise<boolean> {
  const refused = await install(cli)
  if (refused !== null) {
    process.stderr.write(`${cli.name}: it cannot be installed: ${refused}\n`)
    return false
  }
  const takes: Take[] = []
  for (const scene of scenesOf(cli)) {
    const take = await session(cli, scene)
    process.stdout.write(
      `${cli.name} ${scene.name}: ${take.case.status}, ${JSON.stringify(take.case.exit)}\n`,
    )
    if (take.case.status !== scene.status) {
      process.stderr.write(`${cli.name} ${scene.name}: expected ${scene.status}; nothing was written\n`)
      for (const text of take.files.values()) process.stderr.write(text)
      return false
    }
    takes.push(take)
  }
  await write(cli, takes)
  return true
}

async function session(cli: Cli, scene: Scene): Promise<Take> {
  const vendor = findAgent(cli.name)
  if (vendor === null) throw new Error(cli.name)
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'ralph-record-')))
  const [repo, home] = [join(folder, 'repo'), join(folder, 'home')]
  for (const [path, text] of Object.entries({ ...cli.home, '.keep': '' })) {
    await mkdir(dirname(join(home, path)), { recursive: true })
    await writeFile(join(home, path), text)
  }
  await mkdir(repo)
  await using model = await startModel({
    cwd: repo,
    sessions: [{ when: '', turns: TURNS }],
    ...(scene.failure === undefined ? {} : { failure: scene.failure }),
  })
  try {
    await quiet('git', ['init', '--quiet', '--initial-branch=main'], repo, home)
    const path = [binOf(cli), process.env.PATH ?? ''].join(delimiter)
    const full = { ...cli.env(model.url), PATH: path, HOME: home, CI: 'true', TZ: 'UTC' }
    const { env } = agentEnv(full, {
      extra: Object.keys(cli.env(model.url)),
      vendor: agentVariables(vendor),
      set: {},
    })
    const isRoot = process.getuid?.() === 0
    const options = { env, extraArgs: cli.args(model.url), isRoot }
    const lines = { stdout: [] as string[], stderr: [] as string[] }
    const { exit } = await runUntrusted({
      file: vendor.program,
      args: vendor.args(options),
      cwd: repo,
      env: { ...env, ...vendor.variables?.(options) },
      stdin: 'Create hello.txt, show it, then finish.',
      timeoutMs: sessionMs(cli, scene),
      captureBytes: 0,
      onLine: (stream, line) => lines[stream].push(line),
    })
    const clean = (text: string) =>
      text
        .replaceAll(repo, '/repo')
        .replaceAll(home, '/home/user')
        .replaceAll(dirname(dirname(dirname(binOf(cli)))), '/opt')
        .replaceAll(new URL(model.url).port, 'PORT')
        .replace(/\/tmp\/cc-socks\/\d+/g, '/tmp/cc-socks/PID')
    const files = new Map(
      (['stdout', 'stderr'] as const)
        .filter((stream) => lines[stream].length > 0)
        .map((stream) => [stream, clean(`${lines[stream].join('\n')}\n`)]),
    )
    // What was written is what will be replayed.
    const end = replay(cli, files, exit)
    const told = {
      ...(scene.name === 'story' ? { done: true } : {}),
      ...(end.resetsAt === null ? {} : { resetsAt: end.resetsAt }),
    }
    return {
      case: { cli: cli.name, case: `loopback-${scene.name}`, exit, status: end.status, ...told },
      files,
    }
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

function sessionMs({ quietSeconds }: Cli, { failure }: Scene): number {
  if (failure === undefined) return WHOLE_SESSION_MS
  return quietSeconds === undefined || failure.hang === true ? SESSION_MS : quietSeconds * 1000
}

function replay(cli: Cli, files: ReadonlyMap<string, string>, exit: Exit): ParsedEnd {
  const parser = findAgent(cli.name)?.parser(Date.now)
  if (parser === undefined) throw new Error(cli.name)
  for (const stream of ['stdout', 'stderr'] as const) {
    const lines = lineSplitter((line) => parser.line(stream, line))
    lines.push(Buffer.from(files.get(stream) ?? ''))
    lines.end()
  }
  return parser.end(exit)
}

/** Files of the scenes, their rows in the table, and version and day of the recording. */
async function write(cli: Cli, takes: readonly Take[]): Promise<void> {
  await mkdir(join(FIXTURES, cli.name), { recursive: true })
  for (const { case: one, files } of takes) {
    for (const stream of ['stdout', 'stderr']) {
      const file = join(FIXTURES, cli.name, `${one.case}.${stream}`)
      await rm(file, { force: true })
      const text = files.get(stream)
      if (text !== undefined) await writeFile(file, text)
    }
  }
  const table = join(FIXTURES, 'cases.json')
  const before: Case[] = JSON.parse(await readFile(table, 'utf8'))
  const rest = before.filter((one) => one.cli !== cli.name || !one.case.startsWith('loopback-'))
  const rows = [...rest, ...takes.map((take) => take.case)].map((one) => JSON.stringify(one))
  await writeFile(table, `[\n${rows.join(',\n')}\n]\n`)
  const versions = join(FIXTURES, 'recorded.json')
  const noted = JSON.parse(await readFile(versions, 'utf8').catch(() => '{}'))
  noted[cli.name] = { version: cli.version, on: new Date().toISOString().slice(0, 10) }
  await writeFile(versions, `${JSON.stringify(noted, null, 2)}\n`)
}

async function quiet(file: string, args: readonly string[], cwd: string, home: string): Promise<void> {
  const env = { PATH: process.env.PATH ?? '', HOME: home }
  await runUntrusted({ file, args, cwd, env, timeoutMs: 10_000, captureBytes: 0 })
}
