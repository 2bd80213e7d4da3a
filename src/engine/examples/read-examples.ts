// Reads what sessions answer about examples. Their words are hostile: everything is bounded. Pure.

import { type Example, type Glue, readExamples } from '../model/example.ts'
import { asNumber, asObject, asObjects, asString } from '../model/json.ts'
import { oneLine } from '../model/text.ts'
import { lastJson } from '../planning/last-json.ts'

const MAX_WHY = 200
const MAX_FILES = 5
const MAX_FILE_CHARS = 64_000
const MAX_COMMAND = 1000

type Written =
  | { kind: 'written'; examples: Example[]; none: { criterion: number; why: string }[] }
  | { kind: 'contradiction'; why: string }
  | { kind: 'none'; message: string }

/** The examples that a session wrote for these criteria. Those for `covered` criteria are left out. */
export function readWritten(text: string, criteria: number, covered: ReadonlySet<number>): Written {
  const answer = lastJson(text)
  if (answer === null || !Array.isArray(answer.examples))
    return { kind: 'none', message: 'no list "examples" in the JSON at the end of the answer' }
  const [contradiction] = asObjects(answer.contradictions)
  if (contradiction !== undefined) {
    const criterion = asNumber(contradiction.criterion)
    const why = oneLine(asString(contradiction.why) ?? 'the session gave no reason', MAX_WHY)
    return { kind: 'contradiction', why: criterion === null ? why : `criterion ${criterion}: ${why}` }
  }
  const examples = readExamples(answer.examples)
    .filter(({ criterion }) => criterion <= criteria && !covered.has(criterion))
    .map(({ criterion, given, expect }) => ({ criterion, given, expect, from: 'session' as const }))
  const none = asObjects(answer.none).flatMap(({ criterion, why }) => {
    const number = asNumber(criterion)
    return number === null ? [] : [{ criterion: number, why: oneLine(asString(why) ?? '', MAX_WHY) }]
  })
  return { kind: 'written', examples, none: none.slice(0, criteria) }
}

/** The glue in an answer. Paths are checked again where files are written. */
export function readGlue(text: string): Glue | { fault: string } {
  const answer = lastJson(text)
  if (answer === null) return { fault: 'no JSON at the end of the answer' }
  const none = asObjects(answer.none).flatMap(({ example, why }) => {
    const number = asNumber(example)
    return number === null ? [] : [{ example: number, why: oneLine(asString(why) ?? '', MAX_WHY) }]
  })
  const run = asString(answer.run) ?? ''
  const files = Object.entries(asObject(answer.files) ?? {}).flatMap(([path, lines]) => {
    const words = Array.isArray(lines) ? lines.map(String).join('\n') : asString(lines)
    return words === null ? [] : [{ path, text: `${words}\n` }]
  })
  if (run === '' && none.length > 0) return { files: [], run: '', none: none.slice(0, MAX_NONE) }
  if (run === '' || run.length > MAX_COMMAND) return { fault: 'no command "run" in the JSON' }
  if (files.length > MAX_FILES) return { fault: `more than ${MAX_FILES} files` }
  if (files.some((file) => file.text.length > MAX_FILE_CHARS)) return { fault: 'a file is too large' }
  return { files, run, none: none.slice(0, MAX_NONE) }
}

const MAX_NONE = 100
