// A plan: stories proposed by a session or read from documents, until a person approves them.
import * as z from 'zod/mini'
import { Story } from './feature.ts'

/** A question of a session before its plan. People answer by the letter of an option: `1A, 2C`. */
export type Question = z.infer<typeof Question>
export const Question = z.object({ text: z.string(), options: z.array(z.string()) })

/** Questions before a plan: none yet, then those that a session asked, then the answers of people. */
export type Interview = z.infer<typeof Interview>
export const Interview = z.object({
  questions: z.array(Question),
  /** When they were asked, epoch milliseconds: only later comments answer them. */
  askedAt: z.nullable(z.number()),
  /** The questions with their answers, as text for the plan's session; null until people have answered. */
  answers: z.nullable(z.string()),
})

/** A plan: its material, its stories, and its phase. */
export type Plan = z.infer<typeof Plan>
export const Plan = z.object({
  /** `wanted`: a session has to propose it. `proposed`: it waits for a person. `approved`, then `begun`: its stories are worked on. */
  phase: z.enum(['wanted', 'proposed', 'approved', 'begun']),
  /** An issue's text, documents, a sentence, and comments of people on the last proposal. Hostile; empty once it has begun. */
  brief: z.string(),
  issue: z.nullable(z.number()),
  /** Left out if no questions come before the plan. */
  interview: z.exactOptional(Interview),
  /** The parts of a split, until a person approves them. A feature's stories are in prd.json at once. */
  stories: z.array(Story),
  /** A digest of the stories that people were shown, which an approval is for. */
  digest: z.string(),
  /** When people were shown this text, epoch milliseconds, or null. An earlier approval is for another text. */
  shownAt: z.nullable(z.number()),
  /** The text of context.md until it is committed. */
  context: z.string(),
  /** context.md on the branch while the plan waits, since an approval covers it as well. */
  committedContext: z.exactOptional(z.string()),
  /** Questions that the session left open, for people to answer. */
  questions: z.array(z.string()),
  /** Sessions in a row without a valid plan, and why the last one gave none. */
  sessions: z.number(),
  message: z.string(),
})

/**
 * The task of a plan session. `brief` is hostile data; `split`: the id of a story that is too large; `asks`: the session asks
 * questions and plans nothing yet.
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
  /** No questions if the material leaves nothing open. */
  | { kind: 'asked'; questions: Question[] }
  | { kind: 'limit'; notBefore: number | null; message: string }
  /** The agent cannot work at all: a person must act. */
  | { kind: 'refused'; message: string }
  /** The session failed, or its answer is not a plan; `message` says what is wrong. */
  | { kind: 'none'; message: string }
