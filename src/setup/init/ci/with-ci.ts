// Joins the gates that the ecosystems propose with the checks of the project's CI. Those of CI win: a pull request has to pass them. Pure.
import { shellWord } from '../../../system/shell-word.ts'
import type { Gates } from '../project.ts'
import { type CiCheck, rankOf } from './ci-checks.ts'
import { targetOf, withoutStarters } from './command-kind.ts'

export type Proposed = {
  gates: Gates
  needs: Readonly<Record<string, readonly string[]>>
  alternatives: Readonly<Record<string, readonly string[]>>
  independent: string[]
}

/** A project of the repository. `owns`: commands that its own gates stand for, if one of `gates` starts the same tool, or is a test. */
export type Owner = { path: string; owns: RegExp | null; gates: Gates }

/** The maximum number of further gates of one kind, of scripts that may be checks, and of all gates. */
const MAX_MORE = 2
const MAX_OTHERS = 3
const MAX_GATES = 12

export function withCi(
  proposed: Proposed,
  checks: readonly CiCheck[],
  owners: readonly Owner[],
  paths: readonly string[],
  guesses: readonly string[] = [],
): Proposed & { notProposed: string[]; proposedChecks: CiCheck[] } {
  const joined = new Joined(proposed)
  const notProposed: string[] = []
  const proposedChecks: CiCheck[] = []
  for (const check of checks) {
    const isGenerated =
      (check.folder !== '' && !paths.some((path) => path.startsWith(`${check.folder}/`))) ||
      !hasScript(check, paths)
    const owner = owners.find(({ path }) => path === check.folder)
    if (isGenerated || (owner !== undefined && isOwned(check, owner))) continue
    if (joined.add(check)) proposedChecks.push(check)
    else notProposed.push(lineOf(check))
  }
  if (checks.some(({ kind }) => kind === 'test')) joined.drop(guesses)
  return { ...joined.result(), notProposed, proposedChecks }
}

/** Runs of tests and of hooks start other tools, which have their own gates. */
function isOwned({ run, kind }: CiCheck, { owns, gates }: Owner): boolean {
  const text = withoutStarters(run)
  if (owns?.test(text) !== true) return false
  // An environment for a check that the project's own gates lack, such as `tox -e type` next to tests.
  if (/^(?:tox|nox)\b/.test(text) && targetOf(run) !== '' && kind !== 'other' && !Object.hasOwn(gates, kind))
    return false
  const startsOthers =
    kind === 'test' || /^(?:tox|nox|pre-commit|prek|coverage|cmake|make|ctest|ninja|meson)\b/.test(text)
  return startsOthers || Object.values(gates).some((gate) => firstWord(gate) === firstWord(run))
}

