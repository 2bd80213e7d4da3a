// How sure an agent's last words are that the work is done, as the Ralph with a circuit breaker weighs them. A hint, never a verdict.
import { linesOf, readSignals, statusValues } from './signals.ts'

const COMPLETE =
  /\b(?:all (?:tasks|stories|criteria) (?:are )?|everything is |project (?:is )?|implementation is |story is |work is )(?:complete|completed|done|finished|ready)\b/i
const NO_WORK = /\b(?:nothing (?:left )?to do|no changes (?:are |were )?needed|already implemented)\b/i

/** From 0 to 100: 100 for a marker or status block that claims completion, less for words of completion, 0 if anything contradicts. */
export function completionConfidence(finalText: string): number {
  const { done, notDone, stuck } = readSignals(finalText)
  if (notDone || stuck !== null) return 0
  if (done) return 100
  const lines = linesOf(finalText)
  if (statusValues(lines).get('STATUS')?.toUpperCase() === 'COMPLETE') return 100
  const end = lines.filter((line) => line !== '').slice(-LAST_LINES)
  if (end.some((line) => NO_WORK.test(line))) return 70
  return end.some((line) => COMPLETE.test(line)) ? 60 : 0
}

const LAST_LINES = 8
