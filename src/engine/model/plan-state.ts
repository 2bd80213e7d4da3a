// A plan: stories that a session proposed, or documents held, and that a person has or has not approved yet.
import * as z from 'zod/mini'
import { Story } from './feature.ts'

/** A question of a session before its plan. People answer by the letter of an option: `1A, 2C`. */
export type Question = z.infer<typeof Question>
export const Question = z.object({ text: z.string(), options: z.array(z.string()) })

/** Questions before a plan: none yet, then those that a session asked, then what people said to them. */
export type Interview = z.infer<typeof Interview>
export const Interview = z.object({
  questions: z.array(Question),
  /** When they were asked, epoch milliseconds: only what people say later answers them. */
  askedAt: z.nullable(z.number()),
  /** The questions with their answers, as the plan's session reads them; null until people answered. */
  answers: z.nullable(z.string()),
})

/** What a plan is made from, and how far it has come. */
export type Plan = z.infer<typeof Plan>
export const Plan = z.object({
  /** `wanted`: a session is to propose it. `proposed`: it waits for a person. `approved`, then `begun`: its stories are worked. */
  phase: z.enum(['wanted', 'proposed', 'approved', 'begun']),
  /** An issue's text, documents, a sentence, and what people said of the last proposal. Hostile; empty once it has begun. */
  brief: z.string(),
  issue: z.nullable(z.number()),
  /** Where people are to be asked before a session plans. */
  interview: z.exactOptional(Interview),
  /** Of a split: the parts, until somebody approves them. A feature's stories stand in prd.json at once. */
  stories: z.array(Story),
  /** Of the stories as people were shown them: an approval counts for these. */
  digest: z.string(),
  /** When people were shown these words, epoch milliseconds; null before. An approval that is older was for others. */
  shownAt: z.nullable(z.number()),
  /** For context.md, until it is committed. */
  context: z.string(),
  /** context.md as the branch holds it, while the plan waits: an approval is for it, too. */
  committedContext: z.exactOptional(z.string()),
  /** What the session could not know, for people to answer. */
  questions: z.array(z.string()),
  /** Sessions in a row without a plan that can be used, and why the last one had none. */
  sessions: z.number(),
  message: z.string(),
})

/**
 * What a plan session works on. `brief` is hostile data; `split`: the id of a story that is too large; `asks`: it is to ask
 * questions, and plans nothing yet.
 */
export type PlanTask = {
  brief: string
  stories: readonly Story[]
  split: string | null
  message: string
  asks?: true
}

export type Proposal =
  | {
      kind: 'proposed'
      project: string
      description: string
      context: string
      stories: Story[]
      questions: string[]
    }
  /** None where the material leaves nothing open. */
  | { kind: 'asked'; questions: Question[] }
  | { kind: 'limit'; notBefore: number | null; message: string }
  /** The agent cannot work at all: a person must act. */
  | { kind: 'refused'; message: string }
  /** It erred, or what it said is no plan; `message` says what is wrong with it. */
  | { kind: 'none'; message: string }
