// Runs untrusted programs as a user without rights (`isolation: other-user`): no sudo, no Docker socket, no access to keys
// in our memory or files, no write to `.git`. Linux only. If a promise cannot be kept, it is an error, never a silent fallback.
import { chmod, stat } from 'node:fs/promises'
import { SYSTEM_PATH, type UserProcesses } from '../system/program-user.ts'
import {
  type Account,
  accountName,
  findAccount,
  grant,
  makeAccount,
  makeHome,
  makeRooms,
  removeAccount,
  restoreOwner,
  revoke,
} from './other-user/account.ts'
import { asUserCommand, encodeEnv, launchCommand, openView, type View } from './other-user/machine-view.ts'
import {
  actionsFolder,
  closeActions,
  isWithin,
  type ProbeOptions,
  parentFolders,
  probe,
  readableTools,
} from './other-user/probe.ts'
import { processesOf, processesOfOthers } from './other-user/processes.ts'
import {
  BASH,
  isolationError,
  type Root,
  rootCommand,
  run,
  runForOutput,
  STEP_DOWN,
} from './other-user/root.ts'
import { createPlaces, sweep } from './other-user/temporary-places.ts'

export { canBeRoot } from './other-user/root.ts'

/** The unprivileged user. Between `grant` and `revoke` it may write to the work tree. */
export type OtherUser = Awaited<ReturnType<typeof verifiedUser>> & {
  /** Programs of this user run beside each other: ending one does not end the others. */
  readonly isShared?: true
  /** Its programs listen on a loopback of their own. */
  readonly hasOwnLoopback?: true
  /** Leaves the machine as it was. */
  close(): Promise<void>
  /** What `endOtherUser` needs to do the same after Ralph was killed. */
  readonly before: string
}

/**
 * `enter`: a command to put before the program, run as root. `isOpen`: in the group that keeps the network. `scratch`: with the
 * temporary folders of this place.
 */
type StartOptions = { enter?: readonly string[]; isOpen?: boolean; scratch?: string | null }

type Env = Readonly<Record<string, string>>

export type OtherUserOptions = ProbeOptions & {
  /** Identifies this runner among others on the machine, which must not end each other's agents. */
  key: string
  report(text: string): void
  /** `OtherUser.before` of the job that was killed. */
  before?: string
}

/** A folder and the mode that it had. */
type SavedMode = [path: string, mode: number]

/** Variables that name folders for tools to write to. The other user cannot write to those in our own home. */
const WRITABLE_PLACES =
  /^(XDG_.*|NPM_CONFIG_CACHE|YARN_CACHE_FOLDER|PIP_CACHE_DIR|UV_CACHE_DIR|GOCACHE|GOMODCACHE|GOPATH|CARGO_HOME|GRADLE_USER_HOME|COREPACK_HOME|DOTNET_CLI_HOME|NUGET_PACKAGES|COMPOSER_HOME|DENO_DIR|TMPDIR|TEMP|TMP)$/i

/**
 * Prepares the user and tests every promise, before any agent runs. Throws UserError with each promise that fails and how to
 * fix it.
 */
export async function openOtherUser(options: OtherUserOptions): Promise<OtherUser> {
  if (process.platform !== 'linux') {
    const fix = `run on a Linux runner, use isolation: separate-job, or ${STEP_DOWN}`
    throw isolationError({ found: process.platform, expected: 'Linux', fix })
  }
  const root = await rootCommand()
  const left = findAccount(accountName(options.key))
  if (left !== null) await openNetwork(root, left)
  const account = await makeAccount(root, accountName(options.key))
  const modes: SavedMode[] = []
  let view: View | null = null
  const close = async () => {
    await endAndRestore(options, root, account, modes).finally(() => view?.shell.close())
  }
  try {
    await closeTemp(options, modes)
    const actions = await closeActions(options.env)
    if (actions !== null) modes.push(actions)
    await processesOf(root, account, false).end() // what an earlier job left
    await makeHome(root, account)
    await openPathToTree(options, root, modes)
    await openWorkTree(options, root, account, modes)
    view = await openView(root, options.workTree, account.top)
    const user = await verifiedUser(options, root, account, view, await makeRooms(root, account))
    return { ...user, close, before: JSON.stringify(modes) }
  } catch (error) {
    await close().catch(() => {})
    throw error
  }
}

