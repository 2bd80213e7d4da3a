// Which tests need a change, by name, and how a name that a judge gives is found among them. Pure.
import type { GateResult, TestNames } from '../model/gate.ts'
import type { State } from '../model/state.ts'

/** The maximum number of test names that a story keeps for a gate. */
const MAX_PROVED = 100

/**
 * The tests that pass with the change and fail without its product. `old`: the run with the checks as they were. A test that does not run
 * without the product counts only if it is new. If a package does not compile, its old tests do not run either.
 */
export function testsThatNeed(
  now: GateResult,
  without: GateResult,
  { old, hadTests }: { old: GateResult | undefined; hadTests: boolean },
): string[] {
  const passing = now.named?.passed ?? []
  const failed = testsThatPassNow(now, without.named?.failed ?? [])
  const isNew = (name: string) => old?.named?.passed.includes(name) === false || !hadTests
  const mayCompare = /^exit \d+$/.test(without.ended) && ![now, without, old].some((one) => one?.named?.more)
  const absent = mayCompare
    ? passing.filter((name) => without.named?.passed.includes(name) !== true && isNew(name))
    : []
  const bare = new Set(failed.flatMap(bareNames))
  const others = absent.filter((name) => !bareNames(name).some((one) => bare.has(one)))
  return [...new Set([...failed, ...others])].slice(0, MAX_PROVED)
}

/** The failed tests that pass in this green run. If its tool names no passing test, all of them do. */
export function testsThatPassNow({ named }: GateResult, failed: readonly string[]): string[] {
  const passing = named?.passed ?? []
  return failed.filter((name) => passing.length === 0 || passing.some((one) => isSameTest(one, name)))
}

/** The result without the names of its tests. */
export function withoutNames({ named: _named, ...result }: GateResult): GateResult {
  return result
}

/** Only the story that passed last keeps the names of its tests: the final verification may reuse its results. */
export function keepNamesOf(state: State, storyId: string): State {
  const records = Object.entries(state.records).map(([id, record]) =>
    id === storyId || record.gates.every(({ named }) => named === undefined)
      ? [id, record]
      : [id, { ...record, gates: record.gates.map(withoutNames) }],
  )
  return { ...state, records: Object.fromEntries(records) }
}

/** `adds two` of `test/cart.test.ts: adds two`, of `test/cart.test.ts > cart > adds two`, and of `cart.py::adds two[1]`. */
function bareNames(name: string): string[] {
  const text = plain(name)
  const marks = [': ', ' > ', ' › ', '::', ...(text.includes(' ') ? [] : ['/'])]
  const parts = marks.map((mark) => text.slice(lastAfter(text, mark)))
  const short = parts.flatMap((part) => [
    part,
    part.replace(/\[[^\]]*\]$/, ''),
    part.replace(/ \([\w.]+\)$/, ''),
  ])
  return [...new Set([text, ...short])].filter((one) => one !== '')
}

function lastAfter(text: string, mark: string): number {
  const at = text.lastIndexOf(mark)
  return at === -1 ? 0 : at + mark.length
}

function isSameTest(one: string, other: string): boolean {
  const names = bareNames(one)
  return bareNames(other).some((name) => names.includes(name))
}

/** Judges and runners quote names in different ways. */
function plain(text: string): string {
  return text
    .replace(/[`"'“”‘’]/g, '')
    .replace(/\s+/g, ' ')
    .trim()
}

/** The tests of this name; a judge may add a file before it, or a remark after it. */
export function findTests(text: string, names: readonly string[]): string[] {
  const said = plain(text)
  const afterFile = said.replace(/^\S*[./]\S*(?::\d+)?[:,]? (?:> )?/, '')
  const wanted = new Set([...beginnings(said), ...beginnings(afterFile)])
  const found = names.filter((name) => bareNames(name).some((one) => wanted.has(one)))
  // The longest name is what was meant, if one test's name begins with that of another.
  const longest = Math.max(0, ...found.map((name) => matchLength(name, wanted)))
  return found.filter((name) => matchLength(name, wanted) === longest)
}

function matchLength(name: string, wanted: ReadonlySet<string>): number {
  return Math.max(
    0,
    ...bareNames(name)
      .filter((one) => wanted.has(one))
      .map(({ length }) => length),
  )
}

/** The text, and its beginnings up to a mark that may separate a name from a remark. */
function beginnings(text: string): string[] {
  const ends = [...text.matchAll(/ in | [-–—] | \(|[,;:.](?: |$)|$/g)].map(({ index }) => index)
  return ends.map((end) => text.slice(0, end).trim()).filter((one) => one !== '')
}

/** The tests whose name is on this line of code, as a text or as a function. */
export function testsOnLine(line: string, names: readonly string[]): string[] {
  const code = ` ${plain(line)} `
  const isOnLine = (name: string) =>
    bareNames(name).some((one) => {
      const at = one.length < MIN_NAME ? -1 : code.indexOf(one)
      return at !== -1 && !/\w/.test(code[at - 1] ?? '') && !/\w/.test(code[at + one.length] ?? '')
    })
  return names.filter(isOnLine)
}

const MIN_NAME = 4

/** The tests that fail without the change with which the story passed. */
export function provedTests({ records }: Pick<State, 'records'>, storyId: string): string[] {
  return (records[storyId]?.gates ?? []).flatMap(({ proof }) => proof?.names ?? [])
}

/** The names of all gates that are green now. */
export function passedNames(gates: readonly GateResult[]): TestNames {
  const named = gates.flatMap((one) => (one.ok && one.further === undefined && one.named ? [one.named] : []))
  const more = named.some((one) => one.more === true)
  return {
    passed: [...new Set(named.flatMap(({ passed }) => passed))],
    failed: [],
    ...(more ? { more: true as const } : {}),
  }
}
