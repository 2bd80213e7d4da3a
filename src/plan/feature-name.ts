// What documents call their feature: its tag, its folder, or the name of its file.
import type { DocumentReading } from './formats.ts'

/** File names that any plan may have. */
const GENERIC =
  /^(?:prd|tasks?|plan|todos?|stories|epics?|issues|beads|fix_?plan|implementation_?plan|spec|tickets|sprint-status|requirements|index|readme)$/i
/** Folders that any plan may be in. */
const GENERIC_FOLDER =
  /^(?:|docs?|tasks?|plans?|specs?|stories|prd|ralph|scripts|backlog|planning|_bmad-output|implementation-artifacts|planning-artifacts|sprint-artifacts|\..*)$/i

/** `unit`: the folder or page of the plan that was chosen among several. Null if no name says what the feature is. */
export function featureNameFrom(readings: readonly DocumentReading[], unit: string | null): string | null {
  if (unit !== null) return bare(unit)
  const [first] = readings.filter(({ reading }) => reading.stories.length > 0)
  if (first === undefined) return null
  if (first.reading.name !== null) return first.reading.name
  const parts = first.path.split('/')
  const name = bare(first.path)
  if (!GENERIC.test(name)) return name
  const folder = parts.at(-2) ?? ''
  return GENERIC_FOLDER.test(folder) ? null : bare(folder)
}

/** The last part of a path without its kind: `tasks/prd-login.md` is `login`, `_bmad-output/initiative-shop` is `shop`. */
function bare(path: string): string {
  return path
    .slice(path.lastIndexOf('/') + 1)
    .replace(/^@/, '')
    .replace(/\.(?:md|markdown|txt|json|ya?ml|toml)$/i, '')
    .replace(/^(?:prd|initiative|epic)[-_](?=.)/i, '')
    .replace(/_PROGRESS$/i, '')
}
