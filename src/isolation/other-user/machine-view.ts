// The view of the machine that the other user's programs have (mounts, namespaces), and how one of them is started.

import { SYSTEM_PATH } from '../../system/program-user.ts'
import type { Account } from './account.ts'
import { withoutKernelKeys } from './kernel-keys.ts'
import { BASH, type Command, isSuccessful, type Root, RootShell } from './root.ts'

/**
 * Reads variables from stdin up to an empty one, then starts the program, so that no value is ever in an argument. It waits for the
 * program, because it is the first process of its namespace, which adopts orphans.
 */
const LAUNCHER = `while IFS= read -r -d '' entry && [ -n "$entry" ]; do export "$entry"; done; umask 0022; "$@"; exit $?`
/**
 * Services that make network requests for names or packages that any user passes to them: a way to send data past a closed
 * network. Programs that find no such service make these requests themselves.
 */
const NETWORK_SERVICES = [
  '/run/systemd/resolve/io.systemd.Resolve',
  '/run/nscd/socket',
  '/run/avahi-daemon/socket',
  '/run/nslcd/socket',
  '/run/samba/winbindd/pipe',
  '/var/lib/sss/pipes/nss',
  '/run/snapd.socket',
]
/** Folders that every program may write; each run has its own. */
export const TEMPORARY = ['/tmp', '/var/tmp']
/**
 * Makes the view that all programs share, if root may do that. Only the tree, the home, temporary folders and devices are writable:
 * hosted images have world-writable folders, some of them on root's PATH. The system bus and network services cannot be reached. The
 * view is made once, and lives as long as the root shell that stays in it.
 */
const NARROW_SCRIPT = [
  'tree=$1 top=$2',
  'for at in "$tree" "$top" /tmp /var/tmp; do mount --bind "$at" "$at" || exit 125; done',
  'mount -o remount,bind,ro / || exit 125',
  // Other mounts become read-only one by one; the kernel may refuse that for a file system that is gone.
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
  `for at in ${NETWORK_SERVICES.join(' ')}; do [ ! -S "$at" ] || mount --bind /dev/null "$at" || exit 125; done`,
  // Services of root that take requests from everyone. Databases check their own users, and gates may need them.
  [
    "while IFS= read -r -d '' at",
    'do mount --bind /dev/null "$at" || [ ! -S "$at" ] || exit 125',
    'done < <(find /run -type s -user 0 -perm -0002 -print0 2>/dev/null)',
  ].join('; '),
].join('; ')
const UNSHARE_MOUNTS = ['unshare', '--mount', '--propagation', 'private']
/**
 * Enters the view for one program, which gets its own shared memory, message queues and processes. The kernel ends these processes
 * together with the first of them. Its temporary folders are those of `place`. If the work tree is in a temporary folder, it is mounted
 * there as well. So are sockets of services that were there before, because a program finds a service only by its socket.
 */
const ENTER_SCRIPT = [
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
  /** Whether programs get their own view of the machine and their own process namespace. */
  isNarrow: boolean
  /**
   * A command that root starts in the view. `before`: a command that enters another namespace first. `place`: a folder whose temporary
   * folders replace those of the machine.
   */
  inside(cwd: string, command: readonly string[], before?: readonly string[], place?: string | null): Command
}

/** Opens the narrow view if root may make namespaces. In most containers it may not; then programs see the machine as it is. */
export async function openView(root: Root, workTree: string, top: string): Promise<View> {
  const narrow = await RootShell.open(
    (script) => root(...UNSHARE_MOUNTS, ...BASH, script, 'ralph', workTree, top),
    NARROW_SCRIPT,
  ).catch(() => null)
  if (narrow !== null) {
    const inside: View['inside'] = (cwd, command, before = [], place = null) => {
      narrow.check()
      const enter = ['nsenter', `--mount=/proc/${narrow.pid}/ns/mnt`, 'unshare', ...NAMESPACES]
      return root(...before, ...enter, ...BASH, ENTER_SCRIPT, 'ralph', cwd, workTree, place ?? '', ...command)
    }
    if (await isSuccessful(inside('/', ['true']))) return { shell: narrow, isNarrow: true, inside }
    narrow.close()
  }
  const shell = await RootShell.open((script) => root(...BASH, script))
  return { shell, isNarrow: false, inside: (_, command, before = []) => root(...before, ...command) }
}

/** The words to put before a command that root starts, so that it runs as the user, without rights and without an environment. */
export function asUserCommand({ uid, gid, openGid }: Account, isOpen = false): string[] {
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

/** The command that starts a program; it reads its environment from stdin first, see `encodeEnv`. */
export function launchCommand(file: string, args: readonly string[], hasDisplay = false): string[] {
  return [...withoutKernelKeys(hasDisplay), ...BASH, LAUNCHER, 'ralph', file, ...args]
}

/** The environment as `launchCommand` expects it at the start of stdin. */
export function encodeEnv(env: Readonly<Record<string, string>>): Buffer {
  const entries = Object.entries(env)
    .filter(([variable]) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(variable))
    .map(([variable, value]) => `${variable}=${value}\0`)
  return Buffer.from(`${entries.join('')}\0`)
}
