// Finds a scalar of a YAML or JSON file with its position, so that it can be replaced in the text.
import { type Document, isNode, isScalar, type Range, type Scalar } from 'yaml'

/** Null if the value is not a scalar. Also null if it, or a map around it, has an anchor: then other places may share it. */
export function scalarAt(
  document: Document,
  path: readonly (string | number)[],
): (Scalar & { range: Range }) | null {
  const parentPaths = path.slice(1).map((_, index) => path.slice(0, index + 1))
  const parents = parentPaths.map((parentPath) => document.getIn(parentPath, true))
  const node = document.getIn(path, true)
  const hasAnchor = (value: unknown) => isNode(value) && 'anchor' in value && value.anchor !== undefined
  if ([document.contents, ...parents, node].some(hasAnchor)) return null
  if (!isScalar(node) || !node.range) return null
  return Object.assign(node, { range: node.range })
}
