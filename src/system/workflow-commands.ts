// Takes the voice from text that is not ours: no line of it can be a command to the Actions runner or the terminal.
//
// The runner reads stdout and stderr line by line (a lone CR ends a line too) and obeys `::name ...::` at the start
// of a line, after blanks, and `##[name ...]` anywhere in it (facts/github-actions.md 1.6). It compares with the
// rules of a language, in which invisible characters do not count.

/** A line longer than this many UTF-16 units is given out in pieces, each a line of its own. */
const LINE_LIMIT = 65_536

/** A terminal's control sequences; each is bounded, and an unfinished one goes too. */
const ANSI = new RegExp(
  [
    String.raw`(?:\x1b\[|\x9b)[0-?]{0,256}[ -/]{0,16}[@-~]?`, // colours, cursor
    String.raw`(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c\r\n]{0,4096}(?:\x07|\x1b\\|\x9c)?`, // titles, links
    String.raw`\x1b[ -/]{0,16}[0-~]?`,
  ].join('|'),
  'g',
)
/** Controls but tab, and the characters that turn the reading direction. */
const CONTROLS = /[^\P{Cc}\t]|[\u202a-\u202e\u2066-\u2069\u2028\u2029]/gu
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu
const LINE_END = /\r\n?|\n/g
/** What a comparison by language may leave out; the tab to be sure. */
const IGNORED = String.raw`[\t\p{Default_Ignorable_Code_Point}]*`
const COMMAND = new RegExp(String.raw`^([\s\u0085\p{Default_Ignorable_Code_Point}]*):(?=${IGNORED}:)`, 'u')
const LEGACY_COMMAND = new RegExp(String.raw`#(?=${IGNORED}#${IGNORED}\[)`, 'gu')

/**
 * The text as one line that neither the runner nor a terminal obeys: line breaks become blanks, control sequences
 * and control characters go, and what would be a command gets a blank in its mark (`: :error::`, `# #[group]`).
 * Anything else stays as it is; muting twice changes nothing more.
 */
export function muted(line: string): string {
  return broken(withoutControls(line))
}

/** The text as one line, without a terminal's control sequences and control characters; tabs stay. */
export function withoutControls(line: string): string {
  if (!/[^\x20-\x7e\t]/.test(line)) return line
  return line
    .replace(/[\r\n]+/g, ' ')
    .replace(ANSI, '')
    .replace(CONTROLS, '')
}

/**
 * The value as one line of JSON that neither the runner nor a terminal obeys: what cannot be seen and the mark of a
 * command are written with escapes, so that a reader of JSON gets the same value.
 */
export function mutedJson(value: unknown): string {
  return JSON.stringify(value)
    .replace(UNSEEN, (unseen) =>
      Array.from({ length: unseen.length }, (_, at) => unicodeEscape(unseen.charCodeAt(at))).join(''),
    )
    .replace(/#(?=#\[)/g, unicodeEscape(0x23))
}

function unicodeEscape(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, '0')}`
}

function broken(line: string): string {
  const checked = line.includes('#') ? line.replace(LEGACY_COMMAND, '# ') : line
  return checked.includes(':') ? checked.replace(COMMAND, '$1: ') : checked
}

/** Takes text in any portions. `end` gives out what came after the last line break. */
export type MutedWriter = { write(chunk: string): void; end(): void }

/**
 * Gives `write` one string a line: `prefix`, the muted line, `\n`. Nothing is given out before its line is whole, so
 * a command that arrives in pieces is seen whole; LF, CR LF and a lone CR (a progress bar) end a line. The prefix is
 * ours and may hold colours, but no line break.
 */
export function createMutedWriter(write: (text: string) => void, prefix: string): MutedWriter {
  let pending = ''
  let afterReturn = false
  const deliver = (line: string): void => write(`${broken(prefix + withoutControls(line))}\n`)
  const keep = (text: string): void => {
    pending += text
    let from = 0
    while (pending.length - from > LINE_LIMIT) {
      const cut = from + LINE_LIMIT - (isHighSurrogate(pending.charCodeAt(from + LINE_LIMIT - 1)) ? 1 : 0)
      deliver(pending.slice(from, cut))
      from = cut
    }
    pending = pending.slice(from)
  }
  return {
    write(chunk) {
      if (chunk === '') return
      // The LF of a CR LF whose halves came apart has ended its line already.
      let from = afterReturn && chunk.startsWith('\n') ? 1 : 0
      afterReturn = chunk.endsWith('\r')
      LINE_END.lastIndex = from
      for (let end = LINE_END.exec(chunk); end !== null; end = LINE_END.exec(chunk)) {
        keep(chunk.slice(from, end.index))
        deliver(pending)
        pending = ''
        from = LINE_END.lastIndex
      }
      keep(chunk.slice(from))
    },
    end() {
      if (pending !== '') deliver(pending)
      pending = ''
    },
  }
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff
}
