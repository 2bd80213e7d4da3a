// A repository with what the scripts of a release read, its remote beside it, and the scripts started in a clone.
import { execFileSync, spawnSync } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

const ROOT = join(import.meta.dirname, '..', '..', '..')

export type Answer = { status: number | null; out: string; err: string }

export type Repository = AsyncDisposable & {
  clone: string
  git(...args: string[]): string
  write(files: Readonly<Record<string, string>>): Promise<void>
  /** Commits everything, and pushes it to main. */
  commit(message: string): string
  /** Of scripts/release, as the workflow starts it. */
  script(name: string, ...args: string[]): Answer
}

/** The files that name a version. */
export const versionFiles = (version: string, changes = 'Something.') => ({
  'package.json': JSON.stringify({ name: '@ralph/action', version }),
  'package-lock.json': JSON.stringify({ version, packages: { '': { version } } }),
  '.release-please-manifest.json': JSON.stringify({ '.': version }),
  'src/engine/model/version.ts': `export const VERSION = '${version}'\n`,
  'CHANGELOG.md': `# Changelog\n\n## [${version}](compare) (2026-01-31)\n\n${changes}\n\n## 0.9.0\n\nOld.\n`,
})

export async function openRepository(): Promise<Repository> {
  const folder = await mkdtemp(join(tmpdir(), 'ralph-release-'))
  const [clone, remote] = [join(folder, 'clone'), join(folder, 'remote.git')]
  const who = { GIT_AUTHOR_NAME: 'a', GIT_AUTHOR_EMAIL: 'a@example.com' }
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: folder,
    ...who,
    GIT_COMMITTER_NAME: 'a',
    GIT_COMMITTER_EMAIL: 'a@example.com',
  }
  const run = (directory: string, args: readonly string[]) =>
    execFileSync('git', args, { cwd: directory, env, encoding: 'utf8', stdio: 'pipe' }).trimEnd()
  run(folder, ['init', '--quiet', '--bare', '--initial-branch=main', remote])
  run(folder, ['clone', '--quiet', remote, clone])
  const repository: Repository = {
    clone,
    git: (...args) => run(clone, args),
    async write(files) {
      for (const [path, text] of Object.entries(files)) {
        await mkdir(dirname(join(clone, path)), { recursive: true })
        await writeFile(join(clone, path), text)
      }
    },
    commit(message) {
      run(clone, ['add', '--all'])
      run(clone, ['commit', '--quiet', '--message', message])
      run(clone, ['push', '--quiet', 'origin', 'HEAD:refs/heads/main'])
      return run(clone, ['rev-parse', 'HEAD'])
    },
    script(name, ...args) {
      const file = join(clone, 'scripts', 'release', name)
      const { status, stdout, stderr } = spawnSync(process.execPath, [file, ...args], {
        cwd: clone,
        env,
        encoding: 'utf8',
      })
      return { status, out: stdout, err: stderr }
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  }
  await cp(join(ROOT, 'scripts', 'release'), join(clone, 'scripts', 'release'), { recursive: true })
  await repository.write({ ...versionFiles('1.0.0'), 'dist/cli/main.js': 'built\n' })
  repository.commit('first')
  return repository
}

export const textOf = (repository: Repository, path: string) => readFile(join(repository.clone, path), 'utf8')
