// `ralph plan --ask`: questions of a session before its plan, answered on the terminal by their letters.
import { answeredQuestions, questionLines, sampleAnswer } from '../engine/planning/plan-questions.ts'
import { terminalText } from '../report/escape.ts'
import type { PlanContext } from './plan.ts'
import type { Subject } from './plan-session.ts'
import { hanging } from './plan-view.ts'

/** The brief of the plan, with the answers at its end. Throws Cancelled, or UserError where no session can begin. */
export async function withAnswers(desk: PlanContext, subject: Subject, brief: string): Promise<string> {
  const { ask, context, planner, say, settings, width } = desk
  if (!settings.ask) return brief
  if (ask === null) {
    context.warn('ask: nobody can be asked here (no terminal, or --yes): it is planned without questions')
    return brief
  }
  const questions = await planner.questions(subject, brief)
  if (questions.length === 0) return brief
  const lines = questionLines(questions).flatMap((line) => {
    const indent = /^ */.exec(line)?.[0] ?? ''
    return hanging(terminalText(line, 500).trimStart(), `  ${indent}`, width)
  })
  say(['', ...lines, ''])
  const fault = (text: string) => {
    const read = answeredQuestions(questions, text)
    return 'fault' in read ? read.fault : undefined
  }
  const said = await ask.text('Your answers (Enter: none, the session decides)', {
    hint: `such as ${sampleAnswer(questions)}, or 2: words of your own`,
    fault,
  })
  const read = answeredQuestions(questions, said)
  return 'fault' in read ? brief : `${brief}\n\n${read.text}`.trim()
}
