// Tests in JavaScript and TypeScript: node:test, jest, vitest, mocha, ava, tap, Playwright, Cypress.
import type { SyntaxNode } from '@lezer/common'
import {
  argumentsOf,
  type Call,
  chainEnd,
  childrenOf,
  count,
  type Part,
  type Rules,
  type Walk,
} from '../walk.ts'

const TEST =
  /^(?:(?:t|tt|ctx|Deno|QUnit|browser)\.(test|it|describe|module)|(x?describe|fdescribe|x?context|suite|[xf]?it|x?test|x?specify|fspecify))((?:\.[A-Za-z]+)*)$/
const GROUP = /^(?:[xf]?describe|x?context|suite|module)$/
/** `test.describe` is a group; `test.step`, `test.use`, `it.extend` ... are neither test nor group. */
const MODIFIER =
  /^(?:skip|only|todo|fixme|failing|fails|fail|concurrent|sequential|serial|parallel|each|for|describe|runIf|skipIf|if|shuffle|slow|configure)$/
const SKIP = /^(?:skip|todo|fixme|failing|fails|fail|skipIf|runIf|if)$/
/** These take something before they take the test. */
const TAKES = /^(?:each|for|skipIf|runIf|if)$/
/** What is run before each test of a group, or before all of them. */
const SET_UP = /^(?:[A-Za-z_$][\w$]{0,20}\.)?(?:before|beforeEach|beforeAll|setup|suiteSetup)$/

const ASSERTS =
  /^(?:expect(?:\.soft|\.poll)?|expectTypeOf|assertType|should|assert(?:\.\w+)*|sinon\.assert\.\w+|(?:assert|expect|check|verify|validate|ensure|must|should)[A-Z_]\w*)$|\.expect$|^(?:t|tt|ctx|QUnit|chai)\.(?:is|not|isNot|deepEqual|notDeepEqual|like|truthy|falsy|true|false|regex|notRegex|throws|throwsAsync|notThrows|notThrowsAsync|snapshot|assert(?:\.\w+)*|ok|notOk|equal|equals|strictEqual|notEqual|same|strictSame|notSame|match|rejects|resolves|error|ifError|expect)$/

export const javascript: Rules = {
  asserts({ callee, node, args, to }) {
    if (!ASSERTS.test(callee)) return false
    // `expect(value)` says nothing of what is expected; with two arguments it is a function of the project's own.
    const isAlone = /^expect(?:\.soft|\.poll)?$/.test(callee) && to === node.to
    return !isAlone || argumentsOf(args).length !== 1
  },
  fails: /\bfail\w*$|\bshould|\bverify\w*$|\.expect$/,
  skips: /^(?:this|t|ctx|context)\.(?:skip|todo|fixme|fail)$|^(?:pending|skip)$/,
  nodes: /^(?:FunctionDeclaration|VariableDeclaration|MemberExpression)$/,
  partAt(node, call, walk) {
    if (call !== null) return callPart(call, walk)
    if (node.name === 'MemberExpression') {
      const last = node.lastChild
      if (last?.name === 'PropertyName' && walk.code(last) === 'should')
        walk.assert({ from: last.from, to: chainEnd(node) }, 'should')
      return null
    }
    return walk.frame.kind === 'test' ? null : helper(node, walk)
  },
}

function helper(node: SyntaxNode, walk: Walk): Part | null {
  const name = node.getChild('VariableDefinition')
  const isFunction =
    node.name === 'FunctionDeclaration' ||
    childrenOf(node, 12).some((it) => /^(?:ArrowFunction|FunctionExpression)$/.test(it.name))
  if (name === null || !isFunction) return null
  return { kind: 'helper', name: walk.code(name) }
}

