// A repository on a person's machine, with a scripted agent beside it, and a CLI that is started in it.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

const AGENT = join(import.meta.dirname, 'agent.mjs')

export type Ended = { code: number; out: string; err: string }
export type Started = ChildProcess & { ended: Promise<Ended> }
/** One session of the agent, as it was called. */
export type Called = { mode: string; story: string; attempt: number; prompt: string }

export type Clone = AsyncDisposable & {
  folder: string
  repository: string
  env: Record<string, string>
  /** Flags that make the scripted agent the agent. */
  agent: string[]
  git(...args: string[]): string
  write(files: Readonly<Record<string, string>>): Promise<void>
  read(path: string): Promise<string>
  /** What the agent does for a story, turn by turn; `verify` is the judge. */
  setScript(script: unknown): Promise<void>
  called(): Promise<Called[]>
  start(
    args: readonly string[],
    how?: { cwd?: string; env?: Record<string, string>; input?: string },
  ): Started
}

/** A repository on `main` whose only commit holds these files. `main`: of the CLI. */
export async function openClone(
  main: string,
  files: Readonly<Record<string, string>>,
  env: Readonly<Record<string, string>> = {},
): Promise<Clone> {
  const folder = await mkdtemp(join(tmpdir(), 'ralph-clone-'))
  const [repository, script, seen] = ['clone', 'script.json', 'seen.jsonl'].map((name) =>
    join(folder, name),
  ) as [string, string, string]
  const started: ChildProcess[] = []
  const clone: Clone = {
    folder,
    repository,
    env: { PATH: `${dirname(process.execPath)}:${process.env.PATH ?? ''}`, HOME: folder, ...env },
    agent: ['--agent', 'custom', '--agent-command', `"${process.execPath}" "${AGENT}" "${script}" "${seen}"`],
    git: (...args) =>
      execFileSync('git', args, {
        cwd: repository,
        env: clone.env,
        encoding: 'utf8',
        stdio: 'pipe',
      }).trimEnd(),
    async write(texts) {
      for (const [path, text] of Object.entries(texts)) {
        await mkdir(dirname(join(repository, path)), { recursive: true })
        await writeFile(join(repository, path), text)
      }
    },
    read: (path) => readFile(join(repository, path), 'utf8'),
    setScript: (turns) => writeFile(script, JSON.stringify(turns)),
    async called() {
      const lines = (await readFile(seen, 'utf8')).split('\n').filter(Boolean)
      return lines.map((line) => JSON.parse(line))
    },
    start(args, { cwd = repository, env = {}, input = '' } = {}) {
      const child = spawn(process.execPath, [main, ...args], { cwd, env: { ...clone.env, ...env } })
      started.push(child)
      child.stdin.on('error', () => {}).end(input)
      let [out, err] = ['', '']
      child.stdout.setEncoding('utf8').on('data', (text) => {
        out += text
      })
      child.stderr.setEncoding('utf8').on('data', (text) => {
        err += text
      })
      const closed = once(child, 'close')
      // What outlives one that was killed keeps its streams open.
      const ended = once(child, 'exit').then(async ([code]) => {
        if (code !== null) await closed
        return { code: code ?? -1, out, err }
      })
      return Object.assign(child, { ended })
    },
    async [Symbol.asyncDispose]() {
      for (const child of started) child.kill('SIGKILL')
      await rm(folder, { recursive: true, force: true })
    },
  }
  await mkdir(repository)
  await writeFile(seen, '')
  await clone.setScript({})
  await clone.write({ 'src/base.txt': 'base\n', ...files })
  const user = '[user]\n\tname = Ann\n\temail = ann@example.com\n'
  clone.git('init', '-q', '-b', 'main')
  await writeFile(join(repository, '.git', 'config'), user, { flag: 'a' })
  clone.git('add', '-A')
  clone.git('commit', '-q', '-m', 'base')
  return clone
}

/**
 * A port of this machine that nobody listens at. Below those that a system gives to whoever asks for any, so that none of the tests
 * beside this one is given it meanwhile.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 10_240 + Math.floor(Math.random() * 20_000)
    const server = createServer().listen(port, 'localhost')
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    )
    if (!isFree) continue
    await new Promise((resolve) => server.close(resolve))
    return port
  }
}
