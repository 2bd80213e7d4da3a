// Answers the person who asked for a correction, exactly once, after its commit is on the branch. A row for each kind of correction.

import { type CorrectionResult, correctionResult } from '../../engine/corrections/corrections.ts'
import type { CorrectionSource } from '../../engine/model/correction.ts'
import type { State } from '../../engine/model/state.ts'
import { quoteAgent } from '../../engine/state/story-notes.ts'
import { correctionReply } from '../../report/correction-replies.ts'
import { type GitHub, githubMessage } from '../client.ts'
import type { Conversation } from '../conversation.ts'
import { repositoryUrl } from '../repository-address.ts'
import { answerThreads } from './threads.ts'

type SourceOf<K extends CorrectionSource['kind']> = Extract<CorrectionSource, { kind: K }>

export type AnswerContext = {
  github: GitHub
  conversation: Conversation
  pull: number
  pullUrl: string
  state: State
  redact(text: string): string
  /** Whether a commit changes these lines of a file, or the file if there are none. */
  touches(commit: string, path: string, lines: { from: number; to: number } | null): Promise<boolean>
}

/** A correction that has ended, with the text of its reply. */
export type Ended = { id: string; result: CorrectionResult; reply: string }

const ANSWERS: {
  readonly [K in CorrectionSource['kind']]: (
    context: AnswerContext,
    source: SourceOf<K>,
    ended: Ended,
  ) => Promise<void>
} = {
  words: async ({ conversation, pull }, { comment }, { reply }) => {
    if (comment !== 0) await conversation.reply(pull, comment, reply)
  },
  review: answerThreads,
  question: answerThreads,
  // The check itself and the summary comment show the result.
  check: async () => {},
  base: async () => {},
}

/** Posts the replies that are due; gives the ids of all corrections that have theirs. An error is a warning, and is tried again. */
export async function answerCorrections(context: AnswerContext): Promise<string[]> {
  const { state, github } = context
  const { answered = [] } = state.github
  const done = [...answered]
  for (const [id, { source }] of Object.entries(state.corrections ?? {})) {
    if (answered.includes(id)) continue
    const result = correctionResult(state, id)
    // A commit has a page only once its branch is pushed.
    if (result === null || (result.kind === 'done' && state.published !== state.green)) continue
    try {
      await answer(source.kind, context, source, { id, result, reply: replyOf(context, id, result) })
      done.push(id)
    } catch (error) {
      github.warn(`Ralph could not post the reply for ${id}: ${githubMessage(error)}`)
    }
  }
  return done
}

function answer<K extends CorrectionSource['kind']>(
  kind: K,
  context: AnswerContext,
  source: CorrectionSource,
  ended: Ended,
): Promise<void> {
  // The row fits the source, since it is the row of its kind.
  return ANSWERS[kind](context, source as SourceOf<K>, ended)
}

/** What the summary of a story in the agent's own words begins with. */
const QUOTED = quoteAgent('')

function replyOf({ github, pullUrl, state, redact }: AnswerContext, id: string, result: CorrectionResult) {
  const { place } = github
  const { lastResult } = state.prd.userStories.find((story) => story.id === id) ?? {}
  const summary = lastResult?.summary ?? ''
  const { comment } = state.github
  const words = summary.startsWith(QUOTED) ? summary.slice(QUOTED.length) : ''
  return redact(
    correctionReply(result, {
      id,
      words: redact(words),
      commitUrl: (commit) => `${repositoryUrl(place)}/commit/${commit}`,
      summaryUrl: `${pullUrl}${comment === null ? '' : `#issuecomment-${comment}`}`,
    }),
  )
}