function callPart(call: Call, walk: Walk): Part | null {
  const { node, args } = call
  if (SET_UP.test(call.callee)) return { kind: 'set-up' }
  const { head, hasTaken } = headOf(node, call, walk)
  const [, ofObject, plain, rest = ''] = TEST.exec(head) ?? []
  const base = ofObject ?? plain
  if (base === undefined) return null
  const modifiers = rest.split('.').filter((it) => it !== '')
  if (modifiers.some((it) => !MODIFIER.test(it))) return null
  if (modifiers.some((it) => TAKES.test(it)) !== hasTaken) return null
  const given = argumentsOf(args)
  const [first] = given
  if (/^(?:test|it)$/.test(base) && isCondition(modifiers, given)) walk.skip()
  if (first === undefined) return null
  const isNamed = isText(first)
  const callback = callbackOf(given)
  if (!isNamed && callback === null) return null // `test(value)`

  const options = walk.code({
    from: first.from,
    to: callback === null ? node.to : (callback.lastChild ?? callback).from,
  })
  const marks = isNamed ? count(options, /[{,]\s*(?:skip|todo)\s*(?::(?!\s*(?:false|undefined)\b)|[,}])/g) : 0
  const skips = modifiers.filter((it) => SKIP.test(it)).length + Number(base.startsWith('x')) + marks
  const isFocused = /^f(?:it|describe|specify)$/.test(base) || modifiers.includes('only')
  if (isFocused || /[{,]\s*only\s*:\s*true\b/.test(options))
    walk.focused.push(walk.text({ from: node.from, to: first.to }))
  if (GROUP.test(base) || modifiers.includes('describe')) return { kind: 'group', skips }
  const isTodo = callback === null && given.length === 1
  return { ...testPart(given, callback, node.to, walk), skips: skips + Number(isTodo) }
}

/** Of `test.each(rows)('name', f)` the head is `test.each`, which has taken something before. */
function headOf(node: SyntaxNode, call: Call, walk: Walk): { head: string; hasTaken: boolean } {
  const { firstChild } = node
  if (firstChild === null || !/^(?:Call|TaggedTemplate)Expression$/.test(firstChild.name))
    return { head: call.callee, hasTaken: false }
  const inner = firstChild.firstChild
  const head = inner === null || inner.to - inner.from > 100 ? '' : walk.code(inner).replace(/\s+/g, '')
  return { head, hasTaken: true }
}

function testPart(given: SyntaxNode[], callback: SyntaxNode | null, end: number, walk: Walk): Part {
  const [first, second] = given as [SyntaxNode, SyntaxNode?]
  const isNamed = isText(first)
  const from = isNamed ? (second?.from ?? first.to) : first.from
  const name = isNamed ? walk.text(first).replace(/^["'`]|["'`]$/g, '') : '(unnamed)'
  const block = callback?.getChild('Block') ?? null
  const body = { from, to: block === null ? end : (returnEnd(block) ?? end) }
  // A callback that is only named may hold anything.
  return { kind: 'test', name, block, body, ...(callback === null ? { empty: given.length === 1 } : {}) }
}

function isText({ name }: SyntaxNode): boolean {
  return name === 'String' || name === 'TemplateString'
}

/** The function that is the test. */
function callbackOf(given: SyntaxNode[]): SyntaxNode | null {
  return given.find(({ name }) => name === 'ArrowFunction' || name === 'FunctionExpression') ?? null
}

/** Playwright: `test.skip()`, `test.skip(condition)`, `test.skip(condition, 'why')`. */
function isCondition(modifiers: string[], [first, why, ...more]: SyntaxNode[]): boolean {
  if (modifiers.length !== 1 || !/^(?:skip|fixme|fail)$/.test(modifiers[0] as string)) return false
  if (first === undefined) return true
  if (isText(first) || more.length > 0) return false
  return why === undefined ? callbackOf([first]) === null : isText(why)
}

/** Where the block returns whatever happens; null where it does not, or where a function stands behind. */
function returnEnd(block: SyntaxNode): number | null {
  const statements = childrenOf(block)
  const at = statements.findIndex((it) => it.name === 'ReturnStatement')
  if (at === -1 || statements.slice(at).some((it) => it.name === 'FunctionDeclaration')) return null
  return statements[at]?.to ?? null
}
