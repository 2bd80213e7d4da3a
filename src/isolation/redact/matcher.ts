// Finds many texts at once in a stream of UTF-16 units (Aho and Corasick, https://doi.org/10.1145/360825.360855).

/** A trie with the state to fall back to; state 0 is its root. Every array but `root` is by state. */
export type Matcher = {
  /** The root's child for each UTF-16 unit, 0 for none. */
  root: Int32Array
  firstChild: Int32Array
  sibling: Int32Array
  unit: Uint16Array
  fallBack: Int32Array
  /** How many of the last units may begin a text. */
  depth: Int32Array
  /** Length of the longest value that ends here, 0 for none. */
  value: Int32Array
  /** Which of the starts ends here, counted from 1; 0 for none. No start may end with another start. */
  start: Int32Array
}

export function buildMatcher(values: readonly string[], starts: readonly string[]): Matcher {
  const size = [...values, ...starts].reduce((sum, text) => sum + text.length, 1)
  const matcher: Matcher = {
    root: new Int32Array(65_536),
    firstChild: new Int32Array(size),
    sibling: new Int32Array(size),
    unit: new Uint16Array(size),
    fallBack: new Int32Array(size),
    depth: new Int32Array(size),
    value: new Int32Array(size),
    start: new Int32Array(size),
  }
  let count = 1
  const end = (text: string): number => {
    let state = 0
    for (let at = 0; at < text.length; at += 1) {
      const unit = text.charCodeAt(at)
      const known = childOf(matcher, state, unit)
      if (known === 0) addChild(matcher, state, unit, count++)
      state = known === 0 ? count - 1 : known
    }
    return state
  }
  for (const text of values) matcher.value[end(text)] = text.length
  for (const [index, text] of starts.entries()) matcher.start[end(text)] = index + 1
  linkFallBacks(matcher)
  return matcher
}

function addChild(m: Matcher, parent: number, unit: number, state: number): void {
  m.unit[state] = unit
  m.depth[state] = (m.depth[parent] ?? 0) + 1
  m.sibling[state] = m.firstChild[parent] ?? 0
  m.firstChild[parent] = state
  if (parent === 0) m.root[unit] = state
}

/** Breadth first: the state to fall back to is always shallower, so it is finished before it is needed. */
function linkFallBacks(m: Matcher): void {
  const order = [0]
  for (const state of order) {
    for (let child = m.firstChild[state] ?? 0; child !== 0; child = m.sibling[child] ?? 0) {
      const fallBack = state === 0 ? 0 : advance(m, m.fallBack[state] ?? 0, m.unit[child] ?? 0)
      m.fallBack[child] = fallBack
      m.value[child] ||= m.value[fallBack] ?? 0
      m.start[child] ||= m.start[fallBack] ?? 0
      order.push(child)
    }
  }
}

function childOf(m: Matcher, state: number, unit: number): number {
  if (state === 0) return m.root[unit] as number
  let child = m.firstChild[state] as number
  while (child !== 0 && m.unit[child] !== unit) child = m.sibling[child] as number
  return child
}

function advance(m: Matcher, from: number, unit: number): number {
  let state = from
  for (;;) {
    const next = childOf(m, state, unit)
    if (next !== 0 || state === 0) return next
    state = m.fallBack[state] as number
  }
}

/** Matches one view of a text, and remembers the position of each unit in the text. */
export class Reader {
  state = 0
  readonly #matcher: Matcher
  readonly #places: Float64Array
  #count = 0

  constructor(matcher: Matcher) {
    this.#matcher = matcher
    const longest = matcher.depth.reduce((most, depth) => Math.max(most, depth), 1)
    this.#places = new Float64Array(2 ** Math.ceil(Math.log2(longest + 1)))
  }

  take(unit: number, place: number): void {
    const state =
      this.state === 0 ? (this.#matcher.root[unit] as number) : advance(this.#matcher, this.state, unit)
    this.state = state
    // In the root state nothing may have begun, so the position is not needed.
    if (state !== 0) this.#places[this.#count++ & (this.#places.length - 1)] = place
  }

  /** How many of the last units may begin a text. */
  get depth(): number {
    return this.#matcher.depth[this.state] as number
  }

  /** The position at which the last `length` units begin. */
  positionOf(length: number): number {
    return this.#places[(this.#count - length) & (this.#places.length - 1)] as number
  }

  /** Takes over the state of another reader. */
  follow(other: Reader): void {
    this.#count = 0
    for (let left = other.depth; left > 0; left -= 1) this.#places[this.#count++] = other.positionOf(left)
    this.state = other.state
  }

  reset(): void {
    this.state = 0
    this.#count = 0
  }
}
