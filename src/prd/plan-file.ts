// Which documents the stories were planned from. Pure.
import type { Prd } from '../model/feature.ts'
import { isRaw } from './migrate.ts'

/** Where prd.json keeps what it was planned from: path to digest, of a part of a file `tasks.json#tag`. */
export const PLANNED_FROM = 'plannedFrom'

const PROGRESS = /_PROGRESS(\.[^./]+)$/
const PART = /^(.+\.json)#([^#/]+)$/

/** The documents by their paths, with the part that was wanted of one; none where prd.json does not know them. */
export function plannedFiles({ extra }: Pick<Prd, 'extra'>): Map<string, { part?: string }> {
  const from = extra?.[PLANNED_FROM]
  return new Map(
    Object.keys(isRaw(from) ? from : {}).map((key) => {
      const [, path, part] = PART.exec(key) ?? []
      return path === undefined || part === undefined ? [key, {}] : [path, { part }]
    }),
  )
}

/** The plan itself, also where its progress file was read first; null where no document was. */
export function planFile(prd: Pick<Prd, 'extra'>): string | null {
  const paths = [...plannedFiles(prd).keys()]
  return paths.find((path) => !PROGRESS.test(path)) ?? paths[0]?.replace(PROGRESS, '$1') ?? null
}
