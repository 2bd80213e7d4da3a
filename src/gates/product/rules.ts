// What is product in this repository, by the setting `product` or by the files of a commit that no agent wrote.
import { isPackageManifest } from './manifests.ts'
import { isWithoutCode, type ProductPatterns, productOf, proposedProduct } from './product.ts'
import { checksAsTheyWere, productAsItWas } from './second-runs.ts'

export type CommitReader = {
  paths(commit: string): Promise<readonly string[]>
  read(commit: string, path: string): Promise<string | null>
}

/** `configured`: empty means that the files of the commit decide. */
export function createProductRules(configured: ProductPatterns, reader: CommitReader) {
  const proposals = new Map<string, Promise<ProductPatterns>>()

  async function patternsAt(fork: string, from: string): Promise<ProductPatterns> {
    const at = isWithoutCode(await reader.paths(fork)) ? from : fork
    const known = proposals.get(at)
    if (known !== undefined) return known
    const paths = await reader.paths(at)
    const proposal = proposedProduct({ paths, read: (path) => reader.read(at, path) })
    proposals.set(at, proposal)
    return proposal
  }

  return {
    async of(fork: string, from: string): Promise<(path: string) => boolean> {
      return productOf(configured.length > 0 ? configured : await patternsAt(fork, from))
    },
    checksAsTheyWere,
    productAsItWas,
    isManifest: isPackageManifest,
  }
}
