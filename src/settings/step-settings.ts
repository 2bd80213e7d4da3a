// The steps of an iteration: a list, or named lists of which `pipeline` chooses one.
import * as z from 'zod/mini'
import { agentNames } from '../agents/registry.ts'
import { isObject } from '../engine/model/json.ts'
import type { Pipeline, PipelineStep, StepPrompt } from '../engine/model/pipeline-step.ts'
import { oneLine } from '../engine/model/text.ts'
import { faultIssue } from '../system/faults.ts'
import { insidePath, modelName } from './setting-names.ts'
import { describeFound, joinWithOr } from './show.ts'
import { addMistake, addNote, addProblem, childPlace, type ValuePlace } from './value-place.ts'
import * as v from './values.ts'

/** The maximum number of retries of one step. */
const MAX_RETRIES = 10
const COMMAND_TIMEOUT_MS = 15 * 60_000
/** The folder of people's prompts. Changes that an attempt makes there are undone. */
const PROMPTS = '.ralph/prompts'
const PROMPT_FILE = /^(?:\.\/)?\.ralph\/prompts\/[\w.-]+$/
const CONFIGS = '.ralph/configs'

const snakeCase = { snakeCase: true } as const
const types = ['agent', 'command', 'verify', 'git-commit', 'readme-check', 'noop'] as const
const name = v.textWhere(
  (written) => written.length <= 60 && !/[{}"]/.test(written),
  'a name of at most 60 characters, without quotes and braces',
  () => 'write a shorter name, without quotes and braces',
)
const exitCodeMessage = v.expects('an exit code from 0 to 255', 'write a number such as 2')
const exitCode = z.int(exitCodeMessage).check(z.gte(0, exitCodeMessage), z.lte(255, exitCodeMessage))

/** What belongs to one type of step. The last three are of the Ralph with steps, and mean nothing here. */
const config = v.structure(
  {
    agent: v.orNull(v.choice(agentNames)),
    model: v.orNull(modelName),
    args: v.withDefault(v.list(v.text), []),
    prompt: v.orNull(v.lines),
    promptFile: v.orNull(v.text),
    markerFile: v.orNull(v.text),
    timeout: v.orNull(v.duration),
    command: v.orNull(v.lines),
    endRunOn: v.withDefault(v.listOf(exitCode), []),
    path: v.orNull(insidePath),
    prdFile: v.orNull(v.text),
    allowedTools: v.orNull(v.text),
  },
  snakeCase,
)
const KEYS_OF_TYPE: Readonly<Record<(typeof types)[number], readonly (keyof z.output<typeof config>)[]>> = {
  agent: ['agent', 'model', 'args', 'prompt', 'promptFile', 'markerFile', 'timeout'],
  command: ['command', 'endRunOn', 'timeout'],
  verify: [],
  'git-commit': [],
  'readme-check': ['path'],
  noop: [],
}
const IGNORED: Readonly<Record<string, string>> = {
  prdFile: 'ignored, because Ralph finds prd.json by itself',
  allowedTools: 'ignored: pass --allowedTools and its list in `args` instead',
}

const shape = {
  name,
  type: v.choice(types),
  enabled: v.withDefault(v.boolean, true),
  timeout: v.orNull(v.duration),
  maxRetries: v.withDefault(v.integer({ zero: 'no retry', most: MAX_RETRIES }), 0),
  retryDelay: v.orNull(v.duration),
  continueOnError: v.withDefault(v.boolean, false),
  circuitBreaker: v.orNull(
    v.structure(
      { threshold: v.withDefault(v.count, 3), resetAfter: v.withDefault(v.duration, '60s') },
      snakeCase,
    ),
  ),
  config: v.withDefault(config, {}),
}
/** Every key that a step, and its `config`, may have. */
export const stepKeys = {
  step: Object.keys(shape),
  config: [...new Set(Object.values(KEYS_OF_TYPE).flat()), ...Object.keys(IGNORED)],
}

const step = v.structure(shape, snakeCase).check(z.meta({ id: 'step' }))
/** Checks across steps. They run even if a step has other mistakes. */
const checkList = z.check<unknown[]>(
  ({ value, issues }) => {
    const names: unknown[] = []
    for (const [index, one] of Array.isArray(value) ? value.entries() : []) {
      const { name: stepName, type, config: stepConfig } = isObject(one) ? one : {}
      const lower = typeof stepName === 'string' ? stepName.toLowerCase() : index
      const first = names.indexOf(lower)
      names.push(lower)
      if (first !== -1) {
        const found = `step ${first + 1} has the same name.`
        const fault = { found, expected: '', fix: 'rename one of the two' }
        issues.push(faultIssue(stepName, fault, [index, 'name']))
      }
      const command = isObject(stepConfig) ? stepConfig.command : stepConfig
      if (type !== 'command' || !v.isEmpty(command)) continue
      const fix = 'add `config: { command: ... }`'
      const fault = { found: 'nothing', expected: 'a command line for bash -c', fix }
      issues.push(faultIssue(null, fault, [index, 'config', 'command']))
    }
  },
  { when: () => true },
)
const stepList = v.listOf(step).check(checkList)

/** Durations in milliseconds. */
export const steps = z
  .union(
    [stepList, v.mapOf(stepList)],
    v.expects(
      'a list of steps, or a map of such lists by name',
      'write `- { name: implement, type: agent }` lines',
    ),
  )
  .register(v.kinds, { kind: 'list' })

type WrittenStep = z.output<typeof step>
type Steps = z.output<typeof steps>

export const pipelineName = v.textWhere(
  (written) => /^[\w][\w.-]{0,59}$/.test(written),
  `the name of a list under \`steps\`, or the NAME of a file ${CONFIGS}/NAME.json`,
  (written) =>
    written.includes('/')
      ? `move the file to ${CONFIGS}/, and write its name without .json`
      : 'write a name such as default',
)

export function pipelinePath(pipeline: string): string {
  return `${CONFIGS}/${pipeline}.json`
}

/** The pipeline that runs; null if no steps are given, and after mistakes. `wanted`: its name. */
export function choosePipeline(
  written: Steps,
  at: ValuePlace,
  requested: { name: string | null; at: ValuePlace },
): Pipeline | null {
  const unnamed = at.root === pipelinePath(requested.name ?? '') ? (requested.name ?? '') : 'default'
  const pipelines: Readonly<Record<string, readonly WrittenStep[]>> = Array.isArray(written)
    ? { [unnamed]: written }
    : written
  const names = Object.keys(pipelines).filter((one) => (pipelines[one]?.length ?? 0) > 0)
  const chosen = requested.name ?? (names.length === 1 ? names[0] : 'default')
  if (chosen !== undefined && names.includes(chosen))
    return buildPipeline(
      chosen,
      pipelines[chosen] ?? [],
      Array.isArray(written) ? at : childPlace(at, chosen),
    )
  if (requested.name !== null) addUnknownPipeline(requested.at, requested.name, names)
  else if (names.length > 1) {
    const fix = `choose one with pipeline: ${joinWithOr(names.map((one) => oneLine(one, 60)))}`
    addProblem(at, `there are ${names.length} pipelines, and none of them is called default.`, fix)
  }
  return null
}

/** Adds a mistake for a pipeline that neither `steps` nor a file defines. */
export function addUnknownPipeline(at: ValuePlace, pipeline: string, names: readonly string[]): void {
  const known = joinWithOr(names.map((one) => oneLine(one, 60)))
  const first = known === '' ? 'define it under `steps`' : `write ${known}`
  addProblem(
    at,
    `there is no pipeline ${describeFound(pipeline)}.`,
    `${first}, or commit ${pipelinePath(pipeline)}`,
  )
}

function buildPipeline(name: string, list: readonly WrittenStep[], at: ValuePlace): Pipeline | null {
  const before = at.report.mistakes.length
  for (const [index, one] of list.entries()) checkStep(one, list.slice(0, index), childPlace(at, index))
  const sessions = [...list.entries()].filter(([, one]) => one.enabled && one.type === 'agent')
  const workers = sessions.filter(([, one]) => !isSetUpStep(one))
  if (workers.length === 0) {
    const fix = 'add `- { name: implement, type: agent }`'
    addProblem(at, 'no enabled step has type: agent, so no session would work on the story.', fix)
  }
  const commit = list.findIndex(({ type }) => type === 'git-commit')
  const isLate = (index: number) => commit !== -1 && index > commit
  for (const [index] of sessions.filter(([at]) => isLate(at))) {
    const problem = 'an agent step cannot come after git-commit.'
    addProblem(childPlace(at, index), problem, 'move this step above git-commit')
  }
  const [first] = workers
  if (first?.[1].continueOnError === true && workers.length === 1) {
    const why = 'ignored on the only agent step: if this step fails, the attempt fails'
    addNote(childPlace(at, first[0], 'continueOnError'), why)
  }
  if (list[commit]?.enabled === false)
    addNote(
      childPlace(at, commit),
      'this step cannot be switched off, because Ralph commits every change that passes its gates',
    )
  if (at.report.mistakes.length > before) return null
  const steps = (late: boolean) =>
    list.flatMap((one, index) => (one.enabled && isLate(index) === late ? (buildStep(one) ?? []) : []))
  return {
    name,
    setsUp: !list.some((one) => isSetUpStep(one) && !one.enabled),
    before: steps(false),
    after: steps(true),
  }
}

/** The set-up session of the Ralph with steps: it runs once, which its marker file recorded. */
function isSetUpStep({ type, config: { markerFile } }: WrittenStep): boolean {
  return type === 'agent' && markerFile !== null
}

/** Adds the mistakes and notes of one step. `before`: the steps above it. */
function checkStep(written: WrittenStep, before: readonly WrittenStep[], at: ValuePlace): void {
  const { type, config: stepConfig } = written
  if (type === 'git-commit' && before.some((other) => other.type === type))
    addProblem(at, 'there is a git-commit step already.', 'remove this one: an iteration makes one commit')
  for (const [key, value] of Object.entries(stepConfig)) {
    const isSet = value !== null && !(Array.isArray(value) && value.length === 0)
    const place = childPlace(at, 'config', key)
    if (!isSet || KEYS_OF_TYPE[type].some((known) => known === key)) continue
    const ignored = IGNORED[key]
    if (ignored !== undefined) addNote(place, ignored)
    else {
      const known = KEYS_OF_TYPE[type].join(', ')
      const fix = known === '' ? 'remove it, or correct the type' : `remove it, or write one of ${known}`
      addProblem(place, `a step of type ${type} has no key ${key}.`, fix)
    }
  }
  if (stepConfig.prompt !== null && stepConfig.promptFile !== null)
    addProblem(
      childPlace(at, 'config', 'prompt'),
      'prompt and prompt_file cannot be used together.',
      'remove one of the two',
    )
  const { promptFile: file } = stepConfig
  if (file !== null && !isSetUpStep(written) && !PROMPT_FILE.test(file)) {
    const expected = `a file in ${PROMPTS}/, which no attempt can change`
    addMistake(
      childPlace(at, 'config', 'promptFile'),
      describeFound(file),
      expected,
      `move it to ${PROMPTS}/, or write it as prompt`,
    )
  }
}

/** Null for steps that Ralph does by itself: the commit and the set-up. */
function buildStep(written: WrittenStep): PipelineStep | null {
  const { type, config: stepConfig } = written
  const timeouts = [written.timeout, stepConfig.timeout].filter((ms) => ms !== null)
  const circuit = written.circuitBreaker
  const common = {
    name: written.name,
    timeoutMs: timeouts.length === 0 ? null : Math.min(...timeouts),
    maxRetries: written.maxRetries,
    retryDelayMs: written.retryDelay ?? 0,
    continueOnError: written.continueOnError,
    circuit: circuit && { threshold: circuit.threshold, resetAfterMs: circuit.resetAfter },
  }
  switch (type) {
    case 'git-commit':
      return null
    case 'agent': {
      const { agent, model, args } = stepConfig
      return isSetUpStep(written)
        ? null
        : { ...common, type, agent, model, args, prompt: promptOf(stepConfig) }
    }
    case 'command': {
      const timeoutMs = common.timeoutMs ?? COMMAND_TIMEOUT_MS
      return { ...common, timeoutMs, type, run: stepConfig.command ?? '', endRunOn: stepConfig.endRunOn }
    }
    case 'readme-check':
      return { ...common, type, path: stepConfig.path }
    default:
      return { ...common, type }
  }
}

function promptOf({ prompt, promptFile }: WrittenStep['config']): StepPrompt | null {
  if (prompt !== null) return { kind: 'text', text: prompt }
  return promptFile === null ? null : { kind: 'file', path: promptFile.replace(/^\.\//, '') }
}
