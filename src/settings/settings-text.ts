// The text of settings (YAML or JSON) as plain data. Errors in it become mistakes with line and column.
import { isScalar, LineCounter, parseDocument, type YAMLError } from 'yaml'
import { jsonFault } from '../engine/model/json-fault.ts'
import { oneLine } from '../engine/model/text.ts'
import { messageOf } from '../system/errors.ts'
import { describeFound } from './show.ts'
import { addMistake, addProblem, formatValuePlace, type ValuePlace } from './value-place.ts'

/** A settings file is a page or two; this is generous, and keeps a hostile one cheap. */
const MAX_CHARACTERS = 100_000
/** One slip can make every line after it wrong. */
const MAX_FAULTS = 10

/** The data, or undefined after mistakes that leave nothing to read. Duplicate keys are mistakes, but are read on. */
export function parseText(at: ValuePlace, language: 'yaml' | 'json', raw: string): unknown {
  const text = raw.replace(/^\uFEFF/, '')
  if (text.length > MAX_CHARACTERS) {
    return addProblem(
      at,
      `the text has ${text.length} characters, and ${MAX_CHARACTERS} is the maximum.`,
      'shorten it',
    )
  }
  if (text.trim() === '') return null
  const lineCounter = new LineCounter()
  try {
    const json: unknown = language === 'json' ? JSON.parse(text) : undefined
    // Without known tags, `!!binary`, `!!set` and the rest of YAML 1.1 are as unknown as `!custom`: a warning each.
    const document = parseDocument(text, {
      version: '1.2',
      resolveKnownTags: false,
      prettyErrors: false,
      // `1: a` and `"1": b` are two keys for YAML, and one name here.
      uniqueKeys: (a, b) => isScalar(a) && isScalar(b) && String(a.value) === String(b.value),
      lineCounter,
    })
    const all = [...document.errors, ...document.warnings]
    // JSON.parse takes the last of two equal keys, and YAML has rules for tabs that JSON has not.
    const faults = language === 'json' ? all.filter(isDuplicateKey) : all
    for (const fault of faults.slice(0, MAX_FAULTS)) {
      const { line, col } = lineCounter.linePos(fault.pos[0])
      const place = placeIn(at, line, col)
      const excerpt = excerptAt(text, fault.pos[0])
      if (isDuplicateKey(fault))
        addProblem(place, `${excerpt} repeats a key of this map.`, 'remove one of the two entries')
      else {
        const expected = `valid YAML (${oneLine(fault.message, 80)})`
        addMistake(place, excerpt, expected, 'correct the YAML there (text with `: ` or `#` needs quotes)')
      }
    }
    if (!faults.every(isDuplicateKey)) return undefined
    const data: unknown = json ?? document.toJS({ maxAliasCount: 100 })
    // Throws if an alias makes a circle.
    JSON.stringify(data)
    return data
  } catch (error) {
    if (error instanceof SyntaxError) {
      const { line, column, found, expected, fix } = jsonFault(text, error)
      return addMistake(placeIn(at, line, column), found, expected, fix)
    }
    // Thousands of open brackets exhaust the parser's stack; too many aliases make it throw.
    if (error instanceof RangeError)
      return addProblem(at, 'the text is nested too deeply.', 'use fewer levels of lists and maps')
    const problem = `the text cannot be read (${oneLine(messageOf(error), 70)}).`
    return addProblem(at, problem, 'write the values out, without anchors and aliases (& and *)')
  }
}

function placeIn(at: ValuePlace, line: number, column: number): ValuePlace {
  return { ...at, root: `${formatValuePlace(at)}: line ${line}, column ${column}`, keys: [] }
}

function isDuplicateKey({ code }: YAMLError): boolean {
  return code === 'DUPLICATE_KEY'
}

function excerptAt(text: string, offset: number): string {
  const rest = (text.slice(offset, offset + 40).split('\n')[0] ?? '').trimEnd()
  if (rest.trim() !== '') return describeFound(rest)
  return offset >= text.trimEnd().length ? 'the end of the text' : 'the end of the line'
}
