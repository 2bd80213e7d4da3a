// Drives a real agent CLI through Ralph: the CLI installed, a repository with a story, the committed bundle, the model.

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { agentCaches, installAgent } from '../../src/agents/install.ts'
import { findAgent, isModelKey } from '../../src/agents/registry.ts'
import type { Prd } from '../../src/engine/model/feature.ts'
import { gateEnv } from '../../src/isolation/untrusted-env.ts'
import { messageOf } from '../../src/system/errors.ts'
import { type Exit, runUntrusted } from '../../src/system/process.ts'
import type { Cli } from './clis.ts'
import { type Model, type Script, startModel } from './model.ts'

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
const RALPH = join(ROOT, 'dist', 'cli', 'main.js')
/** No run takes longer, whatever hangs. Long, because a busy machine is no fault of Ralph's. */
const RUN_TIMEOUT_MS = 10 * 60_000
const INSTALL_TIMEOUT_MS = 10 * 60_000
/** What an agent's program takes to print its version on a quiet machine, milliseconds. */
const USUAL_START_MS = 1000

/**
 * A time limit that a scene reaches on purpose, as a flag has it: `seconds` on a quiet machine, more if the program starts more slowly
 * here and now, but at most `most`. The agent has to reach its model within it.
 */
export function limitFor(cli: Cli, seconds: number, most = Number.POSITIVE_INFINITY): string {
  const { PATH } = process.env
  const began = performance.now()
  const options = { env: { PATH: `${binOf(cli)}:${PATH}`, HOME: tmpdir() }, stdio: 'ignore' as const }
  spawnSync(findAgent(cli.name)?.program ?? '', ['--version'], options)
  const pace = Math.max(1, (performance.now() - began) / USUAL_START_MS)
  return `${Math.ceil(Math.min(seconds * pace, most))}s`
}

/** Installs the CLI as `agent-version` does; null, or why it was refused. */
export async function install(cli: Cli): Promise<string | null> {
  const vendor = findAgent(cli.name)
  if (vendor === null) return `there is no agent ${cli.name}`
  const { env } = gateEnv(process.env, { extra: [], isModelKey })
  const caches = agentCaches({ RUNNER_TOOL_CACHE: toolCache() }, toolCache())
  const signal = AbortSignal.timeout(INSTALL_TIMEOUT_MS)
  const say = (line: string) => process.stdout.write(`${line}\n`)
  try {
    await installAgent({ vendor, version: cli.version, env, caches, signal, report: say })
    return null
  } catch (error) {
    return messageOf(error)
  }
}

/** Where the CLIs are installed, by this test and by Ralph alike: `agent-version` finds them there. */
export function toolCache(): string {
  return (
    process.env.RUNNER_TOOL_CACHE ??
    join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'ralph-tools')
  )
}

/** Where the CLI's program is, once it is installed. */
export function binOf(cli: Cli): string {
  return join(toolCache(), 'ralph-agents', cli.name, cli.version, 'node_modules', '.bin')
}

export type Story = { title: string; description: string; acceptanceCriteria?: readonly string[] }

export type Scene = {
  cli: Cli
  story: Story
  script(url: string): Omit<Script, 'cwd'>
  flags?: readonly string[] | ((url: string) => readonly string[])
  /** The model's address; left out: loopback. */
  host?: string
  /** What is asked of `ralph plan sample`, in the place of a run. */
  sentence?: string
  /** ralph.config.json. */
  config?: unknown
  /** Over the variables that point the CLI to the model. */
  env?: Readonly<Record<string, string | undefined>>
}

export type Bench = AsyncDisposable & {
  model: Model
  repo: string
  /** Runs Ralph to its end. It is interrupted, as by Ctrl+C, at a line of its log or when the promise resolves. */
  run(interrupt?: RegExp | Promise<unknown>): Promise<Outcome>
  git(...args: string[]): Promise<string>
}

export type Outcome = {
  exit: number | null
  /** What `--json` printed. */
  said: { outcome: string; iterations: number; storiesPassed: number; costUsd: number | null }
  log: string
  prd: Prd
}

