// Tests in Java: JUnit 3 to 5 and TestNG.
import type { SyntaxNode } from '@lezer/common'
import { count, type Part, type Rules, type Walk } from '../walk.ts'

const ASSERTS =
  /^(?:(?:Assertions|Assert|Truth|MatcherAssert)\.)?(?:fail|verify|verifyNoMoreInteractions|verifyNoInteractions|(?:assert|expect|check|verify|validate|ensure|must|should)[A-Z]\w*)$|\.(?:fail|verify|assert[A-Z]\w*|andExpect|expectNext|expectError|expectBody|expectStatus)$/
const MARKS =
  /@(?:[\w.]*\.)?(?:Disabled\w*|Ignore|EnabledIf\w*|EnabledOn\w*)\b|\benabled\s*=\s*false\b|\bexpected\s*=/g
const TEST = /@(?:[\w.]*\.)?(?:Test|ParameterizedTest|RepeatedTest|TestFactory|TestTemplate|Property)\b/
const SET_UP = /@(?:[\w.]*\.)?Before(?:Each|All|Class|Method)?\b/
const ABORTS = /\b(?:Skip|TestAborted|AssumptionViolated)Exception\b/

export const java: Rules = {
  asserts: ({ callee }) => ASSERTS.test(callee),
  fails: /\bfail\w*$|\bverify\w*$|\.(?:andExpect|expect\w+)$/,
  skips: /(?:^|\.)(?:assumeTrue|assumeFalse|assumeThat|assumingThat|abort)$/,
  nodes: /^(?:(?:Class|Interface|Record|Method|Constructor)Declaration|ThrowStatement)$/,
  partAt(node, call, walk) {
    const { name } = node
    if (name === 'ThrowStatement' && ABORTS.test(walk.code(node))) walk.skip()
    if (call !== null || name === 'ThrowStatement') return null
    if (name === 'ConstructorDeclaration') return { kind: 'set-up' }
    const modifiers = walk.codeIn(node, 'Modifiers')
    const skips = count(modifiers, MARKS)
    return name === 'MethodDeclaration' ? methodPart(node, modifiers, skips, walk) : { kind: 'group', skips }
  },
}

function methodPart(node: SyntaxNode, modifiers: string, skips: number, walk: Walk): Part | null {
  const block = node.getChild('Block')
  if (block === null) return null
  const name = walk.codeIn(node, 'Definition')
  if (SET_UP.test(modifiers)) return { kind: 'set-up' }
  const head = walk.code({ from: node.from, to: block.from })
  const isTest = TEST.test(modifiers) || /\bpublic\s+void\s+test\w*\s*\(\s*\)/.test(head)
  if (isTest && !/\bprivate\b/.test(modifiers)) return { kind: 'test', name, block, skips }
  return walk.frame.kind === 'test' ? null : { kind: 'helper', name }
}
