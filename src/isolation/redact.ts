// Keeps secrets out of what leaves the process: known values, also encoded (see createRedactor), and well-known key shapes.
import { buildMatcher, type Matcher } from './redact/matcher.ts'
import { KeyFinder, type KeyShape, type KeyStarts, keyStarts, privateKeyFinder } from './redact/shapes.ts'
import { Views } from './redact/views.ts'

/** Replaces a secret. Adjacent secrets become one. */
const REDACTED = '***'

export type { KeyShape }

/** A secret that was found: its kind, never its value. `line` counts from 1. */
export type Finding = { what: string; line: number }

export type Redactor = ReturnType<typeof createRedactor>

const MAX_FINDINGS = 1_000
const KNOWN = 'a known secret value'
const PRIVATE_KEY = 'a private key'
/** At the end of a line, a possible beginning of a known value is hidden if it has at least this many UTF-16 units. */
const HIDDEN_BEGINNING = 8

type Secret = { what: string; from: number; to: number }

/**
 * A redactor for these values (tokens, keys, passwords), for well-known key shapes and for `shapes`. Each line of a value with several
 * lines also counts by itself, as it does for the runner. Values are also found in these forms:
 * - As base64 of their UTF-8 or UTF-16LE, in any of its three alignments and both alphabets.
 * - As hex in one piece or in parts (`7333 6372`, `73:33`, `0x73, 0x33`).
 * - With line breaks in them.
 * - With escapes of any mixture: URL, HTML, JSON and other program text, quoted-printable.
 */
export function createRedactor(values: string[], shapes: readonly KeyShape[] = []) {
  const starts = keyStarts(shapes)
  const matcher = buildMatcher(
    revealingForms(values),
    starts.map(({ text }) => text),
  )
  const secretsIn = createTextFinder(matcher, starts)
  return {
    /** The text with every secret replaced by `***`. Linear in the text. */
    redact: (text: string): string => maskSecrets(text, secretsIn(text)),
    /** A redactor for output that comes line by line; it keeps the number of lines. */
    lines: () => createLineRedactor(matcher, starts),
    /** Whether there is a secret in it. Bytes are read as UTF-8, and as UTF-16 when they have zero bytes. */
    finds: (content: string | Uint8Array) => decodings(content).some((text) => secretsIn(text).length > 0),
    /** The secrets in it, at most 1,000. */
    findings: (content: string | Uint8Array): Finding[] =>
      decodings(content)
        .flatMap((text) => withLines(text, secretsIn(text)))
        .slice(0, MAX_FINDINGS),
  }
}

/** Finds all secrets except private keys, in consecutive texts. `base` is the offset of a text in all of them. */
function createFinder(matcher: Matcher, starts: KeyStarts) {
  let found: Secret[] = []
  let base = 0
  let keys = new KeyFinder(starts, '')
  const views = new Views(matcher, ({ length, start, from, to }) => {
    if (length > 0) addSecret(found, { what: KNOWN, from: Math.max(0, from - base), to: to - base })
    const at = to - base - (starts[start - 1]?.text.length ?? 0)
    const key = start > 0 && at >= 0 ? keys.keyAt(start, at) : null
    if (key !== null) addSecret(found, key)
  })
  return {
    views,
    find(text: string, at: number): Secret[] {
      base = at
      found = []
      keys = new KeyFinder(starts, text)
      views.read(text, at)
      return found
    },
  }
}

/** Finds the secrets of a whole text. */
function createTextFinder(matcher: Matcher, starts: KeyStarts): (text: string) => Secret[] {
  const finder = createFinder(matcher, starts)
  return (text) => {
    finder.views.reset()
    return mergeSecrets(finder.find(text, 0), privateKeyFinder()(text))
  }
}

/** Redacts whole lines at once. A possible beginning of a secret at the end of a line is hidden, as the next line may complete it. */
function createLineRedactor(matcher: Matcher, starts: KeyStarts): (text: string) => string {
  const finder = createFinder(matcher, starts)
  const privateKeys = privateKeyFinder()
  let base = 0
  return (text) => {
    const found = finder.find(`${text}\n`, base)
    for (const from of finder.views.beginnings(HIDDEN_BEGINNING))
      addSecret(found, { what: KNOWN, from: Math.max(0, from - base), to: text.length })
    base += text.length + 1
    return maskSecrets(text, mergeSecrets(found, privateKeys(text)), (secret) =>
      secret.replace(/[^\n]+/g, REDACTED),
    )
  }
}

/** All secrets in order, without overlaps. */
function mergeSecrets(found: readonly Secret[], privateKeys: readonly Omit<Secret, 'what'>[]): Secret[] {
  const all = [...found, ...privateKeys.map((key) => ({ what: PRIVATE_KEY, ...key }))]
  const secrets: Secret[] = []
  for (const secret of all.sort((a, b) => a.from - b.from)) addSecret(secrets, secret)
  return secrets
}