export async function openBench(scene: Scene): Promise<Bench> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), `ralph-real-${scene.cli.name}-`)))
  const repo = join(folder, 'repo')
  const home = join(folder, 'home')
  await mkdir(home)
  await mkdir(repo)
  const model = await startModel((url) => ({ ...scene.script(url), cwd: repo }), 0, scene.host)
  const git = (...args: string[]) => call('git', ['-C', repo, ...args], folder, home)
  await git('init', '--quiet', '--initial-branch=main')
  await git('config', 'user.name', 'Test')
  await git('config', 'user.email', 'test@example.com')
  await put(repo, 'README.md', 'A sample.\n')
  await put(repo, '.ralph/2026-01-01-sample/prd.json', JSON.stringify(prdOf(scene.story)))
  // gemini takes it from the repository too: where it has a HOME of Ralph's.
  for (const [path, text] of Object.entries(scene.cli.home ?? {})) await put(repo, path, text)
  if (scene.config !== undefined) await put(repo, 'ralph.config.json', JSON.stringify(scene.config))
  await git('add', '-A')
  await git('commit', '--quiet', '-m', 'start')
  for (const [path, text] of Object.entries(scene.cli.home ?? {})) await put(home, path, text)

  const env = {
    PATH: process.env.PATH,
    HOME: home,
    CI: 'true',
    RUNNER_TOOL_CACHE: toolCache(),
    ...scene.cli.env(model.url),
    ...scene.env,
  }
  const args = [
    ...[RALPH, scene.sentence === undefined ? 'run' : 'plan', 'sample', '--json'],
    ...['--agent', scene.cli.name],
    ...(scene.cli.version === '' ? [] : ['--agent-version', scene.cli.version]),
    ...scene.cli.args(model.url).flatMap((arg) => ['--agent-args', arg]),
    ...['--gate', 'test=test "$(cat hello.txt)" = hello'],
    ...['--baseline', 'off', '--iteration-timeout', '5m'],
    ...(typeof scene.flags === 'function' ? scene.flags(model.url) : (scene.flags ?? [])),
    ...(scene.sentence === undefined ? [] : ['--yes', '--', scene.sentence]),
  ]
  return {
    model,
    repo,
    git,
    async run(interrupt) {
      const child = spawn(process.execPath, args, { cwd: repo, env, stdio: ['ignore', 'pipe', 'pipe'] })
      const end = setTimeout(() => child.kill('SIGKILL'), RUN_TIMEOUT_MS)
      let [stdout, log] = ['', '']
      child.stdout.setEncoding('utf8').on('data', (text) => {
        stdout += text
      })
      child.stderr.setEncoding('utf8').on('data', (text) => {
        const before = log
        log += text
        if (interrupt instanceof RegExp && interrupt.test(log) && !interrupt.test(before))
          child.kill('SIGINT')
      })
      if (interrupt instanceof Promise) void interrupt.then(() => child.kill('SIGINT'))
      const [exit] = await once(child, 'close')
      clearTimeout(end)
      const said = stdout === '' ? {} : JSON.parse(stdout)
      const prd = JSON.parse(await readFile(join(repo, '.ralph/2026-01-01-sample/prd.json'), 'utf8'))
      return { exit, said, log, prd }
    },
    async [Symbol.asyncDispose]() {
      await model[Symbol.asyncDispose]()
      await rm(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

/**
 * Processes that work in a folder or have it in their environment: whatever Ralph's agent started. Ralph's own git helper
 * is left out, which ends by itself when Ralph has closed its pipe.
 */
export function survivors(folder: string): string[] {
  return readdirSync('/proc').flatMap((pid) => {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) return []
    try {
      const environment = readFileSync(`/proc/${pid}/environ`, 'utf8')
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
      const there = environment.includes(folder) || readlinkSync(`/proc/${pid}/cwd`).startsWith(folder)
      return there && command !== '' && !/^(?:\/\S*\/)?git cat-file /.test(command)
        ? [`${pid} ${command}`]
        : []
    } catch {
      return [] // gone meanwhile
    }
  })
}

function prdOf(story: Story): unknown {
  const one = {
    id: 'US-001',
    acceptanceCriteria: ['hello.txt says hello'],
    priority: 1,
    passes: false,
    ...story,
  }
  return { schemaVersion: 2, project: 'sample', branchName: 'ralph/sample', userStories: [one] }
}

async function put(folder: string, path: string, text: string): Promise<void> {
  const file = join(folder, path)
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, text)
}

async function call(file: string, args: readonly string[], cwd: string, home: string): Promise<string> {
  const env = { PATH: process.env.PATH ?? '', HOME: home }
  const { exit, output } = await runUntrusted({
    file,
    args,
    cwd,
    env,
    timeoutMs: 5 * 60_000,
    captureBytes: 65_536,
  })
  if (exit.kind !== 'exit' || exit.code !== 0)
    throw new Error(`${file} ${args.join(' ')}: ${formatExit(exit)} ${output}`)
  return output.trim()
}

function formatExit(exit: Exit): string {
  return exit.kind === 'exit' ? String(exit.code) : exit.kind
}
