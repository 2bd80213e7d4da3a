// Who listens at a port of this machine, as far as we may know. Linux only.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { processIds } from './process-table.ts'

const LISTENS = '0A'
/** The longest command line that is told. */
const MOST = 120

/** Its command line and its number; null where that cannot be told: another user's, or gone. */
export function holderOf(port: number): string | null {
  if (process.platform !== 'linux') return null
  const sockets = new Set([...socketsAt(port, 'tcp'), ...socketsAt(port, 'tcp6')])
  const pid = sockets.size === 0 ? undefined : processIds().find((one) => holds(one, sockets))
  if (pid === undefined) return null
  const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
  return `${line.slice(0, MOST)} (process ${pid})`
}

/** Lines as in proc_net(5): the local address in hexadecimal, the state, and the socket's number. */
function socketsAt(port: number, family: string): string[] {
  const end = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  return textOf(`/proc/net/${family}`)
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local, , state]) => local?.endsWith(end) === true && state === LISTENS)
    .map((fields) => `socket:[${fields[9]}]`)
}

function holds(pid: number, sockets: ReadonlySet<string>): boolean {
  try {
    const folder = `/proc/${pid}/fd`
    return readdirSync(folder).some((handle) => sockets.has(linkIn(`${folder}/${handle}`)))
  } catch {
    return false
  }
}

function linkIn(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return ''
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'latin1')
  } catch {
    return ''
  }
}
