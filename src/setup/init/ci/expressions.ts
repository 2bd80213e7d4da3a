// The expressions in a workflow, as far as they can be known without a run. These are values of matrix, env and inputs, and conditions
// that exclude pull requests on Linux. An unknown value counts as true in a condition, and makes a command unreadable. Pure.
import { asObject, asObjects, type Json } from '../../../engine/model/json.ts'

export type Values = Readonly<Record<string, string>>

const EXPRESSION = /\$\{\{\s*([\s\S]{1,300}?)\s*\}\}/g

/** The values that an expression can use. An input whose value only a run knows is itself an expression. */
export type Facts = { matrix: Values; env: Values; inputs: Values }

/** The text with its expressions replaced by their values; null if one of them is not known. */
export function expand(text: string, { matrix, env, inputs }: Facts): string | null {
  let isKnown = true
  const lookUp = (name: string, depth: number): string | null => {
    const [, context = '', key = ''] = /^(matrix|env|inputs|github|runner)\.([\w.-]+)$/.exec(name) ?? []
    if (context === 'matrix') return matrix[key] ?? ''
    if (context === 'inputs') return inputs[key] ?? ''
    if (context === 'env') {
      const value = env[key]
      if (value === undefined || depth > 3) return null
      return value.replace(EXPRESSION, (_all, inner: string) => lookUp(inner, depth + 1) ?? '')
    }
    if (name === 'github.workspace') return '.'
    return name === 'runner.os' ? 'Linux' : null
  }
  const expanded = text.replace(EXPRESSION, (_all, name: string) => {
    const value = lookUp(name, 0)
    if (value === null) isKnown = false
    return value ?? ''
  })
  return isKnown && !expanded.includes('${{') ? expanded : null
}

export function isLinux(machine: string): boolean {
  return !/windows|macos|mac-|\barm64-mac|ios|\$\{\{/i.test(machine)
}

/** All values that a matrix gives a name, over all of its rows. */
export function matrixValues(job: Json): ReadonlyMap<string, readonly string[]> {
  const matrix = asObject(asObject(job.strategy)?.matrix) ?? {}
  const values = new Map<string, string[]>()
  const add = (name: string, value: unknown) => values.set(name, [...(values.get(name) ?? []), String(value)])
  for (const [name, list] of Object.entries(matrix)) {
    if (name === 'exclude' || !Array.isArray(list)) continue
    if (name !== 'include') for (const one of list) add(name, one)
    else for (const row of asObjects(list)) for (const [key, one] of Object.entries(row)) add(key, one)
  }
  return values
}

/** Whether a job or step with this condition runs for a pull request on Linux. */
export function runsHere(condition: string, facts: Omit<Facts, 'env'>): boolean {
  const text = condition.replace(/^\s*\$\{\{|\}\}\s*$/g, '').trim()
  if (text === '') return true
  return text.split('||').some((either) => either.split('&&').every((part) => !isFalse(part.trim(), facts)))
}

/** What is false on every pull request. */
const NEVER = [
  /^\(?failure\(\)|^\(?cancelled\(\)/,
  /github\.event_name\s*==\s*'(?!pull_request)/,
  /github\.event_name\s*!=\s*'pull_request'/,
  /github\.(?:ref|ref_name|ref_type|base_ref)\s*==|startsWith\(\s*github\.ref/,
  /\bsecrets\.|github\.event\.(?:label|comment|release|inputs)|github\.actor\s*==/,
  /github\.event\.pull_request\.merged/,
]

function isFalse(part: string, facts: Omit<Facts, 'env'>): boolean {
  if (NEVER.some((pattern) => pattern.test(part))) return true
  const known = (context: string, key: string) => {
    if (context === 'runner') return key === 'os' ? 'Linux' : null
    const value = (context === 'inputs' ? facts.inputs : facts.matrix)[key] ?? ''
    return value.includes('${{') ? null : value
  }
  const [, not, named = '', name = ''] = /^(!?)\(?(matrix|inputs)\.([\w.-]+)\)?$/.exec(part) ?? []
  if (named !== '') {
    const value = known(named, name)
    return value !== null && ['', 'false', '0'].includes(value) === (not === '')
  }
  const [, context = '', key = '', sign = '', wanted = ''] =
    /^\(*(matrix|runner|inputs)\.([\w.-]+)\s*(==|!=)\s*'?([^')]*)'?\)*$/.exec(part) ?? []
  const value = context === '' ? null : known(context, key)
  return value !== null && (value === wanted) !== (sign === '==')
}
