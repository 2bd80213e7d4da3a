// Permissions of files that Ralph writes into a repository that several users share, by `core.sharedRepository`
// (git help config; calc_shared_perm in git's path.c).
import { chmodSync, lstatSync } from 'node:fs'

/** Permission bits of files; `isExact`: and no others. Null if the umask decides. */
type Sharing = { bits: number; isExact: boolean } | null

const GROUP = { bits: 0o660, isExact: false }
const ALL_USERS = { bits: 0o664, isExact: false }
const NAMES = new Map<string, Sharing>([
  ['group', GROUP],
  ['true', GROUP],
  ['yes', GROUP],
  ['on', GROUP],
  ['1', GROUP],
  ['all', ALL_USERS],
  ['world', ALL_USERS],
  ['everybody', ALL_USERS],
  ['2', ALL_USERS],
])

export class Permissions {
  readonly #sharing: Sharing

  /** `setting`: the value of `core.sharedRepository`. */
  constructor(setting: string | undefined) {
    const value = setting?.toLowerCase() ?? ''
    const isMode = /^0?[0-7]{3}$/.test(value)
    this.#sharing = isMode
      ? { bits: Number.parseInt(value, 8) & 0o666, isExact: true }
      : (NAMES.get(value) ?? null)
  }

  /** Gives the sharing users access to files and folders that Ralph wrote. Files of other users stay as they are. */
  share(...paths: readonly string[]): void {
    if (this.#sharing === null) return
    for (const path of paths)
      try {
        const found = lstatSync(path)
        const mode = this.#modeOf(found.mode & 0o7777, found.isDirectory(), this.#sharing)
        if (mode !== (found.mode & 0o7777)) chmodSync(path, mode)
      } catch {
        // The file belongs to another user, or is gone.
      }
  }

  /** The shared mode. A file that is read-only stays so, and everyone who may read a program or enter its folder may run it. */
  #modeOf(mode: number, isFolder: boolean, { bits, isExact }: NonNullable<Sharing>): number {
    let more = (mode & 0o200) === 0 ? bits & ~0o222 : bits
    if ((mode & 0o100) !== 0) more |= (more & 0o444) >> 2
    const shared = isExact ? (mode & ~0o777) | more : mode | more
    // setgid: later files in the folder get its group as well.
    return isFolder && (shared & 0o060) !== 0 ? shared | 0o2000 : shared
  }
}
