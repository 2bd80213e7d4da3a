// Temporary folders, and a home if asked for, for one run of untrusted programs; removed at its end.
import { chmod, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { newMark, openRunFolder } from '../system/orphans.ts'
import type { OtherUser } from './other-user.ts'
import type { Environment } from './untrusted-env.ts'

export type Scratch = AsyncDisposable & {
  /** The folder for temporary files, as the programs see it. */
  tmp: string
  /** Empty at first, and removed with the place; null if the programs keep their home. */
  home: string | null
  /** The user whose programs see the place; null for our own. */
  as: OtherUser | null
  /** An environment that leads to the place. */
  env<E extends Environment>(env: E): E & Temporary
}

export type ScratchOptions = {
  /** The mark of the run, by which a later job finds the folder of a killed run. */
  mark?: string
  /** Whether the place has a home as well. */
  home?: boolean
}

/**
 * Opens a place that no other run writes to, so that no gate uses a tool's cache that a session left. For another user with its own
 * view of the machine, the place is `/tmp` and `/var/tmp` in that view. Otherwise it is a folder that `TMPDIR` names.
 */
export async function openScratch(
  as: OtherUser | null,
  { mark = newMark(), home: hasHome = false }: ScratchOptions = {},
): Promise<Scratch> {
  if (as !== null) {
    const place = await as.openScratch({ home: hasHome })
    const { tmp, home } = place
    return {
      ...{ tmp, home, as: userInPlace(as, place) },
      env: (given) => envInPlace(given, tmp, home),
      [Symbol.asyncDispose]: () => place[Symbol.asyncDispose](),
    }
  }
  const folder = await openRunFolder(mark)
  const tmp = join(folder.path, 'tmp')
  const home = hasHome ? join(folder.path, 'home') : null
  // A program may start another one as a third user (a database that refuses root), which must be able to pass through.
  await chmod(folder.path, 0o711)
  await mkdir(tmp, { mode: 0o711 })
  if (home !== null) await mkdir(home, { mode: 0o700 })
  return {
    ...{ tmp, home, as: null },
    env: (given) => envInPlace(given, tmp, home),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  }
}

/** Variables that name the folder for temporary files. */
type Temporary = Record<'TMPDIR' | 'TEMP' | 'TMP', string>

export function temporaryVariables(tmp: string): Temporary {
  return { TMPDIR: tmp, TEMP: tmp, TMP: tmp }
}

function envInPlace<E extends Environment>(env: E, tmp: string, home: string | null): E & Temporary {
  return { ...env, ...temporaryVariables(tmp), ...(home === null ? {} : { HOME: home }) }
}

/** The user, whose programs are started in the place. */
function userInPlace(
  user: OtherUser,
  { tmp, home, scratch }: Awaited<ReturnType<OtherUser['openScratch']>>,
): OtherUser {
  return {
    ...user,
    command: (file, args, cwd, how) => user.command(file, args, cwd, { ...how, scratch }),
    // A HOME that the caller has set wins over the place's.
    env: (env) => ({ ...user.env(home === null ? env : { HOME: home, ...env }), ...temporaryVariables(tmp) }),
  }
}
