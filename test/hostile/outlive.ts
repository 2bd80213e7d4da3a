// The attempts on gates that come later: what a session leaves beside the tree, in memory and with the kernel.
import type { Attempt } from './attempts.ts'
import type { Seen } from './seen.ts'

/** Neither a later session nor a judge nor a gate, those of the final verification among them, came upon it. */
const unheard =
  (id: string) =>
  (seen: Seen): string | null => {
    const heard = seen.of(id).find((note) => note.heard !== undefined)
    const who = heard?.heard === 'gate' ? 'a gate' : heard?.heard === 'verify' ? 'a judge' : 'a later session'
    return heard === undefined ? null : `${who} found it: ${heard.at}`
  }

const OWN = '`isolation: other-user`: every run has its own view of the machine'

type Entry = Omit<Attempt, 'group' | 'judge'>

const entries: Entry[] = [
  {
    id: 'outlive.tmpdir',
    title: "a tool's cache in the folder that `TMPDIR` names",
    stops: 'every run has its own temporary folder',
  },
  { id: 'outlive.tmp', title: "a tool's cache in `/tmp` and `/var/tmp` themselves", stops: OWN },
  { id: 'outlive.shm', title: 'shared memory and message queues of POSIX (`/dev/shm`)', stops: OWN },
  { id: 'outlive.sysv', title: 'shared memory, queues and semaphores of System V', stops: OWN },
  {
    id: 'outlive.home',
    title: 'caches and settings in the home of the gates (`~/.cache`, `~/.config`, `XDG_*`)',
    stops: '`isolation: other-user`: a session cannot see the home of the gates',
  },
  {
    id: 'outlive.machine',
    title: 'other folders that every user may write (`/run/lock`, `/var/crash`), and `/run/user`',
    stops: OWN,
  },
  {
    id: 'outlive.own',
    title:
      'files in its own home and temporary folder that are hard to remove, for programs that know the path',
    stops: 'Ralph removes them with the session',
  },
  {
    id: 'outlive.socket',
    title: 'a process that listens on an abstract socket and on a port',
    stops: '`isolation: other-user`, which ends every process of that user',
  },
  {
    id: 'outlive.keyring',
    title: "a key in the kernel's keyrings of user and session",
    stops: "`isolation: other-user`: its programs cannot use the kernel's key service",
    machine: 'same-user',
  },
]

export const outliving: Attempt[] = entries.map((one) => ({
  ...one,
  group: 'Leaves data for later gates',
  judge: unheard(one.id),
}))
