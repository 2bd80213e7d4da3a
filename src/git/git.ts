// git, with a directory, index and configuration of Ralph's own, so that nothing an agent wrote can steer it: one
// method a command.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openClosedFolders, readRegularFile, removeSync } from '../system/files.ts'
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
import { PATCH_ENV, patchArguments } from './patch.ts'
import { readRefs, SYMBOLIC_PREFIX } from './refs.ts'
import { Permissions } from './sharing.ts'

export { type Clone, openClone } from './open-clone.ts'

/** Where to push and fetch, and with what; `env` carries the authentication to git processes only, never in argv. */
export type Remote = { url: string; env: Readonly<Record<string, string>> }

/** Paths as git lists them. `closed`: git goes on without a folder that it may not open, and says so. */
export type Listing = { paths: string[]; closed: string | null }

/** Ralph's index, where it is held in memory. */
export type MemoryIndex = {
  writeForGit(): void
  /** Makes another file what is held. */
  share(file: string): void
}

export type RefMove = { ref: string; from: string | null; to: string }

/** A way to a remote that takes longer is tried anew, milliseconds. */
const REMOTE_TIMEOUT_MS = 10 * 60_000
/** So many objects of ours are left beside the packs: a long run must not slow down the clone. */
const MAX_LOOSE_OBJECTS = 2000
/** These commands read no index. */
const NO_INDEX =
  /^(?:-c|check-ignore|fetch|index-pack|log|ls-remote|merge-base|merge-tree|pack-objects|push|rev-list|rev-parse|update-ref)$/
/** These write one. */
const WRITES_INDEX = /^(?:add|checkout-index|read-tree|update-index)$/
/** How git ends when the way to a remote fails, or takes too long. */
const FAILED_EXIT_CODES = [1, 124, 128]

/**
 * Its directory is `.git/ralph/git`; the objects are shared with the clone. Each linked work tree has an index of its
 * own (`own`); refs and configuration are one for all of them (`shared`), so that two runs of one feature see each other.
 */
export class Git {
  readonly clone: Clone
  readonly own: string
  readonly shared: string
  /** Of what we write into the clone without git. */
  readonly permissions: Permissions
  /** What the file of that name is made before git reads it. */
  index: MemoryIndex | null = null
  readonly #env: Record<string, string>
  readonly #plain: Record<string, string>
  /** The person's own ignore rules as they were when the job began. */
  #ignored: Buffer = Buffer.alloc(0)
  /** So many gits of ours write our index: who else begins must not take back what they wrote. */
  #writing = 0
  /** Objects that we have written since the last pack. */
  #loose = 0

