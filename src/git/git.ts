// git with Ralph's own directory, index and configuration, so that no file of an agent controls it. One method for each command.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openClosedFolders, removeSync } from '../system/files.ts'
import { pathBytes } from '../system/path-text.ts'
import {
  type Environment,
  execute,
  GitError,
  type GitResult,
  gitEnv,
  LIST_IGNORED,
  NO_CONFIG,
  nulFields,
  type RunOptions,
  unreadableMessage,
} from './git-process.ts'
import { ObjectWriter } from './objects.ts'
import { type Clone, NO_FETCH } from './open-clone.ts'
import { REF_SETTINGS, removeStaleLocks, UNTRUSTED_GIT_CACHES, writeDirectory } from './own-directory.ts'
import { type FileSize, PATCH_ENV, parseSizes, patchArguments, sizeArguments } from './patch.ts'
import { Permissions } from './sharing.ts'
import { forgetRecentStats } from './stat-cache.ts'

export { type Clone, openClone } from './open-clone.ts'

/** The remote to push to and fetch from. `env` passes the authentication to git processes, never in arguments. */
export type Remote = { url: string; env: Readonly<Record<string, string>> }

/** Paths as git lists them. `closed`: git's message about a folder that it skipped since it may not open it, or null. */
export type Listing = { paths: string[]; closed: string | null }

export type RefMove = { ref: string; from: string | null; to: string }

/** Milliseconds. A command to a remote that takes longer is tried again. */
const REMOTE_TIMEOUT_MS = 10 * 60_000
/** With more loose objects than this Ralph packs them, as many of them make the clone slow. */
const MAX_LOOSE_OBJECTS = 2000
/** Commands that write the index. */
const WRITES_INDEX = /^(?:add|diff|checkout-index|read-tree|update-index)$/
const RAW = ['--raw', '-z', '--no-renames', '--no-abbrev']
/** Exit codes when a remote cannot be reached, or takes too long. */
const FAILED_EXIT_CODES = [1, 124, 128]

/**
 * Its directory is `.git/ralph/git`; the objects are shared with the clone. Each linked work tree has its own index (`own`). All share
 * refs and configuration (`shared`), so that two runs of one feature see each other.
 */
export class Git {
  readonly clone: Clone
  readonly own: string
  readonly shared: string
  /** Permissions of files that Ralph writes into the clone itself, without git. */
  readonly permissions: Permissions
  readonly #env: Record<string, string>
  readonly #inherited: Record<string, string>
  /** The user's own ignore rules when the job began. */
  #ignored: Buffer = Buffer.alloc(0)
  /** How many git processes write the index now. Meanwhile Ralph itself must not write it. */
  #writing = 0
  /** Loose objects written since the last pack. */
  #loose = 0

