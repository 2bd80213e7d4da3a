// Tests in Python: pytest and unittest.
import type { SyntaxNode } from '@lezer/common'
import { oneLine } from '../../model/text.ts'
import { type Span, wordsIn } from '../source.ts'
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
  nodes: /^(?:(?:Function|Class)Definition|(?:Assert|Raise|Delete|Assign)Statement|Body)$/,
  partAt(node, call, walk) {
    if (call !== null) {
      if (/^collect_ignore(?:_glob)?\./.test(call.callee)) tellIgnored(node, walk)
      return null
    }
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
        rebind(node, walk)
        return null
    }
  },
}

function isConftest(walk: Walk): boolean {
  return /(?:^|\/)conftest\.py$/.test(walk.path)
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
  const isAutomatic = /\bautouse\s*=\s*True\b/.test(header)
  if (isAutomatic || SET_UP.test(name)) {
    const focus = isAutomatic && isConftest(walk) ? { focus: oneLine(header, 80) } : {}
    return { kind: 'set-up', from, to, ...focus }
  }
  const around = framesFrom(walk.frame)
  const isInFunction = around.some(({ kind }) => kind === 'test' || kind === 'helper' || kind === 'set-up')
  if (isInFunction) return null
  if (!/^test/.test(name)) return { kind: 'helper', name, from, to }
  const code = walk.code({ from: body.from + 1, to: body.to })
  const statements = code.replace(/^\s*(?:[rRbBuUfF]{0,2}("""|''')\s*\1|"\s*"|'\s*')/, '') // the docstring
  return {
    kind: 'test',
    name,
    scopedName: scopedName(name, node),
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
  return { kind, name, scopedName: scopedName(name, node), from, to, skips }
}

/** What stands in the first block of `if False:`. */
function isNever(body: SyntaxNode, walk: Walk): boolean {
  const { parent, prevSibling } = body
  if (parent === null || prevSibling === null || !/^(?:If|While)Statement$/.test(parent.name)) return false
  return (
    /^\(?\s*(?:False|0|None)\b/.test(walk.code(prevSibling)) && parent.getChild('Body')?.from === body.from
  )
}

/** The last that a name is given counts: what a statement does to the tests that stand before it. */
function rebind(node: SyntaxNode, walk: Walk): void {
  const [, deleted, shutOut, assigned, value = ''] =
    /^(?:del\s+([\w\s,()]+)|(\w+)\.__test__\s*=\s*False\b|(\w+)\s*\+?=(?!=)(.*))/s.exec(walk.code(node)) ?? []
  for (const name of deleted?.match(/\w+/g) ?? []) walk.shadow(scopedName(name, node))
  const frame = shutOut === undefined ? undefined : walk.named.get(scopedName(shutOut, node))
  if (frame !== undefined) frame.skips += 1
  if (assigned === undefined) return
  const isOfGroup = walk.frame.kind === 'group'
  if (isOfGroup && assigned === 'pytestmark') walk.frame.skips += count(value, MARKS)
  else if (isOfGroup && assigned === '__test__') walk.frame.skips += Number(/^\s*False\b/.test(value))
  else if (/^collect_ignore(?:_glob)?$/.test(assigned)) tellIgnored(node, walk)
  else if (!value.match(/\w+/g)?.includes(assigned)) walk.shadow(scopedName(assigned, node))
}

/** With the block that it stands in. */
function scopedName(name: string, node: SyntaxNode): string {
  const { parent } = spanOf(node) === node ? node : (node.parent ?? node)
  return `${parent?.from ?? 0} ${name}`
}

/** In a conftest.py: files with tests that are kept from being collected. */
function tellIgnored(node: SyntaxNode, walk: Walk): void {
  if (!isConftest(walk)) return
  const { literals, identifiers } = wordsIn(walk.source, node)
  // `setup.py` and the like hold no tests; a folder, a pattern and what is computed may.
  const ignored = literals.filter((it) => !/^[^*]*\.py$/.test(it) || /test/i.test(it))
  for (const it of ignored) walk.focused.push(oneLine(`collect_ignore: ${it}`, 80))
  if (literals.length === 0 && identifiers.length > 1) walk.focused.push(walk.text(node))
}
