// A project in a folder of its own, and `ralph init` in it as a person types it.
import { spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { COMPILED, MAIN } from './place.ts'

export const PIN = 'a'.repeat(40)
export const NODE = {
  'package.json': JSON.stringify({ name: 'x', scripts: { test: 'node --test', lint: 'echo fine' } }),
}

export type Said = { code: number; out: string; err: string }
export type Project = AsyncDisposable & {
  folder: string
  /** Of commands that are run in it. */
  temporary: string
  /** With a commit, and without a try of what is proposed: see init-try.test.ts. */
  init(...args: string[]): Said
  ralph(...args: string[]): Said
  read(path: string): Promise<string>
  write(files: Record<string, string>): Promise<void>
  /** Every file with its text. */
  all(): Promise<Record<string, string>>
}

/** `own`: further variables of the environment. */
export async function openProject(
  files: Record<string, string> = {},
  own: Record<string, string> = {},
): Promise<Project> {
  const folder = await mkdtemp(join(tmpdir(), 'ralph-init-test-'))
  const temporary = `${folder}-tmp`
  await mkdir(temporary)
  const ralph = (...args: string[]): Said => {
    const env = {
      ...COMPILED,
      PATH: `${join(folder, '.git', 'bin')}:${dirname(process.execPath)}:/usr/bin:/bin`,
      HOME: join(folder, '.git', 'nobody'),
      TMPDIR: temporary,
      ...own,
    }
    const options = { cwd: folder, env, encoding: 'utf8', input: '' } as const
    const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, ...args], options)
    return { code: status ?? -1, out: stdout, err: stderr }
  }
  const project: Project = {
    folder,
    temporary,
    ralph,
    init: (...args) => ralph('init', '--pin', PIN, '--no-try', ...args),
    read: (path) => readFile(join(folder, path), 'utf8'),
    async write(texts) {
      for (const [path, text] of Object.entries(texts)) {
        await mkdir(dirname(join(folder, path)), { recursive: true })
        await writeFile(join(folder, path), text)
      }
    },
    async all() {
      const entries = await readdir(folder, { recursive: true, withFileTypes: true })
      const paths = entries.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name))
      const own = paths
        .map((path) => path.slice(folder.length + 1))
        .filter((path) => !path.startsWith('.git/'))
      return Object.fromEntries(
        await Promise.all(own.sort().map(async (path) => [path, await project.read(path)])),
      )
    },
    async [Symbol.asyncDispose]() {
      for (const one of [folder, temporary]) await rm(one, { recursive: true, force: true })
    },
  }
  await project.write(files)
  return project
}
