// Runs git with a directory, index and configuration of Ralph's own, so that nothing an agent wrote can steer it.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { lstat, mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { UserError } from '../system/errors.ts'
import { readRegular, removeNow, replaceFile } from '../system/files.ts'
import { findProgram } from '../system/program.ts'
import type { OldIndex } from './index-file.ts'
import { ObjectWriter } from './objects.ts'
import { STALE_MS } from './refs.ts'

/** By PATH. Found before any agent runs, and kept: a folder that comes first may be the agent's to write. */
const programs = new Map<string, string>()

/** The file of git, as it was found first. */
export function gitProgram(path = ''): string {
  const known = programs.get(path) ?? findProgram('git', path) ?? 'git'
  programs.set(path, known)
  return known
}

export class GitError extends Error {
  readonly code: number
  readonly stderr: string
  constructor(args: readonly string[], code: number, stderr: string) {
    super(`git ${args.find((arg) => !arg.startsWith('-')) ?? ''} failed (exit ${code}): ${stderr.trim()}`)
    this.name = 'GitError'
    this.code = code
    this.stderr = stderr
  }
}

/** How git's end shows that the remote does not know the token. */
export const UNKNOWN_TOKEN =
  /(returned error:|HTTP) 401|could not read username|authentication failed|invalid username or/i

/** Whether a git of ours ended because the remote does not know the token. */
export function isUnknownToken(error: unknown): boolean {
  return error instanceof GitError && UNKNOWN_TOKEN.test(error.stderr)
}

/** Where to push and fetch, and with what; `env` carries the authentication to git processes only, never in argv. */
export type Remote = { url: string; env: Readonly<Record<string, string>> }

export type RunOptions = {
  input?: string | Uint8Array
  env?: Readonly<Record<string, string>>
  /** Where it runs; the top of the work tree unless it is given. */
  directory?: string
  /** Exit codes that are answers, not errors; 0 always is. */
  accept?: readonly number[]
  /** The process is ended after so long, and its exit code is 124. */
  timeoutMs?: number
}

export type GitResult = { code: number; stdout: string; stderr: string }

/** What was found of the user's clone when the job began, before any agent ran. */
export type Clone = {
  workTree: string
  gitDir: string
  commonDir: string
  /** The branch that is checked out, or null (detached). */
  branch: string | null
  /** HEAD's commit, or null in an empty repository. */
  head: string | null
  config: ReadonlyMap<string, string>
}

/** Settings of the clone that change what `git add` and `git checkout` do with bytes and names. */
const KEPT_CONFIG =
  /^(core\.(autocrlf|eol|safecrlf|ignorecase|filemode|symlinks|precomposeunicode|protecthfs|protectntfs|longpaths|bigfilethreshold)|user\.(name|email)|extensions\.objectformat)$/

/** Files beside the objects that say what commits and packs hold: whoever writes into .git could say otherwise. */
const UNBELIEVED = ['commitGraph', 'multiPackIndex']

/** Environment of every git process: nothing of the runner's, no prompts, plain English. */
function plainEnv(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const kept: Record<string, string> = { LC_ALL: 'C', GIT_TERMINAL_PROMPT: '0', GIT_OPTIONAL_LOCKS: '0' }
  for (const name of [
    'PATH',
    'HOME',
    'USER',
    'LOGNAME',
    'TMPDIR',
    'TEMP',
    'SYSTEMROOT',
    'SSH_AUTH_SOCK',
    'XDG_CONFIG_HOME',
  ]) {
    const value = env[name]
    if (value !== undefined) kept[name] = value
  }
  for (const [name, value] of Object.entries(env)) {
    if (/^(https?|all|no)_proxy$|^SSL_CERT_|^GIT_SSL_/i.test(name) && value !== undefined) kept[name] = value
  }
  return kept
}

/** For git on the clone's own configuration: a promisor that somebody wrote there would be run for a missing object. */
const NO_FETCH = { GIT_ALLOW_PROTOCOL: 'none', GIT_NO_LAZY_FETCH: '1' }

