// Tests in Go: functions of the testing package, subtests with a name, suites of testify.
import type { SyntaxNode } from '@lezer/common'
import { argumentsOf, type Call, type Part, type Rules, type Walk } from '../walk.ts'

const ASSERTS =
  /^[a-z]\w{0,2}\.(?:Error|Errorf|Fatal|Fatalf|Fail|FailNow)$|^(?:assert|require|is|qt|cmp|td|must|check)\.[A-Z]\w*$|^(?:assert|expect|check|verify|validate|ensure|must|should)[A-Z]\w*$|(?:Expect|Ω|Eventually|Consistently)$|^!?[a-z]\w{0,20}\.(?:Require|Assert)\(\)\.[A-Z]\w*$/
/** Of testify's suites, where nobody takes what they say. */
const SUITE_ASSERTS =
  /^!?[a-z]\w{0,20}\.(?:NoError|Error(?:Is|As|Contains)|(?:Not)?(?:Equal|Nil|True|False|Contains|Len|Empty|Zero|Same|Regexp|Panics|Greater|Less|Positive|Negative|ElementsMatch|Subset|InDelta|InEpsilon|WithinDuration|JSONEq|YAMLEq|IsType|Implements|Condition|Never|FileExists|DirExists))\w*$/

export const go: Rules = {
  asserts: ({ callee, node }) =>
    ASSERTS.test(callee) ||
    (SUITE_ASSERTS.test(callee) && /^(?:ExprStatement|IfStatement|UnaryExp)$/.test(node.parent?.name ?? '')),
  fails: /\bfail\w*$|\bFail\w*$|\bErrorf?$|\bFatalf?$|\bverify\w*$/,
  skips: /^[a-z]\w*\.(?:T\(\)\.)?(?:Skip|Skipf|SkipNow)$/,
  nodes: /^(?:PackageClause|FunctionDecl|MethodDecl)$/,
  partAt(node, call, walk) {
    if (call !== null) return callPart(call, walk)
    if (node.name === 'PackageClause') {
      const head = walk.source.raw.slice(0, node.from)
      walk.root.skips += Number(CONSTRAINT.test(head)) + Number(OTHER_SYSTEM.test(walk.path))
      return null
    }
    return functionPart(node, walk)
  },
}

function functionPart(node: SyntaxNode, walk: Walk): Part {
  const isMethod = node.name === 'MethodDecl'
  const name = walk.codeIn(node, 'DefName') || walk.codeIn(node, 'FieldName')
  const block = node.getChild('Block')
  if (isMethod && /^(?:SetupTest|SetupSuite|BeforeTest)$/.test(name)) return { kind: 'set-up' }
  const isTest = name !== 'TestMain' && /^(?:Test|Fuzz|Example)(?:[^a-z\W]\w*)?$/.test(name)
  return isTest ? { kind: 'test', name, block } : { kind: 'helper', name }
}

function callPart({ callee, args }: Call, walk: Walk): Part | null {
  if (!/^[a-z]\w{0,20}\.Run$/.test(callee)) return null
  const [first, ...more] = argumentsOf(args)
  const block = more.find(({ name }) => name === 'FunctionLiteral')?.getChild('Block') ?? null
  if (first?.name !== 'String' || block === null) return null
  return { kind: 'test', name: `Run ${walk.text(first).replace(/^["`]|["`]$/g, '')}`, block }
}

/** That must hold for the file to be built. */
const CONSTRAINT = /^\/\/(?:go:build| ?\+build)\s/m
/** In a file's name: other systems and processors than Linux and amd64. */
const OTHER_SYSTEM =
  /_(?:aix|android|darwin|dragonfly|freebsd|illumos|ios|js|netbsd|openbsd|plan9|solaris|wasip1|windows|386|arm|arm64|loong64|mips\w*|ppc64\w*|riscv64|s390x|wasm)_test\.go$/
