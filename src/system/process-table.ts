// The processes of this machine: from /proc on Linux, from `ps` elsewhere.
import { execFile } from 'node:child_process'
import { closeSync, openSync, readdirSync, readFileSync, readlinkSync, readSync, statSync } from 'node:fs'
import { promisify } from 'node:util'

/** Runs the system's own `ps` with a fixed PATH: one that comes first on the usual PATH may be the agent's. */
export async function ps(args: readonly string[]): Promise<string> {
  const env = { LC_ALL: 'C', PATH: '/usr/bin:/bin' }
  const { stdout } = await promisify(execFile)('/bin/ps', [...args], { env, maxBuffer: 64 * 1024 * 1024 })
  return stdout
}

/**
 * When a process started, as the system prints it; this distinguishes it from a later process with the same pid. Null if there is none, or
 * if it has ended and its parent does not reap it, as in many containers.
 */
export async function processStart(pid: number): Promise<string | null> {
  if (process.platform === 'linux') {
    const stat = statOf(pid)
    return stat === null || isDead(pid, stat) ? null : stat.startedAt.toString()
  }
  const output = await ps(['-o', 'stat=,lstart=', '-p', String(pid)]).catch(() => '')
  const [, state = 'Z', start = ''] = /^(\S+)\s+(.*)$/.exec(output.trim()) ?? []
  return state.startsWith('Z') || start === '' ? null : start
}

/** Whether the process with this pid is still the one that started then. */
export async function isProcessAlive(pid: number, startTime: string): Promise<boolean> {
  return (await processStart(pid)) === startTime
}

/** Whether a process was stopped (Ctrl+Z, SIGSTOP), or has ended except for some of its threads: it does nothing by itself. */
export async function isStopped(pid: number): Promise<boolean> {
  const state =
    process.platform === 'linux'
      ? (statOf(pid)?.state ?? '')
      : (await ps(['-o', 'stat=', '-p', String(pid)]).catch(() => '')).trim()
  return /^[TtZX]/.test(state)
}

// ---------------------------------------------------------------- Linux only

/** The ids of all processes. */
export function processIds(): number[] {
  return readdirSync('/proc').map(Number).filter(Number.isInteger)
}

/** Distinguishes a process from a later one with its pid, whose /proc folder is a new one. Empty if it is gone. */
export function identityOf(pid: number): string {
  const folder = statSync(`/proc/${pid}`, { throwIfNoEntry: false })
  return folder === undefined ? '' : `${folder.ino} ${folder.ctimeMs}`
}

/** Fields of /proc/<pid>/stat (proc_pid_stat(5)); `startedAt` in clock ticks after boot. */
export type Stat = {
  state: string
  isEnded: boolean
  parent: number
  group: number
  ofKernel: boolean
  startedAt: number
}

const PF_KTHREAD = 0x0020_0000

/** Null when it is gone. */
export function statOf(pid: number | string): Stat | null {
  const line = shortText(`/proc/${pid}/stat`)
  if (line === null) return null
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ') // the name before it may have anything in it
  const [state = '', parent, group, , , , flags] = fields
  return {
    state,
    isEnded: state === 'Z' || state === 'X',
    parent: Number(parent),
    group: Number(group),
    ofKernel: (Number(flags) & PF_KTHREAD) !== 0,
    startedAt: Number(fields[19]),
  }
}

/** Whether all threads of the process have ended. */
export function isDead(pid: number, { isEnded }: Stat): boolean {
  return isEnded && threadsLeft(pid).length === 0
}

/**
 * Threads that still run after the first one of their process has ended. Such a process still reads and writes, but /proc shows it as a
 * zombie without an environment.
 */
export function threadsLeft(pid: number): number[] {
  if (statOf(pid)?.isEnded === false) return []
  try {
    const threads = readdirSync(`/proc/${pid}/task`).map(Number)
    return threads.filter((thread) => statOf(`${pid}/task/${thread}`)?.isEnded === false)
  } catch {
    return [] // gone meanwhile
  }
}

/** The real user of a live process, from its status: the owner of its /proc folder can be another. */
export function ownerOf(pid: number): number | null {
  const stat = statOf(pid)
  if (stat === null || isDead(pid, stat)) return null
  return Number(/^Uid:\s*(\d+)/m.exec(shortText(`/proc/${pid}/status`) ?? '')?.[1] ?? -1)
}

const READ_BUFFER = Buffer.alloc(4096)

/** Reads a file of at most 4 KB with one call: callers read one for each process of the machine. */
function shortText(file: string): string | null {
  let handle: number | null = null
  try {
    handle = openSync(file, 'r')
    return READ_BUFFER.toString('latin1', 0, readSync(handle, READ_BUFFER))
  } catch {
    return null
  } finally {
    if (handle !== null) closeSync(handle)
  }
}

const TCP_LISTEN = '0A'
/** Characters of a command line in a message. */
const MAX_COMMAND_LENGTH = 120

/** The process that listens on a port, as command line and pid; null if unknown: another user's, or gone. */
export function findPortHolder(port: number): string | null {
  if (process.platform !== 'linux') return null
  const sockets = new Set([...socketsAt(port, 'tcp'), ...socketsAt(port, 'tcp6')])
  const pid = sockets.size === 0 ? undefined : processIds().find((one) => hasSocket(one, sockets))
  if (pid === undefined) return null
  const line = orElse(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8'), '').replaceAll('\0', ' ')
  return `${line.trim().slice(0, MAX_COMMAND_LENGTH)} (process ${pid})`
}

/** Lines as in proc_net(5): the local address in hexadecimal, the state, and the socket's number. */
function socketsAt(port: number, family: string): string[] {
  const end = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  return orElse(() => readFileSync(`/proc/net/${family}`, 'latin1'), '')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local, , state]) => local?.endsWith(end) === true && state === TCP_LISTEN)
    .map((fields) => `socket:[${fields[9]}]`)
}

function hasSocket(pid: number, sockets: ReadonlySet<string>): boolean {
  const folder = `/proc/${pid}/fd`
  const handles = orElse(() => readdirSync(folder), [])
  return handles.some((handle) => sockets.has(orElse(() => readlinkSync(`${folder}/${handle}`), '')))
}

function orElse<T>(ask: () => T, otherwise: T): T {
  try {
    return ask()
  } catch {
    return otherwise
  }
}
