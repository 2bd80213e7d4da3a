// What a plant of `ralph drill` is: wrong work as an agent could leave it, made for this project.
import type { DrillProject } from './drilled-project.ts'

/** A file of the work: its text, null if the agent removes it, or a link. */
export type PlantedFile = string | null | { linkTo: string }
/** Files by path. An empty map is a session that changed nothing. */
export type Work = ReadonlyMap<string, PlantedFile>

/** A change of the product that makes a gate fail with the project's own tests. */
export type Break = {
  what: string
  work: Work
  /** The test files that the output of the gate names. */
  tests: readonly string[]
}

export type Made = { work: Work; what?: string }
/** Why this project has no place for the plant. */
export type NotMade = { reason: string }

export type Plant = {
  /** Its name for `--json` and `--only`. */
  name: string
  /** What the agent does. */
  does: string
  /**
   * `broken`: the product is wrong and nothing hides it, so a red gate is the answer. `elsewhere`: the commit lacks the work, so a red gate
   * is the answer as well. `hidden`: the gates have to be green with it. Otherwise it hides nothing and does not count.
   */
  kind: 'broken' | 'elsewhere' | 'hidden'
  /** `needed`: null if no broken product was found. */
  make(project: DrillProject, broken: Break | null): Promise<Made | NotMade>
}

export const notMade = (reason: string): NotMade => ({ reason })
export const NO_BREAK = notMade('Ralph found no change of the product that a test notices')

/** A plant that hides a broken product; `change` returns the files that hide it, or why the project has none. */
export function hiding(
  name: string,
  does: string,
  change: (project: DrillProject, broken: Break) => Promise<Work | NotMade>,
): Plant {
  return {
    name,
    does,
    kind: 'hidden',
    async make(project, broken) {
      if (broken === null) return NO_BREAK
      const more = await change(project, broken)
      return 'reason' in more ? more : { work: new Map([...broken.work, ...more]) }
    },
  }
}
