// The machine as the other user's programs see it, and how one of them is started.
import type { Account } from './account.ts'
import { BASH, type Command, type Root, RootShell, SYSTEM_PATH, works } from './root.ts'

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
/**
 * The machine as all of them see it, where root may make that: all is read-only but the tree, the home, temporary folders
 * and devices (hosted images have folders that everybody may write, some of them on root's PATH), and no way leads to the
 * system's bus and to messengers. It is made once, and lives as long as the shell of root's that stays in it.
 */
const NARROW = [
  'tree=$1 home=$2',
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
  '[ ! -d /run/dbus ] || mount -t tmpfs -o ro tmpfs /run/dbus || exit 125',
  `for at in ${MESSENGERS.join(' ')}; do [ ! -S "$at" ] || mount --bind /dev/null "$at" || exit 125; done`,
].join('; ')
const VIEW = ['unshare', '--mount', '--propagation', 'private']
/** Shared memory is each program's own, and so are its processes, whom the kernel ends with the first of them. */
const OWN =
  '[ ! -d /dev/shm ] || mount -t tmpfs -o nosuid,nodev,mode=1777 tmpfs /dev/shm || exit 125; cd "$1" || exit 125; shift; exec "$@"'
const NAMESPACES = ['--mount', '--pid', '--fork', '--kill-child', '--mount-proc', '--propagation', 'private']

export type View = {
  shell: RootShell
  /** Whether programs get a view of the machine, and processes, of their own. */
  isNarrow: boolean
  /** Starts a command of root's where the other user's programs are; `before`: words that enter another namespace first. */
  inside(cwd: string, command: readonly string[], before?: readonly string[]): Command
}

/** Containers have no right to make namespaces: there the view is that of everybody. */
export async function openView(root: Root, workTree: string, home: string): Promise<View> {
  const narrow = await RootShell.open(
    (script) => root(...VIEW, ...BASH, script, 'ralph', workTree, home),
    NARROW,
  ).catch(() => null)
  if (narrow !== null) {
    const inside: View['inside'] = (cwd, command, before = []) => {
      narrow.check()
      const enter = ['nsenter', `--mount=/proc/${narrow.pid}/ns/mnt`, 'unshare', ...NAMESPACES]
      return root(...before, ...enter, ...BASH, OWN, 'ralph', cwd, ...command)
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
  return [...BASH, LAUNCHER, 'ralph', file, ...args]
}

/** The environment as the first that stands on a launched program's stdin. */
export function preamble(env: Readonly<Record<string, string>>): Buffer {
  const entries = Object.entries(env)
    .filter(([variable]) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(variable))
    .map(([variable, value]) => `${variable}=${value}\0`)
  return Buffer.from(`${entries.join('')}\0`)
}