/** False if it starts a file that only a build makes. */
function hasScript({ run, folder }: CiCheck, paths: readonly string[]): boolean {
  const [word = ''] = withoutStarters(run).split(' ')
  if (!/^\.?[\w.-]*\/[\w./-]+$/.test(word) || /^(?:\.\/)?(?:vendor|node_modules|\.venv|bin)\//.test(run))
    return true
  const path = `${folder === '' ? '' : `${folder}/`}${word.replace(/^\.\//, '')}`
  return paths.includes(path) || /gradlew|mvnw/.test(word)
}

/** It runs some of the tests only, or one command in every combination of features, which takes long. */
function isNarrow(run: string): boolean {
  const text = withoutStarters(run)
  if (/^cargo hack\b/.test(text)) return true
  const cargo = /^cargo (?:test|t)\b(.*)$/.exec(text.replace(/ -- .*/, ''))?.[1]
  if (cargo !== undefined)
    return /^(?: --?\S+(?:[ =](?!-)\S+)?)*? (?!-)[\w:]+$/.test(
      cargo.replace(
        / (?:-p|--package|--features|-F|--test|--bin|--example|--manifest-path|--target-dir|--profile|-j) \S+/g,
        '',
      ),
    )
  return / -(?:run|k|m|-grep|-filter)[ =]/.test(text) || /\b-Dtest=/.test(text)
}

function lineOf({ folder, run }: CiCheck): string {
  return folder === '' ? run : `cd ${shellWord(folder)} && ${run}`
}

class Joined {
  readonly #gates: [name: string, run: string][]
  readonly #proposed: Proposed
  readonly #alternatives: Record<string, readonly string[]>
  readonly #isOfCi = new Set<string>()
  readonly #more = new Map<string, number>()
  #independent: string[]

  constructor(proposed: Proposed) {
    this.#proposed = proposed
    this.#gates = Object.entries(proposed.gates)
    this.#alternatives = { ...proposed.alternatives }
    this.#independent = [...proposed.independent]
  }

  /** False if there are too many gates of its kind. */
  add(check: CiCheck): boolean {
    const line = lineOf(check)
    const same = this.#gates.find(([, run]) => normal(run) === normal(line))
    if (same !== undefined) {
      this.#isOfCi.add(same[0])
      return true
    }
    const name = this.#nameOf(check)
    if (name === null) return false
    const old = this.#gates.find(([one]) => one === name)
    if (old === undefined) return this.#insert(name, line, check)
    if (this.#isOfCi.has(name) || isNarrow(check.run)) return this.#addMore(name, line, check)
    this.#isOfCi.add(name)
    const others = [old[1], ...(this.#alternatives[name] ?? [])].filter((one) => normal(one) !== normal(line))
    if (firstWord(old[1]) !== firstWord(line))
      this.#independent = this.#independent.filter((one) => one !== name)
    old[1] = line
    this.#alternatives[name] = others
    return true
  }

  /** Leaves these gates out, except those that CI runs as well. */
  drop(names: readonly string[]): void {
    for (const name of names) {
      const at = this.#gates.findIndex(([one]) => one === name)
      if (at >= 0 && !this.#isOfCi.has(name)) this.#gates.splice(at, 1)
    }
    this.#independent = this.#independent.filter((name) => this.#gates.some(([one]) => one === name))
  }

  #nameOf({ kind, folder, run }: CiCheck): string | null {
    const target = slug(targetOf(run))
    if (
      kind === 'other' &&
      (target === '' || run.includes('&&') || (this.#more.get('other') ?? 0) >= MAX_OTHERS)
    )
      return null
    if (kind === 'other') this.#more.set('other', (this.#more.get('other') ?? 0) + 1)
    const name = kind === 'other' ? target : kind
    // Settings take no number as a name, and no longer one.
    const full = folder === '' ? name : `${slug(folder)}-${name}`.slice(-60).replace(/^-/, '')
    return /^\d+$/.test(full) ? null : full
  }

  #addMore(name: string, line: string, { run }: CiCheck): boolean {
    const count = this.#more.get(name) ?? 0
    if (count >= MAX_MORE) return false
    this.#more.set(name, count + 1)
    const first = new Set((this.#gates.find(([one]) => one === name)?.[1] ?? '').split(/\s+/))
    const words = withoutStarters(run)
      .split(/\s+/)
      .filter((word) => !first.has(word))
    const rest = slug(words.join(' ')).slice(0, 30).replace(/-+$/, '')
    let free = `${name}-${rest === '' ? count + 2 : rest}`
    if (this.#gates.some(([one]) => one === free)) free = `${name}-${count + 2}`
    return this.#insert(free, line, { kind: name })
  }

  #insert(name: string, line: string, { kind }: { kind: string }): boolean {
    if (this.#gates.length >= MAX_GATES || this.#gates.some(([one]) => one === name)) return false
    const rank = rankOf(kind.replace(/^.*-/, ''))
    const at = this.#gates.findIndex(([one]) => rankOf(one.replace(/^.*-/, '')) > rank)
    this.#gates.splice(at < 0 ? this.#gates.length : at, 0, [name, line])
    this.#isOfCi.add(name)
    return true
  }

  result(): Proposed {
    return {
      gates: Object.fromEntries(this.#gates),
      needs: this.#proposed.needs,
      alternatives: this.#alternatives,
      independent: this.#independent,
    }
  }
}

/** Without what changes nothing that a gate checks. */
function normal(run: string): string {
  return withoutStarters(run)
    .replace(/^(npm|pnpm|yarn|bun) run (?=test\b)/, '$1 ')
    .replace(/^(pnpm|yarn) run /, '$1 ')
    .replace(
      / (?:--verbose|-v|--locked|--workspace|--all|--batch-mode|-B|-ntp|--no-transfer-progress|--show-version)(?= |$)/g,
      '',
    )
    .replace(/\s+/g, ' ')
    .trim()
}

function firstWord(run: string): string {
  return withoutStarters(run).split(' ')[0] ?? ''
}

function slug(text: string): string {
  return (text.toLowerCase().match(/[a-z0-9]+/g) ?? []).join('-').slice(0, 40).replace(/-+$/, '')
}
