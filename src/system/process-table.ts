// Asks the process table whether a process that was noted earlier still is the same one.
import { execFile } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'

/** The system's own `ps`, which sees nothing of our environment: a program first on the PATH may be the agent's. */
export async function ps(args: readonly string[]): Promise<string> {
  const env = { LC_ALL: 'C', PATH: '/usr/bin:/bin' }
  const { stdout } = await promisify(execFile)('/bin/ps', [...args], { env, maxBuffer: 64 * 1024 * 1024 })
  return stdout
}

/** When a process started, in the system's own words; null when there is none. Tells it from a later one with its pid. */
export async function processStart(pid: number): Promise<string | null> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
    // The name in parentheses may hold spaces and parentheses; field 22 counts from behind the last one.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null
  } catch {
    if (process.platform === 'linux') return null
  }
  try {
    return (await ps(['-o', 'lstart=', '-p', String(pid)])).trim() || null
  } catch {
    return null
  }
}

/** Whether the process with this pid still is the one that started then. */
export async function processLives(pid: number, startTime: string): Promise<boolean> {
  return (await processStart(pid)) === startTime
}

/** The processes there are. Linux only, as all below. */
export function processIds(): number[] {
  return readdirSync('/proc').map(Number).filter(Number.isInteger)
}

/** Tells a process from a later one with its number, for which the kernel makes a folder anew; empty when it is gone. */
export function identityOf(pid: number): string {
  const folder = statSync(`/proc/${pid}`, { throwIfNoEntry: false })
  return folder === undefined ? '' : `${folder.ino} ${folder.ctimeMs}`
}

/**
 * Threads that run on after the first of their process has ended: /proc shows such a process as a zombie, without an
 * environment, and it still reads and writes. Linux only.
 */
export function threadsLeft(pid: number): number[] {
  if (isRunning(`/proc/${pid}/stat`)) return []
  try {
    return readdirSync(`/proc/${pid}/task`)
      .map(Number)
      .filter((thread) => isRunning(`/proc/${pid}/task/${thread}/stat`))
  } catch {
    return [] // gone meanwhile
  }
}

function isRunning(stat: string): boolean {
  try {
    return !/^\d+ \([\s\S]*\) [ZX] /.test(readFileSync(stat, 'latin1'))
  } catch {
    return false
  }
}
