// Tests in Rust: functions with a test attribute, in files of their own and beside the code.
import type { SyntaxNode } from '@lezer/common'
import { count, type Part, type Rules, type Walk } from '../walk.ts'

const ASSERTS =
  /^(?:insta::)?(?:debug_)?(?:assert|prop_assert)\w*!$|^(?:\w+::)*(?:assert|expect|check|verify|validate|ensure|must|should)_\w+!?$|^panic!$/
const TEST = /#\[\s*(?:\w+::)*(?:test|rstest|test_case|wasm_bindgen_test|quickcheck)\b/
const MARKS = /\bignore\b|\bshould_panic\b/g
const OTHER_CONFIGURATION = /\bcfg\s*\((?!\s*test\s*\))/g

export const rust: Rules = {
  asserts: ({ callee }) => ASSERTS.test(callee),
  fails: /\bfail\w*$|^panic!$|\bverify\w*$/,
  skips: /(?!)/,
  nodes: /^(?:InnerAttribute|ModItem|FunctionItem|MacroDefinition|Identifier)$/,
  partAt(node, _call, walk) {
    // At the top it shuts the whole file out.
    if (node.name === 'InnerAttribute') walk.root.skips += count(walk.code(node), OTHER_CONFIGURATION)
    if (node.name === 'ModItem') return modulePart(node, walk)
    if (node.name === 'FunctionItem') return functionPart(node, walk)
    if (node.name === 'Identifier') return macroPart(node, walk)
    return node.name === 'MacroDefinition' ? { kind: 'helper', name: `${nameOf(node, walk)}!` } : null
  },
}

function nameOf(node: SyntaxNode, walk: Walk): string {
  return walk.codeIn(node, 'BoundIdentifier') || walk.codeIn(node, 'Identifier')
}

function skipsIn(attributes: string): number {
  return count(attributes, MARKS) + count(attributes, OTHER_CONFIGURATION)
}

/** Where its attributes begin, and their text. */
function attributesOf(node: SyntaxNode, walk: Walk): { from: number; attributes: string } {
  const { parent } = node
  const from = parent?.name === 'AttributeItem' ? parent.from : node.from
  return { from, attributes: walk.code({ from, to: node.from }) }
}

function modulePart(node: SyntaxNode, walk: Walk): Part | null {
  if (node.getChild('DeclarationList') === null) return null
  const { from, attributes } = attributesOf(node, walk)
  const holdsTests = /\bcfg\s*\([^)]*\btest\b/.test(attributes)
  return { kind: 'group', from, skips: skipsIn(attributes), holdsTests }
}

function functionPart(node: SyntaxNode, walk: Walk): Part | null {
  const block = node.getChild('Block')
  if (block === null) return null
  const name = nameOf(node, walk)
  const { from, attributes } = attributesOf(node, walk)
  if (TEST.test(attributes)) return { kind: 'test', name, from, block, skips: skipsIn(attributes) }
  return walk.frame.kind === 'test' ? null : { kind: 'helper', name }
}

/** A function in a macro, as in `proptest! { #[test] fn adds() {} }`: there it is only words and brackets. */
function macroPart(node: SyntaxNode, walk: Walk): Part | null {
  if (walk.code(node) !== 'fn' || !node.parent?.name.endsWith('Tokens')) return null
  let { from } = node
  for (let it = node.prevSibling; it?.name === 'BracketedTokens'; it = it.prevSibling) from = it.from - 1
  const attributes = walk.code({ from, to: node.from })
  let block = node.nextSibling
  for (let steps = 0; block !== null && !/^(?:BracedTokens|;)$/.test(block.name) && steps < 30; steps += 1)
    block = block.nextSibling
  if (block?.name !== 'BracedTokens' || !TEST.test(attributes)) return null
  const name = node.nextSibling === null ? '' : walk.code(node.nextSibling)
  return { kind: 'test', name, from, to: block.to, block, skips: skipsIn(attributes) }
}
