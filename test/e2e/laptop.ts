// A repository on a laptop, the bundle of the CLI with a scripted agent, and a terminal to type into.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { openTerminal, type Terminal } from '../fakes/terminal.ts'
import { ROOT, type Script } from './site.ts'

const CLI = join(ROOT, 'dist', 'cli', 'main.js')
const AGENT = join(ROOT, 'test', 'fakes', 'agent.mjs')

type Ended = { code: number; out: string; err: string }
export type Place = AsyncDisposable & {
  folder: string
  repository: string
  git(...args: string[]): string
  write(files: Record<string, string>): Promise<void>
  read(path: string): Promise<string>
  prompts(): Promise<string[]>
  setScript(script: Script): Promise<void>
  ralph(args: readonly string[], env?: Record<string, string>): Promise<Ended>
  start(args: readonly string[], env?: Record<string, string>): ChildProcess & { ended: Promise<Ended> }
  terminal(args: readonly string[], more?: { editor?: string; columns?: number }): Terminal
}

export async function place(files: Record<string, string> = {}, script: Script = {}): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), 'ralph-plan-'))
  const repository = join(folder, 'clone')
  const [scriptFile, seen] = [join(folder, 'script.json'), join(folder, 'seen.jsonl')]
  const env = { PATH: `${dirname(process.execPath)}:${process.env.PATH ?? ''}`, HOME: folder }
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: repository, env, encoding: 'utf8', stdio: 'pipe' }).trimEnd()
  const agent = `"${process.execPath}" "${AGENT}" "${scriptFile}" "${seen}"`
  const flags = ['--agent', 'custom', '--agent-command', agent, '--isolation', 'same-user']
  const made: Place = {
    folder,
    repository,
    git,
    async write(texts) {
      for (const [path, text] of Object.entries(texts)) {
        await mkdir(dirname(join(repository, path)), { recursive: true })
        await writeFile(join(repository, path), text)
      }
    },
    read: (path) => readFile(join(repository, path), 'utf8'),
    setScript: (given) => writeFile(scriptFile, JSON.stringify(given)),
    async prompts() {
      const lines = (await readFile(seen, 'utf8')).split('\n').filter(Boolean)
      return lines.map((line) => JSON.parse(line).prompt)
    },
    ralph: (args, more) => made.start(args, more).ended,
    start([command = '', ...args], more = {}) {
      const given = command === 'status' ? [command, ...args] : [command, ...flags, ...args]
      const child = spawn(process.execPath, [CLI, ...given], { cwd: repository, env: { ...env, ...more } })
      child.stdin.end()
      let [out, err] = ['', '']
      child.stdout.on('data', (chunk) => {
        out += chunk
      })
      child.stderr.on('data', (chunk) => {
        err += chunk
      })
      const closed = once(child, 'close')
      // What outlives one that was killed keeps its streams open.
      const ended = once(child, 'exit').then(async ([code]) => {
        if (code !== null) await closed
        return { code: code ?? -1, out, err }
      })
      return Object.assign(child, { ended })
    },
    terminal: ([command = '', ...args], { editor = 'true', columns = 80 } = {}) =>
      openTerminal([process.execPath, CLI, command, ...flags, ...args], {
        cwd: repository,
        env: { ...env, EDITOR: editor },
        columns,
      }),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  }
  await mkdir(repository)
  await writeFile(scriptFile, JSON.stringify(script))
  await writeFile(seen, '')
  await made.write({ 'src/base.txt': 'base\n', ...files })
  git('init', '-q', '-b', 'main')
  git('config', 'user.name', 'Ann')
  git('config', 'user.email', 'ann@example.com')
  git('add', '-A')
  git('commit', '-q', '-m', 'base')
  return made
}
