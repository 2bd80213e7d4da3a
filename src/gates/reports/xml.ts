// XML that a gate's code wrote, as a tree. Throws for whatever is none.
import { parseXml, type XmlElement, XmlError, type XmlNode } from '@rgrove/parse-xml'

export { type XmlElement, XmlError }

/** The root; without it the parser would take the square of the time for carriage returns. */
export function rootOf(text: string): XmlElement | null {
  return parseXml(text.replace(/\r\n?/g, '\n')).root
}

function isElement(node: XmlNode): node is XmlElement {
  return node.type === 'element'
}

export function childrenOf(element: XmlElement): XmlElement[] {
  return element.children.filter(isElement)
}

/** Every element of one of these names below `root`, in their order; what is inside of one is not looked for. */
export function* elements(root: XmlElement, names: readonly string[]): Generator<XmlElement> {
  const left = [root]
  for (let at = left.pop(); at !== undefined; at = left.pop()) {
    if (names.includes(at.name)) yield at
    else left.push(...childrenOf(at).reverse())
  }
}
