// A document, parsed once for all formats. Documents that are too costly to parse are refused.
import { parse as parseToml, TomlError } from 'smol-toml'
import { isNode, LineCounter, parseDocument } from 'yaml'
import { isObject } from '../engine/model/json.ts'
import { describeValue } from '../engine/model/text.ts'
import type { Raw } from '../engine/prd/migrate.ts'
import { looksLikeJson } from '../engine/prd/parse.ts'
import { type Mistake, messageOf } from '../system/errors.ts'
import { type Block, parseBlocks } from './markdown-lists.ts'
import type { DocumentFile } from './types.ts'

/** `docs/prd.md: line 12 (title)` */
export function formatPlace(path: string, line: number, key?: string): string {
  return `${path}: line ${line}${key === undefined ? '' : ` (${key})`}`
}

type Path = readonly (string | number)[]

/** The value of a YAML, JSON or TOML file. `lineOf` is 1 if the parser gives no positions. */
export type ParsedData = { value: unknown; lineOf(path: Path): number }
type DataRead = { data: ParsedData; mistakes: [] } | { data: null; mistakes: Mistake[] }

export class OpenDocument {
  readonly path: string
  readonly text: string
  readonly file: DocumentFile
  #blocks: Block[] | null = null
  #data: DataRead | null = null
  #front: DataRead | null = null

  constructor(file: DocumentFile) {
    this.file = file
    this.path = file.path
    this.text = file.text.replace(/^\ufeff/, '').replace(/\r\n?/g, '\n')
  }

  get name(): string {
    return this.path.slice(this.path.lastIndexOf('/') + 1)
  }

  /** The folder with a slash at its end; empty at the top. */
  get folder(): string {
    return this.path.slice(0, this.path.lastIndexOf('/') + 1)
  }

  get isYaml(): boolean {
    return /\.ya?ml$/i.test(this.path)
  }

  /** Decided by content as well: people also put a check list where a prd.json belongs. */
  get isMarkdown(): boolean {
    return !this.isYaml && !/\.toml$|(?:^|\/)\.ralphrc$/i.test(this.path) && !looksLikeJson(this.text)
  }

  /** Blocks of the text after the front matter, with line numbers of the whole file. */
  get blocks(): readonly Block[] {
    this.#blocks ??= parseBlocks(
      frontMatterOf(this.text).replace(/[^\n]+/g, '') + this.text.slice(frontMatterOf(this.text).length),
    )
    return this.#blocks
  }

  /** The YAML between two lines of dashes at the top of a Markdown file; without fields if there is none. */
  get frontMatter(): DataRead {
    this.#front ??= yaml({
      path: this.path,
      text: frontMatterOf(this.text).replace(/^---|---[ \t]*\n$/g, ''),
    })
    return this.#front
  }

  /** The fields of the front matter; empty if it is not YAML. */
  get frontFields(): Raw {
    const value = this.frontMatter.data?.value
    return isObject(value) ? value : {}
  }

  /** The text of the first heading of level 1; empty if there is none. */
  get title(): string {
    const found = this.blocks.find((block) => block.kind === 'heading' && block.level === 1)
    return found?.kind === 'heading' ? found.text : ''
  }

  get data(): DataRead {
    this.#data ??= /\.toml$/i.test(this.path) ? toml(this) : yaml(this)
    return this.#data
  }

  /** The fields of a data file; empty if its value is not a map. */
  get fields(): Raw {
    const value = this.data.data?.value
    return isObject(value) ? value : {}
  }
}

const MAX_FRONT = 400

