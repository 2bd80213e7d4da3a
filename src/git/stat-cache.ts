// Removes stat data from git's index (git help format-index) that git would trust too early.
import { createHash } from 'node:crypto'
import { lstatSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readRegularFileSync, removeSync } from '../system/files.ts'
import { renameIntoPlace } from './own-directory.ts'

/** Offsets in the file and in an entry: two times, device and inode; then the mode; then owner, group and size; then the id. */
const HEADER = 12
const MODE = 24
const STAT = 40
/** The bit of an entry that has two more bytes of flags, and those of the length of its name. */
const EXTENDED = 0x4000
const NAME_LENGTH = 0xfff

/**
 * An index without the stat data of files that changed at `from` (seconds) or later, so that git reads these files again. Null if there
 * are no such files. git compares times in whole seconds. It would miss a second change of the same size in the same second if someone
 * set the file's mtime back.
 */
export function withoutRecentStats(index: Buffer, idLength: number, from: number): Buffer | null {
  if (index.toString('latin1', 0, 4) !== 'DIRC' || ![2, 3].includes(index.readUInt32BE(4))) return null
  let bytes: Buffer | null = null
  let start = HEADER
  for (let left = index.readUInt32BE(8); left > 0; left -= 1) {
    // A damaged file.
    if (start + STAT + idLength + 4 > index.length) return null
    if (index.readUInt32BE(start) >= from) {
      bytes ??= Buffer.from(index)
      bytes.fill(0, start, start + MODE).fill(0, start + MODE + 4, start + STAT)
    }
    const flags = start + STAT + idLength
    const bits = index.readUInt16BE(flags)
    const name = flags + ((bits & EXTENDED) === 0 ? 2 : 4)
    const length = bits & NAME_LENGTH
    const end = length < NAME_LENGTH ? name + length : index.indexOf(0, name)
    // Padded to a multiple of eight bytes, with at least one zero.
    start += (end - start + 8) & ~7
  }
  if (bytes === null) return null
  const end = bytes.length - idLength
  createHash(idLength === 32 ? 'sha256' : 'sha1')
    .update(bytes.subarray(0, end))
    .digest()
    .copy(bytes, end)
  return bytes
}

/** Removes stat data of the last two seconds from the index in Ralph's directory: some file systems round to two. */
export function forgetRecentStats(git: { own: string }, idLength: number): void {
  const file = join(git.own, 'index')
  const index = readRegularFileSync(file)
  if (index === null) return
  const bytes = withoutRecentStats(index, idLength, Math.floor(clockOf(join(git.own, 'clock')) / 1000) - 1)
  if (bytes !== null) renameIntoPlace(git, bytes, file)
}

/** The time of the file system, which may be on another machine; milliseconds. */
function clockOf(file: string): number {
  removeSync(file)
  writeFileSync(file, '', { flag: 'wx' })
  return lstatSync(file).mtimeMs
}
