// Tests in Rust: functions with a test attribute, in files of their own and beside the code.
import type { SyntaxNode } from '@lezer/common'
import { count, isEmptyBlock, type Part, type Rules, type Walk } from '../walk.ts'

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
    return node.name === 'MacroDefinition' ? helperPart(node, `${nameOf(node, walk)}!`) : null
  },
}

function nameOf(node: SyntaxNode, walk: Walk): string {
  const name = node.getChild('BoundIdentifier') ?? node.getChild('Identifier')
  return name === null ? '' : walk.code(name)
}

function helperPart({ from, to }: SyntaxNode, name: string): Part {
  return { kind: 'helper', name, from, to }
}

/** Where its attributes begin, and their text. */
function attributesOf(node: SyntaxNode, walk: Walk): { from: number; attributes: string; skips: number } {
  const { parent } = node
  const from = parent?.name === 'AttributeItem' ? parent.from : node.from
  const attributes = walk.code({ from, to: node.from })
  const skips = count(attributes, MARKS) + count(attributes, OTHER_CONFIGURATION)
  return { from, attributes, skips }
}

function modulePart(node: SyntaxNode, walk: Walk): Part | null {
  if (node.getChild('DeclarationList') === null) return null
  const { from, attributes, skips } = attributesOf(node, walk)
  const holdsTests = /\bcfg\s*\([^)]*\btest\b/.test(attributes)
  return { kind: 'group', from, to: node.to, skips, holdsTests }
}

function functionPart(node: SyntaxNode, walk: Walk): Part | null {
  const block = node.getChild('Block')
  const name = nameOf(node, walk)
  if (block === null) return null
  const { from, attributes, skips } = attributesOf(node, walk)
  if (!TEST.test(attributes)) return walk.frame.kind === 'test' ? null : helperPart(node, name)
  const body = { from: block.from + 1, to: block.to - 1 }
  return { kind: 'test', name, from, to: node.to, body, skips, empty: isEmptyBlock(walk.code(body)) }
}

/** A function in a macro, as in `proptest! { #[test] fn adds() {} }`: there it is only words and brackets. */
function macroPart(node: SyntaxNode, walk: Walk): Part | null {
  if (walk.code(node) !== 'fn' || !node.parent?.name.endsWith('Tokens')) return null
  let from = node.from
  for (let it = node.prevSibling; it?.name === 'BracketedTokens'; it = it.prevSibling) from = it.from - 1
  const attributes = walk.code({ from, to: node.from })
  let last = node.nextSibling
  for (let steps = 0; last !== null && !/^(?:BracedTokens|;)$/.test(last.name) && steps < 30; steps += 1)
    last = last.nextSibling
  if (last?.name !== 'BracedTokens' || !TEST.test(attributes)) return null
  const name = node.nextSibling === null ? '' : walk.code(node.nextSibling)
  const body = { from: last.from + 1, to: last.to - 1 }
  const skips = count(attributes, MARKS) + count(attributes, OTHER_CONFIGURATION)
  const empty = isEmptyBlock(walk.code(body))
  return { kind: 'test', name, from, to: last.to, body, skips, empty }
}
