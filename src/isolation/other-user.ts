// Runs untrusted programs as a user without rights (`isolation: other-user`). It has no sudo and no Docker socket, cannot read keys in
// our memory or files, and cannot write to `.git`. Linux only. If a promise cannot be kept, it is an error; there is no weaker fallback.
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
  /** Several programs of this user run at the same time: when one of them ends, the others are not ended. */
  readonly isShared?: true
  /** Its programs listen on their own loopback. */
  readonly hasOwnLoopback?: true
  /** Leaves the machine as it was. */
  close(): Promise<void>
  /** The former modes of folders as JSON. `endOtherUser` restores them if Ralph was killed before `close`. */
  readonly before: string
}

/**
 * `enter`: a command before the program, which runs as root. `isOpen`: the program gets the group that keeps the network. `scratch`:
 * the place whose temporary folders it gets.
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
    throw isolationError({
      found: `other-user works only on Linux, and this is ${process.platform}.`,
      expected: '',
      fix,
    })
  }
  const root = await rootCommand()
  const leftover = findAccount(accountName(options.key))
  if (leftover !== null) await openNetwork(root, leftover)
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
  const hasDisplay = (options.env.DISPLAY ?? '') !== ''
  const asRoot = (...command: string[]) => view.shell.run(...command)
  const command = (file: string, args: readonly string[], cwd = workTree, start: StartOptions = {}) => {
    const { enter, isOpen, scratch } = start
    const asUser = [...asUserCommand(account, isOpen), ...launchCommand(file, args, hasDisplay)]
    return view.inside(cwd, asUser, enter, scratch)
  }
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
    /** Whether programs see only their own view of the machine and their own processes. */
    isNarrow: view.isNarrow,
    /** How to start a program as this user, by default in the work tree. Its stdin must begin with `preamble(env)`. */
    command,
    preamble: encodeEnv,
    /** `root` builds a command that runs as root; `asRoot` runs one. */
    root,
    asRoot,
    /** The environment without variables that lead into our home, and with those of the user. */
    env: (env: Env): Record<string, string> => ({ ...installed, ...userEnv(env, options, account) }),
    ...countedGrants(workTree, asRoot, uid),
    /** `grant` and `revoke` for a tree in `rooms` instead of the work tree. */
    granted(tree: string) {
      const grants = countedGrants(tree, asRoot, uid)
      return {
        async grant() {
          await asRoot('chgrp', String(gid), tree)
          await asRoot('chmod', 'g+rwx,+t', tree)
          await grants.grant()
        },
        revoke: grants.revoke,
      }
    },
    openHome: places.openHome,
    openScratch: places.openScratch,
    /** Empties the gates' home. */
    async renewHome() {
      await asRoot('find', home, '-xdev', '-mindepth', '1', '-delete')
      await asRoot('chown', `${uid}:${gid}`, home)
      await asRoot('chmod', '0700', home)
    },
    ...processesOf(root, account, view.isNarrow, others),
    /** The descendants of a process. A process that detached itself is found if the view is narrow; otherwise only `end` reaches it. */
    descendantsOf: (pid: number): UserProcesses => processesOf(root, account, view.isNarrow, others, pid),
  }
}

/** Counts grants, because several sessions may have the tree at the same time. Only the last revoke takes it away. */
function countedGrants(tree: string, asRoot: (...command: string[]) => Promise<void>, uid: number) {
  let count = 0
  return {
    async grant() {
      count += 1
      if (count === 1) await grant(tree, asRoot, uid)
    },
    async revoke() {
      count -= 1
      if (count === 0) await revoke(tree, asRoot, uid)
    },
  }
}

/** The user with a tree in its `rooms` instead of the work tree. */
export function userInTree(user: OtherUser, tree: string): OtherUser {
  return { ...user, ...user.granted(tree) }
}

/** The user for several programs that run at the same time. Only `end` of the unshared user ends all of them. */
export function sharedUser(user: OtherUser | null): OtherUser | null {
  return user === null ? null : { ...user, isShared: true }
}

