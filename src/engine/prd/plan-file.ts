// The documents that the stories were planned from. Pure.
import type { Prd } from '../model/feature.ts'
import { isObject } from '../model/json.ts'

/** The field of prd.json that has the sources of the plan: path to digest; a part of a file is `tasks.json#tag`. */
const PLANNED_FROM = 'plannedFrom'

export function plannedFrom({ extra }: Pick<Prd, 'extra'>): Record<string, unknown> {
  const found = extra?.[PLANNED_FROM]
  return isObject(found) ? { ...found } : {}
}

/** The feature with further sources of its plan: path (or another source, such as `issues:milestone=3`) to digest. */
export function withPlannedFrom(prd: Prd, digests: Readonly<Record<string, string>>): Prd {
  if (Object.keys(digests).length === 0) return prd
  return { ...prd, extra: { ...prd.extra, [PLANNED_FROM]: { ...plannedFrom(prd), ...digests } } }
}

const PROGRESS = /_PROGRESS(\.[^./]+)$/
const PART = /^(.+\.json)#([^#/]+)$/

/** The documents by their paths, with the part that was read of one; empty where prd.json names none. */
export function plannedFiles(prd: Pick<Prd, 'extra'>): Map<string, { part?: string }> {
  return new Map(
    Object.keys(plannedFrom(prd)).map((key) => {
      const [, path, part] = PART.exec(key) ?? []
      return path === undefined || part === undefined ? [key, {}] : [path, { part }]
    }),
  )
}

/** The issues that the feature was planned from, such as `issues:milestone=3`; null if there are none. */
export function issuesSource(prd: Pick<Prd, 'extra'>): string | null {
  return Object.keys(plannedFrom(prd)).find((key) => key.startsWith('issues:')) ?? null
}

/** The path of the plan, even if its progress file was read first; null without a document. */
export function planFile(prd: Pick<Prd, 'extra'>): string | null {
  const paths = [...plannedFiles(prd).keys()]
  return paths.find((path) => !PROGRESS.test(path)) ?? paths[0]?.replace(PROGRESS, '$1') ?? null
}
