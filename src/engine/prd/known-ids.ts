// The nearest existing id to a mistyped one, and a short list of ids for messages.

import { nearest } from '../../system/nearest.ts'
import { oneLine } from '../model/text.ts'

/**
 * The one of `ids` that `word` most likely stands for; null if none is near. An id with other digits is another story, and no
 * typing slip: `US-099` is not near `US-001`, while `us1`, `US-0O1` and `US-010` are.
 */
export function nearestId(word: string, ids: readonly string[]): string | null {
  const same = ids.filter((id) => normalizedId(id) === normalizedId(word))
  if (same.length === 1) return same[0] ?? null
  return nearest(
    word,
    ids.filter((id) => !isOtherNumber(word, id)),
  )
}

/** The id without case, separators and leading zeros. */
function normalizedId(id: string): string {
  return id
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '')
    .replace(/(?<!\d)0+(?=\d)/g, '')
}

function isOtherNumber(word: string, id: string): boolean {
  const letters = (text: string) => normalizedId(text).replace(/\d/g, '')
  const digits = (text: string) => [...text.replace(/[^1-9]/g, '')].sort().join('')
  return letters(word) === letters(id) && digits(word) !== digits(id)
}

const MAX_CHARACTERS = 100

/** `US-001, US-002 and 40 more`: in about a hundred characters. */
export function idList(ids: readonly string[]): string {
  const shown: string[] = []
  let left = MAX_CHARACTERS
  for (const id of ids) {
    const word = oneLine(id, 64)
    left -= word.length + 2
    if (left < 0) break
    shown.push(word)
  }
  const more = ids.length - shown.length
  if (more > 0) return shown.length === 0 ? String(more) : `${shown.join(', ')} and ${more} more`
  const last = shown.pop() ?? ''
  return shown.length === 0 ? last : `${shown.join(', ')} and ${last}`
}
