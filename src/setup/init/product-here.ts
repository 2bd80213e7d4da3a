// Which files of the project are its product: only these may differ between two gate runs, so that a story cannot change its own checks.

import { isCode, productOf, proposedProduct } from '../../gates/product/product.ts'
import { pluralize } from '../../report/figures.ts'
import type { FileTree } from './detect.ts'

/** `code`: files with code; `product`: those of them that are product; `folders`: those with most of these. */
export type ProductHere = { code: number; product: number; folders: readonly string[] }

const MAX_FOLDERS = 5

export async function productHere(tree: FileTree): Promise<ProductHere> {
  const code = tree.paths.filter(isCode)
  const isProduct = productOf(
    await proposedProduct({ paths: tree.paths, read: async (path) => tree.text(path) }),
  )
  const product = code.filter((path) => isProduct(path))
  const counts = new Map<string, number>()
  for (const path of product) {
    const folder = path.includes('/') ? path.slice(0, path.indexOf('/') + 1) : path
    counts.set(folder, (counts.get(folder) ?? 0) + 1)
  }
  const largest = [...counts].sort(([, one], [, other]) => other - one).map(([folder]) => folder)
  const more = largest.length - MAX_FOLDERS
  const folders = more > 0 ? [...largest.slice(0, MAX_FOLDERS), `${more} more`] : largest
  return { code: code.length, product: product.length, folders }
}

/** One line for people; empty without code. */
export function describeProduct({ code, product, folders }: ProductHere): string {
  if (code === 0) return ''
  if (product === 0)
    return `init cannot tell which code is the product (${pluralize(code, 'file')} with code): set product: [FOLDER/**] in ralph.config.yml`
  return `${folders.join(', ')} (${product} of ${pluralize(code, 'file')} with code)`
}