/** Adds a secret and merges it with those that it overlaps. Secrets must come sorted by their ends, or by their beginnings. */
function addSecret(secrets: Secret[], secret: Secret): void {
  let { what, from, to } = secret
  for (let last = secrets.at(-1); last !== undefined && from < last.to; last = secrets.at(-1)) {
    secrets.pop()
    if (last.what === KNOWN || what !== KNOWN) what = last.what
    from = Math.min(from, last.from)
    to = Math.max(to, last.to)
  }
  secrets.push({ what, from, to })
}

function maskSecrets(text: string, secrets: readonly Secret[], mask = (_secret: string) => REDACTED): string {
  let result = ''
  let done = 0
  for (const { from, to } of secrets) {
    const masked = mask(text.slice(from, to))
    const touches = result !== '' && from === done
    result += text.slice(done, from) + (touches ? masked.slice(REDACTED.length) : masked)
    done = to
  }
  return result + text.slice(done)
}

/** The ways to read the content: unchanged, and without zero bytes if there are some (UTF-16, padding). */
function decodings(content: string | Uint8Array): string[] {
  const text =
    typeof content === 'string' ? content : new TextDecoder('utf-8', { ignoreBOM: true }).decode(content)
  return text.includes('\0') ? [text, text.replaceAll('\0', '')] : [text]
}

function withLines(text: string, secrets: readonly Secret[]): Finding[] {
  let line = 1
  let seen = 0
  return secrets.map(({ what, from }) => {
    for (let next = text.indexOf('\n', seen); next !== -1 && next < from; next = text.indexOf('\n', seen)) {
      line += 1
      seen = next + 1
    }
    return { what, line }
  })
}

// ---------------------------------------------------------------- the forms of a known value

/** Shorter values are ignored: hiding `true` or `1234` would garble every text and protect nothing. */
const MIN_VALUE = 6
const HTML: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** A job's token has about 520 characters. Many tools show, and encode, only the beginning of so long a value. */
const JOB_TOKEN = /^gh[pousr]_\d+_eyJ/
const SHOWN_BEGINNING = 60

/** Every text that reveals one of the values; without line breaks, because the views of redact/views.ts have none. */
function revealingForms(values: readonly string[]): string[] {
  const forms = new Set<string>()
  for (const value of values) {
    // Trimmed: in every encoding, a value with blanks around it contains the value without them.
    for (const part of [value, ...value.split(/[\r\n]+/)].map((it) => it.trim())) {
      if (withoutBreaks(part).length < MIN_VALUE || /^\**$/.test(part)) continue
      const texts = JOB_TOKEN.test(part) ? [part, part.slice(0, SHOWN_BEGINNING)] : [part]
      for (const text of texts) for (const form of encodeValue(text)) forms.add(withoutBreaks(form))
    }
  }
  return [...forms]
}

function withoutBreaks(text: string): string {
  return text.replace(/[\r\n]/g, '')
}

/** A view removes one level of escapes. With these forms, a second level is found as well (JSON in JSON). */
function encodeValue(value: string): string[] {
  const bytes = new TextEncoder().encode(value)
  const binary = Buffer.from(bytes).toString('latin1') // views decode escapes and hex byte by byte, a unit for each byte
  const url = encodeURIComponent(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes))
  const strict = url.replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)
  const json = JSON.stringify(value).slice(1, -1)
  const html = value.replace(/[&<>"]/g, (c) => HTML[c] ?? c)
  const hex = Buffer.from(bytes).toString('hex')
  return [
    value,
    binary,
    binary.replaceAll(' ', '+'), // as HTML forms encode blanks
    url,
    strict,
    strict.replaceAll('%20', '+'),
    json,
    json.replace(/[\u007f-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`),
    html,
    html.replaceAll("'", '&#39;'),
    hex,
    hex.toUpperCase(),
    ...encodeBase64(bytes),
    ...encodeBase64(Buffer.from(value, 'utf16le')), // as PowerShell encodes commands (`-EncodedCommand`)
  ]
}

/** The base64 characters that depend only on these bytes, in each alignment and both alphabets. */
function encodeBase64(bytes: Uint8Array): string[] {
  return [0, 1, 2].flatMap((shift) => {
    const text = Buffer.concat([new Uint8Array(shift), bytes]).toString('base64')
    const inside = text.slice(Math.ceil((shift * 8) / 6), Math.floor(((shift + bytes.length) * 8) / 6))
    return [inside, inside.replaceAll('+', '-').replaceAll('/', '_')]
  })
}
