// Tests in Java: JUnit 3 to 5 and TestNG.
import type { SyntaxNode } from '@lezer/common'
import type { Span } from '../source.ts'
import { count, elementsOf, framesFrom, isEmptyBlock, type Part, type Rules, type Walk } from '../walk.ts'

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
    const span = { from: node.from, to: node.to }
    if (name === 'ConstructorDeclaration') return { kind: 'set-up', ...span }
    return name === 'MethodDeclaration' ? methodPart(node, span, walk) : classPart(node, span, walk)
  },
}

function modifiersOf(node: SyntaxNode, walk: Walk): string {
  const modifiers = node.getChild('Modifiers')
  return modifiers === null ? '' : walk.code(modifiers)
}

function nameOf(node: SyntaxNode, walk: Walk): string {
  const name = node.getChild('Definition')
  return name === null ? '' : walk.code(name)
}

function classPart(node: SyntaxNode, span: Span, walk: Walk): Part {
  const modifiers = modifiersOf(node, walk)
  const isAbstract = node.name === 'ClassDeclaration' && /\babstract\b/.test(modifiers)
  const needs = isAbstract ? nameOf(node, walk) : null
  return { kind: 'group', ...span, skips: count(modifiers, MARKS), needs }
}

function methodPart(node: SyntaxNode, span: Span, walk: Walk): Part | null {
  const block = node.getChild('Block')
  if (block === null) return null
  const name = nameOf(node, walk)
  const modifiers = modifiersOf(node, walk)
  if (SET_UP.test(modifiers)) return { kind: 'set-up', ...span }
  const head = walk.code({ from: node.from, to: block.from })
  const isTest = TEST.test(modifiers) || /\bpublic\s+void\s+test\w*\s*\(\s*\)/.test(head)
  if (!isTest || /\bprivate\b/.test(modifiers))
    return walk.frame.kind === 'test' ? null : { kind: 'helper', name, ...span }
  const body = { from: block.from + 1, to: block.to - 1 }
  const needs = framesFrom(walk.frame).find(({ needs }) => needs)?.needs ?? null
  const skips = count(modifiers, MARKS)
  return {
    kind: 'test',
    name,
    ...span,
    body,
    skips,
    empty: isEmptyBlock(walk.code(body)),
    needs,
    rows: rowsOf(node, walk),
  }
}

/** The rows that its annotations give it. */
function rowsOf(node: SyntaxNode, walk: Walk): Span[] {
  for (const annotation of node.getChild('Modifiers')?.getChildren('Annotation') ?? []) {
    const [, kind] = /^@(ValueSource|CsvSource|EnumSource|MethodSource)\b/.exec(walk.code(annotation)) ?? []
    const args = annotation.getChild('AnnotationArgumentList')
    if (kind === undefined || args === null) continue
    // The rows are made by a method whose name may differ: all arguments in the file.
    const rows = kind === 'MethodSource' ? argumentsIn(walk) : annotationRows(args, walk)
    if (rows.length > 0) return rows
  }
  return []
}

const made = new WeakMap<Walk, Span[]>()

function argumentsIn(walk: Walk): Span[] {
  const { code } = walk.source
  const found =
    made.get(walk) ??
    [...code.matchAll(/\b(?:Arguments\.of|arguments)\s*\([^\n]*/g)].map((it) => ({
      from: it.index,
      to: it.index + it[0].length,
    }))
  made.set(walk, found)
  return found
}

function annotationRows(args: SyntaxNode, walk: Walk): Span[] {
  const cursor = args.cursor()
  do {
    if (cursor.name === 'ElementValueArrayInitializer') return elementsOf(cursor.node, walk)
    if (cursor.name !== 'TextBlock') continue
    const lines = walk.source.raw.slice(cursor.from, cursor.to).split('\n').slice(1, -1)
    return lines.filter((it) => it.trim() !== '').map(() => ({ from: args.from, to: args.to }))
  } while (cursor.next() && cursor.from < args.to)
  return elementsOf(args, walk)
}