/** The user, after every promise has been tested. */
async function verifiedUser(
  options: OtherUserOptions,
  root: Root,
  account: Account,
  view: View,
  /** A folder of ours for other trees that the user can be given. */
  rooms: string,
) {
  const { workTree } = options
  const { name, uid, gid, openGid, home } = account
  const places = await createPlaces(root, account, view, workTree)
  const others = processesOfOthers(account)
  const asRoot = (...command: string[]) => view.shell.run(...command)
  const command = (file: string, args: readonly string[], cwd = workTree, how: StartOptions = {}) =>
    view.inside(
      cwd,
      [...asUserCommand(account, how.isOpen), ...launchCommand(file, args)],
      how.enter,
      how.scratch,
    )
  const runAsUser = (script: string) => {
    const [bash = '', ...args] = [...BASH, script]
    return runForOutput(command(bash, args), encodeEnv({ PATH: SYSTEM_PATH }))
  }
  await grant(workTree, asRoot, uid)
  const faults = await probe(options, account, runAsUser)
  const installed = faults.length === 0 ? await readableTools(options, runAsUser) : {}
  await revoke(workTree, asRoot, uid)
  if (faults.length > 0) throw isolationError(...faults)
  return {
    name,
    uid,
    openGid,
    home,
    rooms,
    /** Whether programs get a view of the machine, and processes, of their own. */
    isNarrow: view.isNarrow,
    /** How to start a program as that user, in the work tree by default; `preamble(env)` has to come first on its stdin. */
    command,
    preamble: encodeEnv,
    /** `root` builds a command that runs as root; `asRoot` runs one. */
    root,
    asRoot,
    /** The environment without variables that lead into our own home, and with the user's own ones. */
    env: (env: Env): Record<string, string> => ({ ...installed, ...userEnv(env, options, account) }),
    ...countedGrants(workTree, asRoot, uid),
    /** `grant` and `revoke` for a tree in `rooms` instead of the work tree. */
    granted(tree: string) {
      const { grant: give, revoke: take } = countedGrants(tree, asRoot, uid)
      return {
        async grant() {
          await asRoot('chgrp', String(gid), tree)
          await asRoot('chmod', 'g+rwx,+t', tree)
          await give()
        },
        revoke: take,
      }
    },
    openHome: places.openHome,
    openScratch: places.openScratch,
    /** Empties the gates' home, as it was at first. */
    async renewHome() {
      await asRoot('find', home, '-xdev', '-mindepth', '1', '-delete')
      await asRoot('chown', `${uid}:${gid}`, home)
      await asRoot('chmod', '0700', home)
    },
    ...processesOf(root, account, view.isNarrow, others),
    /** The descendants of a process. Those that left it are reached if the view is narrow, else by `end` only. */
    descendantsOf: (pid: number): UserProcesses => processesOf(root, account, view.isNarrow, others, pid),
  }
}

/** Counts grants, so that several sessions can have the tree at the same time: each grant needs its revoke. */
function countedGrants(tree: string, asRoot: (...command: string[]) => Promise<void>, uid: number) {
  let grants = 0
  return {
    async grant() {
      if (grants++ === 0) await grant(tree, asRoot, uid)
    },
    async revoke() {
      if (--grants === 0) await revoke(tree, asRoot, uid)
    },
  }
}

/** The user with a tree in its `rooms` instead of the work tree. */
export function userInTree(user: OtherUser, tree: string): OtherUser {
  return { ...user, ...user.granted(tree) }
}

/** The user for programs that run beside each other; only `end` of the user itself ends them all. */
export function sharedUser(user: OtherUser | null): OtherUser | null {
  return user === null ? null : { ...user, isShared: true }
}

function userEnv(env: Env, options: OtherUserOptions, { name, home, top }: Account): Record<string, string> {
  const ours = [options.env.HOME ?? '/nowhere', options.env.RUNNER_TEMP]
  const others = Object.entries(env).filter(
    ([variable, value]) => !(WRITABLE_PLACES.test(variable) && isWithin(value, ours)),
  )
  return {
    ...Object.fromEntries(others),
    HOME: isWithin(env.HOME ?? '', [top]) ? (env.HOME ?? '') : home,
    USER: name,
    LOGNAME: name,
    // Else git refuses to read a repository that belongs to another user.
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'safe.directory',
    GIT_CONFIG_VALUE_0: '*',
  }
}

