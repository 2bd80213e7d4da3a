// Runs what is not trusted as a user without rights of its own (`isolation: other-user`): no sudo, no Docker socket, no
// key in our memory or files, no write to `.git`. Linux only. What it cannot have is a clear error, never a step down.
import { execFile, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { chmod, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { messageOf, UserError } from './errors.ts'

type Command = { file: string; args: string[] }

/** The unprivileged user and what is done on its behalf. Between `lend` and `takeBack` the work tree is its to write. */
export type OtherUser = {
  readonly name: string
  readonly uid: number
  readonly home: string
  /** How to start a program as that user; `preamble(env)` has to come first on its stdin. */
  command(file: string, args: readonly string[]): Command
  preamble(env: Readonly<Record<string, string>>): Buffer
  /** The environment without what points into our own home, and with the user's own. */
  env(env: Readonly<Record<string, string>>): Record<string, string>
  lend(): Promise<void>
  takeBack(): Promise<void>
  /** Reaches every process of that user, whatever group, session or environment it has; those that fork, too. */
  signal(signal: 'SIGTERM' | 'SIGKILL'): void
  lives(): boolean
  /** Ends every process of that user and waits until none is left. */
  end(): Promise<number>
  /** Gives the machine back as it was. */
  close(): Promise<void>
}

export type OtherUserOptions = {
  env: Readonly<Record<string, string | undefined>>
  workTree: string
  gitDir: string
  /** Tells this runner from others on the machine, which must not end each other's agents. */
  key: string
  say(text: string): void
}

/** Reads variables off stdin up to an empty one, then becomes the program: no value ever stands in an argument. */
const LAUNCHER = `while IFS= read -r -d '' entry && [ -n "$entry" ]; do export "$entry"; done; umask 0002; exec "$@"`
/** Places where tools write; those in our own home would be refused to the other user. */
const WRITTEN =
  /^(XDG_.*|NPM_CONFIG_CACHE|YARN_CACHE_FOLDER|PIP_CACHE_DIR|UV_CACHE_DIR|GOCACHE|GOMODCACHE|GOPATH|CARGO_HOME|GRADLE_USER_HOME|COREPACK_HOME|DOTNET_CLI_HOME|NUGET_PACKAGES|COMPOSER_HOME|DENO_DIR|TMPDIR|TEMP|TMP)$/i
const SOCKETS = [
  '/var/run/docker.sock',
  '/run/docker.sock',
  '/run/podman/podman.sock',
  '/run/containerd/containerd.sock',
  '/run/crio/crio.sock',
]
const END_MS = 5000
/** Where the system keeps the programs that are started here; the caller's PATH has no say in what runs as root. */
const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
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
  const name = nameFor(options.key)
  const account = await makeAccount(root, name)
  const temp = options.env.RUNNER_TEMP
  const before = temp === undefined ? null : await stat(temp).catch(() => null)
  if (temp !== undefined && before !== null) await chmod(temp, before.mode & 0o700)
  const umask = process.umask(0o002)
  const user = createOtherUser(options, root, account)
  const close = async (): Promise<void> => {
    await user.end()
    await user.takeBack()
    await giveBackGroup(options, root, account)
    if (temp !== undefined && before !== null) await chmod(temp, before.mode & 0o7777).catch(() => {})
    process.umask(umask)
    await removeAccount(root, name)
  }
  try {
    await user.end() // what an earlier job left
    await freshHome(root, account)
    await openTheWay(options, root)
    await lendWhole(options, root, account)
    await user.lend()
    const faults = await probe(options, user)
    await user.takeBack()
    if (faults.length > 0) throw refused(faults)
    return { ...user, close }
  } catch (error) {
    await close().catch(() => {})
    throw error
  }
}

type Root = (...command: string[]) => Command
type Account = { name: string; uid: number; gid: number; home: string }

function createOtherUser(options: OtherUserOptions, root: Root, account: Account): Omit<OtherUser, 'close'> {
  const { workTree } = options
  const { name, uid, gid, home } = account
  const become = (...command: string[]): Command =>
    root(
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
  const user: Omit<OtherUser, 'close'> = {
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
    // In a folder with the sticky bit only its owner takes entries away: `.git` stays, everything else is lent.
    lend: () => run(root('find', workTree, ...TOP, '-exec', 'chown', '-h', `${uid}:${gid}`, '{}', '+')),
    takeBack: () =>
      run(
        root(
          ...['find', workTree, '-xdev', ...withoutGit(workTree), '-uid', String(uid)],
          ...['(', '(', '-type', 'l', '-o', '-exec', 'chmod', 'ug+rwX', '{}', '+', ')'],
          ...[',', '-exec', 'chown', '-h', String(process.getuid?.() ?? 0), '{}', '+', ')'],
        ),
      ),
    signal: (signal) => {
      if (!user.lives()) return
      const { file, args } = become('bash', '--noprofile', '--norc', '-c', `kill -${signal.slice(3)} -1`)
      spawnSync(file, args, { env: STARTER_ENV, stdio: 'ignore' })
    },
    lives: () => processesOf(uid).length > 0,
    async end() {
      const found = processesOf(uid).length
      const deadline = performance.now() + END_MS
      while (user.lives() && performance.now() < deadline) {
        user.signal('SIGKILL')
        await delay(5)
      }
      return found
    },
  }
  return user
}

const TOP = ['-xdev', '-mindepth', '1', '-maxdepth', '1', '!', '-name', '.git']

function withoutGit(workTree: string): string[] {
  return ['-path', join(workTree, '.git'), '-prune', '-o']
}

/** For the job that was killed: ends what still runs as the other user and takes the work tree back. */
export async function endOtherUser(options: OtherUserOptions): Promise<number> {
  const account = accountOf(nameFor(options.key))
  if (process.platform !== 'linux' || account === null) return 0
  const root = await rootCommand()
  const user = createOtherUser(options, root, account)
  const ended = await user.end()
  await user.takeBack()
  await giveBackGroup(options, root, account)
  await removeAccount(root, account.name)
  return ended
}

function nameFor(key: string): string {
  return `ralph-${createHash('sha256').update(key).digest('hex').slice(0, 8)}`
}

/** Once: the user's group may write everything that is in the tree, and what comes into it later. */
async function lendWhole({ workTree }: OtherUserOptions, root: Root, { gid }: Account): Promise<void> {
  const all = ['find', workTree, '-xdev', ...withoutGit(workTree)]
  // A file with several names may be somebody's cache: it stays as it is.
  const plain = ['-type', 'f', '-links', '1']
  await run(root(...all, '(', '-type', 'd', '-o', ...plain, ')', '-exec', 'chgrp', String(gid), '{}', '+'))
  await run(root(...all, '-type', 'd', '-exec', 'chmod', 'g+rwxs', '{}', '+'))
  await run(root(...all, ...plain, '-exec', 'chmod', 'g+rwX', '{}', '+'))
  await run(root('chmod', '+t', workTree))
}

/** The group's number may be somebody else's one day. */
async function giveBackGroup({ workTree }: OtherUserOptions, root: Root, { gid }: Account): Promise<void> {
  const all = ['find', workTree, '-xdev', ...withoutGit(workTree), '-gid', String(gid)]
  await run(root(...all, '-type', 'd', '-exec', 'chmod', 'g-ws,-t', '{}', '+'))
  await run(root(...all, '-exec', 'chgrp', '-h', String(process.getgid?.() ?? 0), '{}', '+'))
}

/** As root, or by a sudo that asks for no password. */
async function rootCommand(): Promise<Root> {
  const plain: Root = (file = '', ...args) => ({ file, args })
  if (process.getuid?.() === 0) return plain
  const sudo: Root = (...args) => ({ file: 'sudo', args: ['-n', '--', ...args] })
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
      root('useradd', '--create-home', '--home-dir', home, '--user-group', '--shell', '/bin/bash', name),
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

/** What the agent of an earlier job left in its home does not meet the next one. */
async function freshHome(root: Root, { uid, gid, home }: Account): Promise<void> {
  await run(root('rm', '-rf', '--one-file-system', '--', home))
  await run(root('install', '-d', '-m', '0700', '-o', String(uid), '-g', String(gid), home))
}

/** On a machine that is thrown away the way to the checkout is opened; elsewhere that is for its owner to decide. */
async function openTheWay({ env, workTree, say }: OtherUserOptions, root: Root): Promise<void> {
  for (let at = dirname(workTree); at !== dirname(at); at = dirname(at)) {
    if (((await stat(at)).mode & 0o001) !== 0) continue
    if (env.RUNNER_ENVIRONMENT !== 'github-hosted') {
      const fix = `run \`chmod o+x ${at}\` once, so that other users can pass through it`
      throw refused([
        { found: `${at}, which other users cannot enter`, expected: 'a way to the checkout', fix },
      ])
    }
    await run(root('chmod', 'o+x', at))
    say(`other users may now pass through ${at}`)
  }
}

type Fault = { found: string; expected: string; fix: string }

/** Each line is a promise, tried as the user itself; what it prints is what is not so. */
function probeScript({ env, workTree, gitDir }: OtherUserOptions, user: Omit<OtherUser, 'close'>): string {
  const temp = env.RUNNER_TEMP
  const git = quoted(join(workTree, '.git'))
  const file = quoted(join(workTree, '.ralph-probe'))
  return [
    `[ "$(id -u)" = ${user.uid} ] || echo user`,
    `[ "$(id -G)" = "$(id -g)" ] || echo groups`,
    'grep -q "^NoNewPrivs:[[:space:]]*1" /proc/self/status || echo privileges',
    'grep -q "^CapEff:[[:space:]]*0*$" /proc/self/status || echo privileges',
    'sudo -n true 2>/dev/null && echo sudo',
    ...SOCKETS.map((socket) => `[ -w ${socket} ] && echo socket ${socket}`),
    `cat /proc/${process.pid}/environ >/dev/null 2>&1 && echo memory`,
    `{ touch ${file} && rm ${file}; } 2>/dev/null || echo tree`,
    `[ -w ${quoted(gitDir)} ] && echo git`,
    `mv ${git} ${git}-moved 2>/dev/null && mv ${git}-moved ${git} && echo git`,
    ...(temp === undefined ? [] : [`ls ${quoted(temp)} >/dev/null 2>&1 && echo temp`]),
    'true',
  ].join('\n')
}

async function probe(options: OtherUserOptions, user: Omit<OtherUser, 'close'>): Promise<Fault[]> {
  const { file, args } = user.command('bash', ['--noprofile', '--norc', '-c', probeScript(options, user)])
  let said: string
  try {
    said = await output({ file, args }, user.preamble({ PATH: SYSTEM_PATH }))
  } catch (error) {
    const fix = 'install util-linux (setpriv) and bash, or use isolation: separate-job'
    return [{ found: messageOf(error), expected: `a program that runs as ${user.name}`, fix }]
  }
  return [...new Set(said.split('\n').filter(Boolean))].map((line) => faultOf(line, options, user))
}

function faultOf(line: string, { workTree, env }: OtherUserOptions, user: Omit<OtherUser, 'close'>): Fault {
  const [what, detail] = line.split(' ')
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
    if (/^State:\s*[ZX]/m.test(status)) return null
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
