// Places of the other user's for one run, and what it left in folders that everybody may write.
import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Account } from './account.ts'
import { become, TEMPORARY, type View } from './machine-view.ts'
import { BASH, output, type Root } from './root.ts'

type RunAsRoot = (...command: string[]) => Promise<void>

/** The place of one run. */
export type Place = AsyncDisposable & {
  home: string | null
  tmp: string
  /** What its programs have to be started with; null where they see the temporary folders of the machine. */
  scratch: string | null
}

export type Places = {
  /** A folder of the user's, for a home or a profile. */
  openHome(): Promise<{ path: string } & AsyncDisposable>
  openScratch(options: { home: boolean }): Promise<Place>
}

/**
 * What was in the machine's own folder is seen, and what is written goes to the place: steps before ours put there what
 * gates use. `$1` is the place.
 */
const OVERLAY = [
  `for at in ${TEMPORARY.join(' ')}; do own=$1/own$at`,
  'mkdir -p "$1$at" && mkdir -p -m 0700 "$1/own" && mkdir -p "$own/work" && mkdir -m 1777 "$own/upper" || exit 1',
  'mount -t overlay -o "lowerdir=$at,upperdir=$own/upper,workdir=$own/work" overlay "$1$at" || exit 1',
  'done',
].join('; ')

const UNMOUNT = `for at in ${TEMPORARY.join(' ')}; do ! mountpoint -q "$1$at" || umount "$1$at" || umount -l "$1$at"; done`

/** Folders that everybody may write where nothing keeps a program from it. */
const OPEN = [
  ...TEMPORARY,
  ...['/dev/shm', '/dev/mqueue', '/run/shm', '/run/lock', '/var/lock', '/var/crash', '/var/spool/cron'],
]

/** Folders deep: what stands further down is installed there, not left open for all. */
const DEPTH = 3

export async function placesOf(root: Root, account: Account, view: View, workTree: string): Promise<Places> {
  const { uid, gid, top, home: ofGates } = account
  const asRoot: RunAsRoot = (...command) => view.shell.run(...command)
  const bash = (script: string, ...args: string[]) => asRoot(...BASH, script, 'ralph', ...args)
  const open = view.isNarrow ? OPEN : [...OPEN, ...(await worldWritable(root, workTree))]

  /** A name that cannot be guessed, so that no link is there for root to follow. */
  const named = (kind: string) => join(top, `${kind}-${randomBytes(8).toString('hex')}`)
  const owned = (path: string) =>
    asRoot('install', '-d', '-m', '0700', '-o', String(uid), '-g', String(gid), path)
  // What is next asked of root waits for it, and no program of the user starts before.
  const remove = async (path: string) => void asRoot('find', path, '-xdev', '-delete').catch(() => {})
  const isPrivate = async (path: string) =>
    view.isNarrow &&
    (await bash(OVERLAY, path).then(
      () => true,
      () => bash(UNMOUNT, path).then(() => false),
    ))

  return {
    async openHome() {
      const path = named('session')
      await owned(path)
      return { path, [Symbol.asyncDispose]: () => remove(path) }
    },
    async openScratch({ home: hasHome }) {
      const path = named('run')
      await asRoot('install', '-d', '-m', '0711', path)
      const home = hasHome ? join(path, 'home') : null
      if (home !== null) await owned(home)
      // What has a home of its own does not see that of the gates.
      if (home !== null) await asRoot('chmod', '0700', dirname(ofGates))
      const scratch = (await isPrivate(path)) ? path : null
      const tmp = scratch === null ? join(path, 'tmp') : '/tmp'
      if (scratch === null) await owned(tmp)
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

/** Those that lie near the root of the machine: a look at all of it takes longer than the job. */
async function worldWritable(root: Root, workTree: string): Promise<string[]> {
  const passed = ['/proc', '/sys', workTree].flatMap((path) => ['-path', path, '-o']).slice(0, -1)
  const find = root(
    ...['find', '/', '-maxdepth', String(DEPTH), '(', ...passed, ')', '-prune', '-o'],
    ...['-type', 'd', '-perm', '-0002', '-print0'],
  )
  const found = await output(find, '').catch(() => '')
  return found.split('\0').filter((path) => path !== '')
}

/**
 * Removes what the user left where everybody may write; none of its programs may be alive. Nothing else can be in a folder of
 * its own there but what it put into it.
 */
export async function sweep(
  asRoot: RunAsRoot,
  account: Account,
  workTree: string,
  open: readonly string[] = OPEN,
): Promise<void> {
  const { uid } = account
  const script = `for at; do [ -d "$at" ] && find "$at" -mindepth 1 -maxdepth 1 -uid ${uid} ! -path "$tree" -exec rm -rf --one-file-system -- {} +; done; true`
  await asRoot('env', `tree=${workTree}`, ...BASH, script, 'ralph', ...open)
  // As the user: in a container root may not.
  for (const { letter, id } of await sharedBy(uid))
    await asRoot(...become(account), 'ipcrm', `-${letter}`, id).catch(() => {})
}

/** What System V knows of the user: memory, semaphores and message queues outlive the programs that made them. */
async function sharedBy(uid: number): Promise<{ letter: string; id: string }[]> {
  const kinds = [['shm', 'm'] as const, ['sem', 's'] as const, ['msg', 'q'] as const]
  const found = kinds.map(async ([kind, letter]) => {
    const [head = '', ...lines] = (await readFile(`/proc/sysvipc/${kind}`, 'utf8').catch(() => '')).split(
      '\n',
    )
    const names = head.trim().split(/\s+/)
    const [owner, maker] = ['uid', 'cuid'].map((name) => names.indexOf(name))
    const rows = lines.map((line) => line.trim().split(/\s+/))
    const own = rows.filter((row) => [row[owner ?? -1], row[maker ?? -1]].includes(String(uid)))
    // Behind the key, by a name that not all of them spell alike: shmid, semid, msqid.
    return own.map((row) => ({ letter, id: row[1] ?? '' }))
  })
  return (await Promise.all(found)).flat()
}