  private constructor(clone: Clone, env: Environment) {
    this.clone = clone
    this.own = join(clone.gitDir, 'ralph', 'git')
    this.shared = join(clone.commonDir, 'ralph', 'git')
    this.permissions = new Permissions(clone.config.get('core.sharedrepository'))
    this.#inherited = gitEnv(env)
    this.#env = {
      ...this.#inherited,
      ...NO_CONFIG,
      GIT_DIR: this.own,
      GIT_WORK_TREE: clone.workTree,
      GIT_OBJECT_DIRECTORY: join(clone.commonDir, 'objects'),
      GIT_ATTR_NOSYSTEM: '1',
      GIT_NO_REPLACE_OBJECTS: '1',
      GIT_LITERAL_PATHSPECS: '1',
    }
  }

  static async open(clone: Clone, env: Environment): Promise<Git> {
    const git = new Git(clone, env)
    const home = env.XDG_CONFIG_HOME ?? join(env.HOME ?? '/', '.config')
    const rules = clone.config.get('core.excludesfile') ?? join(home, 'git', 'ignore')
    git.#ignored = await readFile(rules.replace(/^~(?=\/)/, env.HOME ?? '~')).catch(() => Buffer.alloc(0))
    await git.writeConfig()
    await removeStaleLocks(git.shared)
    return git
  }

  /** Rewrites the configuration of Ralph's directory, and undoes all changes in it. */
  writeConfig(): Promise<void> {
    return writeDirectory(this.clone, this, this.#ignored)
  }

  /** Treats these folders as ignored from now on: nothing in them is added or removed. */
  async ignore(folders: readonly string[]): Promise<void> {
    if (folders.length === 0) return
    const rules = folders.map((path) => `/${path.replace(/[\\*?[\] ]/g, '\\$&').replace(/\n/g, '?')}\n`)
    this.#ignored = Buffer.concat([this.#ignored, pathBytes(`\n${rules.join('')}`)])
    await this.writeConfig()
  }

  /** The ignore rules that are not in the work tree. */
  async ownRules(): Promise<string> {
    const exclude = await readFile(join(this.shared, 'info', 'exclude'))
    return `${exclude.toString('utf8')}\n${this.#ignored.toString('utf8')}`
  }

  /** Runs git on Ralph's directory. Throws GitError for an exit code that is not accepted. */
  async run(args: readonly string[], options: RunOptions = {}): Promise<GitResult> {
    const { directory = this.clone.workTree, env } = options
    const ran = execute(args, { ...options, directory, env: { ...this.#env, ...env } })
    if (!WRITES_INDEX.test(args[0] ?? '')) return ran
    this.#writing += 1
    return ran.finally(() => {
      this.#writing -= 1
      if (this.#writing === 0) forgetRecentStats(this, this.#idLength)
    })
  }

  /** The bytes of an object id. */
  get #idLength(): number {
    return this.clone.config.get('extensions.objectformat') === 'sha256' ? 32 : 20
  }

  /** Runs git on the user's clone, for its refs only. Hooks and configuration of the clone cannot start programs. */
  runOnClone(args: readonly string[], options: RunOptions = {}): Promise<GitResult> {
    const { gitDir, commonDir, hasOwnRefs } = this.clone
    // The file in a lane's directory names the refs of its session, and these are those of the clone.
    const common = hasOwnRefs === true ? { GIT_COMMON_DIR: commonDir } : {}
    const directories = { GIT_DIR: gitDir, ...common }
    const env = { ...this.#inherited, ...NO_FETCH, ...directories, ...NO_CONFIG, ...options.env }
    const hard = [
      'hooksPath=/dev/null',
      'fsmonitor=false',
      ...REF_SETTINGS,
      ...UNTRUSTED_GIT_CACHES.map((name) => `${name}=false`),
    ]
    const settings = hard.flatMap((setting) => ['-c', `core.${setting}`])
    return execute([...settings, ...args], { ...options, directory: this.clone.workTree, env })
  }

  /** A writer of new objects for the clone, whose ids are as long as that of `commit`. */
  writer(commit: string): ObjectWriter {
    const onWritten = (count: number) => {
      this.#loose += count
    }
    return new ObjectWriter(join(this.clone.commonDir, 'objects'), commit.length, this.permissions, onWritten)
  }

  /** Whether the clone keeps its refs in files, as nearly every one does. */
  get hasRefFiles(): boolean {
    return (this.clone.config.get('extensions.refstorage') ?? 'files') === 'files'
  }

  /** The environment for a git that the caller starts on Ralph's directory. */
  environment(): Readonly<Record<string, string>> {
    return this.#env
  }

  /** Removes the lock files of git processes of Ralph that were killed. */
  unlock(): void {
    for (const name of ['index.lock', 'HEAD.lock', 'config.lock', 'shallow.lock'])
      removeSync(join(this.own, name))
  }

  // The work tree and Ralph's index

  /** Adds all files. Returns git's message about a file or folder that it could not read, or null. */
  async addAll(): Promise<string | null> {
    return unreadableMessage(await this.run(['add', '-A', '--', '.']))
  }

  /** Files that are neither tracked nor ignored. `folders`: a folder of only such files is listed instead of them, and ends in `/`. */
  async untracked(
    how: 'files' | 'folders' | 'filled folders' = 'files',
    env: Readonly<Record<string, string>> = {},
  ): Promise<Listing> {
    const folders = how === 'files' ? [] : ['--directory']
    if (how === 'filled folders') folders.push('--no-empty-directory')
    const result = await this.run(['ls-files', '-z', '--others', ...folders, '--exclude-standard'], { env })
    return { paths: nulFields(result), closed: unreadableMessage(result) }
  }

  /** Ignored files, and folders (ending in `/`) that hold nothing else. */
  async ignored(): Promise<string[]> {
    return nulFields(await this.run(LIST_IGNORED))
  }

  /** Which of these paths below `directory` are ignored. */
  async checkIgnore(paths: readonly string[], directory = this.clone.workTree): Promise<Set<string>> {
    const checked = await this.run(['check-ignore', '--no-index', '-z', '--stdin'], {
      // `./` keeps a path that begins with `:` from being a pattern. The command has no option for that.
      env: { GIT_WORK_TREE: directory, GIT_LITERAL_PATHSPECS: '0' },
      directory,
      input: paths.map((path) => `./${path}\0`).join(''),
      accept: [1],
    })
    return new Set(nulFields(checked).map((path) => path.slice('./'.length)))
  }

  /** Whether the work tree differs from Ralph's index. */
  async hasChanges(): Promise<boolean> {
    const args = ['ls-files', '-z', '--modified', '--deleted', '--others', '--exclude-standard']
    return (await this.run(args)).stdout !== ''
  }

  async refreshIndex(): Promise<void> {
    await this.run(['update-index', '-q', '--refresh'], { accept: [1] })
  }

  /** Lines as `git update-index --index-info` reads them. */
  async updateIndex(lines: readonly string[]): Promise<void> {
    const input = lines.map((line) => `${line}\0`).join('')
    await this.run(['update-index', '-z', '--index-info'], { input })
  }

  /** Sets the index to a tree, and the files too if asked. */
  async readTree(tree: string, how: 'index' | 'index and files'): Promise<void> {
    await this.run(['read-tree', '--reset', ...(how === 'index' ? [] : ['-u']), tree])
  }

  /** Removes files that are neither tracked nor ignored. */
  async clean(): Promise<void> {
    const remove = () => this.run(['clean', '-ffdq', '--', '.'])
    await remove().catch(async () => {
      // There may be folders without permissions, or folders too deep for git.
      await openClosedFolders(this.clone.workTree)
      await remove()
    })
  }

  /** Writes files as they are in the index, and overwrites existing ones. */
  async checkOutFiles(paths: readonly Buffer[]): Promise<void> {
    const input = Buffer.concat(paths.flatMap((path) => [path, Buffer.from([0])]))
    await this.run(['checkout-index', '-f', '-u', '-z', '--stdin'], { input })
  }

  /** The entries of the index: `<mode> <object id> <stage>\t<path>`. */
  async indexEntries(): Promise<string[]> {
    return nulFields(await this.run(['ls-files', '-s', '-z']))
  }

  /** How the index differs from a commit, in the format of `git diff --raw -z`. */
  async stagedDiff(commit: string): Promise<string> {
    return (await this.run(['diff-index', '--cached', ...RAW, commit, '--'])).stdout
  }

  /** Files that were written to since git read them, whether their content changed or not; in the same format. */
  async touchedFiles(): Promise<string> {
    return (await this.run(['diff-files', ...RAW, '--ignore-submodules=all'])).stdout
  }

  /** Paths that differ between the index and a tree; `filter` as of `git diff`. */
  async indexDiff(tree: string, filter = ''): Promise<string[]> {
    const args = ['diff-index', '--cached', '--name-only', '-z', '--no-renames', `--diff-filter=${filter}`]
    return nulFields(await this.run([...args.filter((arg) => arg !== '--diff-filter='), tree, '--']))
  }

  /** Tracked files whose content differs from the index, in the format of `git diff --raw -z`: files that are only newer do not. */
  async changedFiles(): Promise<string> {
    return (await this.run(['diff', ...RAW, '--no-ext-diff', '--no-textconv', '--ignore-submodules=dirty']))
      .stdout
  }

  // History

  async isAncestor(ancestor: string, descendant: string): Promise<boolean> {
    return (await this.run(['merge-base', '--is-ancestor', ancestor, descendant], { accept: [1] })).code === 0
  }

  /** Merges two commits into a tree, with conflict markers. */
  async mergeTree(left: string, right: string): Promise<{ tree: string; conflicts: string[] }> {
    const args = ['merge-tree', '--write-tree', '-z', '--name-only', '--no-messages']
    const merged = await this.run([...args, '--allow-unrelated-histories', left, right], { accept: [1] })
    const [tree = '', ...names] = merged.stdout.split('\0')
    return { tree, conflicts: names.filter((name) => name !== '') }
  }

  /** Commits and their messages, the newest first. */
  async messages(
    range: string,
    how: 'all' | 'first parents' = 'all',
  ): Promise<{ commit: string; message: string }[]> {
    const only = how === 'all' ? [] : ['--first-parent']
    const entries = nulFields(await this.run(['log', '-z', '--format=%H%n%B', ...only, range, '--']))
    return entries.map((entry) => {
      const end = entry.indexOf('\n')
      return { commit: entry.slice(0, end), message: entry.slice(end + 1) }
    })
  }

  /** The commits of a range with their parents; parents come first. */
  async history(range: string): Promise<{ commit: string; parents: string[]; message: string }[]> {
    const args = ['log', '-z', '--topo-order', '--reverse', '--format=%H %P%n%B', range, '--']
    return nulFields(await this.run(args)).map((entry) => {
      const end = entry.indexOf('\n')
      const [commit = '', ...parents] = entry.slice(0, end).trim().split(' ')
      return { commit, parents, message: entry.slice(end + 1) }
    })
  }

  /**
   * The commits of a range that wrote these lines of a file last, the one with the most lines first. Without `lines`: the last commit that
   * changed the file. Empty if the file or the lines do not exist at the end of the range.
   */
  async authors(
    range: string,
    path: string,
    lines: { from: number; to: number } | null,
  ): Promise<{ commit: string; lines: number }[]> {
    if (lines === null) {
      // A check may name any path. Git refuses one outside the repository, and an empty one.
      const { stdout } = await this.run(['log', '-1', '--format=%H', range, '--', path], { accept: [128] })
      return stdout.trim() === '' ? [] : [{ commit: stdout.trim(), lines: 1 }]
    }
    const at = ['-L', `${lines.from},${lines.to}`]
    const args = ['blame', '--porcelain', '--no-textconv', ...at, range, '--', path]
    const { stdout, code } = await this.run(args, { accept: [128] })
    if (code !== 0) return []
    const counts = new Map<string, number>()
    for (const [, commit = ''] of stdout.matchAll(/^([0-9a-f]{40,64}) \d+ \d+/gm))
      counts.set(commit, (counts.get(commit) ?? 0) + 1)
    return [...counts].map(([commit, count]) => ({ commit, lines: count })).sort((a, b) => b.lines - a.lines)
  }

  /** Whether a commit message of the range contains a text. */
  async hasMessage(text: string, range: string): Promise<boolean> {
    const args = ['rev-list', '-n', '1', '--fixed-strings', `--grep=${text}`, range, '--']
    return (await this.run(args)).stdout.trim() !== ''
  }

  /** By commit: its files with the numbers of added and removed lines, without Ralph's own files. Merges have none. */
  async sizes(range: string): Promise<Map<string, FileSize[]>> {
    const env = { ...PATCH_ENV, GIT_WORK_TREE: this.own }
    return parseSizes((await this.run(sizeArguments(range), { env, directory: this.own })).stdout)
  }

  /** The patch between two trees or commits, for people to read. */
  async patch(...range: readonly string[]): Promise<string> {
    // git reads attributes from the work tree, and an agent may have written some there. This folder has none.
    const env = { ...PATCH_ENV, GIT_WORK_TREE: this.own }
    return (await this.run(patchArguments(range), { env, directory: this.own })).stdout
  }

  /** The patch of some files between two commits. */
  async patchOf(from: string, to: string, paths: readonly string[]): Promise<string> {
    const env = { GIT_WORK_TREE: this.own }
    return (await this.run(patchArguments([from, to], paths), { env, directory: this.own })).stdout
  }

  // Refs and remotes

  async isShallow(): Promise<boolean> {
    return (await this.run(['rev-parse', '--is-shallow-repository'])).stdout.trim() === 'true'
  }

  /** Sets a ref of Ralph's directory, whatever its value was; null removes it. */
  async setRef(ref: string, to: string | null): Promise<void> {
    await this.run(to === null ? ['update-ref', '-d', ref] : ['update-ref', ref, to])
  }

  async push(remote: Remote, moves: readonly RefMove[], atomic = moves.length > 1): Promise<GitResult> {
    const args = ['push', '--porcelain', '--no-verify', '--no-follow-tags', '--recurse-submodules=no']
    if (atomic) args.push('--atomic')
    for (const { ref, from } of moves) args.push(`--force-with-lease=${ref}:${from ?? ''}`)
    return this.#onRemote(remote, [...args, remote.url, ...moves.map(({ ref, to }) => `${to}:${ref}`)])
  }

  async lsRemote(remote: Remote, patterns: readonly string[]): Promise<GitResult> {
    // In this version of the protocol the server's first answer lists its refs: one request instead of two.
    const args = ['-c', 'protocol.version=0', 'ls-remote', '--refs', remote.url, ...patterns]
    return this.#onRemote(remote, args)
  }

  /** `depth` as options of `git fetch`. */
  async fetch(remote: Remote, wanted: readonly string[], depth: readonly string[]): Promise<GitResult> {
    const args = [
      'fetch',
      '--quiet',
      '--no-tags',
      '--no-write-fetch-head',
      ...depth,
      '--end-of-options',
      remote.url,
      ...wanted,
    ]
    return this.#onRemote(remote, args)
  }

  /** Runs git with the authentication of the remote in its environment, for ten minutes at most. */
  async #onRemote(remote: Remote, args: readonly string[]): Promise<GitResult> {
    // A gate or `prepare` may have changed the configuration, and could redirect the authentication.
    await this.writeConfig()
    return this.run(args, { timeoutMs: REMOTE_TIMEOUT_MS, accept: FAILED_EXIT_CODES, env: remote.env })
  }

  /** Packs the loose objects that Ralph's refs reach, once Ralph has written `most`. Others are people's, and stay. */
  async packLoose(most = MAX_LOOSE_OBJECTS): Promise<void> {
    if (this.#loose < most) return
    this.#loose = 0
    // The loose objects are removed, so the pack must be on the disk first.
    const synced = 'core.fsync=loose-object,pack,pack-metadata,reference'
    await this.run(['-c', synced, 'repack', '-d', '-l', '-q']).catch((error: unknown) => {
      // Then the objects stay loose.
      if (!(error instanceof GitError)) throw error
    })
  }

  /**
   * Packs the objects that `commit` reaches and `base` does not; `start` is the prefix of the files. Returns the pack's name.
   * `objects`: the folder of objects that `start` is in, if it is not this repository's. git moves a finished pack there from its own
   * folder of objects, which fails if that is on another file system.
   */
  async packBetween(
    commit: string,
    base: string | null,
    start: string,
    objects: string | null = null,
  ): Promise<string> {
    const input = base === null ? `${commit}\n` : `${commit}\n^${base}\n`
    const source = join(this.clone.commonDir, 'objects').replace(/["\\]/g, '\\$&')
    const env =
      objects === null
        ? {}
        : { GIT_OBJECT_DIRECTORY: objects, GIT_ALTERNATE_OBJECT_DIRECTORIES: `"${source}"` }
    const args = ['pack-objects', '--revs', '--quiet', start]
    return (await this.run(args, { input, env })).stdout.trim()
  }
}
