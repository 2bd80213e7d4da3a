// What the runner starts after us, with tokens in its environment: actions whose steps or post steps are still to come,
// and our own. Who can write there has the tokens when the job is nearly over, and the job is green.
import { existsSync } from 'node:fs'
import { chmod, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { shellWord } from '../shell-word.ts'
import { output } from './root.ts'

type Env = Readonly<Record<string, string | undefined>>

/** Where the runner keeps the actions of a job; null outside of one. */
export function actionsFolder({ RUNNER_WORKSPACE }: Env): string | null {
  const folder = RUNNER_WORKSPACE === undefined ? null : join(dirname(RUNNER_WORKSPACE), '_actions')
  return folder !== null && existsSync(folder) ? folder : null
}

/** Where something in it may be written by everybody, nobody else enters it any more. Gives the mode that it had. */
export async function closeActions(env: Env): Promise<[path: string, mode: number] | null> {
  const folder = actionsFolder(env)
  if (folder === null) return null
  const open = ['!', '-type', 'l', '-perm', '-0002', '-print', '-quit']
  if ((await output({ file: 'find', args: [folder, ...open] }, '')) === '') return null
  const { mode } = await stat(folder)
  // Where it is not ours to close, the probe says so.
  await chmod(folder, mode & 0o770).catch(() => {})
  return [folder, mode & 0o7777]
}

/** Tried as the user: prints `later` and the path of each that it can change, or put another in the place of. */
export function laterScript(env: Env): string[] {
  const [, program = process.execPath] = process.argv
  const folders = [actionsFolder(env), dirname(dirname(program))].filter((one) => one !== null)
  const ways = [...folders, process.execPath].flatMap(above)
  return [
    `find ${[...folders, process.execPath].map(shellWord).join(' ')} ! -type l -print0 2>/dev/null |`,
    `while IFS= read -r -d '' at; do [ -w "$at" ] && { printf 'later %s\\n' "$at"; break; }; done`,
    // In a folder with the sticky bit others take nothing away.
    ...[...new Set(ways)].map(shellWord).map((at) => `[ -w ${at} ] && [ ! -k ${at} ] && echo later ${at}`),
  ]
}

function above(path: string): string[] {
  const at = dirname(path)
  return at === path ? [] : [at, ...above(at)]
}
