// The documents that the stories were planned from. Pure.
import type { Prd } from '../model/feature.ts'
import { isObject } from '../model/json.ts'

/**
 * The field of prd.json with the sources of the plan. Its keys are paths, or `tasks.json#tag` for a part of a file; its values are digests.
 */
const PLANNED_FROM = 'plannedFrom'

export function plannedFrom({ extra }: Pick<Prd, 'extra'>): Record<string, unknown> {
  const found = extra?.[PLANNED_FROM]
  return isObject(found) ? { ...found } : {}
}

/** The feature with further sources of its plan. `digests`: by path, or by another source such as `issues:milestone=3`. */
export function withPlannedFrom(prd: Prd, digests: Readonly<Record<string, string>>): Prd {
  if (Object.keys(digests).length === 0) return prd
  return { ...prd, extra: { ...prd.extra, [PLANNED_FROM]: { ...plannedFrom(prd), ...digests } } }
}

const PROGRESS = /_PROGRESS(\.[^./]+)$/
const PART = /^(.+\.json)#([^#/]+)$/

/** The documents of the plan by path. `part`: if only a part of the file was read. */
export function plannedFiles(prd: Pick<Prd, 'extra'>): Map<string, { part?: string }> {
  const files = new Map<string, { part?: string }>()
  for (const source of Object.keys(plannedFrom(prd))) {
    const [, path, part] = PART.exec(source) ?? []
    if (path === undefined || part === undefined) files.set(source, {})
    else files.set(path, { part })
  }
  return files
}

/** The issues that the feature was planned from, such as `issues:milestone=3`; null if there are none. */
export function issuesSource(prd: Pick<Prd, 'extra'>): string | null {
  return Object.keys(plannedFrom(prd)).find((key) => key.startsWith('issues:')) ?? null
}

/** The path of the plan, and not of its progress file, even if only that is known; null without a document. */
export function planFile(prd: Pick<Prd, 'extra'>): string | null {
  const paths = [...plannedFiles(prd).keys()]
  return paths.find((path) => !PROGRESS.test(path)) ?? paths[0]?.replace(PROGRESS, '$1') ?? null
}
