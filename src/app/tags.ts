// Finds gates and services for a tag that no story has. That is allowed, but is often a mistake.
import type { Story } from '../engine/model/feature.ts'
import { isFor } from '../engine/model/service.ts'
import type { Settings } from '../settings/read-settings.ts'
import { configuredGates } from './browser-gate.ts'

type Tagged = Pick<Settings, 'gates' | 'services' | 'browser' | 'finalVerification'>

/** A sentence for each gate and service whose tags none of these stories has. The browser check counts as a gate. Empty without stories. */
export function unusedTagNotes(
  settings: Tagged,
  stories: readonly Pick<Story, 'tags' | 'skipped'>[],
): string[] {
  const open = stories.filter(({ skipped }) => !skipped)
  if (open.length === 0) return []
  const storyTags = open.flatMap(({ tags }) => tags)
  const effect = settings.finalVerification ? 'it runs only in the final verification' : 'it never runs'
  const all = [
    ...configuredGates(settings).map(({ name, when }) => ({ what: `gate ${name}`, when })),
    ...settings.services.map(({ name, when }) => ({ what: `service ${name}`, when })),
  ]
  return all.flatMap(({ what, when }) =>
    when === null || isFor(when, storyTags)
      ? []
      : [`${what} is for stories with the tag ${when.join(' or ')}, but no story has this tag: ${effect}`],
  )
}
