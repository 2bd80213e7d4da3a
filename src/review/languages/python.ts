// Tests in Python: pytest and unittest.
import type { SyntaxNode } from '@lezer/common'
import type { Span } from '../source.ts'
import { count, framesFrom, isEmptyBlock, type Part, type Rules, type Walk } from '../walk.ts'

const MARKS =
  /\bmark\.(?:skip|skipif|xfail)\b|\bunittest\.(?:skip\w*|expectedFailure)\b|@\s*(?:skip\w*|xfail|expectedFailure)\b/g
/** What is run before each test, or before all of them. */
const SET_UP = /^(?:setUp\w*|asyncSetUp|setup(?:_(?:method|class|module|function))?)$/
const NO_BASE = /^(?:object|ABC|abc|metaclass|Enum|Exception|dict|list|str|int)$/

const ASSERTS =
  /\.(?:assert\w+|fail|failUnless\w*)$|^pytest\.(?:raises|warns|fail|approx_raises)$|^raises$|^(?:self\.)?(?:assert|expect|check|verify|validate|ensure|must|should)_\w+$/

export const python: Rules = {
  asserts: ({ callee }) => ASSERTS.test(callee),
  fails: /\bfail\w*$|\bverify\w*$|\braises$|\bwarns$|\bassert_(?:called|awaited|has|any|not)\w*$/,
  skips: /^pytest\.(?:skip|xfail|importorskip)$|\.skipTest$/,
  nodes: /^(?:(?:Function|Class)Definition|(?:Assert|Raise|Assign)Statement|Body)$/,
  partAt(node, call, walk) {
    if (call !== null) return null
    switch (node.name) {
      case 'FunctionDefinition':
        return functionPart(node, walk)
      case 'ClassDefinition':
        return classPart(node, walk)
      case 'Body':
        return isNever(node, walk) ? { kind: 'never' } : null
      case 'AssertStatement':
        if (!walk.isConstant({ from: node.from + 6, to: node.to })) walk.assert(node, 'assert')
        return null
      case 'RaiseStatement':
        if (/\bSkipTest\b/.test(walk.code(node))) walk.skip()
        return null
      default:
        seeAssignment(node, walk)
        return null
    }
  },
}

/** With its decorators. */
function spanOf(node: SyntaxNode): Span {
  const { parent } = node
  return parent?.name === 'DecoratedStatement' ? parent : node
}

function headerOf(node: SyntaxNode, walk: Walk): string {
  return walk.code({ from: spanOf(node).from, to: node.getChild('Body')?.from ?? node.to })
}

function functionPart(node: SyntaxNode, walk: Walk): Part | null {
  const { from, to } = spanOf(node)
  const name = walk.codeIn(node, 'VariableName')
  const header = headerOf(node, walk)
  const body = node.getChild('Body') ?? node
  if (/\bautouse\s*=\s*True\b/.test(header) || SET_UP.test(name)) return { kind: 'set-up', from, to }
  const around = framesFrom(walk.frame)
  const isInFunction = around.some(({ kind }) => kind === 'test' || kind === 'helper' || kind === 'set-up')
  if (isInFunction) return null
  if (!/^test/.test(name)) return { kind: 'helper', name, from, to }
  const code = walk.code({ from: body.from + 1, to: body.to })
  const statements = code.replace(/^\s*(?:[rRbBuUfF]{0,2}("""|''')\s*\1|"\s*"|'\s*')/, '') // the docstring
  return {
    kind: 'test',
    name,
    from,
    to,
    body: { from: body.from + 1, to: body.to },
    skips: count(header, MARKS),
    empty: /^\s*(?:(?:pass|\.\.\.)\s*)*$/.test(statements) || isEmptyBlock(statements),
  }
}

/** A class whose base we do not see may be one of tests. */
function classPart(node: SyntaxNode, walk: Walk): Part {
  const { from, to } = spanOf(node)
  const name = walk.codeIn(node, 'VariableName')
  const bases = walk.codeIn(node, 'ArgList').match(/\w+/g) ?? []
  const isCase = bases.some((it) => /Test|Case/.test(it) || walk.testClasses.has(it))
  const collects = name.startsWith('Test') || isCase || bases.some((it) => !NO_BASE.test(it))
  const skips = count(headerOf(node, walk), MARKS)
  if (isCase) walk.testClasses.add(name)
  const kind = collects ? 'group' : 'never'
  return { kind, name, from, to, skips }
}

/** What stands in the first block of `if False:`. */
function isNever(body: SyntaxNode, walk: Walk): boolean {
  const { parent, prevSibling } = body
  if (parent === null || prevSibling === null || !/^(?:If|While)Statement$/.test(parent.name)) return false
  return (
    /^\(?\s*(?:False|0|None)\b/.test(walk.code(prevSibling)) && parent.getChild('Body')?.from === body.from
  )
}

/** Marks of the module or class that it stands in. */
function seeAssignment(node: SyntaxNode, walk: Walk): void {
  const [, name, value = ''] = /^(pytestmark|__test__)\s*\+?=(?!=)(.*)/s.exec(walk.code(node)) ?? []
  if (name === undefined || walk.frame.kind !== 'group') return
  walk.frame.skips += name === 'pytestmark' ? count(value, MARKS) : Number(/^\s*False\b/.test(value))
}
