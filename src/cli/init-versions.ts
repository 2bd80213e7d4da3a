// Whether this machine has the versions of tools that the project asks for.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { oneLine } from '../engine/model/text.ts'
import type { WantedVersion } from '../setup/init/ci/toolchain.ts'

const run = promisify(execFile)
const TIMEOUT_MS = 5_000

/** A note in one line on the versions that this machine lacks; none if it has all of them. `directory`: the project's. */
export async function versionNotes(
  wanted: readonly WantedVersion[],
  directory: string,
  env: Readonly<Record<string, string>>,
): Promise<string[]> {
  const lacking = await Promise.all(
    wanted.map(async (one) => {
      const found = await versionOf(one, directory, env)
      if (found !== null && isGood(one, found)) return []
      return [`${one.name} ${one.version}${one.isLeast ? ' or newer' : ''} (here: ${found ?? 'none'})`]
    }),
  )
  const list = lacking.flat()
  if (list.length === 0) return []
  return [
    `this machine lacks versions that the project requires: ${list.join(', ')}. Gates may give other results here than in CI`,
  ]
}

async function versionOf(
  { program, args }: WantedVersion,
  directory: string,
  env: Readonly<Record<string, string>>,
): Promise<string | null> {
  // Otherwise go would download the version that go.mod names.
  const options = { cwd: directory, env: { ...env, GOTOOLCHAIN: 'local' }, timeout: TIMEOUT_MS }
  const output = await run(program, args, options).catch(() => null)
  if (output === null) return null
  return oneLine(/\d+(?:\.\d+)*/.exec(output.stdout + output.stderr)?.[0] ?? '', 40) || null
}

/** As far as the wanted version goes: `3.12` is any 3.12, or also any newer one. */
function isGood({ version, isLeast }: WantedVersion, found: string): boolean {
  const [wantedParts, foundParts] = [version, found].map((text) => text.split('.').map(Number))
  const differs = (wantedParts ?? []).findIndex((part, at) => part !== (foundParts?.[at] ?? 0))
  if (differs < 0) return true
  return isLeast && (foundParts?.[differs] ?? 0) > (wantedParts?.[differs] ?? 0)
}
