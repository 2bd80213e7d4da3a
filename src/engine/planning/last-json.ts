// The JSON at the end of a session's final message. Pure.
import { type Json, jsonObject } from '../model/json.ts'

/** The part at the end of a message that is searched, in UTF-16 units: an answer may be of any length. */
const MAX_WORDS = 256 * 1024

const FENCE = /^ {0,3}(?:`{3,}|~{3,}).*$/m

/** The last object of JSON between fences; without one, the text from its first brace to its last. */
export function lastJson(all: string): Json | null {
  const words = all.slice(-MAX_WORDS)
  const bare = words.slice(words.indexOf('{'), words.lastIndexOf('}') + 1)
  for (const text of [...words.split(FENCE).reverse(), bare]) {
    const value = jsonObject(text)
    if (value !== null) return value
  }
  return null
}
