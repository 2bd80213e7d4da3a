// Reads refs from git's files (git help gitrepository-layout) without git, so that a configuration which an agent changed has no
// effect.
import { join } from 'node:path'
import { entriesSync, readRegularFileSync } from '../system/files.ts'

const OID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/
/** Names that `git check-ref-format` refuses. */
const BAD_NAME = /[\0-\x20\x7f~^:?*[\\]|\.\.|@\{|\/\.|\.lock(?:\/|$)|[./]$|\/\//

/** The object id of a ref in a git directory, or null. A symbolic ref is resolved to its target. */
export function readRef(folder: string, ref: string): string | null {
  return resolveRef(folder, ref, packedRefs(folder))
}

/** All refs below `refs/`: object id, or `ref: <name>`. Broken refs are left out, as in `git for-each-ref`. */
export function readRefs(folder: string): Map<string, string> {
  const packed = packedRefs(folder)
  const found = new Map(packed)
  const pendingFolders = ['refs']
  while (pendingFolders.length > 0) {
    const refFolder = pendingFolders.pop() ?? ''
    for (const entry of entriesSync(join(folder, refFolder))) {
      const name = `${refFolder}/${entry.name}`
      if (entry.isDirectory()) pendingFolders.push(name)
      else if (!BAD_NAME.test(name) && resolveRef(folder, name, packed) !== null)
        found.set(name, looseText(folder, name) ?? packed.get(name) ?? '')
    }
  }
  return found
}

/** The refs with this prefix, resolved to object ids. */
export function refsBelow(folder: string, prefix: string): Map<string, string> {
  const packed = packedRefs(folder)
  const names = [...readRefs(folder).keys()].filter((ref) => ref.startsWith(prefix))
  return new Map(names.map((ref) => [ref, resolveRef(folder, ref, packed) ?? '']))
}

function resolveRef(
  folder: string,
  ref: string,
  packed: ReadonlyMap<string, string>,
  depth = 5,
): string | null {
  const text = looseText(folder, ref) ?? packed.get(ref) ?? null
  if (text?.startsWith(SYMBOLIC_PREFIX) !== true) return text
  return depth === 0 ? null : resolveRef(folder, text.slice(SYMBOLIC_PREFIX.length), packed, depth - 1)
}

/** Precedes the target's name in a symbolic ref. */
export const SYMBOLIC_PREFIX = 'ref: '

/** The content of the file of this ref: an object id, or `ref: <name>`; null if there is none. */
function looseText(folder: string, ref: string): string | null {
  const text = readRegularFileSync(join(folder, ref))?.toString('utf8').trim() ?? ''
  // git ignores what follows the id.
  const oid = /^\S+/.exec(text)?.[0].toLowerCase() ?? ''
  if (OID.test(oid)) return oid
  const target = /^ref:\s*(refs\/\S+)$/.exec(text)?.[1]
  return target === undefined || BAD_NAME.test(target) ? null : `${SYMBOLIC_PREFIX}${target}`
}

function packedRefs(folder: string): Map<string, string> {
  const found = new Map<string, string>()
  for (const line of readRegularFileSync(join(folder, 'packed-refs'))?.toString('utf8').split('\n') ?? []) {
    const space = line.indexOf(' ')
    const oid = line.slice(0, space)
    const ref = line.slice(space + 1)
    if (OID.test(oid) && ref.startsWith('refs/') && !BAD_NAME.test(ref)) found.set(ref, oid)
  }
  return found
}
