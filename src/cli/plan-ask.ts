// `ralph plan --ask`: before it plans, a session asks questions, which the person answers on the terminal by their letters.
import { answeredQuestions, questionLines, sampleAnswer } from '../engine/planning/plan-questions.ts'
import { terminalText } from '../report/escape.ts'
import type { PlanContext } from './plan.ts'
import type { Subject } from './plan-session.ts'
import { wrapHanging } from './plan-view.ts'

/** The brief with the answers at its end. Throws Cancelled, or UserError where no session can begin. */
export async function withAnswers(
  planContext: PlanContext,
  subject: Subject,
  brief: string,
): Promise<string> {
  const { ask, context, planner, say, settings, width } = planContext
  if (!settings.ask) return brief
  if (ask === null) {
    context.warn('ask: the plan is made without questions, because there is no terminal or --yes was given')
    return brief
  }
  const questions = await planner.askQuestions(subject, brief)
  if (questions.length === 0) return brief
  const lines = questionLines(questions).flatMap((line) => {
    const indent = /^ */.exec(line)?.[0] ?? ''
    return wrapHanging(terminalText(line, 500).trimStart(), `  ${indent}`, width)
  })
  say(['', ...lines, ''])
  const fault = (text: string) => {
    const read = answeredQuestions(questions, text)
    return 'fault' in read ? read.fault : undefined
  }
  const answer = await ask.text('Your answers (press Enter to let the session decide)', {
    hint: `such as ${sampleAnswer(questions)}, or 2: words of your own`,
    fault,
  })
  const read = answeredQuestions(questions, answer)
  return 'fault' in read ? brief : `${brief}\n\n${read.text}`.trim()
}
