// The text of settings (YAML or JSON) as plain data; what is wrong with it becomes mistakes with line and column.
import { type Document, isScalar, LineCounter, parseDocument } from 'yaml'
import { messageOf } from '../system/errors.ts'
import { mistake, type Place, pathOf } from './place.ts'
import { oneLine, shown } from './show.ts'

/** A settings file is a page or two; these are generous, and keep a hostile one cheap. */
const mostCharacters = 100_000
/** One slip can make every line after it wrong. */
const mostFaults = 10

/** What is wrong at an offset of the text. */
type Fault = { offset: number; expected: string; fix: string }

/** The data, or undefined after mistakes that leave nothing to read. Duplicate keys are mistakes, but are read on. */
export function parseText(at: Place, language: 'yaml' | 'json', raw: string): unknown {
  const text = raw.replace(/^\uFEFF/, '')
  if (text.length > mostCharacters) {
    return mistake(at, `${text.length} characters`, `at most ${mostCharacters}`, 'shorten it')
  }
  if (text.trim() === '') return null
  const lineCounter = new LineCounter()
  try {
    // Without known tags, `!!binary`, `!!set` and the rest of YAML 1.1 are as unknown as `!custom`: a warning each.
    const document = parseDocument(text, {
      version: '1.2',
      schema: language === 'json' ? 'json' : 'core',
      resolveKnownTags: false,
      prettyErrors: false,
      // `1: a` and `"1": b` are two keys for YAML, and one name here.
      uniqueKeys: (a, b) => isScalar(a) && isScalar(b) && String(a.value) === String(b.value),
      lineCounter,
    })
    const faults = language === 'json' ? jsonFaults(text, document) : yamlFaults(document)
    const twice = duplicates(document)
    for (const { offset, expected, fix } of [...twice, ...faults].slice(0, mostFaults)) {
      const { line, col } = lineCounter.linePos(offset)
      const root = `${pathOf(at)}: line ${line}, column ${col}`
      mistake({ ...at, root, keys: [] }, textFrom(text, offset), expected, fix)
    }
    if (faults.length > 0) return undefined
    const data: unknown = document.toJS({ maxAliasCount: 100 })
    // Throws where an alias makes a circle.
    JSON.stringify(data)
    return data
  } catch (error) {
    // Thousands of open brackets exhaust the parser's stack; too many aliases make it throw.
    const found = error instanceof RangeError ? 'a text nested too deeply' : oneLine(messageOf(error))
    const expected = 'texts, numbers, booleans, lists and maps'
    return mistake(at, found, expected, 'write it out plainly')
  }
}

const isTwice = ({ code }: { code: string }) => code === 'DUPLICATE_KEY'

function duplicates({ errors }: Document.Parsed): Fault[] {
  return errors.filter(isTwice).map(({ pos }) => {
    return { offset: pos[0], expected: 'every key once in a map', fix: 'remove one of the two' }
  })
}

function yamlFaults({ errors, warnings }: Document.Parsed): Fault[] {
  const faults = [...errors, ...warnings].filter((one) => !isTwice(one))
  return faults.map(({ message, pos }) => {
    const fix = 'mend the YAML there (a text with `: ` or `#` needs quotes)'
    return { offset: pos[0], expected: `valid YAML (${oneLine(message)})`, fix }
  })
}

/** YAML takes more than JSON does, and JSON.parse does not say of every fault where it is: the one helps the other. */
function jsonFaults(text: string, document: Document.Parsed): Fault[] {
  try {
    JSON.parse(text)
    return []
  } catch (error) {
    const message = messageOf(error)
    const [, said, position] =
      /^(.*) (?:in JSON|after JSON|JSON input)? ?at position (\d+)/.exec(message) ?? []
    const token = /^Unexpected token '(.)'/u.exec(message)?.[1]
    const first = yamlFaults(document)[0]?.offset ?? text.indexOf(token ?? '')
    const offset = position === undefined ? Math.max(0, first) : Number(position)
    const expected = said === undefined ? 'valid JSON' : `valid JSON (${said})`
    return [{ offset, expected, fix: 'mend the JSON there' }]
  }
}

function textFrom(text: string, offset: number): string {
  const rest = (text.slice(offset, offset + 40).split('\n')[0] ?? '').trimEnd()
  if (rest.trim() !== '') return shown(rest)
  return offset >= text.trimEnd().length ? 'the end' : 'the end of the line'
}
