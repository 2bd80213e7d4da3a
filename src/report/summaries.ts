// Summaries of jobs that work on no story: `command: verify`, `command: doctor`, and errors before the start.
import type { Verdict } from '../engine/model/event.ts'
import type { Finding, FindingState } from '../engine/model/finding.ts'
import { type GateResult, remarksOf } from '../engine/model/gate.ts'
import type { State } from '../engine/model/state.ts'
import type { Usage } from '../engine/model/usage.ts'
import { describeScope } from '../engine/prd/scope.ts'
import { counts, remaining } from '../engine/prd/select.ts'
import type { Mistake } from '../system/errors.ts'
import { collapsible, joinBlocks, list, table } from './blocks.ts'
import { code, codeBlock, markdownText, terminalText } from './escape.ts'
import { formatUsd, pluralize } from './figures.ts'
import type { Colour } from './outcomes.ts'
import { GATES } from './parts.ts'
import { mistakeList } from './replies.ts'
import type { Columns } from './sentence.ts'

type VerificationView = {
  isFine: boolean
  red: string | null
  verdict: Verdict
  gates: readonly GateResult[]
  usage: Usage
}

/** The result of a verification, the stories that are left, and that the run is unchanged. */
export function verificationLines(state: State, { red, verdict, usage }: VerificationView): string[] {
  const { prd, control, feature } = state
  const open = red === null ? remaining(prd, control.scope).length : 0
  const cost = usage.costUsd > 0 ? ` (${formatUsd(usage.costUsd)})` : ''
  return [
    terminalText(
      red === null ? verdictWords(state, verdict) : `NOT VERIFIED: gate ${red} fails, so no judge was asked`,
    ),
    ...(open === 0 ? [] : [`${pluralize(open, 'story is', 'stories are')} not done yet`]),
    `Nothing was changed, and this session${cost} does not count against the budget of ${feature}.`,
  ]
}

function verdictWords({ prd, control: { scope } }: State, verdict: Verdict): string {
  const part = scope === null ? '' : ` ${describeScope(scope)}`
  const stories = pluralize(counts(prd, scope).passed, 'story', 'stories')
  switch (verdict.kind) {
    case 'verified':
      return `VERIFIED: every criterion of ${stories}${part} is met`
    case 'reset':
      return `NOT VERIFIED: ${verdict.stories.join(', ')}: ${verdict.reason}`
    default:
      return `NOT VERIFIED: no verdict: ${verdict.message}`
  }
}

const MAX_OUTPUT_LENGTH = 30_000

/** The summary of `command: verify`, for the commit that was looked at. */
export function verificationSummary(state: State, commit: string, view: VerificationView): string {
  const red = view.gates.find(({ name }) => name === view.red)
  const [result = '', ...rest] = verificationLines(state, view)
  return joinBlocks([
    `## ${view.isFine ? '✅' : '❌'} ${markdownText(state.feature)} at ${code(commit.slice(0, 7))}`,
    `**${markdownText(result, 2000)}**`,
    table(GATES, view.gates),
    list(remarksOf(view.gates).map((remark) => `⚠️ ${markdownText(remark, 400)}`)),
    red === undefined
      ? ''
      : collapsible(`Output of ${markdownText(red.name)}`, codeBlock(red.output, MAX_OUTPUT_LENGTH), true),
    ...rest.map((line) => markdownText(line, 1000)),
  ])
}

type StateRow = { sign: string; mark: string; word: string; colour: Colour }

/** In the order of a summary; what needs a person comes first. */
export const FINDING_STATES: Readonly<Record<FindingState, StateRow>> = {
  fault: { sign: '❌', mark: '✘', word: 'fault', colour: 'red' },
  warning: { sign: '⚠️', mark: '!', word: 'warning', colour: 'yellow' },
  unknown: { sign: '❔', mark: '?', word: 'unknown', colour: 'dim' },
  ok: { sign: '✅', mark: '✔', word: 'ok', colour: 'green' },
}

export function isHealthy(findings: readonly Finding[]): boolean {
  return !findings.some(({ state }) => state === 'fault')
}

/**
 * The verdict of `doctor`: `title` in capitals, `text` with the counts. `isOfCi`: by the name of a finding. A laptop is ready although CI
 * is not: the faults of CI are counted apart.
 */
export function doctorVerdict(
  all: readonly Finding[],
  isOfCi: (name: string) => boolean = () => false,
): { title: string; text: string } {
  const ofCi = all.filter(({ name, state }) => state === 'fault' && isOfCi(name)).length
  const findings = ofCi === 0 ? all : all.filter(({ name }) => !isOfCi(name))
  const of = (state: FindingState) => findings.filter((one) => one.state === state).length
  const [faults, warnings, unknown] = [of('fault'), of('warning'), of('unknown')]
  const counted = [
    faults > 0 ? pluralize(faults, 'fault') : '',
    warnings > 0 ? pluralize(warnings, 'warning') : '',
    unknown > 0 ? `${unknown} unknown` : '',
    `${of('ok')} fine`,
  ]
  const text = counted.filter((one) => one !== '').join(', ')
  const inCi = ofCi === 0 ? '' : `; CI still needs ${pluralize(ofCi, 'fix', 'fixes')}`
  return { title: isHealthy(findings) ? 'READY' : 'NOT READY', text: text + inCi }
}

const FINDING_COLUMNS: Columns<Finding> = [
  ['', 'text', ({ state }) => FINDING_STATES[state].sign],
  ['Check', 'text', ({ name: text }) => ({ text })],
  ['Found', 'text', ({ found: text }) => ({ text, most: 600 })],
  ['Expected', 'text', ({ expected: text }) => ({ text, most: 300 })],
  ['Fix', 'text', ({ fix: text }) => ({ text, most: 600 })],
]
const FINE: Columns<Finding> = FINDING_COLUMNS.slice(0, 3)

/** The summary of `command: doctor`. */
export function findingsSummary(findings: readonly Finding[]): string {
  const { title, text } = doctorVerdict(findings)
  const sign = FINDING_STATES[isHealthy(findings) ? 'ok' : 'fault'].sign
  const inState = (state: FindingState) => findings.filter((one) => one.state === state)
  const fine = inState('ok')
  return joinBlocks([
    `## ${sign} ralph doctor: ${title.toLowerCase()} (${text})`,
    table(FINDING_COLUMNS, [...inState('fault'), ...inState('warning'), ...inState('unknown')]),
    collapsible(`${fine.length} fine`, table(FINE, fine)),
  ])
}

/** The summary of a job that could not begin: each mistake with its fix, or else the message. */
export function errorSummary(mistakes: readonly Mistake[], message: string): string {
  const items = mistakeList(mistakes.slice(0, 50))
  return joinBlocks(['## ❌ Error: Ralph could not run', items || codeBlock(message, 6000)])
}
