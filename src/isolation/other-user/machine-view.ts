// The machine as the other user's programs see it, and how one of them is started.

import { SYSTEM_PATH } from '../../system/program-user.ts'
import type { Account } from './account.ts'
import { withoutKernelKeys } from './kernel-keys.ts'
import { BASH, type Command, type Root, RootShell, works } from './root.ts'

/**
 * Reads variables off stdin up to an empty one, then starts the program: no value ever stands in an argument. It stays,
 * to be the first process of its namespace, which takes in those that are left without a parent.
 */
const LAUNCHER = `while IFS= read -r -d '' entry && [ -n "$entry" ]; do export "$entry"; done; umask 0022; "$@"; exit $?`
/**
 * Services that ask others, over the network, for names or packages that any user names: what carries words out past a closed
 * network. Programs that find no such service ask by themselves.
 */
const MESSENGERS = [
  '/run/systemd/resolve/io.systemd.Resolve',
  '/run/nscd/socket',
  '/run/avahi-daemon/socket',
  '/run/nslcd/socket',
  '/run/samba/winbindd/pipe',
  '/var/lib/sss/pipes/nss',
  '/run/snapd.socket',
]
/** Folders that every program may write, and that are a run's own. */
export const TEMPORARY = ['/tmp', '/var/tmp']
/**
 * The machine as all of them see it, where root may make that: all is read-only but the tree, the home, temporary folders
 * and devices (hosted images have folders that everybody may write, some of them on root's PATH), and no way leads to the
 * system's bus and to messengers. It is made once, and lives as long as the shell of root's that stays in it.
 */
const NARROW = [
  'tree=$1 top=$2',
  'for at in "$tree" "$top" /tmp /var/tmp; do mount --bind "$at" "$at" || exit 125; done',
  'mount -o remount,bind,ro / || exit 125',
  // What has a mount of its own; the kernel may keep one as it is (of a file system that is gone).
  'mounts=$(</proc/self/mountinfo)',
  [
    'while read -r _ _ _ _ at how _',
    `do printf -v at %b "\${at//\\\\/\\\\0}"`,
    'case "$how," in ro,*) continue;; esac',
    'case "$at/" in //|"$tree"/*|"$top"/*|/tmp/*|/var/tmp/*|/dev/*|/proc/*|/sys/*) continue;; esac',
    'mount -o remount,bind,ro "$at" 2>/dev/null',
    'done <<<"$mounts"',
  ].join('; '),
  '[ ! -d /run/dbus ] || mount -t tmpfs -o ro tmpfs /run/dbus || exit 125',
  `for at in ${MESSENGERS.join(' ')}; do [ ! -S "$at" ] || mount --bind /dev/null "$at" || exit 125; done`,
].join('; ')
const VIEW = ['unshare', '--mount', '--propagation', 'private']
/**
 * Shared memory and message queues are each program's own, and so are its processes, whom the kernel ends with the first of
 * them. Temporary folders are those of the place, with the tree in them where it lies there, and with sockets of services
 * that were there before: they are found by their own file alone.
 */
const OWN = [
  'cwd=$1 tree=$2 place=$3; shift 3',
  '[ ! -d /dev/shm ] || mount -t tmpfs -o nosuid,nodev,mode=1777 tmpfs /dev/shm || exit 125',
  '[ ! -d /dev/mqueue ] || mount -t mqueue mqueue /dev/mqueue 2>/dev/null',
  [
    `for at in \${place:+${TEMPORARY.join(' ')}}`,
    'do for one in "$tree" "$at"/* "$at"/.X11-unix',
    `do case "$one" in "$tree"|*/.X11-unix) ;; *) [ -S "$one" ] || continue;; esac`,
    `case "$one" in "$at"/*) [ ! -e "$one" ] || mount --rbind "$one" "$place$one" || exit 125;; esac`,
    'done; mount --rbind "$place$at" "$at" || exit 125; done',
  ].join('; '),
  'cd "$cwd" || exit 125',
  'exec "$@"',
].join('; ')
const NAMESPACES = [
  ...['--mount', '--pid', '--ipc', '--fork', '--kill-child', '--mount-proc'],
  ...['--propagation', 'private'],
]

export type View = {
  shell: RootShell
  /** Whether programs get a view of the machine, and processes, of their own. */
  isNarrow: boolean
  /**
   * Starts a command of root's where the other user's programs are; `before`: words that enter another namespace first;
   * `place`: has the temporary folders that they see, in the place of those of the machine.
   */
  inside(cwd: string, command: readonly string[], before?: readonly string[], place?: string | null): Command
}

/** Containers have no right to make namespaces: there the view is that of everybody. */
export async function openView(root: Root, workTree: string, top: string): Promise<View> {
  const narrow = await RootShell.open(
    (script) => root(...VIEW, ...BASH, script, 'ralph', workTree, top),
    NARROW,
  ).catch(() => null)
  if (narrow !== null) {
    const inside: View['inside'] = (cwd, command, before = [], place = null) => {
      narrow.check()
      const enter = ['nsenter', `--mount=/proc/${narrow.pid}/ns/mnt`, 'unshare', ...NAMESPACES]
      return root(...before, ...enter, ...BASH, OWN, 'ralph', cwd, workTree, place ?? '', ...command)
    }
    if (await works(inside('/', ['true']))) return { shell: narrow, isNarrow: true, inside }
    narrow.close()
  }
  const shell = await RootShell.open((script) => root(...BASH, script))
  return { shell, isNarrow: false, inside: (_, command, before = []) => root(...before, ...command) }
}

/** What makes a command of root's one of the user's, without rights and without an environment. */
export function become({ uid, gid, openGid }: Account, isOpen = false): string[] {
  return [
    'setpriv',
    `--reuid=${uid}`,
    ...(isOpen ? [`--regid=${openGid}`, `--groups=${gid}`] : [`--regid=${gid}`, '--clear-groups']),
    '--no-new-privs',
    '--inh-caps=-all',
    'env',
    '-i',
    `PATH=${SYSTEM_PATH}`,
  ]
}

/** Waits for its environment, see `preamble`. */
export function launched(file: string, args: readonly string[]): string[] {
  return [...withoutKernelKeys(), ...BASH, LAUNCHER, 'ralph', file, ...args]
}

/** The environment as the first that stands on a launched program's stdin. */
export function preamble(env: Readonly<Record<string, string>>): Buffer {
  const entries = Object.entries(env)
    .filter(([variable]) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(variable))
    .map(([variable, value]) => `${variable}=${value}\0`)
  return Buffer.from(`${entries.join('')}\0`)
}
