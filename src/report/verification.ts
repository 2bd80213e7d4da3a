// What a verification that changes nothing has found, in lines and as a job's summary. Pure.
import type { Verdict } from '../model/event.ts'
import { type GateResult, remarksOf } from '../model/gate.ts'
import type { State } from '../model/state.ts'
import type { Usage } from '../model/usage.ts'
import { scopeWords } from '../prd/scope.ts'
import { counts, remaining } from '../prd/select.ts'
import { type Columns, folded, list, stacked, table } from './blocks.ts'
import { code, codeBlock, markdownText, terminalText } from './escape.ts'
import { gateCell } from './parts.ts'
import { humanMs, many, usd } from './words.ts'

export type VerificationView = {
  isFine: boolean
  red: string | null
  verdict: Verdict
  gates: readonly GateResult[]
  usage: Usage
}

/** The result first; then what is left to do, and what it means for the run. */
export function verificationLines(state: State, view: VerificationView): string[] {
  return [resultOf(state, view), ...leftOf(state, view), unchangedOf(state, view.usage)]
}

function resultOf({ prd, control: { scope } }: State, { red, verdict }: VerificationView): string {
  if (red !== null) return terminalText(`NOT VERIFIED: gate ${red} fails, so nothing was judged`)
  const part = scope === null ? '' : ` ${terminalText(scopeWords(scope))}`
  switch (verdict.kind) {
    case 'verified':
      return `VERIFIED: every criterion of ${many(counts(prd, scope).passed, 'story', 'stories')}${part} is met`
    case 'reset':
      return `NOT VERIFIED: ${terminalText(`${verdict.stories.join(', ')}: ${verdict.reason}`)}`
    default:
      return `NOT VERIFIED: no verdict: ${terminalText(verdict.message)}`
  }
}

function leftOf({ prd, control }: State, { red }: VerificationView): string[] {
  const open = remaining(prd, control.scope).length
  if (red !== null || open === 0) return []
  return [`${many(open, 'story is', 'stories are')} left to be worked on`]
}

function unchangedOf({ feature }: State, { costUsd }: Usage): string {
  const cost = costUsd > 0 ? ` (${usd(costUsd)})` : ''
  return `Nothing was changed: ${feature} stands as before, and this session${cost} is not charged to the run.`
}

const GATES: Columns<GateResult> = [
  ['Gate', ':--', ({ name }) => markdownText(name)],
  ['Result', ':--', gateCell],
  ['Time', '--:', ({ ms }) => humanMs(ms)],
]
const LONGEST_OUTPUT = 30_000

/** The summary of `command: verify`, for the commit that was looked at. */
export function verificationSummary(state: State, commit: string, view: VerificationView): string {
  const red = view.gates.find(({ name }) => name === view.red)
  const [result = '', ...rest] = verificationLines(state, view)
  return stacked([
    `## ${view.isFine ? '✅' : '❌'} ${markdownText(state.feature)} at ${code(commit.slice(0, 7))}`,
    `**${markdownText(result, 2000)}**`,
    table(GATES, view.gates),
    list(remarksOf(view.gates).map((remark) => `⚠️ ${markdownText(remark, 400)}`)),
    red === undefined
      ? ''
      : folded(`Output of ${markdownText(red.name)}`, codeBlock(red.output, LONGEST_OUTPUT), true),
    rest.map((line) => markdownText(line, 1000)).join('\n\n'),
  ])
}