/** The front matter with both lines of dashes; empty if there is none. A rule at the top of a page does not count. */
export function frontMatterOf(text: string): string {
  const lines = text.split('\n', MAX_FRONT)
  const end = lines.findIndex((line, index) => index > 0 && /^---[ \t]*$/.test(line))
  if (end < 1 || !/^---[ \t]*$/.test(lines[0] ?? '') || !/^[#\w'"[{-]/.test(lines[1] ?? '')) return ''
  return `${lines.slice(0, end + 1).join('\n')}\n`
}

/** JSON is YAML as well. */
function yaml({ path, text }: { path: string; text: string }): DataRead {
  const lines = new LineCounter()
  try {
    const document = parseDocument(text, { lineCounter: lines, prettyErrors: false })
    // The parser may find one mistake at two columns of a line.
    const all = document.errors.slice(0, 20).map(({ message, pos }): Mistake => {
      const { line } = lines.linePos(pos[0])
      return {
        path: formatPlace(path, line),
        found: describeValue(message),
        expected: 'YAML',
        fix: 'correct the YAML in this line',
      }
    })
    const mistakes = all.filter(
      ({ path: at, found }, index) =>
        all.findIndex((one) => one.path === at && one.found === found) === index,
    )
    if (mistakes.length > 0) return { data: null, mistakes }
    const value: unknown = document.toJS({ maxAliasCount: 100 })
    const lineOf = (at: Path) => {
      const node = document.getIn(at, true)
      return isNode(node) && node.range ? lines.linePos(node.range[0]).line : 1
    }
    return { data: { value, lineOf }, mistakes: [] }
  } catch (error) {
    // An undefined alias, more aliases than the parser accepts, or thousands of nested brackets.
    const fix = 'write the values out, without anchors and aliases (& and *)'
    return {
      data: null,
      mistakes: [{ path, found: describeValue(messageOf(error)), expected: 'plain YAML', fix }],
    }
  }
}

function toml({ path, text }: OpenDocument): DataRead {
  try {
    return { data: { value: parseToml(text), lineOf: () => 1 }, mistakes: [] }
  } catch (error) {
    const place = error instanceof TomlError ? `${path}: line ${error.line}` : path
    const found = describeValue(messageOf(error).split('\n', 1)[0])
    return {
      data: null,
      mistakes: [{ path: place, found, expected: 'TOML', fix: 'correct the TOML in this line' }],
    }
  }
}

/** In characters. The parser takes more than a second for every 100 KB. */
const MAX_MARKDOWN = 1_000_000
const DEEPEST = 50
/** Most lazy continuation lines of one list item: the parser goes back over all of them at each. */
const MAX_LAZY_LINES = 300

const nested = new RegExp(`^(?:[ \\t]*(?:>|(?:[-*+]|\\d{1,9}[.)])[ \\t])){${DEEPEST}}|^[ \\t]{200,}[-*+>\\d]`)
const rule = /^[ \t]*([-*_])(?:[ \t]*\1){2,}[ \t]*$/
const opens = /^[ \t]*(?:[-*+>]|\d{1,9}[.)])/
const ends = /^[ \t]*$|^ {0,3}(?:#{1,6}[ \t]|```|~~~)/

/** A mistake for Markdown that the parser would need minutes for; else empty. */
export function findUnparsable(path: string, text: string): Mistake[] {
  const fix = 'name the files that hold the stories: ralph plan --from FILE'
  if (text.length > MAX_MARKDOWN) {
    const expected = `at most ${MAX_MARKDOWN / 1e6} MB of Markdown in a file`
    return [{ path, found: `${(text.length / 1e6).toFixed(1)} MB`, expected, fix }]
  }
  let lazyLines: number | null = null
  for (const [index, line] of text.split('\n').entries()) {
    if (opens.test(line)) lazyLines = 0
    else if (ends.test(line)) lazyLines = null
    else if (lazyLines !== null) lazyLines += 1
    const isDeep = nested.test(line) && !rule.test(line)
    if (!isDeep && (lazyLines ?? 0) <= MAX_LAZY_LINES) continue
    const found = isDeep
      ? `Ralph does not read lists or quotations that are nested more than ${DEEPEST} deep.`
      : `Ralph does not read a list item with more than ${MAX_LAZY_LINES} unindented lines below it.`
    return [{ path: formatPlace(path, index + 1), found, expected: '', fix }]
  }
  return []
}
