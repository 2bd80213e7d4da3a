// The text of settings (YAML or JSON) as plain data. Errors in it become mistakes with line and column.
import { isScalar, LineCounter, parseDocument, type YAMLError } from 'yaml'
import { jsonFault } from '../engine/model/json-fault.ts'
import { oneLine } from '../engine/model/text.ts'
import { messageOf } from '../system/errors.ts'
import { describeFound } from './show.ts'
import { addMistake, formatValuePlace, type ValuePlace } from './value-place.ts'

/** A settings file is a page or two; this is generous, and keeps a hostile one cheap. */
const MAX_CHARACTERS = 100_000
/** One slip can make every line after it wrong. */
const MAX_FAULTS = 10

/** The data, or undefined after mistakes that leave nothing to read. Duplicate keys are mistakes, but are read on. */
export function parseText(at: ValuePlace, language: 'yaml' | 'json', raw: string): unknown {
  const text = raw.replace(/^\uFEFF/, '')
  if (text.length > MAX_CHARACTERS) {
    return addMistake(at, `${text.length} characters`, `at most ${MAX_CHARACTERS}`, 'shorten it')
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
      addMistake(placeIn(at, line, col), excerptAt(text, fault.pos[0]), ...describeFault(fault))
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
    const found = error instanceof RangeError ? 'a text nested too deeply' : oneLine(messageOf(error), 80)
    return addMistake(at, found, 'texts, numbers, booleans, lists and maps', 'write it out plainly')
  }
}

function placeIn(at: ValuePlace, line: number, column: number): ValuePlace {
  return { ...at, root: `${formatValuePlace(at)}: line ${line}, column ${column}`, keys: [] }
}

function isDuplicateKey({ code }: YAMLError): boolean {
  return code === 'DUPLICATE_KEY'
}

function describeFault(fault: YAMLError): [expected: string, fix: string] {
  if (isDuplicateKey(fault)) return ['a key that this map does not have yet', 'remove one of the two entries']
  const fix = 'correct the YAML there (a text with `: ` or `#` needs quotes)'
  return [`valid YAML (${oneLine(fault.message, 80)})`, fix]
}

function excerptAt(text: string, offset: number): string {
  const rest = (text.slice(offset, offset + 40).split('\n')[0] ?? '').trimEnd()
  if (rest.trim() !== '') return describeFound(rest)
  return offset >= text.trimEnd().length ? 'the end' : 'the end of the line'
}
