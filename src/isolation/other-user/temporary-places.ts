// Temporary and home folders of the other user for one run; removes what it left in world-writable folders.
import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Account } from './account.ts'
import { asUserCommand, TEMPORARY, type View } from './machine-view.ts'
import { BASH, type Root, runForOutput } from './root.ts'

type RunAsRoot = (...command: string[]) => Promise<void>

/** The folders of one run. */
type ScratchPlace = AsyncDisposable & {
  home: string | null
  tmp: string
  /** Its programs must be started with this (see `StartOptions`); null if they see the machine's temporary folders. */
  scratch: string | null
}

export type TemporaryPlaces = {
  /** A folder of the user's, for a home or a profile. */
  openHome(): Promise<{ path: string } & AsyncDisposable>
  openScratch(options: { home: boolean }): Promise<ScratchPlace>
}

/**
 * Makes temporary folders in `$1` that show the machine's files, because earlier steps of the job may have put there what gates
 * use. Writes go to `$1` only.
 */
const OVERLAY = [
  `for at in ${TEMPORARY.join(' ')}; do own=$1/own$at`,
  'mkdir -p "$1$at" && mkdir -p -m 0700 "$1/own" && mkdir -p "$own/work" && mkdir -m 1777 "$own/upper" || exit 1',
  'mount -t overlay -o "lowerdir=$at,upperdir=$own/upper,workdir=$own/work" overlay "$1$at" || exit 1',
  'done',
].join('; ')

const UNMOUNT = `for at in ${TEMPORARY.join(' ')}; do ! mountpoint -q "$1$at" || umount "$1$at" || umount -l "$1$at"; done`

/** World-writable folders of usual machines. */
const WORLD_WRITABLE = [
  ...TEMPORARY,
  ...['/dev/shm', '/dev/mqueue', '/run/shm', '/run/lock', '/var/lock', '/var/crash', '/var/spool/cron'],
]

/** How deep world-writable folders are looked for: deeper ones belong to installed programs. */
const DEPTH = 3

export async function createPlaces(
  root: Root,
  account: Account,
  view: View,
  workTree: string,
): Promise<TemporaryPlaces> {
  const { uid, gid, top, home: ofGates } = account
  const asRoot: RunAsRoot = (...command) => view.shell.run(...command)
  const bash = (script: string, ...args: string[]) => asRoot(...BASH, script, 'ralph', ...args)
  const open = view.isNarrow
    ? WORLD_WRITABLE
    : [...WORLD_WRITABLE, ...(await findWorldWritable(root, workTree))]

  /** A path that cannot be guessed, so that the user cannot put a link there for root to follow. */
  const randomPath = (kind: string) => join(top, `${kind}-${randomBytes(8).toString('hex')}`)
  const makeOwned = (path: string) =>
    asRoot('install', '-d', '-m', '0700', '-o', String(uid), '-g', String(gid), path)
  // Not awaited: the root shell runs one command after another, so no later program of the user starts before it is done.
  const remove = async (path: string) => void asRoot('find', path, '-xdev', '-delete').catch(() => {})
  const mountPrivate = async (path: string) =>
    view.isNarrow &&
    (await bash(OVERLAY, path).then(
      () => true,
      () => bash(UNMOUNT, path).then(() => false),
    ))

  return {
    async openHome() {
      const path = randomPath('session')
      await makeOwned(path)
      return { path, [Symbol.asyncDispose]: () => remove(path) }
    },
    async openScratch({ home: hasHome }) {
      const path = randomPath('run')
      await asRoot('install', '-d', '-m', '0711', path)
      const home = hasHome ? join(path, 'home') : null
      if (home !== null) await makeOwned(home)
      // A run with its own home must not see the home of gates.
      if (home !== null) await asRoot('chmod', '0700', dirname(ofGates))
      const scratch = (await mountPrivate(path)) ? path : null
      const tmp = scratch === null ? join(path, 'tmp') : '/tmp'
      if (scratch === null) await makeOwned(tmp)
      return {
        home,
        tmp,
        scratch,
        async [Symbol.asyncDispose]() {
          if (home !== null) await asRoot('chmod', '0711', dirname(ofGates))
          if (scratch !== null) await bash(UNMOUNT, path)
          await sweep(asRoot, account, workTree, open)
          await remove(path)
        },
      }
    },
  }
}

/** World-writable folders near the root of the file system: a search of all of it takes longer than the job. */
async function findWorldWritable(root: Root, workTree: string): Promise<string[]> {
  const passed = ['/proc', '/sys', workTree].flatMap((path) => ['-path', path, '-o']).slice(0, -1)
  const find = root(
    ...['find', '/', '-maxdepth', String(DEPTH), '(', ...passed, ')', '-prune', '-o'],
    ...['-type', 'd', '-perm', '-0002', '-print0'],
  )
  const found = await runForOutput(find, '').catch(() => '')
  return found.split('\0').filter((path) => path !== '')
}

/**
 * Removes what the user left in world-writable folders; none of its programs may be running. A folder that it owns there can only
 * hold what it put into it, so it is removed as a whole.
 */
export async function sweep(
  asRoot: RunAsRoot,
  account: Account,
  workTree: string,
  open: readonly string[] = WORLD_WRITABLE,
): Promise<void> {
  const { uid } = account
  const script = `for at; do [ -d "$at" ] && find "$at" -mindepth 1 -maxdepth 1 -uid ${uid} ! -path "$tree" -exec rm -rf --one-file-system -- {} +; done; true`
  await asRoot('env', `tree=${workTree}`, ...BASH, script, 'ralph', ...open)
  // As the user, because root may not do this in a container.
  for (const { letter, id } of await listSharedMemory(uid))
    await asRoot(...asUserCommand(account), 'ipcrm', `-${letter}`, id).catch(() => {})
}

/** System V shared memory, semaphores and message queues of the user: they outlive the programs that made them. */
async function listSharedMemory(uid: number): Promise<{ letter: string; id: string }[]> {
  const kinds = [['shm', 'm'] as const, ['sem', 's'] as const, ['msg', 'q'] as const]
  const found = kinds.map(async ([kind, letter]) => {
    const [head = '', ...lines] = (await readFile(`/proc/sysvipc/${kind}`, 'utf8').catch(() => '')).split(
      '\n',
    )
    const names = head.trim().split(/\s+/)
    const [owner, maker] = ['uid', 'cuid'].map((name) => names.indexOf(name))
    const rows = lines.map((line) => line.trim().split(/\s+/))
    const own = rows.filter((row) => [row[owner ?? -1], row[maker ?? -1]].includes(String(uid)))
    // The id is the second column; its name differs: shmid, semid, msqid.
    return own.map((row) => ({ letter, id: row[1] ?? '' }))
  })
  return (await Promise.all(found)).flat()
}
