// Opens the user's clone and reads its settings, before any agent runs.
import { existsSync, readdirSync, realpathSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { UserError } from '../system/errors.ts'
import { readRegularFile, readRegularFileSync } from '../system/files.ts'
import { shellWord } from '../system/shell-word.ts'
import { type Environment, execute, gitEnv } from './git-process.ts'
import { requireGit } from './git-version.ts'
import { readRef } from './refs.ts'

/** The user's clone when the job began, before any agent ran. */
export type Clone = {
  workTree: string
  gitDir: string
  commonDir: string
  /** The branch that is checked out, or null (detached). */
  branch: string | null
  /** HEAD's commit, or null in an empty repository. */
  head: string | null
  config: ReadonlyMap<string, string>
  /** Its sessions see other refs than those in `commonDir`. */
  hasOwnRefs?: true
}

/** For git with the clone's own configuration: it would run a forged promisor remote to fetch a missing object. */
export const NO_FETCH = { GIT_ALLOW_PROTOCOL: 'none', GIT_NO_LAZY_FETCH: '1' }

/** Settings of a clone that lacks objects. */
const PARTIAL_CLONE_KEYS = /^(?:extensions\.partialclone|remote\..+\.promisor)$/s
const FILTER_KEY = /^remote\..+\.partialclonefilter$/s

/** Throws UserError if Ralph cannot work in the directory, or with this git. */
export async function openClone(directory: string, env: Environment): Promise<Clone> {
  if (!existsSync(directory)) throw unusableClone(directory, 'there is no such folder.', 'check the path')
  await requireGit(env)
  const run = (args: string[], accept: number[] = []) =>
    execute(['-c', 'safe.directory=*', ...args], {
      directory,
      env: { ...gitEnv(env), ...NO_FETCH },
      accept,
    })
  const [found, listed] = await Promise.all([
    run(
      ['rev-parse', '--is-bare-repository', '--absolute-git-dir', '--git-common-dir', '--show-toplevel'],
      [128],
    ),
    run(['config', '--list', '-z', '--includes'], [1]),
  ])
  if (found.code !== 0) {
    const fix =
      'go to your project, or name its folder with -C. For a new project, run `git init` and commit once. In a workflow, put actions/checkout before this step'
    throw unusableClone(directory, 'there is no git repository here.', fix)
  }
  const [bare = '', gitDir = '', common = '', workTree = ''] = found.stdout.split('\n')
  if (bare === 'true' || workTree === '')
    throw unusableClone(
      directory,
      'this is a bare repository, without files to work on.',
      'run this in a checkout with files',
    )
  const config = new Map<string, string>()
  for (const entry of listed.stdout.split('\0')) {
    const at = entry.indexOf('\n')
    if (at > 0) config.set(entry.slice(0, at).toLowerCase(), entry.slice(at + 1))
  }
  refuseIncomplete(directory, config)
  const commonDir = resolve(directory, common)
  return { workTree, gitDir, commonDir, ...(await headOf(gitDir, commonDir, run)), config }
}

function refuseIncomplete(directory: string, config: ReadonlyMap<string, string>): void {
  if (config.get('core.sparsecheckout') === 'true') {
    const fix =
      'run `git sparse-checkout disable`. In a workflow, leave `sparse-checkout` out of actions/checkout'
    throw unusableClone(directory, 'this is a sparse checkout, but gates need every file of the commit.', fix)
  }
  if ([...config].some(([key, value]) => PARTIAL_CLONE_KEYS.test(key) && value !== 'false')) {
    // Without `--no-filter` the fetch would filter again, and the clone would lack objects for good.
    const unset = [...config.keys()]
      .filter((key) => PARTIAL_CLONE_KEYS.test(key) || FILTER_KEY.test(key))
      .map((key) => `git config --unset ${shellWord(key)}`)
    const commands = ['git fetch --refetch --no-filter', ...unset].join(' && ')
    const fix = `run \`${commands}\`. In a workflow, leave \`filter\` out of actions/checkout`
    const found = 'this is a partial clone without older files, which Ralph needs.'
    throw unusableClone(directory, found, fix)
  }
}

/** Reads the HEAD file; runs git in unusual cases (reftable, a tag, no commit yet). */
async function headOf(
  gitDir: string,
  commonDir: string,
  run: (args: string[], accept: number[]) => Promise<{ code: number; stdout: string }>,
): Promise<Pick<Clone, 'branch' | 'head'>> {
  const text = (await readRegularFile(join(gitDir, 'HEAD')))?.toString('utf8') ?? ''
  const name = /^ref: (refs\/heads\/\S+)\n$/.exec(text)?.[1]
  const at = name === undefined ? null : readRef(commonDir, name)
  if (name !== undefined && at !== null) return { branch: name.slice('refs/heads/'.length), head: at }
  const [head, branch] = await Promise.all([
    run(['rev-parse', '--verify', '-q', 'HEAD^{commit}'], [1, 128]),
    run(['symbolic-ref', '-q', '--short', 'HEAD'], [1, 128]),
  ])
  return {
    branch: branch.code === 0 ? branch.stdout.trim() : null,
    head: head.code === 0 ? head.stdout.trim() : null,
  }
}

/** Another work tree of the clone that has the branch checked out, or null. Work trees whose folder is gone do not count. */
export function checkedOutElsewhere(
  { gitDir, commonDir, config }: Pick<Clone, 'gitDir' | 'commonDir' | 'config'>,
  branch: string,
): string | null {
  const own = realpathSync(gitDir)
  const isElsewhere = (admin: string) =>
    readRegularFileSync(join(admin, 'HEAD'))?.toString('utf8').trimEnd() === `ref: refs/heads/${branch}` &&
    realpathSync(admin) !== own
  const isBare = config.get('core.bare') === 'true'
  if (!isBare && isElsewhere(commonDir)) return resolve(commonDir, config.get('core.worktree') ?? '..')
  const linked = join(commonDir, 'worktrees')
  for (const name of existsSync(linked) ? readdirSync(linked) : []) {
    const admin = join(linked, name)
    const link = readRegularFileSync(join(admin, 'gitdir'))?.toString('utf8').trimEnd()
    if (link !== undefined && existsSync(resolve(admin, link)) && isElsewhere(admin))
      return dirname(resolve(admin, link))
  }
  return null
}

function unusableClone(directory: string, found: string, fix: string): UserError {
  return new UserError({ path: directory, found, expected: '', fix })
}
