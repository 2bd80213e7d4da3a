// Finds a scalar of a YAML or JSON file with its position, so that it can be replaced in the text.
import { type Document, isNode, isScalar, type Range, type Scalar } from 'yaml'

/** Null if the value is no scalar, or may be shared, as it or a map around it has an anchor. */
export function scalarAt(
  document: Document,
  path: readonly (string | number)[],
): (Scalar & { range: Range }) | null {
  const above = path.map((_, depth) =>
    depth === 0 ? document.contents : document.getIn(path.slice(0, depth), true),
  )
  const node = document.getIn(path, true)
  const isShared = [...above, node].some((one) => isNode(one) && 'anchor' in one && one.anchor !== undefined)
  if (isShared || !isScalar(node) || !node.range) return null
  return Object.assign(node, { range: node.range })
}
