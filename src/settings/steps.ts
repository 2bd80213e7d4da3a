// The steps of an iteration: a list, or named lists of which `pipeline` chooses one.
import * as z from 'zod/mini'
import { agentNames } from '../agents/registry.ts'
import type { AgentStep, Pipeline, PipelineStep, StepPrompt } from '../model/pipeline.ts'
import { oneLine } from '../model/text.ts'
import { insidePath, modelName } from './names.ts'
import { below, mistake, note, type Place } from './place.ts'
import { anyOf, shown } from './show.ts'
import {
  boolean,
  choice,
  count,
  duration,
  expects,
  integer,
  isMap,
  kinds,
  lines,
  list,
  listOf,
  mapOf,
  orElse,
  orNull,
  structure,
  text,
  textWhere,
} from './types.ts'

/** More tries of one step than this are no mishap any more. */
const MOST_RETRIES = 10
const COMMAND_TIMEOUT_MS = 15 * 60_000
/** Where prompts and pipelines of people stand: an attempt that changes something there has it put back. */
const PROMPTS = '.ralph/prompts'
const CONFIGS = '.ralph/configs'

const snakeCase = { snakeCase: true } as const
const types = ['agent', 'command', 'verify', 'git-commit', 'readme-check', 'noop'] as const
const name = textWhere(
  (written) => written.length <= 60 && !/[{}"]/.test(written),
  'a name of at most 60 characters, without quotes and braces',
  () => 'shorten it',
)
const exitCode = z
  .int(expects('an exit code from 0 to 255', 'write such a number'))
  .check(z.gte(0), z.lte(255))

/** What belongs to one type of step. The last three are of the Ralph with steps, and mean nothing here. */
const config = structure(
  {
    agent: orNull(choice(agentNames)),
    model: orNull(modelName),
    args: orElse(list(text), []),
    prompt: orNull(lines),
    promptFile: orNull(text),
    markerFile: orNull(text),
    timeout: orNull(duration),
    command: orNull(lines),
    endRunOn: orElse(listOf(exitCode), []),
    path: orNull(insidePath),
    prdFile: orNull(text),
    allowedTools: orNull(text),
  },
  snakeCase,
)
const OF_TYPE: Readonly<Record<(typeof types)[number], readonly (keyof z.output<typeof config>)[]>> = {
  agent: ['agent', 'model', 'args', 'prompt', 'promptFile', 'markerFile', 'timeout'],
  command: ['command', 'endRunOn', 'timeout'],
  verify: [],
  'git-commit': [],
  'readme-check': ['path'],
  noop: [],
}
const IGNORED = ['prdFile', 'allowedTools'] as const

const shape = {
  name,
  type: choice(types),
  enabled: orElse(boolean, true),
  timeout: orNull(duration),
  maxRetries: orElse(integer({ zero: 'no retry', most: MOST_RETRIES }), 0),
  retryDelay: orNull(duration),
  continueOnError: orElse(boolean, false),
  circuitBreaker: orNull(
    structure({ threshold: orElse(count, 3), resetAfter: orElse(duration, '60s') }, snakeCase),
  ),
  config: orElse(config, {}),
}
/** Every key that a step, and its `config`, may have. */
export const stepKeys = {
  step: Object.keys(shape),
  config: [...new Set(Object.values(OF_TYPE).flat()), ...IGNORED],
}

const step = structure(shape, snakeCase).check(z.meta({ id: 'step' }))
/** What one step alone does not tell; looked at also where other things are wrong. */
const together = z.check<unknown[]>(
  ({ value: list, issues }) => {
    const names: unknown[] = []
    if (!Array.isArray(list)) return
    for (const [index, one] of list.entries()) {
      if (!isMap(one)) continue
      const { name: own, type, config: given } = one
      const first = typeof own === 'string' ? names.indexOf(own.toLowerCase()) : -1
      names[index] = typeof own === 'string' ? own.toLowerCase() : undefined
      const issue = (words: string[], input: unknown, path: (string | number)[]) =>
        issues.push({ code: 'custom', message: words.join('\n'), input, path })
      if (first !== -1)
        issue(['a name of its own', `rename it: step ${first + 1} has it`], own, [index, 'name'])
      if (type === 'command' && (given === undefined || (isMap(given) && (given.command ?? null) === null)))
        issue(['a command line for bash -c', 'add `config: { command: ... }`', 'nothing'], null, [
          index,
          'config',
          'command',
        ])
    }
  },
  { when: () => true },
)
const stepList = listOf(step).check(together)

/** Durations in milliseconds. */
export const steps = z
  .union(
    [stepList, mapOf(stepList)],
    expects(
      'a list of steps, or a map of such lists by name',
      'write `- { name: implement, type: agent }` lines',
    ),
  )
  .register(kinds, { kind: 'list' })

type Written = z.output<typeof step>
type Steps = z.output<typeof steps>

/** A pipeline's name. */
export const pipelineName = textWhere(
  (written) => /^[\w][\w.-]{0,59}$/.test(written),
  `a name of \`steps\`, or of a file ${CONFIGS}/NAME.json`,
  (written) =>
    written.includes('/') ? `move the file to ${CONFIGS}/, and write its name without .json` : 'write a name',
)

export function pipelinePath(wanted: string): string {
  return `${CONFIGS}/${wanted}.json`
}

/** The pipeline that runs, with what is wrong in it; null where no steps are given. `wanted`: its name. */
export function pipelineOf(
  given: Steps,
  at: Place,
  wanted: { name: string | null; at: Place },
): Pipeline | null {
  const named: Readonly<Record<string, readonly Written[]>> = Array.isArray(given)
    ? { [at.root === pipelinePath(wanted.name ?? '') ? (wanted.name ?? '') : 'default']: given }
    : given
  const names = Object.keys(named).filter((one) => (named[one]?.length ?? 0) > 0)
  const chosen = wanted.name ?? (names.length === 1 || !names.includes('default') ? names[0] : 'default')
  if (chosen === undefined) return null
  if (wanted.name === null && names.length > 1 && !names.includes('default')) {
    const fix = `name one with pipeline: ${anyOf(names.map((one) => oneLine(one, 60)))}`
    return (
      mistake(at, `${names.length} pipelines, and none is called default`, 'one that is meant', fix) ?? null
    )
  }
  const list = Object.hasOwn(named, chosen) ? (named[chosen] ?? []) : []
  if (list.length === 0) {
    return unknownPipeline(wanted.at, chosen, names) ?? null
  }
  return planned(chosen, list, Array.isArray(given) ? at : below(at, chosen))
}

/** A name that neither `steps` nor a file has. */
export function unknownPipeline(at: Place, wanted: string, names: readonly string[]): undefined {
  const known = names.length === 0 ? '' : `${anyOf(names.map((one) => oneLine(one, 60)))} of \`steps\`, or `
  const fix = `write one of these, or commit ${pipelinePath(wanted)}`
  return mistake(at, shown(wanted), `${known}the name of a file in ${CONFIGS}/`, fix)
}

function planned(chosen: string, list: readonly Written[], at: Place): Pipeline | null {
  const { report } = at
  const before = report.mistakes.length
  for (const [index, one] of list.entries()) check(list, index, one, below(at, index))
  const on = [...list.entries()].filter(([, { enabled }]) => enabled)
  const commit = list.findIndex(({ type }) => type === 'git-commit')
  const isLate = (index: number) => commit !== -1 && index > commit
  const sessions = on.filter(([, { type }]) => type === 'agent')
  for (const [index] of sessions.filter(([index]) => isLate(index)))
    mistake(
      below(at, index),
      'an agent step behind git-commit',
      'agents before it',
      'move it up: behind the commit nothing changes code any more',
    )
  if (sessions.every(([, one]) => setsUp(one)))
    mistake(
      at,
      'no agent step that is enabled',
      'one that works on the story',
      'add `- { name: implement, type: agent }`',
    )
  const workers = sessions.filter(([, one]) => !setsUp(one))
  const [worker] = workers
  if (worker !== undefined && workers.length === 1) refuseHollow(worker, at)
  if (list[commit]?.enabled === false)
    note(below(at, commit), 'cannot be switched off: what passed its gates is committed, and nothing else is')
  if (report.mistakes.length > before) return null
  const plans = on.flatMap(([index, one]) => {
    const plan = planOf(one)
    return plan === null ? [] : [{ plan, isLate: isLate(index) }]
  })
  return {
    name: chosen,
    setsUp: !list.some((one) => setsUp(one) && !one.enabled),
    before: plans.filter((one) => !one.isLate).map(({ plan }) => plan),
    after: plans.filter((one) => one.isLate).map(({ plan }) => plan),
  }
}

/** Nobody works where the only agent fails. The Ralph with steps went on there: what was written for it is read as it is. */
function refuseHollow([index, { continueOnError }]: [number, Written], at: Place): void {
  if (!continueOnError) return
  const place = below(at, index, 'continueOnError')
  if (at.root.startsWith(`${CONFIGS}/`))
    note(place, 'means nothing here: it is the only agent step, and without its work the attempt has failed')
  else
    mistake(
      place,
      'true on the only agent step',
      'false: without its work the attempt has failed',
      'remove it, or add an agent step that works where this one fails',
    )
}

/** The set-up session of the Ralph with steps: once, which is what its marker said. */
function setsUp({ type, config: { markerFile } }: Written): boolean {
  return type === 'agent' && markerFile !== null
}

function check(list: readonly Written[], index: number, one: Written, at: Place): void {
  const { type, config: given } = one
  if (type === 'git-commit' && list.findIndex((other) => other.type === type) < index)
    mistake(at, 'a second git-commit', 'one, at most', 'remove it: an iteration has one commit')
  for (const [key, value] of Object.entries(given)) {
    const isSet = value !== null && !(Array.isArray(value) && value.length === 0)
    const place = below(at, 'config', key)
    if (!isSet || OF_TYPE[type].some((known) => known === key)) continue
    if (IGNORED.some((old) => old === key))
      note(
        place,
        key === 'prdFile'
          ? 'means nothing here: prd.json is found by itself'
          : 'is not read: write args, such as --allowedTools and its list',
      )
    else
      mistake(
        place,
        `${key} on a step of type ${type}`,
        `keys of type ${type}: ${OF_TYPE[type].join(', ') || 'none'}`,
        'remove it, or mend the type',
      )
  }
  if (given.prompt !== null && given.promptFile !== null)
    mistake(below(at, 'config', 'prompt'), 'prompt beside prompt_file', 'one of the two', 'remove one')
  const { promptFile: file } = given
  if (file !== null && !setsUp(one) && !isPrompt(file))
    mistake(
      below(at, 'config', 'promptFile'),
      shown(file),
      `a file in ${PROMPTS}/, which no attempt can change`,
      `move it to ${PROMPTS}/, or write it as prompt`,
    )
}

function isPrompt(file: string): boolean {
  return new RegExp(`^(?:\\./)?${PROMPTS.replace('.', '\\.')}/[\\w.-]+$`).test(file)
}

/** Null for what Ralph does by itself: the commit, and the set-up. */
function planOf(one: Written): PipelineStep | null {
  const { type, config: given } = one
  const own = [one.timeout, given.timeout].filter((ms) => ms !== null)
  const common = {
    name: one.name,
    timeoutMs: own.length === 0 ? null : Math.min(...own),
    maxRetries: one.maxRetries,
    retryDelayMs: one.retryDelay ?? 0,
    continueOnError: one.continueOnError,
    circuit:
      one.circuitBreaker === null
        ? null
        : { threshold: one.circuitBreaker.threshold, resetAfterMs: one.circuitBreaker.resetAfter },
  }
  switch (type) {
    case 'git-commit':
      return null
    case 'agent':
      return setsUp(one) ? null : { ...common, type, ...sessionOf(given) }
    case 'command': {
      const timeoutMs = common.timeoutMs ?? COMMAND_TIMEOUT_MS
      return { ...common, timeoutMs, type, run: given.command ?? '', endRunOn: given.endRunOn }
    }
    case 'readme-check':
      return { ...common, type, path: given.path }
    default:
      return { ...common, type }
  }
}

function sessionOf({ agent, model, args, prompt: words, promptFile }: Written['config']) {
  const prompt: StepPrompt | null =
    words !== null
      ? { kind: 'text', text: words }
      : promptFile !== null
        ? { kind: 'file', path: promptFile.replace(/^\.\//, '') }
        : null
  return { agent, model, args, prompt } satisfies Partial<AgentStep>
}
