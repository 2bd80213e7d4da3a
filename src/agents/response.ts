// How sure an agent's last words are that the work is done, as the Ralph with a circuit breaker weighs them. A hint, never a verdict.
import { linesOf, readSignals, statusValues } from './signals.ts'

const COMPLETE =
  /\b(?:all (?:tasks|stories|criteria) (?:are )?|everything is |project (?:is )?|implementation is |story is |work is )(?:complete|completed|done|finished|ready)\b/i
const NO_WORK = /\b(?:nothing (?:left )?to do|no changes (?:are |were )?needed|already implemented)\b/i

/** Of 100: a marker or a status block that says so is all, words of completion some of it, and what speaks against it nothing. */
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
