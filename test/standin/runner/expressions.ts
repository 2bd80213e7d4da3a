// `${{ }}` and `if:`, evaluated by GitHub's own evaluator; the functions that know about a job are ours.
import { createHash } from 'node:crypto'
import { globSync, readFileSync, statSync } from 'node:fs'
import { data, Evaluator, type Expr, Lexer, Parser } from '@actions/expressions'
import type { Json } from '../model.ts'

export interface Standing {
  /** Nothing before has failed. */
  success: boolean
  failure: boolean
  cancelled: boolean
}
export interface Scope {
  contexts: Json
  standing: Standing
  /** Where hashFiles() looks; null where there is no workspace. */
  workspace: string | null
}

const names = [
  'github',
  'env',
  'vars',
  'job',
  'jobs',
  'steps',
  'runner',
  'secrets',
  'strategy',
  'matrix',
  'needs',
  'inputs',
]
const statusNames = new Set(['success', 'always', 'failure', 'cancelled'])

function functions(scope: Scope): FunctionDefinition[] {
  const say = (name: string, value: boolean): FunctionDefinition => ({
    name,
    minArgs: 0,
    maxArgs: 0,
    call: () => new data.BooleanData(value),
  })
  return [
    say('success', scope.standing.success && !scope.standing.cancelled),
    say('always', true),
    say('failure', scope.standing.failure),
    say('cancelled', scope.standing.cancelled),
    {
      name: 'hashFiles',
      minArgs: 1,
      maxArgs: 255,
      call: (...patterns) =>
        new data.StringData(
          hashFiles(
            scope.workspace,
            patterns.map((one) => one.coerceString()),
          ),
        ),
    },
  ]
}
interface FunctionDefinition {
  name: string
  minArgs: number
  maxArgs: number
  call: (...args: data.ExpressionData[]) => data.ExpressionData
}

function hashFiles(workspace: string | null, patterns: string[]): string {
  if (workspace === null) return ''
  const files = globSync(patterns, { cwd: workspace })
    .filter((file) => statSync(`${workspace}/${file}`).isFile())
    .sort()
  if (files.length === 0) return ''
  const whole = createHash('sha256')
  for (const file of files)
    whole.update(
      createHash('sha256')
        .update(readFileSync(`${workspace}/${file}`))
        .digest(),
    )
  return whole.digest('hex')
}

function parse(
  text: string,
  scope: Scope,
): { expression: Expr; functions: FunctionDefinition[]; hasStatus: boolean } {
  const { tokens } = new Lexer(text).lex()
  const own = functions(scope)
  const expression = new Parser(tokens, names, own).parse()
  const hasStatus = tokens.some(
    (token, at) => statusNames.has(token.lexeme.toLowerCase()) && tokens[at + 1]?.lexeme === '(',
  )
  return { expression, functions: own, hasStatus }
}

/** The value of an expression, as plain JSON. Throws what GitHub's evaluator throws. */
export function evaluate(text: string, scope: Scope): unknown {
  return toJson(evaluateData(text, scope))
}
function evaluateData(text: string, scope: Scope): data.ExpressionData {
  const parsed = parse(text, scope)
  const contexts = JSON.parse(JSON.stringify(scope.contexts), data.reviver) as data.Dictionary
  const own = new Map(parsed.functions.map((one) => [one.name.toLowerCase(), one]))
  return new Evaluator(parsed.expression, contexts, own).evaluate()
}
function toJson(value: data.ExpressionData): unknown {
  return JSON.parse(JSON.stringify(value, data.replacer))
}

const embedded = /\$\{\{((?:[^'}]|'(?:[^']|'')*'|\}(?!\}))*)\}\}/g

/** Fills in a value of a workflow file: a text that is one expression keeps the expression's type. */
export function interpolate(value: unknown, scope: Scope): unknown {
  if (Array.isArray(value)) return value.map((one) => interpolate(one, scope))
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, interpolate(one, scope)]))
  if (typeof value !== 'string') return value
  const [only] = [...value.matchAll(embedded)]
  if (only !== undefined && only[0].length === value.trim().length) return evaluate(only[1] ?? '', scope)
  return value.replaceAll(embedded, (_, text: string) => evaluateData(text, scope).coerceString())
}

/** The same as text, the way an environment variable or an input gets it. */
export function interpolateText(value: unknown, scope: Scope): string {
  const filled = interpolate(value, scope)
  if (filled === null || filled === undefined) return ''
  return typeof filled === 'object' ? JSON.stringify(filled) : String(filled)
}
export function interpolateEnv(env: Json | undefined, scope: Scope): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env ?? {}).map(([key, value]) => [key, interpolateText(value, scope)]),
  )
}

/** Whether an `if:` holds; one that asks for no status holds only while nothing has failed. */
export function condition(value: unknown, scope: Scope): boolean {
  if (value === undefined || value === null || value === '')
    return scope.standing.success && !scope.standing.cancelled
  const written = String(value).trim()
  const [only] = [...written.matchAll(embedded)]
  const text = only !== undefined && only[0].length === written.length ? (only[1] ?? '') : written
  // A text with expressions inside other text is never empty, hence true; GitHub does the same.
  if (text === written && written.includes('${{')) return true
  const { hasStatus } = parse(text, scope)
  if (!hasStatus && !(scope.standing.success && !scope.standing.cancelled)) return false
  return truthy(evaluate(text, scope))
}
function truthy(value: unknown): boolean {
  return !(value === null || value === false || value === 0 || value === '' || Number.isNaN(value))
}
