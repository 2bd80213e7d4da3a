// Which document the stories were planned from. Pure.
import type { Prd } from '../model/feature.ts'
import { isRaw } from './migrate.ts'

/** Where prd.json keeps what it was planned from: path to digest. */
export const PLANNED_FROM = 'plannedFrom'

const PROGRESS = /_PROGRESS(\.[^./]+)$/

/** The plan itself, also where its progress file was read first; null where no document was. */
export function planFile({ extra }: Pick<Prd, 'extra'>): string | null {
  const from = extra?.[PLANNED_FROM]
  const paths = Object.keys(isRaw(from) ? from : {})
  return paths.find((path) => !PROGRESS.test(path)) ?? paths[0]?.replace(PROGRESS, '$1') ?? null
}
