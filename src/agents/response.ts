// How clearly an agent's final text claims that the work is done, rated as frankbria/ralph-claude-code does. A hint, never a verdict.
import { linesOf, readSignals, statusValues } from './signals.ts'

const COMPLETE =
  /\b(?:all (?:tasks|stories|criteria) (?:are )?|everything is |project (?:is )?|implementation is |story is |work is )(?:complete|completed|done|finished|ready)\b/i
const NO_WORK = /\b(?:nothing (?:left )?to do|no changes (?:are |were )?needed|already implemented)\b/i

/** 100 for a marker or a status block that claims completion, 60 or 70 for such a sentence, 0 otherwise, or if another claim contradicts. */
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