/** Settings of a clone that lacks objects. */
const PROMISED = /^(?:extensions\.partialclone|remote\..+\.promisor)$/s

/** Reads what the clone is. Throws UserError where it is no repository that Ralph can work in. */
export async function openClone(
  directory: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Clone> {
  if (!existsSync(directory)) throw notHere(directory, 'no such folder', 'check the path')
  const run = (args: string[], accept: number[] = []) =>
    execute(['-c', 'safe.directory=*', ...args], {
      cwd: directory,
      env: { ...plainEnv(env), ...NO_FETCH },
      accept,
    })
  const found = await run(
    ['rev-parse', '--is-bare-repository', '--absolute-git-dir', '--git-common-dir', '--show-toplevel'],
    [128],
  )
  if (found.code !== 0)
    throw notHere(
      directory,
      'no git repository',
      'run `git init`, commit once, and run again (in a workflow: put actions/checkout before this step)',
    )
  const [bare = '', gitDir = '', commonDir = '', workTree = ''] = found.stdout.split('\n')
  if (bare === 'true' || workTree === '') throw notHere(directory, 'a bare repository', 'run in a checkout')
  const [head, branch, listed] = await Promise.all([
    run(['rev-parse', '--verify', '-q', 'HEAD^{commit}'], [1, 128]),
    run(['symbolic-ref', '-q', '--short', 'HEAD'], [1, 128]),
    run(['config', '--list', '-z', '--includes'], [1]),
  ])
  const config = new Map<string, string>()
  for (const entry of listed.stdout.split('\0')) {
    const at = entry.indexOf('\n')
    if (at > 0) config.set(entry.slice(0, at).toLowerCase(), entry.slice(at + 1))
  }
  if (config.get('core.sparsecheckout') === 'true') {
    throw notHere(
      directory,
      'a sparse checkout',
      'run `git sparse-checkout disable`: gates need the whole tree',
    )
  }
  if ([...config].some(([key, value]) => PROMISED.test(key) && value !== 'false')) {
    throw notHere(
      directory,
      'a partial clone',
      'leave `filter` out of actions/checkout (here: `git fetch --refetch`, then `git config --unset` remote.<name>.promisor and remote.<name>.partialclonefilter): Ralph fetches nothing file by file',
    )
  }
  return {
    workTree,
    gitDir,
    commonDir: resolve(directory, commonDir),
    branch: branch.code === 0 ? branch.stdout.trim() : null,
    head: head.code === 0 ? head.stdout.trim() : null,
    config,
  }
}

function notHere(directory: string, found: string, fix: string): UserError {
  return new UserError({ path: directory, found, expected: 'a checkout with at least one commit', fix })
}

/** A way to a remote that takes longer is tried anew, milliseconds. */
const REMOTE_MS = 10 * 60_000

/**
 * git, seen through Ralph's own directory `.git/ralph/git`; the objects are shared with the clone. Each linked work
 * tree has an index of its own (`own`); refs and configuration are one for all of them (`shared`), so that two runs
 * of one feature see each other.
 */
export class Git {
  readonly clone: Clone
  readonly own: string
  readonly shared: string
  readonly #env: Record<string, string>
  readonly #plain: Record<string, string>
  /** Of our index as we left it; undefined before that. */
  #sealed: string | null | undefined
  /** When that was, milliseconds. */
  #sealedAt = 0
  /** The person's own ignore rules as they were when the job began. */
  #ignored: Buffer = Buffer.alloc(0)

  private constructor(clone: Clone, env: Readonly<Record<string, string | undefined>>) {
    this.clone = clone
    this.own = join(clone.gitDir, 'ralph', 'git')
    this.shared = join(clone.commonDir, 'ralph', 'git')
    this.#plain = plainEnv(env)
    this.#env = {
      ...this.#plain,
      GIT_DIR: this.own,
      GIT_WORK_TREE: clone.workTree,
      GIT_OBJECT_DIRECTORY: join(clone.commonDir, 'objects'),
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_ATTR_NOSYSTEM: '1',
      GIT_NO_REPLACE_OBJECTS: '1',
      GIT_LITERAL_PATHSPECS: '1',
    }
  }

  static async open(clone: Clone, env: Readonly<Record<string, string | undefined>>): Promise<Git> {
    const git = new Git(clone, env)
    const rules = clone.config.get('core.excludesfile') ?? join(configHome(env), 'git', 'ignore')
    git.#ignored = await readFile(rules.replace(/^~(?=\/)/, env.HOME ?? '~')).catch(() => Buffer.alloc(0))
    await git.writeConfig()
    await removeStaleLocks(git.shared)
    return git
  }

  /** Writes our directory's configuration anew: what anybody wrote there before is gone. */
  async writeConfig(): Promise<void> {
    const { clone, own, shared } = this
    for (const folder of [own, join(shared, 'refs'), join(shared, 'info')])
      await mkdir(folder, { recursive: true })
    const ignored = join(shared, 'info', 'ignored')
    const lines = [
      '[core]',
      '\trepositoryformatversion = 1',
      '\tbare = false',
      '\thooksPath = /dev/null',
      '\tfsmonitor = false',
      `\texcludesFile = ${quoted(ignored)}`,
    ]
    lines.push(
      '\tfsync = loose-object,reference',
      '\tattributesFile = /dev/null',
      ...UNBELIEVED.map((name) => `\t${name} = false`),
      '[gc]',
      '\tauto = 0',
      '[maintenance]',
      '\tauto = false',
    )
    lines.push(
      '[protocol "ext"]',
      '\tallow = never',
      '[protocol "file"]',
      '\tallow = user',
      '[advice]',
      '\tdetachedHead = false',
    )
    lines.push(
      '[fetch]',
      '\trecurseSubmodules = false',
      '[submodule]',
      '\trecurse = false',
      '[commit]',
      '\tgpgSign = false',
    )
    for (const [key, value] of clone.config) {
      if (!KEPT_CONFIG.test(key)) continue
      const [group = '', name = ''] = key.split('.')
      lines.push(`[${group}]`, `\t${name} = ${quoted(value)}`)
    }
    // A way to a remote that has gone silent is given up, and tried again by the caller.
    lines.push('[http]', '\tlowSpeedLimit = 1', '\tlowSpeedTime = 60')
    const exclude = await readRegular(join(clone.commonDir, 'info', 'exclude'))
    const files: [string, string | Buffer][] = [
      [join(shared, 'config'), `${lines.join('\n')}\n`],
      [join(own, 'HEAD'), 'ref: refs/heads/ralph-unborn\n'],
      [join(shared, 'info', 'exclude'), exclude ?? ''],
      [ignored, this.#ignored],
      [join(shared, 'info', 'attributes'), ''],
    ]
    // What would lead our git elsewhere, or bend its history.
    const foreign = [join(shared, 'info', 'grafts'), join(own, 'config.worktree')]
    if (own === shared) foreign.push(join(own, 'commondir'))
    for (const file of foreign) removeNow(file)
    // By the file, not by the environment: git looks for refs where the file says.
    if (own !== shared) files.push([join(own, 'commondir'), `${shared}\n`])
    removeNow(join(shared, 'info', 'sparse-checkout'))
    for (const [file, text] of files) await writeOwn(file, text)
    const boundary = async (dir: string) =>
      ((await readRegular(join(dir, 'shallow')))?.toString('utf8') ?? '').split('\n').filter(Boolean)
    const shallow = new Set([...(await boundary(clone.commonDir)), ...(await boundary(shared))])
    if (shallow.size > 0) await writeOwn(join(shared, 'shallow'), `${[...shallow].join('\n')}\n`)
  }

  /** Folders that are from now on what ignored ones are: nothing of them is added or removed. */
  async ignore(folders: readonly string[]): Promise<void> {
    if (folders.length === 0) return
    const rules = folders.map((path) => `/${path.replace(/[\\*?[\] ]/g, '\\$&').replace(/\n/g, '?')}\n`)
    this.#ignored = Buffer.concat([this.#ignored, Buffer.from(`\n${rules.join('')}`)])
    await this.writeConfig()
  }

  /** Runs git on our own directory. Throws GitError on an exit code that was not accepted. */
  run(args: readonly string[], options: RunOptions = {}): Promise<GitResult> {
    return execute(args, {
      cwd: options.directory ?? this.clone.workTree,
      env: { ...this.#env, ...options.env },
      ...pick(options),
    })
  }

  /** The trimmed output of a command that must succeed. */
  async line(args: readonly string[], options: RunOptions = {}): Promise<string> {
    return (await this.run(args, options)).stdout.trim()
  }

  /** New objects for the clone; their ids are as long as that of a commit there. */
  writer(commit: string): ObjectWriter {
    return new ObjectWriter(join(this.clone.commonDir, 'objects'), commit.length)
  }

  /** Whether the clone keeps its refs in files, as nearly every one does. */
  get hasRefFiles(): boolean {
    return (this.clone.config.get('extensions.refstorage') ?? 'files') === 'files'
  }

  /** A git command with arguments and environment of our own directory, to be spawned by the caller. */
  environment(): Readonly<Record<string, string>> {
    return this.#env
  }

  /** Runs git on the user's clone, for its refs only; hooks and configuration of the clone cannot run anything. */
  onClone(args: readonly string[], options: RunOptions = {}): Promise<GitResult> {
    const env = {
      ...this.#plain,
      ...NO_FETCH,
      GIT_DIR: this.clone.gitDir,
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      ...options.env,
    }
    const hard = ['hooksPath=/dev/null', 'fsmonitor=false', ...UNBELIEVED.map((name) => `${name}=false`)]
    return execute([...hard.flatMap((setting) => ['-c', `core.${setting}`]), ...args], {
      cwd: this.clone.workTree,
      env,
      ...pick(options),
    })
  }

  /** Runs a fetch or push against a remote, with its authentication in the environment, for ten minutes at most. */
  async onRemote(remote: Remote, args: readonly string[], options: RunOptions = {}): Promise<GitResult> {
    // What a gate or a hook of `prepare` wrote there must not lead the authentication elsewhere.
    await this.writeConfig()
    return this.run(args, { timeoutMs: REMOTE_MS, ...options, env: { ...remote.env, ...options.env } })
  }

  /** Remembers our index, before control goes to somebody who may write it: flags and forged entries hide changes. */
  async sealIndex(): Promise<void> {
    this.#sealed = await this.#indexDigest()
    this.#sealedAt = Date.now()
  }

  /** Where somebody wrote our index since then, it is made `tree` anew; every file is then read again. */
  async openIndex(tree: string, holds: (tree: string) => Promise<boolean>): Promise<void> {
    if (this.#sealed !== undefined && (await this.#indexDigest()) === this.#sealed) return
    await this.unlock()
    await rm(join(this.own, 'index'), { force: true, recursive: true })
    await this.run(['read-tree', tree])
    if (!(await holds(tree))) throw new Error(`the clone is damaged: ${tree} holds other files`)
    // Before any agent ran: from then on, whatever was written to since is read.
    if (this.#sealed === undefined) await this.run(['update-index', '-q', '--refresh'], { accept: [1] })
  }

  /** The bytes of our index. */
  readIndex(): Promise<Buffer | null> {
    return readRegular(join(this.own, 'index'))
  }

  /** Of all its bytes: git does not check the sum at its end. */
  async #indexDigest(): Promise<string | null> {
    const bytes = await this.readIndex()
    return bytes === null ? null : createHash('sha256').update(bytes).digest('hex')
  }

  /** Our index, and when control was last given to somebody else. */
  async sealedIndex(): Promise<OldIndex> {
    return { bytes: await this.readIndex(), at: this.#sealedAt }
  }

  /** Removes the lock files that a killed git of ours left. */
  async unlock(): Promise<void> {
    await Promise.all(
      ['index.lock', 'HEAD.lock', 'config.lock', 'shallow.lock'].map((name) =>
        rm(join(this.own, name), { force: true }),
      ),
    )
  }
}

/** Writes a file of ours where it does not stand already. */
async function writeOwn(file: string, text: string | Buffer): Promise<void> {
  const wanted = Buffer.from(text)
  if ((await readRegular(file))?.equals(wanted) === true) return
  await replaceFile(file, wanted)
}

function configHome(env: Readonly<Record<string, string | undefined>>): string {
  return env.XDG_CONFIG_HOME ?? join(env.HOME ?? '/', '.config')
}

/** Removes the locks on refs that a git left which is gone (a power cut): nobody else would ever do it. */
async function removeStaleLocks(directory: string): Promise<void> {
  const entries = await readdir(join(directory, 'refs'), { recursive: true }).catch(() => [])
  const locks = entries.filter((name) => name.endsWith('.lock')).map((name) => join('refs', name))
  for (const name of [...locks, 'packed-refs.lock']) await removeStaleLock(join(directory, name))
}

export async function removeStaleLock(file: string): Promise<void> {
  const found = await lstat(file).catch(() => null)
  if (found !== null && found.mtimeMs < Date.now() - STALE_MS) await rm(file, { force: true })
}

/** Runs git in a folder that is nobody's clone, with a remote's authentication. Gives its output. */
export async function runPlain(
  args: readonly string[],
  directory: string,
  env: Readonly<Record<string, string | undefined>>,
  extra: Readonly<Record<string, string>>,
): Promise<string> {
  const hard = { ...plainEnv(env), GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null', ...extra }
  return (await execute(args, { cwd: directory, env: hard })).stdout
}

function pick(options: RunOptions): Pick<Execution, 'input' | 'accept' | 'timeoutMs'> {
  return {
    ...(options.timeoutMs === undefined ? {} : { timeoutMs: options.timeoutMs }),
    ...(options.input === undefined ? {} : { input: options.input }),
    ...(options.accept === undefined ? {} : { accept: options.accept }),
  }
}

function quoted(value: string): string {
  return `"${value.replace(/[\\"]/g, '\\$&').replace(/\n/g, '\\n')}"`
}

/** A git of ours that takes longer waits for something that never comes, milliseconds. */
const LOCAL_MS = 15 * 60_000

type Execution = {
  cwd: string
  env: Record<string, string>
  input?: string | Uint8Array
  accept?: readonly number[]
  timeoutMs?: number
}

function execute(args: readonly string[], options: Execution): Promise<GitResult> {
  return new Promise((done, fail) => {
    // A group of its own: Ctrl+C on a terminal must not end a git that is writing our state.
    const child = spawn(gitProgram(options.env.PATH), args, {
      cwd: options.cwd,
      env: options.env,
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: true,
    })
    const out: Buffer[] = []
    const err: Buffer[] = []
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk))
    child.stderr.on('data', (chunk: Buffer) => err.push(chunk))
    child.stdin.on('error', () => {}) // a git that ends early closes its input: the exit code tells
    let late = false
    const timer = setTimeout(() => {
      late = true
      try {
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
      } catch {
        // It has ended just now.
      }
    }, options.timeoutMs ?? LOCAL_MS)
    child.on('error', (error) => {
      clearTimeout(timer)
      fail(new GitError(args, 127, error.message))
    })
    child.on('close', (code, signal) => {
      clearTimeout(timer)
      const why = late ? `no end in time` : `ended by ${signal}`
      const stderr = Buffer.concat(err).toString('utf8') + (signal === null ? '' : why)
      const result = { code: late ? 124 : (code ?? 128), stdout: Buffer.concat(out).toString('utf8'), stderr }
      if (result.code === 0 || options.accept?.includes(result.code)) done(result)
      else fail(new GitError(args, result.code, result.stderr))
    })
    child.stdin.end(options.input)
  })
}
