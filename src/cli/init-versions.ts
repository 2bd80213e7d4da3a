// Whether this machine has the versions of tools that the project's CI has.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { oneLine } from '../engine/model/text.ts'
import type { WantedVersion } from '../setup/init/ci/toolchain.ts'

const run = promisify(execFile)
const TIMEOUT_MS = 5_000

/** A note for each tool whose version here is another one than in CI; none for a tool that is not here. */
export async function versionNotes(
  wanted: readonly WantedVersion[],
  env: Readonly<Record<string, string>>,
): Promise<string[]> {
  const notes = await Promise.all(
    wanted.map(async ({ program, args, version }) => {
      const found = await versionOf(program, args, env)
      if (found === null || isSame(version, found)) return []
      return [`CI uses ${program} ${version}; this machine has ${found}, so a gate may end differently there`]
    }),
  )
  return notes.flat()
}

async function versionOf(
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<string | null> {
  const output = await run(program, args, { env, timeout: TIMEOUT_MS }).catch(() => null)
  if (output === null) return null
  return oneLine(/\d+(?:\.\d+)*/.exec(output.stdout + output.stderr)?.[0] ?? '', 40) || null
}

/** As far as the wanted version goes: `3.12` is any 3.12. */
function isSame(wanted: string, found: string): boolean {
  const parts = wanted.replace(/\.x$/, '').split('.')
  return parts.every((part, at) => part === found.split('.')[at])
}
