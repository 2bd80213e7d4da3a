// One walk over a syntax tree, for all languages: tests, what skips them, what can fail them.
import type { SyntaxNode, SyntaxNodeRef, Tree } from '@lezer/common'
import { oneLine } from '../model/text.ts'
import type { Source, Span } from './source.ts'

/** A part of the text that says what becomes of the tests in it; from and to are those of its node where they are not said. */
export type Part = Partial<Span> & {
  /** `never`: nobody runs the tests in it. */
  kind: 'group' | 'test' | 'set-up' | 'helper' | 'never'
  name?: string
  /** What runs; what follows a `return` does not. */
  body?: Span
  /** In braces; its inside is the body, and says whether the part is empty. */
  block?: SyntaxNode | null
  /** Marks that keep it from running, or from failing. */
  skips?: number
  /** Nothing in it, or it returns at once. */
  empty?: boolean
  /** Beside the code: what asserts in here is for tests. */
  holdsTests?: boolean
}
export type Frame = Part & Span & { name: string; body: Span; skips: number; parent: Frame | null }

/** `callee` is what stands before the brackets, without blanks; `to` is where the chain of calls ends that it begins. */
export type Call = Span & { callee: string; node: SyntaxNode; args: SyntaxNode | null }
/** `callee` as in `Call`. */
type Assertion = Span & { callee: string; frame: Frame }
type NamedCall = Span & { name: string; frame: Frame }

/** What a language calls things. */
export type Rules = {
  /** Whether the call can fail a test. */
  asserts(call: Call): boolean
  /** Names of assertions that fail whatever they are given, or that check what stands before them. */
  fails: RegExp
  /** The callee of what skips the test that it stands in. */
  skips: RegExp
  /** The nodes that `partAt` is asked about, beside calls. */
  nodes: RegExp
  /** The part that begins there, or null. It may tell the walk of skips and assertions. */
  partAt(node: SyntaxNode, call: Call | null, walk: Walk): Part | null
}

const CALLS = /^(?:CallExpression|CallExpr|MethodInvocation|MacroInvocation)$/
const ARGUMENTS = /^(?:ArgList|Arguments|ArgumentList|\w+Tokens)$/
const MEMBERS = /^(?:MemberExpression|SelectorExpr|FieldExpression)$/
/** Words that a constant may consist of. */
const CONSTANT =
  /^(?:true|false|True|False|None|null|nil|undefined|Some|Ok|is|in|not|and|or|assert|msg|self|t|toBe|toEqual)$/

/** Nobody nests tests or functions deeper. */
const DEEPEST = 32
const LONGEST_CALLEE = 200
/** Of a longer one, only the start is compared. */
const LONGEST_ASSERTION = 600

export class Walk {
  readonly path: string
  readonly source: Source
  readonly root: Frame
  /** The innermost part at this place. */
  frame: Frame
  readonly frames: Frame[] = []
  readonly assertions: Assertion[] = []
  readonly calls: NamedCall[] = []
  /** Marks that keep other tests from running. */
  readonly focused: string[] = []
  readonly testClasses = new Set<string>()
  readonly #rules: Rules
  readonly #isForTests: boolean
  #depth = 0

  /** `isForTests`: whether what asserts anywhere in the file is for tests. */
  constructor(path: string, source: Source, rules: Rules, isForTests: boolean) {
    const body = { from: 0, to: source.raw.length }
    this.path = path
    this.source = source
    this.#rules = rules
    this.#isForTests = isForTests
    this.root = { ...body, kind: 'group', name: '', body, skips: 0, parent: null }
    this.frame = this.root
  }

