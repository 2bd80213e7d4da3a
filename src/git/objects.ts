// Writes git objects in this process: hashes and deflates them, syncs them together, and moves them to their paths. A state has up to
// ten objects, and git would need a process for each.
import { createHash, randomBytes } from 'node:crypto'
import { closeSync, fdatasync, mkdirSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { deflateSync } from 'node:zlib'
import type { Permissions } from './sharing.ts'

export type ObjectType = 'blob' | 'tree' | 'commit'

/** The id of an object with these bytes; `length` is that of the repository's ids, 40 or 64. */
export function objectId(type: string, content: Buffer, length: number): string {
  const hash = createHash(length === 64 ? 'sha256' : 'sha1')
  return hash.update(`${type} ${content.length}\0`).update(content).digest('hex')
}

type PendingObject = { type: ObjectType; content: Buffer }

/** Collects new objects of a clone, and writes them together. */
export class ObjectWriter {
  readonly #folder: string
  readonly #idLength: number
  readonly #onWritten: (count: number) => void
  readonly #permissions: Permissions
  readonly #waiting = new Map<string, PendingObject>()

  /** `folder` is the clone's `objects`; ids are as long as `idLength`. */
  constructor(
    folder: string,
    idLength: number,
    permissions: Permissions,
    onWritten: (count: number) => void = () => {},
  ) {
    this.#folder = folder
    this.#idLength = idLength
    this.#permissions = permissions
    this.#onWritten = onWritten
  }

  /** Adds an object for `flush` to write, and returns its id. */
  add(type: ObjectType, content: Buffer): string {
    const oid = objectId(type, content, this.#idLength)
    if (!this.#waiting.has(oid)) this.#waiting.set(oid, { type, content })
    return oid
  }

  /** The file of a loose object. */
  fileOf(oid: string): string {
    return join(this.#folder, oid.slice(0, 2), oid.slice(2))
  }

  /** Writes and syncs all added objects, so that refs to them can be written afterwards. */
  async flush(): Promise<void> {
    const all = [...this.#waiting]
    this.#waiting.clear()
    for (let at = 0; at < all.length; at += MAX_OPEN_FILES)
      await this.#write(all.slice(at, at + MAX_OPEN_FILES))
    this.#onWritten(all.length)
  }

  async #write(some: readonly [string, PendingObject][]): Promise<void> {
    // Random names, as another run in this clone may write the same object. `git gc` removes files with this prefix.
    const fresh = some.map(() => join(this.#folder, `tmp_obj_${randomBytes(16).toString('hex')}`))
    const open: number[] = []
    try {
      for (const [index, [, { type, content }]] of some.entries()) {
        const file = openSync(fresh[index] ?? '', 'wx', 0o444)
        open.push(file)
        writeFileSync(file, deflateSync(withHeader(type, content), { level: 1 }))
      }
      this.#permissions.share(...fresh)
      // Synced together, so that the file system writes its journal once.
      await Promise.all(open.map((file) => sync(file)))
      for (const [index, [oid]] of some.entries()) this.#move(fresh[index] ?? '', oid)
    } catch (error) {
      for (const file of fresh) rmSync(file, { force: true })
      throw error
    } finally {
      for (const file of open) closeSync(file)
    }
  }

  #move(fresh: string, oid: string): void {
    const file = this.fileOf(oid)
    // Done even if the folder exists, so that every run has the same steps: tests kill Ralph at each of them.
    mkdirSync(dirname(file), { recursive: true })
    this.#permissions.share(dirname(file))
    renameSync(fresh, file)
  }
}

/** Header and content in a buffer that the next call reuses: a new buffer each time would be megabytes of garbage. */
function withHeader(type: string, content: Buffer): Buffer {
  const header = Buffer.from(`${type} ${content.length}\0`)
  const size = header.length + content.length
  if (deflateBuffer.length < size) deflateBuffer = Buffer.allocUnsafe(size + (size >> 3))
  header.copy(deflateBuffer)
  content.copy(deflateBuffer, header.length)
  return deflateBuffer.subarray(0, size)
}

let deflateBuffer = Buffer.alloc(0)

/** The maximum number of files that are open at the same time. */
const MAX_OPEN_FILES = 100
const sync = promisify(fdatasync)

/** Who made a commit. */
export type Identity = { name: string; email: string }

/** A commit's bytes, as `git commit-tree` writes them; `at` is epoch milliseconds. */
export function commitBytes(
  tree: string,
  parents: readonly string[],
  who: Identity,
  at: Date,
  message: string,
): Buffer {
  const offset = -at.getTimezoneOffset()
  const pad = (count: number) => String(count).padStart(2, '0')
  const size = Math.abs(offset)
  const zone = `${offset < 0 ? '-' : '+'}${pad(Math.floor(size / 60))}${pad(size % 60)}`
  const signed = `${cleanIdentity(who.name)} <${cleanIdentity(who.email)}> ${Math.floor(at.getTime() / 1000)} ${zone}`
  const lines = [
    `tree ${tree}`,
    ...parents.map((oid) => `parent ${oid}`),
    `author ${signed}`,
    `committer ${signed}`,
  ]
  return Buffer.from(`${lines.join('\n')}\n\n${message.replaceAll('\0', '')}`)
}

/** Removes characters that would end a field of the header, and those that git strips at both ends. */
function cleanIdentity(text: string): string {
  return text.replace(/[\0\n<>]/g, '').replace(/^[\0-\x20.,:;"\\']+|[\0-\x20.,:;"\\']+$/g, '') || 'Ralph'
}

/** An entry of a tree; `name` in latin1, the mode as git shows it. */
export type NewEntry = { name: string; mode: string; oid: string }

/** A tree's bytes; the entries may come in any order. */
export function treeBytes(entries: readonly NewEntry[]): Buffer {
  const sorted = entries.map((entry) => ({
    entry,
    key: entry.mode === '040000' ? `${entry.name}/` : entry.name,
  }))
  sorted.sort((a, b) => (a.key < b.key ? -1 : 1))
  return Buffer.concat(
    sorted.flatMap(({ entry: { name, mode, oid } }) => [
      Buffer.from(`${mode.replace(/^0/, '')} ${name}\0`, 'latin1'),
      Buffer.from(oid, 'hex'),
    ]),
  )
}
