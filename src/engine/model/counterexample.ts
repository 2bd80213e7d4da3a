// What a judge leaves to show that a criterion is not met: new files and the command that fails with them.
import * as z from 'zod/mini'

/** Hostile: it runs only as the gates' user, like the code that it judges. Paths are from the top of the repository. */
export type Counterexample = z.infer<typeof Counterexample>
export const Counterexample = z.object({
  storyId: z.string(),
  run: z.string(),
  files: z.array(z.object({ path: z.string(), text: z.string() })),
})

/** All files of a judge together go into one argument of a shell. */
export const MAX_LEFT = { files: 10, bytes: 32 * 1024 }
export const COUNTEREXAMPLE_TIMEOUT_MS = 5 * 60_000

const NAME = 'counterexample '

/** The name of its result, which is in the same list as those of gates. No gate's name has a space. */
export function counterexampleName({ storyId }: Pick<Counterexample, 'storyId'>, at = 0): string {
  return `${NAME}${storyId.slice(0, 50)}${at === 0 ? '' : ` (${at + 1})`}`
}

export function isCounterexample({ name }: { name: string }): boolean {
  return name.startsWith(NAME)
}

/** The refusals of a verification session, checked. `refused`: those that count. `voided`: a sentence for each of the others. */
export type Weighed = {
  refused: { storyId: string; counterexample?: Counterexample }[]
  voided: string[]
}
