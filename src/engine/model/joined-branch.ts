// People's branch joined with Ralph's.
import * as z from 'zod/mini'
import { Failure } from './attempt.ts'
import { Prd } from './feature.ts'
import { GateResult } from './gate.ts'
import { SavedWork } from './saved-work.ts'

/** People's prd.json on the branch. */
export type PeopleEdits = z.infer<typeof PeopleEdits>
export const PeopleEdits = z.object({
  prd: Prd,
  /** The ids of the stories in the version that they edited. */
  seen: z.array(z.string()),
  /** Of those, the stories that they left as they were. */
  untouched: z.exactOptional(z.array(z.string())),
  /** Whether they edited prd.md, which Ralph does not read, so that it differs from their prd.json. */
  page: z.boolean(),
})

/** A passed story whose code is no longer in people's branch. */
export type RevertedStory = z.infer<typeof RevertedStory>
export const RevertedStory = z.object({
  storyId: z.string(),
  /** Its saved work for the next attempt. */
  kept: z.nullable(SavedWork),
  /** `gate`: the gate that the story broke and has to make green. */
  failure: Failure,
  /** The gate results, if `failure` names a gate: reports show their annotations and screenshots. */
  gates: z.exactOptional(z.array(GateResult)),
})

export type JoinedBranch = z.infer<typeof JoinedBranch>
export const JoinedBranch = z.object({
  green: z.string(),
  people: z.nullable(PeopleEdits),
  takenBack: z.array(RevertedStory),
  /** Entries of progress.txt that the new head does not have. */
  entries: z.array(z.string()),
})
