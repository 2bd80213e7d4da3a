// A small repository with stories, a scripted agent and the CLI as it stands in src.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, watch } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

const ROOT = join(import.meta.dirname, '..', '..', '..')
export const MAIN = join(ROOT, 'src', 'cli', 'main.ts')
const AGENT = join(ROOT, 'test', 'fakes', 'agent.mjs')
/** For the environment of a CLI: what Node has compiled for one serves the next, where tests are run with a cache. */
export const COMPILED: Readonly<Record<string, string>> =
  process.env.NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE }
export const FEATURE = 'sample'
export const FOLDER = `.ralph/2026-01-31-${FEATURE}`

export type Turn = {
  files?: Record<string, string>
  shell?: string
  say?: string
  exit?: number
  hang?: boolean
}
/** What the agent does for a story, turn by turn; `verify` is the judge. */
export type Script = Record<string, Turn[]>
export type Ended = { code: number; out: string; err: string }

export type Place = AsyncDisposable & {
  folder: string
  repository: string
  env: Record<string, string>
  /** Flags that make the scripted agent the agent. */
  agent: string[]
  git(...args: string[]): string
  write(files: Record<string, string>): Promise<void>
  setScript(script: Script): Promise<void>
  start(args: readonly string[], input?: string): ChildProcess & { ended: Promise<Ended> }
  ralph(...args: string[]): Promise<Ended>
  /** The one line of `--json`. */
  json(...args: string[]): Promise<Record<string, unknown>>
  /** Every ref of the repository with its commit: what a command that only looks leaves as it was. */
  refs(): string
}

export type Story = { id: string } & Record<string, unknown>

/** A repository on `main` whose only commit holds the stories. */
export async function openPlace(
  stories: readonly Story[],
  files: Record<string, string> = {},
): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), 'ralph-place-'))
  const repository = join(folder, 'clone')
  const script = join(folder, 'script.json')
  const env: Record<string, string> = { ...COMPILED, PATH: process.env.PATH ?? '', HOME: folder }
  const started: ChildProcess[] = []
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: repository, env, encoding: 'utf8', stdio: 'pipe' }).trim()
  const place: Place = {
    folder,
    repository,
    env,
    agent: ['--agent', 'custom', '--agent-command', `"${process.execPath}" "${AGENT}" "${script}"`],
    git,
    async write(texts) {
      for (const [path, text] of Object.entries(texts)) {
        await mkdir(dirname(join(repository, path)), { recursive: true })
        await writeFile(join(repository, path), text)
      }
    },
    setScript: (turns) => writeFile(script, JSON.stringify(turns)),
    start(args, input = '') {
      const child = spawn(process.execPath, [MAIN, ...args], { cwd: repository, env })
      child.stdin.end(input)
      let [out, err] = ['', '']
      child.stdout.setEncoding('utf8').on('data', (text) => {
        out += text
      })
      child.stderr.setEncoding('utf8').on('data', (text) => {
        err += text
      })
      started.push(child)
      return Object.assign(child, {
        ended: once(child, 'close').then(([code]) => ({ code: code ?? -1, out, err })),
      })
    },
    ralph: (...args) => place.start(args).ended,
    json: async (...args) => JSON.parse((await place.ralph(...args, '--json')).out),
    refs: () => git('for-each-ref', '--format=%(refname) %(objectname)'),
    async [Symbol.asyncDispose]() {
      for (const child of started) child.kill('SIGKILL')
      await rm(folder, { recursive: true, force: true })
    },
  }
  const all = stories.map((story) => ({
    title: `part ${story.id}`,
    acceptanceCriteria: [`${story.id} works`],
    ...story,
  }))
  await place.write({
    'src/base.txt': 'base\n',
    [`${FOLDER}/prd.json`]: JSON.stringify({ schemaVersion: 2, userStories: all }),
    ...files,
  })
  git('init', '-q', '-b', 'main')
  git('config', 'user.name', 'Ann')
  git('config', 'user.email', 'ann@example.com')
  git('add', '-A')
  git('commit', '-q', '-m', 'base')
  await place.setScript({})
  return place
}

/** Waits until the file is there. */
export async function made(file: string): Promise<void> {
  const watcher = watch(dirname(file))
  while (!existsSync(file)) await once(watcher, 'change')
  watcher.close()
}

export const good = (id: string): Turn => ({ files: { [`src/${id}.txt`]: `good ${id}\n` } })
export const bad = (id: string): Turn => ({ files: { [`src/${id}.txt`]: `bad ${id}\n` } })
/** A gate that fails where a file is bad. */
export const GATE = ['--gate', 'good=! grep -rq bad src']
