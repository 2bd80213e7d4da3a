// What is product in this repository, by the setting `product` or by the files of a commit that no agent wrote.
import { isLockfile, isPackageManifest } from './manifests.ts'
import { mutantsOf, withMutant } from './mutants.ts'
import { isWithoutCode, type ProductPatterns, productOf, proposedProduct } from './product.ts'
import { checksAsTheyWere, productAsItWas } from './second-runs.ts'

export type CommitReader = {
  paths(commit: string): Promise<readonly string[]>
  read(commit: string, path: string): Promise<string | null>
}

/** `configured`: empty means that the files of the commit decide. */
export function createProductRules(configured: ProductPatterns, reader: CommitReader) {
  const proposals = new Map<string, Promise<ProductPatterns | null>>()

  /** The patterns that a commit's files lead to; null if it has no code. */
  async function proposalAt(commit: string): Promise<ProductPatterns | null> {
    const paths = await reader.paths(commit)
    return isWithoutCode(paths) ? null : proposedProduct({ paths, read: (path) => reader.read(commit, path) })
  }

  function knownAt(commit: string): Promise<ProductPatterns | null> {
    const known = proposals.get(commit) ?? proposalAt(commit)
    proposals.set(commit, known)
    return known
  }

  async function patternsAt(fork: string, from: string): Promise<ProductPatterns> {
    return (
      (await knownAt(fork)) ?? (await knownAt(from)) ?? proposedProduct({ paths: [], read: async () => null })
    )
  }

  return {
    async of(fork: string, from: string): Promise<(path: string) => boolean> {
      return productOf(configured.length > 0 ? configured : await patternsAt(fork, from))
    },
    checksAsTheyWere,
    productAsItWas,
    mutantsOf,
    withMutant,
    isManifest: isPackageManifest,
    isLockfile,
  }
}