/** For a job that was killed: ends the other user's processes and restores the machine. Returns how many were ended. */
export async function endOtherUser(options: OtherUserOptions): Promise<number> {
  if (process.platform !== 'linux') return 0
  const account = findAccount(accountName(options.key))
  const modes = parseModes(options)
  if (account === null && modes.length === 0) return 0
  const root = await rootCommand()
  if (account !== null)
    return endAndRestore(options, root, account, modes).finally(() => openNetwork(root, account))
  await restoreModes(root, modes)
  return 0
}

/** Root works by path, so all processes of the user are ended first: none can replace a folder by a link. */
async function endAndRestore(
  { workTree }: OtherUserOptions,
  root: Root,
  account: Account,
  modes: readonly SavedMode[],
): Promise<number> {
  const ended = await processesOf(root, account, false).end()
  const faults: unknown[] = []
  // Every step runs, even if others fail.
  for (const part of [
    () => restoreOwner(workTree, (...command) => run(root(...command)), account),
    () => restoreModes(root, modes),
    // Its uid may be reused, and its files would then belong to the new user.
    () => sweep((...command) => run(root(...command)), account, workTree),
    () => removeAccount(root, account.name),
  ])
    await part().catch((error: unknown) => faults.push(error))
  if (faults.length > 0) throw faults[0]
  return ended
}

/** Removes the closed network's rules: they are for a uid that may be reused (see isolation/closed-network.ts). */
async function openNetwork(root: Root, { uid }: Account): Promise<void> {
  await run(root('nft', 'delete', 'table', 'inet', `ralph_${uid}`)).catch(() => {})
  await run(root('ip', 'netns', 'delete', `ralph-${uid}`)).catch(() => {})
}

async function restoreModes(root: Root, modes: readonly SavedMode[]): Promise<void> {
  for (const [path, mode] of modes) await run(root('chmod', mode.toString(8), path))
}

/** The saved modes, but only of folders that Ralph changes: the text may have been manipulated. */
function parseModes({ env, workTree, before = '[]' }: OtherUserOptions): SavedMode[] {
  const ours = [env.RUNNER_TEMP, actionsFolder(env), workTree, ...parentFolders(workTree)]
  const isMode = (one: unknown): one is SavedMode =>
    Array.isArray(one) && ours.includes(one[0]) && Number.isInteger(one[1]) && one[1] >= 0 && one[1] <= 0o7777
  try {
    const known: unknown = JSON.parse(before)
    return Array.isArray(known) ? known.filter(isMode) : []
  } catch {
    return []
  }
}

/** Closes RUNNER_TEMP to others. If it is not ours, the probe reports it. */
async function closeTemp({ env }: OtherUserOptions, modes: SavedMode[]): Promise<void> {
  const temp = env.RUNNER_TEMP
  const found = temp === undefined ? null : await stat(temp).catch(() => null)
  if (temp === undefined || found === null) return
  modes.push([temp, found.mode & 0o7777])
  await chmod(temp, found.mode & 0o700).catch(() => {})
}

/** Makes the tree writable for the user's group. With the sticky bit only the owner can remove entries, so `.git` stays. */
async function openWorkTree(
  { workTree }: OtherUserOptions,
  root: Root,
  { gid }: Account,
  modes: SavedMode[],
): Promise<void> {
  modes.push([workTree, (await stat(workTree)).mode & 0o6777])
  await run(root('chgrp', String(gid), workTree))
  await run(root('chmod', 'g+rwx,+t', workTree))
}

/**
 * Lets other users pass through the folders above the checkout, on GitHub-hosted machines only; elsewhere the owner decides. Adds
 * the modes that the folders had.
 */
async function openPathToTree(
  { env, workTree, report: say }: OtherUserOptions,
  root: Root,
  modes: SavedMode[],
): Promise<void> {
  for (const at of parentFolders(workTree)) {
    const mode = (await stat(at)).mode & 0o7777
    if ((mode & 0o001) !== 0) continue
    if (env.RUNNER_ENVIRONMENT !== 'github-hosted') {
      const fix = `run \`chmod o+x ${at}\` once, so that other users can pass through it`
      throw isolationError({
        found: `${at}, which other users cannot enter`,
        expected: 'a way to the checkout',
        fix,
      })
    }
    modes.push([at, mode])
    await run(root('chmod', 'o+x', at))
    say(`other users may pass through ${at} while this step works`)
  }
}
