// Runs what is not trusted as a user without rights of its own (`isolation: other-user`): no sudo, no Docker socket, no
// key in our memory or files, no write to `.git`. Linux only. What it cannot have is a clear error, never a step down.
import { execFile, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
import { chmod, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { messageOf, UserError } from './errors.ts'
import { threadsLeft } from './process-table.ts'

type Command = { file: string; args: string[] }

/** The unprivileged user and what is done on its behalf. Between `grant` and `revoke` the work tree is its to write. */
export type OtherUser = {
  readonly name: string
  readonly uid: number
  readonly home: string
  /** Whether programs get a view of the machine, and processes, of their own. */
  readonly isNarrow: boolean
  /** How to start a program as that user; `preamble(env)` has to come first on its stdin. */
  command(file: string, args: readonly string[]): Command
  preamble(env: Readonly<Record<string, string>>): Buffer
  /** The environment without what points into our own home, and with the user's own. */
  env(env: Readonly<Record<string, string>>): Record<string, string>
  grant(): Promise<void>
  revoke(): Promise<void>
  /** Its home as it was at first: empty. */
  renewHome(): Promise<void>
  /** Reaches every process of that user, whatever group, session or environment it has; those that fork, too. */
  signal(signal: 'SIGTERM' | 'SIGKILL'): void
  lives(): boolean
  /** Ends every process of that user and waits until none is left. */
  end(): Promise<number>
  /** Gives the machine back as it was. */
  close(): Promise<void>
  /** What `endOtherUser` has to know to do the same where we were killed. */
  readonly before: string
}

/** While agents and gates run. */
type Working = Omit<OtherUser, 'close' | 'before'>

export type OtherUserOptions = {
  env: Readonly<Record<string, string | undefined>>
  workTree: string
  gitDir: string
  /** Tells this runner from others on the machine, which must not end each other's agents. */
  key: string
  say(text: string): void
  /** `OtherUser.before` of the job that was killed. */
  before?: string
}

/**
 * Reads variables off stdin up to an empty one, then starts the program: no value ever stands in an argument. It stays,
 * to be the first process of its namespace, which takes in those that are left without a parent.
 */
const LAUNCHER = `while IFS= read -r -d '' entry && [ -n "$entry" ]; do export "$entry"; done; umask 0022; "$@"; exit $?`
/**
 * The machine as one program is to see it, where root may make that: all is read-only but the tree, the home, temporary
 * folders and devices (hosted images have folders that everybody may write, some of them on root's PATH), shared memory
 * is its own, and no way leads to the system's bus. It has processes of its own, whom the kernel ends with the first of them.
 */
const NARROW = [
  'tree=$1 home=$2; shift 2',
  'for at in "$tree" "$home" /tmp /var/tmp; do mount --bind "$at" "$at" || exit 125; done',
  'mount -o remount,bind,ro / || exit 125',
  // What has a mount of its own; the kernel may keep one as it is (of a file system that is gone).
  'mounts=$(</proc/self/mountinfo)',
  [
    'while read -r _ _ _ _ at how _',
    `do printf -v at %b "\${at//\\\\/\\\\0}"`,
    'case "$how," in ro,*) continue;; esac',
    'case "$at/" in //|"$tree"/*|"$home"/*|/tmp/*|/var/tmp/*|/dev/*|/proc/*|/sys/*) continue;; esac',
    'mount -o remount,bind,ro "$at" 2>/dev/null',
    'done <<<"$mounts"',
  ].join('; '),
  '[ ! -d /dev/shm ] || mount -t tmpfs -o nosuid,nodev,mode=1777 tmpfs /dev/shm || exit 125',
  '[ ! -d /run/dbus ] || mount -t tmpfs -o ro tmpfs /run/dbus || exit 125',
  'cd "$PWD"', // into what was just mounted
  'exec "$@"',
].join('; ')
const NAMESPACES = ['--mount', '--pid', '--fork', '--kill-child', '--mount-proc', '--propagation', 'private']
/** Places where tools write; those in our own home would be refused to the other user. */
const WRITTEN =
  /^(XDG_.*|NPM_CONFIG_CACHE|YARN_CACHE_FOLDER|PIP_CACHE_DIR|UV_CACHE_DIR|GOCACHE|GOMODCACHE|GOPATH|CARGO_HOME|GRADLE_USER_HOME|COREPACK_HOME|DOTNET_CLI_HOME|NUGET_PACKAGES|COMPOSER_HOME|DENO_DIR|TMPDIR|TEMP|TMP)$/i
/** What tools find in the home folder of who runs them, and only read: installed in ours, it is for the other user, too. */
const INSTALLED: Readonly<Record<string, string>> = {
  RUSTUP_HOME: '.rustup',
  PLAYWRIGHT_BROWSERS_PATH: '.cache/ms-playwright',
}
const SOCKETS = [
  '/var/run/docker.sock',
  '/run/docker.sock',
  '/run/podman/podman.sock',
  '/run/containerd/containerd.sock',
  '/run/crio/crio.sock',
]
const END_MS = 5000
/** One try at ending them may be stopped by those whom it is to end, milliseconds. */
const SIGNAL_MS = 1000
/** Looks in a row that find nobody: who forks and goes at once is in no list of processes. */
const QUIET_LOOKS = 5
/** The system's own folders: neither the caller's PATH nor `/usr/local` has a say in what runs as root. */
const SYSTEM_PATH = '/usr/sbin:/usr/bin:/sbin:/bin'
/** What starts a command of `OtherUser.command`: nothing in it is secret. */
export const STARTER_ENV: Readonly<Record<string, string>> = { PATH: SYSTEM_PATH, LC_ALL: 'C' }

/**
 * Makes the user ready and tries everything that is promised of it, before any agent runs. Throws UserError with each
 * thing that cannot be had and how to have it.
 */
export async function openOtherUser(options: OtherUserOptions): Promise<OtherUser> {
  if (process.platform !== 'linux') {
    throw refused([
      {
        found: process.platform,
        expected: 'Linux',
        fix: 'run on a Linux runner, or use isolation: separate-job',
      },
    ])
  }
  const root = await rootCommand()
  const account = await makeAccount(root, nameFor(options.key))
  const temp = options.env.RUNNER_TEMP
  const tempMode = temp === undefined ? null : await modeOf(temp)
  const installed: Record<string, string> = {}
  const user = createOtherUser(options, root, account, await canNarrow(options, root), installed)
  const modes: Mode[] = []
  const close = async () => {
    await endAndRestore(options, root, account, user, modes)
  }
  try {
    if (temp !== undefined && tempMode !== null) {
      modes.push([temp, tempMode])
      // Where it is not ours, the probe below says so.
      await chmod(temp, tempMode & 0o700).catch(() => {})
    }
    await user.end() // what an earlier job left
    await user.renewHome()
    await openTheWay(options, root, modes)
    await openTop(options, root, account, modes)
    await user.grant()
    const faults = await probe(options, user)
    if (faults.length === 0) Object.assign(installed, await readableOf(options, user))
    await user.revoke()
    if (faults.length > 0) throw refused(faults)
    return { ...user, close, before: JSON.stringify(modes) }
  } catch (error) {
    await close().catch(() => {})
    throw error
  }
}

type Root = (...command: string[]) => Command
/** A folder and the mode that it had. */
type Mode = [path: string, mode: number]
type Account = { name: string; uid: number; gid: number; home: string }

function createOtherUser(
  options: OtherUserOptions,
  root: Root,
  account: Account,
  isNarrow: boolean,
  installed: Readonly<Record<string, string>> = {},
): Working {
  const { workTree } = options
  const { name, uid, gid, home } = account
  const become = (...command: string[]): Command =>
    root(
      ...(isNarrow ? narrow(workTree, home) : []),
      'setpriv',
      `--reuid=${uid}`,
      `--regid=${gid}`,
      '--clear-groups',
      '--no-new-privs',
      '--inh-caps=-all',
      'env',
      '-i',
      `PATH=${SYSTEM_PATH}`,
      ...command,
    )
  const user: Working = {
    name,
    uid,
    home,
    command: (file, args) => become('bash', '--noprofile', '--norc', '-c', LAUNCHER, 'ralph', file, ...args),
    preamble: (env) =>
      Buffer.from(
        `${Object.entries(env)
          .filter(([variable]) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(variable))
          .map(([variable, value]) => `${variable}=${value}\0`)
          .join('')}\0`,
      ),
    env: (env) => {
      const ours = options.env.HOME ?? '/nowhere'
      const kept = Object.entries(env).filter(
        ([variable, value]) => !(WRITTEN.test(variable) && isWithin(value, [ours, options.env.RUNNER_TEMP])),
      )
      return {
        ...installed,
        ...Object.fromEntries(kept),
        HOME: home,
        USER: name,
        LOGNAME: name,
        // git reads no repository of somebody else's unless it is told so.
        GIT_CONFIG_COUNT: '1',
        GIT_CONFIG_KEY_0: 'safe.directory',
        GIT_CONFIG_VALUE_0: '*',
      }
    },
    isNarrow,
    grant: () => grant(workTree, root, uid),
    revoke: () => revoke(workTree, root, uid),
    renewHome: () => freshHome(root, account),
    signal: (signal) => {
      const name = signal.slice(3)
      // Of their own user: reaches those, too, that no look would find. Then by root, whom nobody of them can stop.
      const all = become('bash', '--noprofile', '--norc', '-c', `kill -${name} -1`)
      const found = processesOf(uid)
      const one = root('kill', `-${name}`, ...found.map(String))
      for (const { file, args } of found.length > 0 ? [one, all] : [all])
        spawnSync(file, args, {
          env: STARTER_ENV,
          stdio: 'ignore',
          timeout: SIGNAL_MS,
          killSignal: 'SIGKILL',
        })
    },
    lives: () => processesOf(uid).length > 0,
    async end() {
      const found = processesOf(uid).length
      const deadline = performance.now() + END_MS
      if (!isNarrow || found > 0) user.signal('SIGKILL')
      for (let quiet = 0; quiet < QUIET_LOOKS; quiet++) {
        if (performance.now() > deadline) {
          throw new Error(
            `processes of ${name} cannot be ended: the work tree is left as it is, and the job ends`,
          )
        }
        if (user.lives()) {
          quiet = -1
          user.signal('SIGKILL')
        }
        await delay(2)
      }
      return found
    },
  }
  return user
}

function narrow(workTree: string, home: string): string[] {
  return ['unshare', ...NAMESPACES, 'bash', '--noprofile', '--norc', '-c', NARROW, 'ralph', workTree, home]
}

/** Containers have no right to make namespaces. */
function canNarrow({ workTree }: OtherUserOptions, root: Root): Promise<boolean> {
  return run(root(...narrow(workTree, '/tmp'), 'true')).then(
    () => true,
    () => false,
  )
}

/**
 * Everything but `.git` becomes the user's, so that it may change modes and times, too. A file with several names may be
 * somebody's cache: it stays as it is.
 */
async function grant(workTree: string, root: Root, uid: number): Promise<void> {
  await everywhere((exec) =>
    root(
      ...['find', workTree, '-xdev', '-mindepth', '1', ...withoutGit(workTree), '!', '-uid', String(uid)],
      ...['(', '!', '-type', 'f', '-o', '-links', '1', ')', exec, 'chown', '-h', String(uid), '{}', '+'],
    ),
  )
}

/**
 * Folders, what stands at the top, and what we could not read become ours. Other files stay the user's: a new owner is a
 * new inode time, for which git reads a file again, and we replace files and never write into them.
 */
async function revoke(workTree: string, root: Root, uid: number): Promise<void> {
  const forUs = ['-perm', '-044', '-o', '-gid', String(ourGroup()), '-perm', '-040']
  const readable = ['(', '-type', 'l', '-o', ...forUs, ')', '!', '-perm', '/6000']
  const inside = ['-path', join(pattern(workTree), '*', '*')]
  await everywhere((exec) =>
    root(
      ...['find', workTree, '-xdev', ...withoutGit(workTree), '-uid', String(uid)],
      ...['!', '(', '!', '-type', 'd', ...inside, ...readable, ')'],
      ...becomeOurs(exec),
    ),
  )
}

function becomeOurs(exec: Exec): string[] {
  const us = `${process.getuid?.() ?? 0}:${ourGroup()}`
  return [
    ...['(', '(', '-type', 'l', '-o', exec, 'chmod', 'u+rwX', '{}', '+', ')'],
    ...[',', exec, 'chown', '-h', us, '{}', '+', ')'],
  ]
}

function ourGroup(): number {
  return process.getgid?.() ?? 0
}

type Exec = '-exec' | '-execdir'

/** A path that is too long for one call is reached folder by folder. */
async function everywhere(command: (exec: Exec) => Command): Promise<void> {
  await run(command('-exec')).catch(() => run(command('-execdir')))
}

/** Every part, whatever becomes of the others; then the first fault. */
async function eachPart(parts: readonly (() => Promise<unknown>)[]): Promise<void> {
  const faults: unknown[] = []
  for (const part of parts) await part().catch((error: unknown) => faults.push(error))
  if (faults.length > 0) throw faults[0]
}

function withoutGit(workTree: string): string[] {
  return ['-path', join(pattern(workTree), '.git'), '-prune', '-o']
}

/** find takes a path for a pattern. */
function pattern(path: string): string {
  return path.replace(/[*?[\]\\]/g, '\\$&')
}

/** For the job that was killed: ends what still runs as the other user, and gives the machine back as it was. */
export async function endOtherUser(options: OtherUserOptions): Promise<number> {
  if (process.platform !== 'linux') return 0
  const account = accountOf(nameFor(options.key))
  const modes = modesIn(options)
  if (account === null && modes.length === 0) return 0
  const root = await rootCommand()
  if (account !== null) {
    const user = createOtherUser(options, root, account, await canNarrow(options, root))
    return endAndRestore(options, root, account, user, modes)
  }
  await restoreModes(root, modes)
  return 0
}

/** What root does by path, it does when none of them is left who could lead it elsewhere. */
async function endAndRestore(
  options: OtherUserOptions,
  root: Root,
  account: Account,
  user: Pick<OtherUser, 'end'>,
  modes: readonly Mode[],
): Promise<number> {
  const ended = await user.end()
  await eachPart([
    () => refund(options, root, account),
    () => restoreModes(root, modes),
    () => removeAccount(root, account.name),
  ])
  return ended
}

async function restoreModes(root: Root, modes: readonly Mode[]): Promise<void> {
  for (const [path, mode] of modes) await run(root('chmod', mode.toString(8), path))
}

/** Of folders that we change alone, whatever was remembered. */
function modesIn({ env, workTree, before = '[]' }: OtherUserOptions): Mode[] {
  const ours = [env.RUNNER_TEMP, workTree, ...above(workTree)]
  const isMode = (one: unknown): one is Mode =>
    Array.isArray(one) && ours.includes(one[0]) && Number.isInteger(one[1]) && one[1] >= 0 && one[1] <= 0o7777
  try {
    const known: unknown = JSON.parse(before)
    return Array.isArray(known) ? known.filter(isMode) : []
  } catch {
    return []
  }
}

function nameFor(key: string): string {
  return `ralph-${createHash('sha256').update(key).digest('hex').slice(0, 8)}`
}

/** In a folder with the sticky bit only its owner takes entries away: `.git` stays. */
async function openTop(
  { workTree }: OtherUserOptions,
  root: Root,
  { gid }: Account,
  modes: Mode[],
): Promise<void> {
  modes.push([workTree, (await stat(workTree)).mode & 0o6777])
  await run(root('chgrp', String(gid), workTree))
  await run(root('chmod', 'g+rwx,+t', workTree))
}

/** Its numbers may be somebody else's one day. */
async function refund({ workTree }: OtherUserOptions, root: Root, { uid, gid }: Account): Promise<void> {
  await everywhere((exec) =>
    root(
      ...['find', workTree, '-xdev', ...withoutGit(workTree)],
      ...['(', '-uid', String(uid), '-o', '-gid', String(gid), ')', ...becomeOurs(exec)],
    ),
  )
  await run(root('chmod', 'g-w,-t', workTree))
}

async function modeOf(path: string): Promise<number | null> {
  const found = await stat(path).catch(() => null)
  return found === null ? null : found.mode & 0o7777
}

/** As root, or by a sudo that asks for no password. */
async function rootCommand(): Promise<Root> {
  const plain: Root = (file = '', ...args) => ({ file, args })
  if (process.getuid?.() === 0) return plain
  const sudo: Root = (...args) => ({
    file: 'sudo',
    args: ['-n', '--', 'env', `PATH=${SYSTEM_PATH}`, ...args],
  })
  const allowed = await run(sudo('true')).then(
    () => true,
    () => false,
  )
  if (allowed) return sudo
  throw refused([
    {
      found: 'neither root nor a sudo without a password',
      expected: 'the right to start programs as another user',
      fix: 'use a GitHub-hosted runner or a container job, allow the runner sudo, or use isolation: separate-job',
    },
  ])
}

async function makeAccount(root: Root, name: string): Promise<Account> {
  const home = `/home/${name}`
  const known = accountOf(name)
  if (known !== null) return known
  try {
    await run(
      root(
        'useradd',
        '--system',
        // We make it: what hosted images would copy into it is gigabytes.
        '--no-create-home',
        '--home-dir',
        home,
        '--user-group',
        '--shell',
        '/bin/bash',
        name,
      ),
    )
  } catch (error) {
    const fix = 'install the package passwd (or shadow), or use isolation: separate-job'
    throw refused([{ found: messageOf(error), expected: `a user ${name} that useradd makes`, fix }])
  }
  const made = accountOf(name)
  if (made === null) throw new Error(`useradd made no ${name} in /etc/passwd`)
  return made
}

/** A machine where it cannot be removed keeps it for the next job. */
async function removeAccount(root: Root, name: string): Promise<void> {
  await run(root('userdel', '--remove', name)).catch(() => {})
}

function accountOf(name: string): Account | null {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((one) => one.startsWith(`${name}:`))
  const [, , uid = '', gid = '', , home = ''] = line?.split(':') ?? []
  return line === undefined || Number(uid) === 0 ? null : { name, uid: Number(uid), gid: Number(gid), home }
}

/** What somebody left in the home does not meet who comes next. */
async function freshHome(root: Root, { uid, gid, home }: Account): Promise<void> {
  await run(root('rm', '-rf', '--one-file-system', '--', home))
  await run(root('install', '-d', '-m', '0700', '-o', String(uid), '-g', String(gid), home))
}

/**
 * On a machine that is thrown away the way to the checkout is opened; elsewhere that is for its owner to decide. Adds the
 * modes that the folders had.
 */
async function openTheWay(
  { env, workTree, say }: OtherUserOptions,
  root: Root,
  modes: Mode[],
): Promise<void> {
  for (const at of above(workTree)) {
    const mode = (await stat(at)).mode & 0o7777
    if ((mode & 0o001) !== 0) continue
    if (env.RUNNER_ENVIRONMENT !== 'github-hosted') {
      const fix = `run \`chmod o+x ${at}\` once, so that other users can pass through it`
      throw refused([
        { found: `${at}, which other users cannot enter`, expected: 'a way to the checkout', fix },
      ])
    }
    modes.push([at, mode])
    await run(root('chmod', 'o+x', at))
    say(`other users may pass through ${at} while this step works`)
  }
}

/** The folders on the way to it, without the root. */
function above(path: string): string[] {
  const at = dirname(path)
  return at === dirname(at) ? [] : [at, ...above(at)]
}

/** What our user keeps keys in. */
const KEY_FILES = [
  '.netrc',
  '.git-credentials',
  '.npmrc',
  '.docker/config.json',
  '.ssh/id_rsa',
  '.ssh/id_ed25519',
]

type Fault = { found: string; expected: string; fix: string }

/** Each line is a promise, tried as the user itself; what it prints is what is not so. */
function probeScript(options: OtherUserOptions, user: Working): string {
  const { env, workTree, gitDir } = options
  const temp = env.RUNNER_TEMP
  const git = quoted(join(workTree, '.git'))
  const file = quoted(join(workTree, '.ralph-probe'))
  return [
    `[ "$(id -u)" = ${user.uid} ] || echo user`,
    `[ "$(id -G)" = "$(id -g)" ] || echo groups`,
    'grep -q "^NoNewPrivs:[[:space:]]*1" /proc/self/status || echo privileges',
    'grep -q "^CapEff:[[:space:]]*0*$" /proc/self/status || echo privileges',
    'sudo -n true 2>/dev/null && echo sudo',
    ...foldersOf(options).map((folder) => `[ -w ${quoted(folder)} ] && echo folder ${quoted(folder)}`),
    ...KEY_FILES.map((name) => quoted(join(env.HOME ?? '/root', name))).map(
      (file) => `[ -r ${file} ] && echo key ${file}`,
    ),
    ...SOCKETS.map((socket) => `[ -w ${socket} ] && echo socket ${socket}`),
    `cat /proc/${process.pid}/environ >/dev/null 2>&1 && echo memory`,
    `{ touch ${file} && rm ${file}; } 2>/dev/null || echo tree`,
    `[ -w ${quoted(gitDir)} ] && echo git`,
    `mv ${git} ${git}-moved 2>/dev/null && mv ${git}-moved ${git} && echo git`,
    ...(temp === undefined ? [] : [`ls ${quoted(temp)} >/dev/null 2>&1 && echo temp`]),
    'true',
  ].join('\n')
}

function pathOf(env: OtherUserOptions['env']): string[] {
  return (env.PATH ?? '').split(':').filter((folder) => folder.startsWith('/'))
}

/** What the agent puts there would run in the place of what the gates name, and no diff shows an ignored folder. */
function pathInTree({ env, workTree }: OtherUserOptions): string[] {
  const real = (path: string) => (existsSync(path) ? realpathSync(path) : resolve(path))
  return pathOf(env).filter((folder) => isWithin(real(folder), [real(workTree)]))
}

/** Where programs come from: whoever writes there has them run by others. */
function foldersOf(options: OtherUserOptions): string[] {
  const { env } = options
  const inTree = pathInTree(options)
  const path = pathOf(env).filter((folder) => !inTree.includes(folder))
  const more = [env.RUNNER_TOOL_CACHE, '/usr/local/bin', '/usr/share', '/opt', '/etc'].filter(
    (one) => one !== undefined,
  )
  return [...new Set([...SYSTEM_PATH.split(':'), ...path, ...more])]
}

/** Of what is installed in our home: what the user can read. */
async function readableOf({ env }: OtherUserOptions, user: Working): Promise<Record<string, string>> {
  const all = Object.entries(INSTALLED).map(([name, at]) => [name, join(env.HOME ?? '/nowhere', at)] as const)
  const there = all.filter(([, folder]) => existsSync(folder))
  if (there.length === 0) return {}
  const look = there.map(([, folder]) => `ls ${quoted(folder)} >/dev/null 2>&1 && echo ${quoted(folder)}`)
  const command = user.command('bash', ['--noprofile', '--norc', '-c', `${look.join('\n')}\ntrue`])
  const said = (await output(command, user.preamble({ PATH: SYSTEM_PATH }))).split('\n')
  return Object.fromEntries(there.filter(([, folder]) => said.includes(folder)))
}

async function probe(options: OtherUserOptions, user: Working): Promise<Fault[]> {
  const { file, args } = user.command('bash', ['--noprofile', '--norc', '-c', probeScript(options, user)])
  let said: string
  try {
    said = await output({ file, args }, user.preamble({ PATH: SYSTEM_PATH }))
  } catch (error) {
    const fix = 'install util-linux (setpriv) and bash, or use isolation: separate-job'
    return [{ found: messageOf(error), expected: `a program that runs as ${user.name}`, fix }]
  }
  const lines = [
    ...pathInTree(options).map((folder) => `path ${folder}`),
    ...said.split('\n').filter(Boolean),
  ]
  return [...new Set(lines)].map((line) => faultOf(line, options, user))
}

function faultOf(line: string, { workTree, env }: OtherUserOptions, user: Working): Fault {
  const what = line.split(' ')[0]
  const detail = line.slice((what ?? '').length + 1)
  switch (what) {
    case 'sudo':
      return {
        found: `sudo works for ${user.name}`,
        expected: 'none',
        fix: 'take the user, or ALL users, out of sudoers',
      }
    case 'socket':
      return {
        found: `${detail} may be written by everybody`,
        expected: 'a socket for its own group',
        fix: `chmod o-w ${detail}: it is as good as root`,
      }
    case 'folder':
      return {
        found: `${detail} may be written by everybody`,
        expected: 'programs that only their owner can change',
        fix: `chmod o-w ${detail}, in a step before this one`,
      }
    case 'path':
      return {
        found: `${detail} on the PATH`,
        expected: 'programs that the agent cannot change',
        fix: 'it lies in the checkout, which the agent writes: take it off the PATH (a gate can name such a program by its path)',
      }
    case 'key':
      return {
        found: `${user.name} can read ${detail}`,
        expected: 'keys that only their owner can read',
        fix: `chmod o-r ${detail}, or remove it before this step`,
      }
    case 'tree':
      return {
        found: `${user.name} cannot write ${workTree}`,
        expected: 'a checkout on a file system with owners and modes',
        fix: 'check out onto a local file system',
      }
    case 'git':
      return {
        found: `${user.name} can change .git`,
        expected: 'a .git that is the runner’s alone',
        fix: 'check out anew: its files are too open',
      }
    case 'temp':
      return {
        found: `${user.name} can read ${env.RUNNER_TEMP}`,
        expected: 'a folder of the runner’s alone',
        fix: `make it the runner user's own (chown)`,
      }
    case 'memory':
      return {
        found: `${user.name} can read our /proc`,
        expected: 'a /proc of the usual kind',
        fix: 'use a GitHub-hosted runner, or isolation: separate-job',
      }
    default:
      return {
        found: `${user.name} has ${line} that it should not have`,
        expected: 'a user without rights',
        fix: 'use a GitHub-hosted runner, or isolation: separate-job',
      }
  }
}

function refused(faults: readonly Fault[]): UserError {
  return new UserError(faults.map((fault) => ({ path: 'isolation: other-user', ...fault })))
}

function processesOf(uid: number): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && ownerOf(pid) === uid)
}

/** The real user of a process that is not dead; by status, since the owner of its folder can be hidden. */
function ownerOf(pid: number): number | null {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'latin1')
    if (/^State:\s*[ZX]/m.test(status) && threadsLeft(pid).length === 0) return null
    return Number(/^Uid:\s*(\d+)/m.exec(status)?.[1] ?? -1)
  } catch {
    return null
  }
}

function isWithin(path: string, folders: readonly (string | undefined)[]): boolean {
  return folders.some((folder) => folder !== undefined && `${path}/`.startsWith(`${folder}/`))
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

async function run(command: Command): Promise<void> {
  await output(command, '')
}

function output({ file, args }: Command, input: string | Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile(
      file,
      args,
      { env: STARTER_ENV, maxBuffer: 1024 * 1024 },
      (error, stdout, stderr) => {
        if (error === null) resolve(stdout)
        else reject(new Error(stderr.trim().split('\n').at(-1) || error.message))
      },
    )
    child.stdin?.on('error', () => {})
    child.stdin?.end(input)
  })
}
