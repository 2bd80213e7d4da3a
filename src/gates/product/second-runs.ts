// The trees of the two further gate runs of a change.
// The checks as they were: the base with only the product of the change. What was expected before is expected still.
// The product as it was: the change with only the product of the base. What fails there is what the tests of the change check.
import type { Change } from '../../engine/model/change.ts'
import { isTooLong } from '../../system/files.ts'
import { isPackageManifest, packageWithNewDependencies } from './manifests.ts'
import { type ObjectReader, readSmallBlob } from './object-reader.ts'
import { withoutNewSuppressions } from './suppressions.ts'

/** What a path holds in a further run: a blob of the repository, a text, or null for no file. */
export type RestoredFile = { mode: string; oid: string } | { mode: string; text: string } | null
export type RestoredFiles = Map<string, RestoredFile>

/** Modes of files and links, and of no file; a submodule is another repository. */
const FILE = /^(?:1[02]0|000000)/
/** Characters that are read of one change to look for suppressions. */
const MAX_TEXT = 64 * 1024 * 1024

export type EarlierChecks = {
  isProduct: (path: string) => boolean
  objects: ObjectReader
  /** What changed since an attempt with red gates; files outside of the product are restored as that attempt had them. */
  sinceRed: readonly Change[]
  /** Package manifests and lockfiles keep their change: the product may need a package that the base does not have. */
  newPackages: boolean
}

/**
 * The files that differ from the change if the checks are as they were. Those outside of the product are as in the base. Product has no
 * comments that newly silence a checker. Empty if the two trees are the same.
 */
export async function checksAsTheyWere(
  changes: readonly Change[],
  { isProduct, objects, sinceRed, newPackages }: EarlierChecks,
): Promise<RestoredFiles> {
  const [product, outside] = divide(changes, isProduct)
  const restored = await withoutSuppressions(product, objects)
  for (const change of outside) {
    if (newPackages && isPackageManifest(change.path)) {
      const text = await packageWithNewDependencies(change, objects)
      if (text !== null) restored.set(change.path, { mode: change.oldMode, text })
    } else restored.set(change.path, original(change))
  }
  for (const change of sinceRed)
    if (change.status !== 'A' && !isProduct(change.path) && FILE.test(change.oldMode))
      restored.set(change.path, original(change))
  return restored
}

/** The files that differ from the change where the product is as it was. */
export function productAsItWas(
  changes: readonly Change[],
  isProduct: (path: string) => boolean,
): RestoredFiles {
  const [product] = divide(changes, isProduct)
  return new Map(product.map((change) => [change.path, original(change)]))
}

function divide(changes: readonly Change[], isProduct: (path: string) => boolean) {
  const files = changes.filter(({ oldMode, newMode }) => FILE.test(oldMode) && FILE.test(newMode))
  return [files.filter(({ path }) => isProduct(path)), files.filter(({ path }) => !isProduct(path))] as const
}

function original({ status, oldMode, oldOid }: Change): RestoredFile {
  return status === 'A' ? null : { mode: oldMode, oid: oldOid }
}

/** Changed code, without the comments by which it newly silences a checker. */
async function withoutSuppressions(
  changes: readonly Change[],
  objects: ObjectReader,
): Promise<RestoredFiles> {
  const found: RestoredFiles = new Map()
  let left = MAX_TEXT
  for (const { path, status, oldOid, newOid, newMode } of changes) {
    if (left <= 0) break
    if (status === 'D' || isTooLong(path) || !newMode.startsWith('100')) continue
    const before = status === 'A' ? '' : ((await readSmallBlob(oldOid, objects)) ?? '')
    const after = (await readSmallBlob(newOid, objects)) ?? ''
    left -= before.length + after.length
    const text = withoutNewSuppressions(before, after)
    if (text !== null) found.set(path, { mode: newMode, text })
  }
  return found
}
