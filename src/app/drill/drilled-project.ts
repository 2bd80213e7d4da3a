// The project that `ralph drill` plants in: a clean clone of the user's commit, read by git.

import { productOf, proposedProduct } from '../../gates/product/product.ts'
import { execute, gitEnv, NO_CONFIG, nulFields } from '../../git/git-process.ts'
import type { Environment } from '../../isolation/untrusted-env.ts'
import { isWritten } from './languages.ts'
import type { PlantedFile, Work } from './plant.ts'

/** The maximum number of commits to look at. */
const MAX_COMMITS = 40
const MAX_BYTES = 300_000

export type Commit = { id: string; subject: string; paths: readonly string[] }

export type DrillProject = {
  files: readonly string[]
  gates: readonly { name: string; run: string }[]
  isTest(path: string): boolean
  isProduct(path: string): boolean
  read(path: string): Promise<string | null>
  isIgnored(path: string): Promise<boolean>
  /** The newest commits that change the product, the newest first. */
  commits(): Promise<readonly Commit[]>
  /** What it takes to undo a commit in files that `which` names; null if later commits changed the same lines. */
  undo(commit: Commit, which: (path: string) => boolean): Promise<Work | null>
}

export type ProjectOptions = {
  directory: string
  gates: DrillProject['gates']
  env: Environment
  /** The setting `product`; empty: the files of the commit decide. */
  product: readonly string[]
}

/** The guard refuses any change of these files. */
const isOfRalph = (path: string) => /^\.ralph\/|^ralph\.config\.|^\.github\//.test(path)

export async function openProject({ directory, gates, env, product }: ProjectOptions): Promise<DrillProject> {
  const gitEnvironment = { ...gitEnv(env), ...NO_CONFIG }
  const git = (args: readonly string[], extra: { input?: string; env?: Record<string, string> } = {}) =>
    execute(args, {
      directory,
      accept: [1, 128],
      ...extra,
      env: { ...gitEnvironment, ...extra.env },
    })
  const files = nulFields(await git(['ls-tree', '-r', '-z', '--name-only', 'HEAD']))
  const show = async (name: string) => {
    const { code, stdout } = await git(['cat-file', 'blob', name])
    return code === 0 && stdout.length <= MAX_BYTES ? stdout : null
  }
  const read = (path: string) => show(`HEAD:${path}`)
  const isProduct = productOf(product.length > 0 ? product : await proposedProduct({ paths: files, read }))
  const isTest = (path: string) => !isProduct(path) && isWritten(path)
  return {
    files,
    gates,
    isTest,
    isProduct,
    read,
    isIgnored: async (path) => (await git(['check-ignore', '-q', '--no-index', '--', path])).code === 0,
    async commits() {
      const { stdout } = await git([
        'log',
        '-z',
        '--no-merges',
        `-n${MAX_COMMITS}`,
        // Undoing the first commit would undo everything.
        '--min-parents=1',
        '--no-renames',
        '--name-only',
        '--format=%x01%H%x02%s%x02',
      ])
      return stdout
        .split('\x01')
        .filter(Boolean)
        .map((entry) => {
          const [id = '', subject = '', list = ''] = entry.split('\x02')
          return { id, subject, paths: list.split(/[\0\n]/).filter(Boolean) }
        })
        .filter(({ paths }) => paths.some(isProduct))
    },
    async undo({ id, paths }, which) {
      const some = paths.filter((path) => which(path) && !isOfRalph(path))
      if (some.length === 0) return null
      const patch = await git(['diff-tree', '-p', '--binary', '--no-renames', '--root', id, '--', ...some])
      if (patch.code !== 0 || patch.stdout === '') return null
      const index = { GIT_INDEX_FILE: `${directory}/.git/drill-index` }
      await git(['read-tree', 'HEAD'], { env: index })
      const text = patch.stdout.slice(patch.stdout.indexOf('diff --git'))
      const applied = await git(['apply', '--reverse', '--cached', '-'], { env: index, input: text })
      if (applied.code !== 0) return null
      const changed = await git(['diff', '--cached', '--no-renames', '--name-status', '-z', 'HEAD'], {
        env: index,
      })
      const fields = nulFields(changed)
      const work = new Map<string, PlantedFile>()
      for (let at = 0; at + 1 < fields.length; at += 2) {
        const [status = '', path = ''] = fields.slice(at, at + 2)
        const earlier =
          status === 'D' ? null : (await git(['cat-file', 'blob', `:${path}`], { env: index })).stdout
        work.set(path, earlier)
      }
      return work
    },
  }
}
