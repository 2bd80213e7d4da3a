// Reads refs and objects of the user's clone: refs in this process if they are files, else by git.
import { join } from 'node:path'
import { readRegularFile } from '../system/files.ts'
import type { Git } from './git.ts'
import { readRef, readRefs, SYMBOLIC_PREFIX } from './refs.ts'

/** Every ref of the clone with this prefix: its object id, or `ref: <name>`. */
export async function cloneRefs(git: Git, prefix = 'refs/'): Promise<Map<string, string>> {
  if (git.hasRefFiles) {
    const refs = [...readRefs(git.clone.commonDir)]
    return new Map(refs.filter(([ref]) => ref.startsWith(prefix)))
  }
  const listed = await git.runOnClone(['for-each-ref', '--format=%(objectname) %(refname) %(symref)', prefix])
  const lines = listed.stdout.split('\n').filter(Boolean)
  return new Map(
    lines.map((line): [string, string] => {
      const [oid = '', ref = '', target = ''] = line.split(' ')
      return [ref, target === '' ? oid : `${SYMBOLIC_PREFIX}${target}`]
    }),
  )
}

/** The object id of one ref of the clone, or null. */
export async function cloneRef(git: Git, ref: string): Promise<string | null> {
  if (git.hasRefFiles) return readRef(git.clone.commonDir, ref)
  const { code, stdout } = await git.runOnClone(['rev-parse', '--verify', '-q', ref], { accept: [1, 128] })
  return code === 0 ? stdout.trim() : null
}

/** The target of a symbolic ref of the clone, or null. */
export async function symbolicCloneRef(git: Git, ref: string): Promise<string | null> {
  if (git.hasRefFiles) {
    const text = (await readRegularFile(join(git.clone.commonDir, ref)))?.toString('utf8') ?? ''
    return /^ref: (\S+)\n$/.exec(text)?.[1] ?? null
  }
  const { code, stdout } = await git.runOnClone(['symbolic-ref', '-q', ref], { accept: [1, 128] })
  return code === 0 ? stdout.trim() : null
}

/** Whether the clone has all of these objects. */
export async function cloneHas(git: Git, oids: readonly string[]): Promise<boolean> {
  const input = oids.map((oid) => `${oid}\n`).join('')
  const found = await git.runOnClone(['cat-file', '--batch-check'], { input }).catch(() => null)
  return found !== null && !/ missing$/m.test(found.stdout)
}
