// Refs read and moved in process, as git's files backend does it (git help gitrepository-layout): one move of a file
// instead of a program. What is out of the ordinary is left to git.
import {
  closeSync,
  fdatasyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { readRegularNow, removeNow } from '../system/files.ts'

/** A lock that is older belongs to a program that is gone, milliseconds. */
export const STALE_MS = 10_000
const OID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/
/** What `git check-ref-format` refuses; a line feed would begin a command for `git update-ref --stdin`. */
const BAD_NAME = /[\0-\x20\x7f~^:?*[\\]|\.\.|@\{|\/\.|\.lock(?:\/|$)|[./]$|\/\//

/** The object id of a ref in a git directory, or null; of a symbolic one that of its target. */
export function readRef(folder: string, ref: string): string | null {
  return resolved(folder, ref, packedRefs(folder))
}

/** Every ref below `refs/`: its object id, or `ref: <name>`. Broken ones are left out, as `git for-each-ref` does. */
export function readRefs(folder: string): Map<string, string> {
  const packed = packedRefs(folder)
  const found = new Map(packed)
  const left = ['refs']
  for (let at = left.pop(); at !== undefined; at = left.pop()) {
    for (const entry of entriesIn(join(folder, at))) {
      const name = `${at}/${entry.name}`
      if (entry.isDirectory()) left.push(name)
      else if (!BAD_NAME.test(name) && resolved(folder, name, packed) !== null)
        found.set(name, looseText(folder, name) ?? packed.get(name) ?? '')
    }
  }
  return found
}

/** The refs whose names begin so, with what they come to. */
export function refsBelow(folder: string, prefix: string): Map<string, string> {
  const packed = packedRefs(folder)
  const names = [...readRefs(folder).keys()].filter((ref) => ref.startsWith(prefix))
  return new Map(names.map((ref) => [ref, resolved(folder, ref, packed) ?? '']))
}

/**
 * Moves a ref (not what a symbolic one points to) from where it is thought to be; `from` undefined: from anywhere. False
 * where it is elsewhere. Throws where it cannot be done in process: git is to be asked.
 */
export async function moveRef(
  folder: string,
  ref: string,
  from: string | null | undefined,
  to: string,
): Promise<boolean> {
  if (!ref.startsWith('refs/') || BAD_NAME.test(ref)) throw new Error(`no name of a ref: ${ref}`)
  const file = join(folder, ref)
  const lock = `${file}.lock`
  // A packed ref has no file that would stand in the way.
  for (const other of packedRefs(folder).keys())
    if (other.startsWith(`${ref}/`) || ref.startsWith(`${other}/`)) throw new Error(`${other} is in its way`)
  freeWay(folder, ref)
  mkdirSync(dirname(file), { recursive: true })
  const handle = await locked(lock)
  let isMoved = false
  try {
    if (from !== undefined && readRef(folder, ref) !== from) return false
    writeFileSync(handle, `${to}\n`)
    fdatasyncSync(handle)
    renameSync(lock, file)
    isMoved = true
    return true
  } finally {
    if (!isMoved) rmSync(lock, { force: true })
    closeSync(handle)
  }
}

/** Removes links in the place of folders on the way to a ref of ours: git would write through them, elsewhere. */
export function freeWay(folder: string, ref: string): void {
  const parts = ref.split('/').slice(0, -1)
  for (let depth = 2; depth <= parts.length; depth++) {
    const at = join(folder, ...parts.slice(0, depth))
    if (lstatSync(at, { throwIfNoEntry: false })?.isSymbolicLink() === true) rmSync(at)
  }
}

/** Waits for whoever holds it; a program that was killed holds it no more. */
async function locked(lock: string): Promise<number> {
  for (;;) {
    try {
      return openSync(lock, 'wx', 0o644)
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    }
    const found = lstatSync(lock, { throwIfNoEntry: false })
    if (found !== undefined && Math.abs(Date.now() - found.mtimeMs) > STALE_MS) removeNow(lock)
    else await delay(10)
  }
}

function resolved(
  folder: string,
  ref: string,
  packed: ReadonlyMap<string, string>,
  depth = 5,
): string | null {
  const text = looseText(folder, ref) ?? packed.get(ref) ?? null
  if (text?.startsWith(SYMBOLIC) !== true) return text
  return depth === 0 ? null : resolved(folder, text.slice(SYMBOLIC.length), packed, depth - 1)
}

/** Before the name of the ref that a symbolic one points to. */
export const SYMBOLIC = 'ref: '

/** An object id, or `ref: <name>`. */
function looseText(folder: string, ref: string): string | null {
  const text = readRegularNow(join(folder, ref))?.toString('utf8').trim() ?? ''
  // Whatever follows it: git reads no further.
  const oid = /^\S+/.exec(text)?.[0].toLowerCase() ?? ''
  if (OID.test(oid)) return oid
  const target = /^ref:\s*(refs\/\S+)$/.exec(text)?.[1]
  return target === undefined || BAD_NAME.test(target) ? null : `${SYMBOLIC}${target}`
}

function packedRefs(folder: string): Map<string, string> {
  const found = new Map<string, string>()
  for (const line of readRegularNow(join(folder, 'packed-refs'))?.toString('utf8').split('\n') ?? []) {
    const at = line.indexOf(' ')
    const [oid, ref] = [line.slice(0, at), line.slice(at + 1)]
    if (OID.test(oid) && ref.startsWith('refs/') && !BAD_NAME.test(ref)) found.set(ref, oid)
  }
  return found
}

function entriesIn(folder: string) {
  try {
    return lstatSync(folder).isDirectory() ? readdirSync(folder, { withFileTypes: true }) : []
  } catch {
    return []
  }
}