function userEnv(env: Env, options: OtherUserOptions, { name, home, top }: Account): Record<string, string> {
  const ourFolders = [options.env.HOME ?? '/nowhere', options.env.RUNNER_TEMP]
  const kept = Object.entries(env).filter(
    ([variable, value]) => !(WRITABLE_PLACES.test(variable) && isWithin(value, ourFolders)),
  )
  return {
    ...Object.fromEntries(kept),
    HOME: isWithin(env.HOME ?? '', [top]) ? (env.HOME ?? '') : home,
    USER: name,
    LOGNAME: name,
    // Otherwise git refuses to read a repository that belongs to another user.
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'safe.directory',
    GIT_CONFIG_VALUE_0: '*',
  }
}

/** For a job that was killed: ends the other user's processes and restores the machine. Returns the number of ended processes. */
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

/** All processes of the user are ended first: root works by path, and such a process could replace a folder by a link. */
async function endAndRestore(
  { workTree }: OtherUserOptions,
  root: Root,
  account: Account,
  modes: readonly SavedMode[],
): Promise<number> {
  const ended = await processesOf(root, account, false).end()
  const faults: unknown[] = []
  // Every step runs, even if others fail.
  for (const step of [
    () => restoreOwner(workTree, (...command) => run(root(...command)), account),
    () => restoreModes(root, modes),
    // Its uid may be reused, and its files would then belong to the new user.
    () => sweep((...command) => run(root(...command)), account, workTree),
    () => removeAccount(root, account.name),
  ])
    await step().catch((error: unknown) => faults.push(error))
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

/** The saved modes. Only those of folders that Ralph changes, because an agent may have changed the text. */
function parseModes({ env, workTree, before = '[]' }: OtherUserOptions): SavedMode[] {
  const changedFolders = [env.RUNNER_TEMP, actionsFolder(env), workTree, ...parentFolders(workTree)]
  const isSavedMode = (value: unknown): value is SavedMode => {
    if (!Array.isArray(value) || !changedFolders.includes(value[0])) return false
    const mode: unknown = value[1]
    return typeof mode === 'number' && Number.isInteger(mode) && mode >= 0 && mode <= 0o7777
  }
  try {
    const saved: unknown = JSON.parse(before)
    return Array.isArray(saved) ? saved.filter(isSavedMode) : []
  } catch {
    return []
  }
}

/** Closes RUNNER_TEMP to other users. If it does not belong to us, this fails, and the probe reports it. */
async function closeTemp({ env }: OtherUserOptions, modes: SavedMode[]): Promise<void> {
  const temp = env.RUNNER_TEMP
  const stats = temp === undefined ? null : await stat(temp).catch(() => null)
  if (temp === undefined || stats === null) return
  modes.push([temp, stats.mode & 0o7777])
  await chmod(temp, stats.mode & 0o700).catch(() => {})
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
 * Lets other users pass through the folders above the checkout. Only on GitHub-hosted machines; elsewhere the owner decides. Adds the
 * folders' former modes to `modes`.
 */
async function openPathToTree(
  { env, workTree, report }: OtherUserOptions,
  root: Root,
  modes: SavedMode[],
): Promise<void> {
  for (const folder of parentFolders(workTree)) {
    const mode = (await stat(folder)).mode & 0o7777
    const canOthersEnter = (mode & 0o001) !== 0
    if (canOthersEnter) continue
    if (env.RUNNER_ENVIRONMENT !== 'github-hosted') {
      const found = `other users cannot enter ${folder}, so the agent could not reach the checkout.`
      const fix = `run \`chmod o+x ${folder}\` once, so that other users can pass through it`
      throw isolationError({ found, expected: '', fix })
    }
    modes.push([folder, mode])
    await run(root('chmod', 'o+x', folder))
    report(`${folder} is open to other users while this step runs, so that the agent can enter the checkout`)
  }
}