  private constructor(clone: Clone, env: Environment) {
    this.clone = clone
    this.own = join(clone.gitDir, 'ralph', 'git')
    this.shared = join(clone.commonDir, 'ralph', 'git')
    this.permissions = new Permissions(clone.config.get('core.sharedrepository'))
    this.#plain = gitEnv(env)
    this.#env = {
      ...this.#plain,
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

  /** Writes our directory's configuration anew: what anybody wrote there before is gone. */
  writeConfig(): Promise<void> {
    return writeDirectory(this.clone, this, this.#ignored)
  }

  /** Folders that are from now on what ignored ones are: nothing of them is added or removed. */
  async ignore(folders: readonly string[]): Promise<void> {
    if (folders.length === 0) return
    const rules = folders.map((path) => `/${path.replace(/[\\*?[\] ]/g, '\\$&').replace(/\n/g, '?')}\n`)
    this.#ignored = Buffer.concat([this.#ignored, pathBytes(`\n${rules.join('')}`)])
    await this.writeConfig()
  }

  /** Ignore rules beside those of the work tree. */
  async ownRules(): Promise<string> {
    const exclude = await readFile(join(this.shared, 'info', 'exclude'))
    return `${exclude.toString('utf8')}\n${this.#ignored.toString('utf8')}`
  }

  /** Runs git on our own directory. Throws GitError on an exit code that was not accepted. */
  async run(args: readonly string[], options: RunOptions = {}): Promise<GitResult> {
    const { directory = this.clone.workTree, env } = options
    const [command = ''] = args
    if (!NO_INDEX.test(command) && this.#writing === 0) this.index?.writeForGit()
    const ran = execute(args, { ...options, directory, env: { ...this.#env, ...env } })
    if (!WRITES_INDEX.test(command)) return ran
    this.#writing += 1
    return ran.finally(() => {
      this.#writing -= 1
    })
  }

  /** Runs git on the user's clone, for its refs only; hooks and configuration of the clone cannot run anything. */
  runOnClone(args: readonly string[], options: RunOptions = {}): Promise<GitResult> {
    const env = { ...this.#plain, ...NO_FETCH, GIT_DIR: this.clone.gitDir, ...NO_CONFIG, ...options.env }
    const hard = [
      'hooksPath=/dev/null',
      'fsmonitor=false',
      ...REF_SETTINGS,
      ...UNTRUSTED_GIT_CACHES.map((name) => `${name}=false`),
    ]
    const settings = hard.flatMap((setting) => ['-c', `core.${setting}`])
    return execute([...settings, ...args], { ...options, directory: this.clone.workTree, env })
  }

  /** New objects for the clone; their ids are as long as that of a commit there. */
  writer(commit: string): ObjectWriter {
    const onWritten = (count: number) => {
      this.#loose += count
    }
    return new ObjectWriter(join(this.clone.commonDir, 'objects'), commit.length, this.permissions, onWritten)
  }

  /** Where an object stands that nobody has packed. */
  objectFile(oid: string): string {
    return join(this.clone.commonDir, 'objects', oid.slice(0, 2), oid.slice(2))
  }

  /** Whether the clone keeps its refs in files, as nearly every one does. */
  get hasRefFiles(): boolean {
    return (this.clone.config.get('extensions.refstorage') ?? 'files') === 'files'
  }

  /** The environment of our own directory, for a git that the caller spawns. */
  environment(): Readonly<Record<string, string>> {
    return this.#env
  }

  /** Removes the lock files that a killed git of ours left. */
  unlock(): void {
    for (const name of ['index.lock', 'HEAD.lock', 'config.lock', 'shallow.lock'])
      removeSync(join(this.own, name))
  }

  // The work tree and our index

  /** Gives why a file or a folder could not be looked at, or null. */
  async addAll(): Promise<string | null> {
    return unreadableMessage(await this.run(['add', '-A', '--', '.']))
  }

  /** What is neither tracked nor ignored. `folders`: one that holds nothing else stands for its files, and ends in `/`. */
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

  /** Those that are ignored, of paths below `directory` or the work tree. */
  async checkIgnore(paths: readonly string[], directory = this.clone.workTree): Promise<Set<string>> {
    const checked = await this.run(['check-ignore', '--no-index', '-z', '--stdin'], {
      // A path here is one, whatever it begins with; the command knows no other way to say so.
      env: { GIT_WORK_TREE: directory, GIT_LITERAL_PATHSPECS: '0' },
      directory,
      input: paths.map((path) => `./${path}\0`).join(''),
      accept: [1],
    })
    return new Set(nulFields(checked).map((path) => path.slice('./'.length)))
  }

  /** Whether anything in the work tree differs from our index. */
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

  /** Our index becomes a tree's, and the files with it where asked. */
  async readTree(tree: string, how: 'index' | 'index and files'): Promise<void> {
    await this.run(['read-tree', '--reset', ...(how === 'index' ? [] : ['-u']), tree])
  }

  /** Removes what is neither tracked nor ignored. */
  async clean(): Promise<void> {
    const remove = () => this.run(['clean', '-ffdq', '--', '.'])
    await remove().catch(async () => {
      // Folders that are closed, or deeper than git bears.
      await openClosedFolders(this.clone.workTree)
      await remove()
    })
  }

  /** Files as our index has them, written whatever git thinks of those that are there. */
  async checkOutFiles(paths: readonly Buffer[]): Promise<void> {
    const input = Buffer.concat(paths.flatMap((path) => [path, Buffer.from([0])]))
    await this.run(['checkout-index', '-f', '-u', '-z', '--stdin'], { input })
  }

  /** Paths in which our index differs from a tree; `filter` as of `git diff`. */
  async indexDiff(tree: string, filter = ''): Promise<string[]> {
    const args = ['diff-index', '--cached', '--name-only', '-z', '--no-renames', `--diff-filter=${filter}`]
    return nulFields(await this.run([...args.filter((arg) => arg !== '--diff-filter='), tree, '--']))
  }

  /** How the tracked files differ from a commit, as `git diff --raw -z` says it. */
  async rawDiff(commit: string): Promise<string> {
    const args = ['diff-index', '--raw', '-z', '--no-renames', '--no-abbrev', '--ignore-submodules=dirty']
    return (await this.run([...args, commit, '--'])).stdout
  }

  // History

  async isAncestor(ancestor: string, descendant: string): Promise<boolean> {
    return (await this.run(['merge-base', '--is-ancestor', ancestor, descendant], { accept: [1] })).code === 0
  }

  /** The tree of both, with marks where they conflict. */
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

  /** Whether a message of the range holds a text. */
  async hasMessage(text: string, range: string): Promise<boolean> {
    const args = ['rev-list', '-n', '1', '--fixed-strings', `--grep=${text}`, range, '--']
    return (await this.run(args)).stdout.trim() !== ''
  }

  /** Between two trees or commits, for people to read. */
  async patch(...range: readonly string[]): Promise<string> {
    // Attributes are read from the work tree, where an agent may have written them: here there are none.
    const env = { ...PATCH_ENV, GIT_WORK_TREE: this.own }
    return (await this.run(patchArguments(range), { env, directory: this.own })).stdout
  }

  /** The same of some files; `from` and `to` are commits. */
  async patchOf(from: string, to: string, paths: readonly string[]): Promise<string> {
    const env = { GIT_WORK_TREE: this.own }
    return (await this.run(patchArguments([from, to], paths), { env, directory: this.own })).stdout
  }

  // Refs and remotes

  async isShallow(): Promise<boolean> {
    return (await this.run(['rev-parse', '--is-shallow-repository'])).stdout.trim() === 'true'
  }

  /** Every ref of the clone whose name begins so: its object id, or `ref: <name>`. */
  async cloneRefs(prefix = 'refs/'): Promise<Map<string, string>> {
    if (this.hasRefFiles) {
      const refs = [...readRefs(this.clone.commonDir)]
      return new Map(refs.filter(([ref]) => ref.startsWith(prefix)))
    }
    const listed = await this.runOnClone([
      'for-each-ref',
      '--format=%(objectname) %(refname) %(symref)',
      prefix,
    ])
    const lines = listed.stdout.split('\n').filter(Boolean)
    return new Map(
      lines.map((line): [string, string] => {
        const [oid = '', ref = '', target = ''] = line.split(' ')
        return [ref, target === '' ? oid : `${SYMBOLIC_PREFIX}${target}`]
      }),
    )
  }

  /** Where a symbolic ref of the clone leads, or null. */
  async symbolicRef(ref: string): Promise<string | null> {
    if (this.hasRefFiles) {
      const text = (await readRegularFile(join(this.clone.commonDir, ref)))?.toString('utf8') ?? ''
      return /^ref: (\S+)\n$/.exec(text)?.[1] ?? null
    }
    const { code, stdout } = await this.runOnClone(['symbolic-ref', '-q', ref], { accept: [1, 128] })
    return code === 0 ? stdout.trim() : null
  }

  /** Whether the clone has all of these objects. */
  async cloneHas(oids: readonly string[]): Promise<boolean> {
    const input = oids.map((oid) => `${oid}\n`).join('')
    const found = await this.runOnClone(['cat-file', '--batch-check'], { input }).catch(() => null)
    return found !== null && !/ missing$/m.test(found.stdout)
  }

  /** Our own ref, wherever it was; null removes it. */
  async setRef(ref: string, to: string | null): Promise<void> {
    await this.run(to === null ? ['update-ref', '-d', ref] : ['update-ref', ref, to])
  }

  async push(remote: Remote, moves: readonly RefMove[]): Promise<GitResult> {
    const args = ['push', '--porcelain', '--no-verify', '--no-follow-tags', '--recurse-submodules=no']
    if (moves.length > 1) args.push('--atomic')
    for (const { ref, from } of moves) args.push(`--force-with-lease=${ref}:${from ?? ''}`)
    return this.#onRemote(remote, [...args, remote.url, ...moves.map(({ ref, to }) => `${to}:${ref}`)])
  }

  async lsRemote(remote: Remote, patterns: readonly string[]): Promise<GitResult> {
    return this.#onRemote(remote, ['ls-remote', '--refs', remote.url, ...patterns])
  }

  /** `depth` as options of `git fetch`. */
  async fetch(remote: Remote, wanted: readonly string[], depth: readonly string[]): Promise<GitResult> {
    const args = ['fetch', '--quiet', '--no-tags', '--no-write-fetch-head', ...depth, remote.url, ...wanted]
    return this.#onRemote(remote, args)
  }

  /** With the authentication in the environment, for ten minutes at most. */
  async #onRemote(remote: Remote, args: readonly string[]): Promise<GitResult> {
    // What a gate or a hook of `prepare` wrote there must not lead the authentication elsewhere.
    await this.writeConfig()
    return this.run(args, { timeoutMs: REMOTE_TIMEOUT_MS, accept: FAILED_EXIT_CODES, env: remote.env })
  }

  // Packs

  /**
   * Packs what our refs reach and nobody has packed, where we have written so many objects. Nothing else is removed:
   * what only people's refs reach, or nobody's, is theirs.
   */
  async packLoose(most = MAX_LOOSE_OBJECTS): Promise<void> {
    if (this.#loose < most) return
    this.#loose = 0
    // The loose ones go: first the pack must be on the disk.
    const synced = 'core.fsync=loose-object,pack,pack-metadata,reference'
    await this.run(['-c', synced, 'repack', '-d', '-l', '-q']).catch((error: unknown) => {
      // They stay as they are.
      if (!(error instanceof GitError)) throw error
    })
  }

  /** Packs what `commit` has and `base` has not (null: all) into files that begin with `start`. Gives the pack's name. */
  async packBetween(commit: string, base: string | null, start: string): Promise<string> {
    const input = base === null ? `${commit}\n` : `${commit}\n^${base}\n`
    return (await this.run(['pack-objects', '--revs', '--quiet', start], { input })).stdout.trim()
  }
}
