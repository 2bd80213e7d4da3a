// The step that answers a reviewer's question. The session sees the branch as it is, and what it writes is thrown away.

import { ANSWER, ASKS_CHANGE } from '../model/correction.ts'
import type { QuestionAnswer } from '../model/event.ts'
import type { Words } from '../model/ports.ts'
import { emptyUsage } from '../model/usage.ts'
import { type StepContext, type StepResult, sessionBounds } from '../state/step-context.ts'

/** Characters of an answer: the reply to a thread has to be read. */
const MAX_ANSWER = 1500

export async function answerQuestion(
  storyId: string,
  { state, limits, ports, now }: StepContext,
): Promise<StepResult> {
  const { agent, repository, signal } = ports
  const event = { kind: 'answered' as const, storyId }
  if (agent.ask === undefined) return { ...event, answer: { kind: 'change' }, usage: emptyUsage() }
  await repository.checkOut(state.green, null)
  const view = await repository.openForJudge(state.base.sha, state.green, [])
  try {
    const task = { kind: 'answer' as const, storyId }
    const { answer, usage } = await agent.ask(state, task, sessionBounds(state, limits, now), signal)
    return { ...event, answer: answerIn(answer), usage }
  } finally {
    await repository.restore(state.green).finally(view.close)
  }
}

function answerIn(words: Words): QuestionAnswer {
  if (words.kind !== 'words') return words
  if (words.text.includes(ASKS_CHANGE)) return { kind: 'change' }
  const answer = words.text.split(ANSWER).at(-1) ?? ''
  const text = answer.trim().slice(0, MAX_ANSWER)
  return text === ''
    ? { kind: 'none', message: 'the session ended without an answer' }
    : { kind: 'words', text }
}
