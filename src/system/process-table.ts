// Asks the process table whether a process that was noted earlier still is the same one.
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'

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
    const { stdout } = await promisify(execFile)('ps', ['-o', 'lstart=', '-p', String(pid)])
    return stdout.trim() || null
  } catch {
    return null
  }
}

/** Whether the process with this pid still is the one that started then. */
export async function processLives(pid: number, startTime: string): Promise<boolean> {
  return (await processStart(pid)) === startTime
}