  run(tree: Tree): this {
    tree.iterate({ enter: (node) => this.#visit(node) })
    return this
  }

  code({ from, to }: Span): string {
    return this.source.code.slice(from, to)
  }

  /** The code of its child of that kind, or empty. */
  codeIn(node: SyntaxNode, kind: string): string {
    const child = node.getChild(kind)
    return child === null ? '' : this.code(child)
  }

  /** As it stands there, in one line. */
  text({ from, to }: Span): string {
    return oneLine(this.source.raw.slice(from, Math.min(to, from + 500)), 80)
  }

  /** Something here skips the tests around it, or those of the group that it sets up. */
  skip(): void {
    const around = framesFrom(this.frame)
    const tests = around.filter(({ kind }) => kind === 'test')
    for (const test of tests) test.skips += 1
    const inner = around.find(({ kind }) => kind === 'set-up' || kind === 'helper' || kind === 'group')
    if (tests.length > 0 || inner?.kind === 'helper') return
    const group = around.find(({ kind }) => kind === 'group') ?? this.root
    group.skips += 1
  }

  /** Something here can fail a test. */
  assert({ from, to }: Span, callee: string): void {
    const isWatched =
      this.#isForTests || framesFrom(this.frame).some((it) => it.holdsTests || it.kind === 'test')
    if (!isWatched) return
    this.assertions.push({ from, to: Math.min(to, from + LONGEST_ASSERTION), callee, frame: this.frame })
  }

  /** An assertion on constants alone says nothing: `expect(true).toBe(true)`. */
  isConstant({ from, to }: Span): boolean {
    const code = this.code({ from, to: Math.min(to, from + LONGEST_ASSERTION) })
    return !(code.match(/(?<![\w$.])[A-Za-z_$][\w$]*/g) ?? []).some((name) => !CONSTANT.test(name))
  }

  #visit(ref: SyntaxNodeRef): void {
    while (this.frame.parent !== null && ref.from >= this.frame.to) {
      this.frame = this.frame.parent
      this.#depth -= 1
    }
    const call = this.#callAt(ref)
    if (call !== null) this.#seeCall(call)
    if (call !== null || this.#rules.nodes.test(ref.name))
      this.#open(this.#rules.partAt(ref.node, call, this), ref)
  }

  #open(part: Part | null, node: Span): void {
    if (part === null || this.#depth >= DEEPEST) return
    const { from = node.from, to = node.to, block = null } = part
    const inside = block === null ? null : { from: block.from + 1, to: block.to - 1 }
    const empty = inside !== null && isEmptyBlock(this.code(inside))
    const body = inside ?? { from, to }
    this.frame = { name: '', body, empty, skips: 0, ...part, from, to, parent: this.frame }
    this.frames.push(this.frame)
    this.#depth += 1
  }

  /** In a macro of Rust there are only words and brackets. */
  #callAt(ref: SyntaxNodeRef): Call | null {
    const isCall = CALLS.test(ref.name)
    if (!isCall && ref.name !== 'Identifier') return null
    const { node } = ref
    let args = isCall ? node.lastChild : node.nextSibling
    if (isCall) while (args !== null && !ARGUMENTS.test(args.name)) args = args.prevSibling
    else {
      if (!node.parent?.name.endsWith('Tokens')) return null
      if (node.prevSibling !== null && this.code(node.prevSibling) === 'fn') return null
      if (args?.name === '!') args = args.nextSibling
      if (!args?.name.endsWith('Tokens')) return null
    }
    const end = args?.from ?? ref.to
    const start = Math.max(ref.from, end - LONGEST_CALLEE)
    const callee = this.code({ from: start, to: end }).replace(/\s+|<[^()]*>$/g, '')
    return { from: ref.from, to: isCall ? chainEnd(node) : (args?.to ?? ref.to), callee, node, args }
  }

  #seeCall(call: Call): void {
    const { callee, args } = call
    const name = /[\w$]*!?$/.exec(callee)?.[0] ?? ''
    if (this.#rules.skips.test(callee)) this.skip()
    if (this.#rules.asserts(call)) {
      const says = args === null || args.to - args.from > 2
      const isConstant =
        says &&
        !this.#rules.fails.test(callee) &&
        this.isConstant({ from: args?.from ?? call.from, to: call.to })
      if (!isConstant) this.assert(call, callee)
    }
    this.calls.push({ from: call.from, to: call.to, name, frame: this.frame })
  }
}

/** The frame and those around it, the innermost first. */
export function framesFrom(frame: Frame): Frame[] {
  const frames: Frame[] = []
  for (let it: Frame | null = frame; it !== null; it = it.parent) frames.push(it)
  return frames
}

export function childrenOf(node: SyntaxNode, most = 1000): SyntaxNode[] {
  const children: SyntaxNode[] = []
  for (let it = node.firstChild; it !== null && children.length < most; it = it.nextSibling) children.push(it)
  return children
}

/** The arguments of a call, without brackets and commas. */
export function argumentsOf(args: SyntaxNode | null): SyntaxNode[] {
  return args === null ? [] : childrenOf(args).filter((it) => !/^[(),]$|Comment$/.test(it.name))
}

export function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0
}

/** The inside of a block: nothing but blanks, or a return before anything else. */
export function isEmptyBlock(code: string): boolean {
  const nothing = String.raw`(?:;|\n|$|Ok\(\(\)\)|(?:undefined|null|None|[Tt]rue|[Ff]alse|\d+)[ \t]*(?:;|\n|$))`
  return new RegExp(String.raw`^\s*;*\s*(?:$|return\b[ \t]*${nothing})`).test(code)
}

/** Where the chain of calls and members ends that begins with the node. */
export function chainEnd(node: SyntaxNode): number {
  let end = node
  for (let steps = 0; steps < 100; steps += 1) {
    const { parent } = end
    if (
      parent === null ||
      parent.from !== node.from ||
      !(CALLS.test(parent.name) || MEMBERS.test(parent.name))
    )
      break
    end = parent
  }
  return end.to
}
