// Keeps secrets out of what leaves the process: known values, also encoded (see createRedactor), and well-known key shapes.

/** What stands in the place of a secret. Secrets that touch each other become one. */
export const REDACTED = '***'

/** Shorter values are ignored: hiding `true` or `1234` would garble every text and protect nothing. */
const MIN_VALUE = 6
/** A run of token characters longer than this is looked at in windows, so that a stream holds back little. */
const RUN_WINDOW = 16_384
const RUN_OVERLAP = 4_096
/** No token of any shape below is shorter. */
const MIN_TOKEN = 14
/** How far after its header the end of a private key is looked for (a 16,384 bit RSA key has 12,700 characters). */
const PEM_WINDOW = 16_384
/** Longer than a line of a private key. */
const PEM_LINE = 128

/** A place where a secret was found. Says its kind, never the value; `line` counts from 1. */
export type Finding = { what: string; line: number }

/** Takes text in any portions; what all calls return, joined, is what `redact` makes of the joined portions. */
export type RedactStream = { write(chunk: string): string; end(): string }

/** Takes text line by line and gives each one back at once: what a later line may turn into a secret is hidden early. */
export type RedactLines = (text: string) => string

export type Redactor = {
  /** The text with every secret replaced by `***`. Linear in the text. */
  redact(text: string): string
  /** The same for a stream; at most some 20 KB are held back, and only while they may belong to a secret. */
  stream(): RedactStream
  /** For what people watch; a text of several lines is taken as so many, and never becomes fewer. */
  lines(): RedactLines
  /** Whether there is a secret in it. Bytes are read as UTF-8, and as UTF-16 when they have zero bytes. */
  finds(content: string | Uint8Array): boolean
  /** The secrets in it, at most 1,000. */
  findings(content: string | Uint8Array): Finding[]
}

const MAX_FINDINGS = 1_000
const KNOWN = 'a known secret value'
const PRIVATE_KEY = 'a private key'

/**
 * A redactor for these values (tokens, keys, passwords; each line of a value of several lines counts by itself too,
 * as the runner does it) and for well-known key shapes. Values are also found as base64 of their UTF-8 or UTF-16LE in
 * any of its three alignments and both alphabets, as hex in one piece or as tools print it (`7333 6372`, `73:33`,
 * `0x73, 0x33`, the lines of xxd and hexdump -C), when line breaks cut them, and behind escapes of any mixture: URL,
 * HTML, JSON and other program text, quoted-printable.
 */
export function createRedactor(values: string[]): Redactor {
  const automaton = buildAutomaton(values)
  const run = (content: string | Uint8Array, enough: number): Finding[] => {
    const found: Finding[] = []
    for (const text of readings(content)) {
      const offsets: { what: string; at: number }[] = []
      const scanner = createScanner(automaton, (what, at) => {
        if (offsets.length < enough) offsets.push({ what, at })
      })
      // In portions, so that the first finding ends the search.
      for (let at = 0; at < text.length && offsets.length < enough; at += 65_536) {
        scanner.write(text.slice(at, at + 65_536))
      }
      if (offsets.length < enough) scanner.end()
      found.push(...withLines(text, offsets))
      if (found.length >= enough) break
    }
    return found.slice(0, enough)
  }
  const stream = (): Scanner => createScanner(automaton, () => {})
  return {
    redact(text) {
      const scanner = stream()
      return scanner.write(text) + scanner.end()
    },
    stream,
    lines() {
      const scanner = stream()
      return (text) => text.split('\n').map(scanner.line).join('\n')
    },
    finds: (content) => run(content, 1).length > 0,
    findings: (content) => run(content, MAX_FINDINGS),
  }
}

/** The ways to read the content: as it is, and without zero bytes where there are some (UTF-16, padding). */
function readings(content: string | Uint8Array): string[] {
  const text =
    typeof content === 'string' ? content : new TextDecoder('utf-8', { ignoreBOM: true }).decode(content)
  return text.includes('\0') ? [text, text.replaceAll('\0', '')] : [text]
}

function withLines(text: string, offsets: { what: string; at: number }[]): Finding[] {
  const sorted = offsets.toSorted((a, b) => a.at - b.at)
  let line = 1
  let from = 0
  return sorted.map(({ what, at }) => {
    for (let next = text.indexOf('\n', from); next !== -1 && next < at; next = text.indexOf('\n', from)) {
      line += 1
      from = next + 1
    }
    return { what, line }
  })
}

// ---------------------------------------------------------------- the forms a value takes

/** Every text that gives the value away. */
function formsOf(value: string): string[] {
  const forms = new Set<string>()
  // The value without blanks around it is found in the value with them, in every encoding.
  for (const part of new Set([value, ...value.split(/[\r\n]+/)].map((it) => it.trim()))) {
    if (part.replace(/[\r\n]/g, '').length < MIN_VALUE || /^\**$/.test(part)) continue
    for (const form of encodingsOf(part)) forms.add(form)
  }
  return [...forms]
}

function encodingsOf(value: string): string[] {
  const bytes = new TextEncoder().encode(value)
  const wellFormed = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
  const url = encodeURIComponent(wellFormed)
  const strictUrl = url.replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)
  const json = JSON.stringify(value).slice(1, -1)
  const ascii = json.replace(/[\u007f-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
  const html = value
    .replace(/&/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/>/g, '&gt;')
    .replace(/"/g, '&quot;')
  const forms = [
    value,
    url,
    strictUrl,
    url.replace(/%20/g, '+'),
    lowerEscapes(url),
    lowerEscapes(strictUrl),
    json,
    ascii,
    json.replace(/\//g, '\\/'),
    JSON.stringify(json).slice(1, -1),
    html,
    html.replace(/'/g, '&#39;'),
    hex,
    hex.toUpperCase(),
    binaryOf(bytes), // escapes are undone byte by byte
  ]
  for (const encoded of [bytes, utf16Of(value)]) {
    for (const shift of [0, 1, 2]) {
      const inner = base64Inside(encoded, shift)
      forms.push(inner, inner.replace(/\+/g, '-').replace(/\//g, '_'))
    }
  }
  return forms
}

/** As PowerShell takes and gives it (`-EncodedCommand`): two bytes a unit, the lower one first. */
function utf16Of(value: string): Uint8Array {
  return Uint8Array.from({ length: 2 * value.length }, (_, at) => {
    const unit = value.charCodeAt(at >> 1)
    return at % 2 === 0 ? unit & 0xff : unit >> 8
  })
}

function lowerEscapes(url: string): string {
  return url.replace(/%[0-9A-F]{2}/g, (it) => it.toLowerCase())
}

/** The characters of base64 that depend on these bytes alone, when `shift` unknown bytes stand before them. */
function base64Inside(bytes: Uint8Array, shift: number): string {
  const padded = new Uint8Array(shift + bytes.length)
  padded.set(bytes, shift)
  return btoa(binaryOf(padded)).slice(Math.ceil((shift * 8) / 6), Math.floor((padded.length * 8) / 6))
}

/** A unit for each byte. */
function binaryOf(bytes: Uint8Array): string {
  let binary = ''
  for (const byte of bytes) binary += String.fromCharCode(byte)
  return binary
}

// ---------------------------------------------------------------- escapes

/** URL and quoted-printable, program text and shells, HTML; what stands for a line break stands for nothing. */
const ESCAPE =
  /[%=]([0-9A-Fa-f]{2})|=\r?\n|\\(?:u([0-9A-Fa-f]{4})|u\{([0-9A-Fa-f]{1,6})\}|x([0-9A-Fa-f]{2})|([0-3][0-7]{2})|[nr]|([^A-Za-z0-9\r\n]))|&(?:#(\d{1,7})|#[xX]([0-9A-Fa-f]{1,6})|(amp|lt|gt|quot|apos));/y
const LONGEST_ESCAPE = 10
const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

/** What an escape may look like as long as its end is missing. */
const UNFINISHED =
  /^(?:[%=][0-9A-Fa-f]?|=\r|\\(?:u(?:[0-9A-Fa-f]{0,3}|\{[0-9A-Fa-f]{0,6})|x[0-9A-Fa-f]?|[0-3][0-7]?)?|&(?:#(?:\d{0,7}|[xX][0-9A-Fa-f]{0,6})|[a-z]{0,4})?)$/

type Escape = { units: string; from: number; to: number }

function startsEscape(unit: number): boolean {
  return unit === 92 || unit === 37 || unit === 38 || unit === 61 // \ % & =
}

/** The escape that begins at `from`, or null. */
function escapeAt(text: string, from: number): Escape | null {
  ESCAPE.lastIndex = from
  const match = ESCAPE.exec(text)
  if (match === null) return null
  const [all, byte, unit, point, hex, octal, plain, decimal, hexPoint, name] = match
  const code = byte ?? unit ?? point ?? hex ?? hexPoint
  const number = Number.parseInt(code ?? octal ?? decimal ?? '', code !== undefined ? 16 : octal ? 8 : 10)
  const units =
    plain ??
    (name === undefined
      ? Number.isNaN(number) || number > 0x10ffff
        ? ''
        : String.fromCodePoint(number)
      : (ENTITIES[name] ?? ''))
  return { units, from, to: from + all.length }
}

function mayBecomeEscape(text: string, from: number): boolean {
  return text.length - from < LONGEST_ESCAPE && UNFINISHED.test(text.slice(from))
}

// ---------------------------------------------------------------- finding many texts at once (Aho and Corasick)

/** Line breaks are left out of the texts and of what is searched, so that a wrapped value is found. */
type Automaton = {
  root: Int32Array
  firstChild: Int32Array
  sibling: Int32Array
  code: Uint16Array
  fail: Int32Array
  depth: Int32Array
  /** Length of the longest known value, key header, key footer that ends in this state; 0 for none. */
  known: Int32Array
  header: Int32Array
  footer: Int32Array
  /** So many line breaks in a row do not end a match. */
  breaks: number
}

const PEM_NAMES = ['', 'RSA ', 'EC ', 'DSA ', 'OPENSSH ', 'ENCRYPTED ', 'ANY ', 'PGP ']

function buildAutomaton(values: string[]): Automaton {
  const texts: { text: string; kind: 'known' | 'header' | 'footer' }[] = []
  let breaks = 8
  for (const value of values) {
    for (const run of value.match(/[\r\n]+/g) ?? []) breaks = Math.max(breaks, 2 * run.length)
    for (const form of formsOf(value)) {
      texts.push({ text: form.replace(/[\r\n]/g, ''), kind: 'known' })
    }
  }
  for (const name of PEM_NAMES) {
    const end = name === 'PGP ' ? 'PRIVATE KEY BLOCK-----' : 'PRIVATE KEY-----'
    texts.push(
      { text: `-----BEGIN ${name}${end}`, kind: 'header' },
      { text: `-----END ${name}${end}`, kind: 'footer' },
    )
  }

  const size = texts.reduce((sum, { text }) => sum + text.length, 1)
  const a: Automaton = {
    root: new Int32Array(65_536),
    firstChild: new Int32Array(size),
    sibling: new Int32Array(size),
    code: new Uint16Array(size),
    fail: new Int32Array(size),
    depth: new Int32Array(size),
    known: new Int32Array(size),
    header: new Int32Array(size),
    footer: new Int32Array(size),
    breaks,
  }
  let count = 1
  const order: number[] = []
  for (const { text, kind } of texts) {
    let state = 0
    for (let at = 0; at < text.length; at += 1) {
      const unit = text.charCodeAt(at)
      let next = childOf(a, state, unit)
      if (next === 0) {
        next = count
        count += 1
        a.code[next] = unit
        a.depth[next] = at + 1
        a.sibling[next] = a.firstChild[state] ?? 0
        a.firstChild[state] = next
        if (state === 0) a.root[unit] = next
      }
      state = next
    }
    a[kind][state] = text.length
  }
  // Breadth first: a state's fall-back is always shallower, so it is finished before it is needed.
  order.push(0)
  for (let index = 0; index < order.length; index += 1) {
    const state = order[index] ?? 0
    for (let child = a.firstChild[state] ?? 0; child !== 0; child = a.sibling[child] ?? 0) {
      const fallBack = state === 0 ? 0 : advance(a, a.fail[state] ?? 0, a.code[child] ?? 0)
      a.fail[child] = fallBack
      a.known[child] ||= a.known[fallBack] ?? 0
      a.header[child] ||= a.header[fallBack] ?? 0
      a.footer[child] ||= a.footer[fallBack] ?? 0
      order.push(child)
    }
  }
  return a
}

function childOf(a: Automaton, state: number, unit: number): number {
  if (state === 0) return a.root[unit] ?? 0
  let child = a.firstChild[state] ?? 0
  while (child !== 0 && a.code[child] !== unit) child = a.sibling[child] ?? 0
  return child
}

function advance(a: Automaton, from: number, unit: number): number {
  let state = from
  for (;;) {
    const next = childOf(a, state, unit)
    if (next !== 0 || state === 0) return next
    state = a.fail[state] ?? 0
  }
}

// ---------------------------------------------------------------- well-known key shapes

const isTokenUnit = new Uint8Array(65_536)
for (const c of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.')
  isTokenUnit[c.charCodeAt(0)] = 1

/** One look that most runs do not pass. */
const ANY_START =
  /gh[pousr]_|github_pat_|sk-|A[KS]IA|xox[abeprs]-|xapp-|AIza|ya29\.|GOCSPX-|npm_|pypi-|glpat-|_live_|hf_|SG\.|dckr_pat_|shp|hvs\.|AGE-SECRET|sgamp_|crsr_|xai-|gsk_|eyJ/

/** Every expression is a start and one greedy class, so none can backtrack over more than one run. */
const SHAPES: { what: string; start: string; shape: RegExp; also?: RegExp }[] = [
  { what: 'a GitHub token', start: 'gh', shape: /gh[pousr]_[A-Za-z0-9]{20,}/g },
  { what: 'a GitHub token', start: 'github_pat_', shape: /github_pat_[A-Za-z0-9_]{20,}/g },
  { what: 'an Anthropic key', start: 'sk-ant-', shape: /sk-ant-[A-Za-z0-9_-]{16,}/g },
  // `sk-` alone also begins CSS classes and ends words: only with a long unbroken piece, and not within a word.
  {
    what: 'an API key (sk-...)',
    start: 'sk-',
    shape: /(?<![A-Za-z0-9])sk-[A-Za-z0-9_-]{20,}/g,
    also: /[A-Za-z0-9]{16}/,
  },
  { what: 'an AWS access key id', start: 'IA', shape: /(?<![A-Za-z0-9])A[KS]IA[A-Z0-9]{16}(?![A-Za-z0-9])/g },
  { what: 'a Slack token', start: 'xox', shape: /xox[abeprs]-[A-Za-z0-9-]{10,}/g },
  { what: 'a Google API key', start: 'AIza', shape: /AIza[A-Za-z0-9_-]{35}/g },
  { what: 'an npm token', start: 'npm_', shape: /npm_[A-Za-z0-9]{36,}/g },
  { what: 'a GitLab token', start: 'glpat-', shape: /glpat-[A-Za-z0-9_-]{20,}/g },
  { what: 'a PyPI token', start: 'pypi-', shape: /pypi-AgE[A-Za-z0-9_-]{50,}/g },
  { what: 'a live Stripe key', start: 'k_live_', shape: /(?<![A-Za-z0-9])[spr]k_live_[A-Za-z0-9]{16,}/g },
  { what: 'a Slack token', start: 'xapp-', shape: /xapp-\d-[A-Za-z0-9-]{20,}/g },
  { what: 'a Google token', start: 'ya29.', shape: /ya29\.[A-Za-z0-9_-]{30,}/g },
  { what: 'a Google client secret', start: 'GOCSPX-', shape: /GOCSPX-[A-Za-z0-9_-]{28}/g },
  {
    what: 'a SendGrid key',
    start: 'SG.',
    shape: /(?<![A-Za-z0-9])SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}/g,
  },
  { what: 'a Docker token', start: 'dckr_pat_', shape: /dckr_pat_[A-Za-z0-9_-]{27,}/g },
  { what: 'a Hugging Face token', start: 'hf_', shape: /(?<![A-Za-z0-9_])hf_[A-Za-z0-9]{34,}/g, also: /\d/ },
  { what: 'a Shopify token', start: 'shp', shape: /(?<![A-Za-z0-9])shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}/g },
  { what: 'a Vault token', start: 'hvs.', shape: /(?<![A-Za-z0-9.])hvs\.[A-Za-z0-9_-]{24,}/g, also: /\d/ },
  // `sgamp_user_`, 26 of a ULID, `_`, 64 of hex.
  {
    what: 'an Amp key',
    start: 'sgamp_',
    shape: /(?<![A-Za-z0-9])sgamp_[a-z]+_[A-Za-z0-9_-]{26,}/g,
    also: /\d/,
  },
  { what: 'a Cursor key', start: 'crsr_', shape: /(?<![A-Za-z0-9_])crsr_[A-Za-z0-9]{32,}/g, also: /\d/ },
  // 80 characters, and 52.
  { what: 'an xAI key', start: 'xai-', shape: /(?<![A-Za-z0-9_])xai-[A-Za-z0-9_]{60,}/g, also: /\d/ },
  { what: 'a Groq key', start: 'gsk_', shape: /(?<![A-Za-z0-9_])gsk_[A-Za-z0-9]{40,}/g, also: /\d/ },
  { what: 'an age key', start: 'AGE-SECRET', shape: /AGE-SECRET-KEY-1[A-Z0-9]{58}/g },
]

type Hit = { what: string; from: number; to: number }

/** The keys in a run of token characters. */
function keysIn(run: string): Hit[] {
  if (!ANY_START.test(run)) return []
  const hits: Hit[] = []
  for (const { what, start, shape, also } of SHAPES) {
    if (!run.includes(start)) continue
    for (const match of run.matchAll(shape)) {
      if (also !== undefined && !also.test(match[0].slice(3))) continue
      hits.push({ what, from: match.index, to: match.index + match[0].length })
    }
  }
  if (run.includes('eyJ')) hits.push(...webTokensIn(run))
  return hits
}

/** `eyJ... . ... . ...`: by its dots, because an expression would try every start against every end. */
function webTokensIn(run: string): Hit[] {
  const hits: Hit[] = []
  const parts = run.split('.')
  let from = 0
  for (let index = 0; index < parts.length; index += 1) {
    const [head, body, signature] = [parts[index] ?? '', parts[index + 1] ?? '', parts[index + 2] ?? '']
    const start = head.indexOf('eyJ')
    if (start !== -1 && head.length - start >= 12 && body.length >= 8 && signature.length >= 8) {
      const to = from + head.length + body.length + signature.length + 2
      hits.push({ what: 'a JSON web token', from: from + start, to })
    }
    from += head.length + 1
  }
  return hits
}

/** Folders of Slack's and Discord's URLs for webhooks. What follows tells them from any other, whatever the host. */
const WEBHOOKS = new Set(['services', 'workflows', 'triggers', 'webhooks'])
/** What follows: whose it is, which one, and a secret that is more than one character again and again. */
const WEBHOOK_TAIL =
  /^\/(?:[TE][A-Z0-9]{6,}\\?\/(?:(?:[AB][A-Z0-9]{6,}|\d{6,})\\?\/){1,2}(?!(.)\1*(?!\w))[A-Za-z0-9]{16,}(?!\w)|\d{15,21}\\?\/(?!(.)\2*(?![\w-]))[\w-]{50,})/
const WEBHOOK_LENGTH = 256

function isWebhook(text: string, from: number, to: number): boolean {
  return (to - from === 8 || to - from === 9) && WEBHOOKS.has(text.slice(from, to))
}

/** A slash, or what may stand before one: `\/`. */
function isSlash(unit: number): boolean {
  return unit === 47 || unit === 92
}

// ---------------------------------------------------------------- hex, as tools print it

/** So much may stand between two words of one value: a separator, a line break with its indentation. */
const HEX_GAP = 24
/** In a dump: the text at the end of a line, and where the next line begins. */
const DUMP_GAP = 120
/** Bytes in a row that may be a dump. */
const DUMP_BYTES = 4
/** Digits of a word; a longer one is not of a tool that parts them, and hex in one piece is found as text. */
const HEX_WORD = 512
/** What a run holds that has hex behind something else. */
const HEX_BEHIND = /[-._](?:[0-9A-Fa-f]{2}[-._]){3}/

const hexValue = new Int8Array(65_536).fill(-1)
for (const c of '0123456789abcdefABCDEF') hexValue[c.charCodeAt(0)] = Number.parseInt(c, 16)

/** Whether a run of token characters may be hex: a look at its ends, which most of them do not pass. */
function mayBeHex(text: string, from: number, to: number): boolean {
  return isHexEnd[text.charCodeAt(to - 1)] === 1 && isHexStart[text.charCodeAt(from)] === 1 && to - from > 1
}

const isHexEnd = hexValue.map((value) => (value < 0 ? 0 : 1))
const isHexStart = isHexEnd.slice()
for (const c of 'xX') isHexStart[c.charCodeAt(0)] = 1

/** The end of the word that begins at `from`: the next `-`, `.` or `_`, or the end of the run. */
function wordEnd(text: string, from: number, to: number): number {
  let at = from
  for (; at < to; at += 1) {
    const unit = text.charCodeAt(at)
    if (unit === 45 || unit === 46 || unit === 95) break
  }
  return at
}

function isX(text: string, at: number): boolean {
  return (text.charCodeAt(at) | 32) === 120
}

/** Where the digits of a word of whole bytes begin, behind `0x` or `x`; -1 where it is none. */
function hexDigits(text: string, from: number, to: number): number {
  const digits = isX(text, from)
    ? from + 1
    : text.charCodeAt(from) === 48 && isX(text, from + 1)
      ? from + 2
      : from
  if (digits >= to || (to - digits) % 2 !== 0 || to - digits > HEX_WORD) return -1
  for (let at = digits; at < to; at += 1) if ((hexValue[text.charCodeAt(at)] as number) < 0) return -1
  return digits
}

// ---------------------------------------------------------------- the scanner

type Scanner = RedactStream & { line(text: string): string }

/** So many units that may begin a known value are hidden at the end of a line. */
const BEGINNING = 8

/**
 * Goes over the text once, unit by unit, and marks what is secret. Whether a unit is marked depends on the text
 * alone, never on the portions it came in; a unit is given out when nothing to come can change its mark.
 */
function createScanner(a: Automaton, onFind: (what: string, offset: number) => void): Scanner {
  let buffer = '' // all offsets below count from its start
  let dropped = 0 // units given out before it
  let marks = new Uint8Array(1024)
  let marked = false // something in the buffer is marked
  let inSecret = false // the last unit given out belonged to a secret

  let state = 0
  let breaks = 0
  let runStart = -1
  /** The last known value: first and last+1 unit, and the same counted without line breaks. */
  const last = { from: 0, to: 0, plainFrom: 0, plainTo: 0 } // changed in place: it is set for every match
  let plain = 0 // units without line breaks so far
  let headers: { from: number; to: number; opens?: boolean }[] = []
  let bodyDone = 0 // lines of private keys without an end are marked up to here
  let scanned = 0
  /** The text with its escapes undone: followed from an escape on, for as long as a value may hold it. */
  let undone: { state: number; starts: number[]; escape: number } | null = null
  let pending: Escape | null = null // it goes on behind `scanned`
  const covered = { from: 0, to: 0 } // the last value found behind escapes
  let inKey = false // the last line belonged to a private key
  let webhook = -1 // where the secret part of a webhook's URL may begin
  /** The bytes of hex words: `starts` of those that may begin a value, `to` behind the last one of `row` in a row. */
  const hex = { state: 0, starts: [] as number[], to: 0, row: 0, skipped: 0, width: 0, isAside: false }
  const hexCovered = { from: 0, to: 0 }

  const mark = (wanted: number, to: number): void => {
    const from = Math.max(0, wanted) // what a line began is given out already
    // A call of `fill` for every single unit is slow on Node 20.
    if (to - from < 32) for (let at = from; at < to; at += 1) marks[at] = 1
    else marks.fill(1, from, to)
    marked = true
  }
  /** The offset of the first of `count` units that end before `end`, line breaks not counted. */
  const back = (end: number, count: number): number => {
    let at = end
    for (let left = count; left > 0 && at > 0; at -= 1) if (!isBreak(buffer.charCodeAt(at - 1))) left -= 1
    return at
  }

  /** A known value of `length` units ends before `end`. Only units not marked yet are walked over. */
  const knownEnds = (end: number, length: number): void => {
    const plainFrom = plain - length
    if (last.plainTo > plainFrom) {
      mark(last.to, end)
      if (plainFrom < last.plainFrom) {
        const from = back(last.from, last.plainFrom - plainFrom)
        mark(from, last.from)
        last.from = from
        last.plainFrom = plainFrom
      }
      last.to = end
      last.plainTo = plain
      return
    }
    const from = back(end, length)
    mark(from, end)
    onFind(KNOWN, dropped + from)
    Object.assign(last, { from, to: end, plainFrom, plainTo: plain })
  }

  /** Whether the digits are an escape's, which is undone anyway. What a value may hold is not given out yet. */
  const isPercent = (from: number): boolean => undone?.escape === from - 1 && buffer[from - 1] === '%'

  const runEnds = (from: number, to: number): void => {
    if (hex.state !== 0 || (mayBeHex(buffer, from, to) && !isPercent(from))) takeHex(from, to)
    if (to - from >= MIN_TOKEN) longRunEnds(from, to)
  }
  const longRunEnds = (from: number, to: number): void => {
    const run = buffer.slice(from, to)
    if (hex.state === 0 && HEX_BEHIND.test(run)) takeHex(from, to)
    for (const hit of keysIn(run)) {
      mark(from + hit.from, from + hit.to)
      onFind(hit.what, dropped + from + hit.from)
    }
  }

  const opens = (it: { to: number; opens?: boolean }): boolean => it.opens ?? isKeyStart(buffer, it.to)

  const keyEnds = (end: number): void => {
    const first = headers.find(opens)
    headers = []
    inKey = false
    if (first === undefined) return
    mark(first.from, end)
    onFind(PRIVATE_KEY, dropped + first.from)
  }
  const markKeyLines = (from: number, to: number): void => {
    for (const line of buffer.slice(from, to).matchAll(/[A-Za-z0-9+/=]{24,}/g)) {
      mark(from + line.index, from + line.index + line[0].length)
    }
  }
  /** Headers whose footer did not come: the header and what looks like the key's own lines. */
  const expire = (before: number): void => {
    for (
      let first = headers[0];
      first !== undefined && first.from + PEM_WINDOW <= before;
      first = headers[0]
    ) {
      headers.shift()
      if (!opens(first)) continue
      mark(first.from, first.to)
      onFind(PRIVATE_KEY, dropped + first.from)
      // Headers in a row share most of their window: what was looked at stays so, but for a line on the border.
      const body = Math.max(0, first.to, bodyDone - PEM_LINE)
      markKeyLines(body, Math.max(body, first.from + PEM_WINDOW))
      bodyDone = first.from + PEM_WINDOW
    }
  }

  /** What is ready to begin a value in the undone text: the plain text's last units. */
  const beginUndone = (at: number) => {
    const starts: number[] = []
    let left = a.depth[state] ?? 0
    for (let one = at; left > 0 && one > 0; one -= 1) {
      if (isBreak(buffer.charCodeAt(one - 1))) continue
      starts.push(one - 1)
      left -= 1
    }
    return { state, starts: starts.reverse(), escape: at }
  }

  /** One unit of the undone text, which stands at `from` to `to`. */
  const takeUndone = (it: NonNullable<typeof undone>, unit: number, from: number, to: number): void => {
    it.state = advance(a, it.state, unit)
    it.starts.push(from)
    const depth = a.depth[it.state] ?? 0
    if (it.starts.length > 2 * depth + 64) it.starts = it.starts.slice(it.starts.length - depth)
    const length = a.known[it.state] ?? 0
    if (length > 0) undoneEnds(it.starts.at(-length) ?? from, to)
    // Without an escape in it, it is the plain text, which is followed anyway.
    if (depth === 0 || (it.starts.at(-depth) ?? from) > it.escape) undone = null
  }

  const undoneEnds = (from: number, to: number): void => encodedEnds(covered, from, to)
  const encodedEnds = (covered: { from: number; to: number }, from: number, to: number): void => {
    const isTold = marks[Math.max(0, from)] === 1 && marks[to - 1] === 1
    const goesOn = from >= covered.from && from <= covered.to
    mark(goesOn ? covered.to : from, to)
    if (!goesOn) covered.from = from
    covered.to = to
    if (!isTold) onFind(KNOWN, dropped + from)
  }

  const hexReach = (): number => (hex.row >= DUMP_BYTES ? DUMP_GAP : HEX_GAP)

  /** A run of token characters, read as hex. Runs of anything else end a value, but at the end of a dump's line. */
  const takeHex = (from: number, to: number): void => {
    if (from < hex.to || from - hex.to > hexReach()) {
      hex.state = 0
      hex.row = 0
    }
    if (hex.state !== 0 && isAside(from, to)) return
    for (let at = from; at < to; ) {
      const end = wordEnd(buffer, at, to)
      const digits = end === at ? at : hexDigits(buffer, at, end)
      if (digits === -1) {
        if (hex.state !== 0 && hex.row >= DUMP_BYTES) hex.isAside = true
        else hex.state = 0
      } else if (hex.state === 0 || !hex.isAside) {
        if (hex.state === 0) hex.width = end - digits
        for (let one = digits; one < end; one += 2) takeByte(one === digits ? at : one, one)
      }
      at = end + 1
    }
  }

  /** Whether a run is not of the bytes of a dump, but of the text beside them, or says where its line begins. */
  const isAside = (from: number, to: number): boolean => {
    // Nearly always it is one sign.
    if (from - hex.to === 1 && !isBreak(buffer.charCodeAt(hex.to))) return hex.isAside
    const gap = buffer.slice(Math.max(0, hex.to), from)
    const isNewLine = hex.to < 0 || gap.includes('\n')
    const length = to - from
    if (isNewLine) {
      hex.isAside = false
      const isNumber = length >= 4 && length <= 16 && /^[0-9a-f]+$/i.test(buffer.slice(from, to))
      const isOffset = isNumber && (buffer[to] === ':' || (length >= 6 && length !== hex.width))
      if (isOffset) hex.to = to
      return isOffset
    }
    hex.isAside ||= hex.row >= DUMP_BYTES && (gap.includes('|') || (/\s\s/.test(gap) && length > hex.width))
    return hex.isAside
  }

  /** One byte, whose digits are at `digits`, and which begins at `from`: before its `0x`. */
  const takeByte = (from: number, digits: number): void => {
    const byte =
      16 * (hexValue[buffer.charCodeAt(digits)] as number) +
      (hexValue[buffer.charCodeAt(digits + 1)] as number)
    hex.to = digits + 2
    hex.row += 1
    // Nothing ends here and nothing begins.
    if (hex.state === 0 && a.root[byte] === 0) return
    // Line breaks are left out everywhere, and zeros make UTF-16.
    if (byte === 0 || isBreak(byte)) {
      hex.skipped += 1
      if (hex.skipped > a.breaks) hex.state = 0
      return
    }
    hex.skipped = 0
    if (hex.state === 0) {
      hex.starts.length = 0
      hex.isAside = false
    }
    hex.state = advance(a, hex.state, byte)
    hex.starts.push(from)
    const depth = a.depth[hex.state] as number
    if (hex.starts.length > 2 * depth + 64) hex.starts = hex.starts.slice(hex.starts.length - depth)
    const length = a.known[hex.state] as number
    if (length > 0) encodedEnds(hexCovered, hex.starts.at(-length) ?? from, hex.to)
  }

  /** A unit that is of no token ends the run before it, and mostly a webhook's URL, too. */
  const tokensEnd = (at: number, unit: number): void => {
    if (webhook !== -1 && (!isSlash(unit) || at - webhook > WEBHOOK_LENGTH)) webhookEnds(at)
    if (runStart === -1) return
    runEnds(runStart, at)
    if (isSlash(unit) && webhook === -1 && isWebhook(buffer, runStart, at)) webhook = at
    runStart = -1
  }

  const webhookEnds = (end: number): void => {
    const from = buffer[webhook] === '\\' ? webhook + 1 : webhook
    const [found] = WEBHOOK_TAIL.exec(buffer.slice(from, end)) ?? []
    webhook = -1
    if (found === undefined || !/\d/.test(found)) return
    mark(from + 1, from + found.length)
    onFind(/^.[TE]/.test(found) ? 'a Slack webhook' : 'a Discord webhook', dropped + from + 1)
  }

  /** Goes on to the end, or to what may be an escape of which the end is not there yet. */
  const scan = (isEnd: boolean): void => {
    const { root, known, header, footer } = a
    let at = scanned
    for (; at < buffer.length; at += 1) {
      const unit = buffer.charCodeAt(at)
      if (pending === null && startsEscape(unit)) {
        pending = escapeAt(buffer, at)
        if (pending === null && !isEnd && mayBecomeEscape(buffer, at)) break
        if (pending !== null) undone ??= beginUndone(at)
      }
      if (isTokenUnit[unit] === 1) {
        if (runStart === -1) runStart = at
        else if (at - runStart >= RUN_WINDOW) {
          runEnds(runStart, at)
          runStart = at - RUN_OVERLAP
          if (webhook !== -1) webhookEnds(at)
        }
      } else if (runStart !== -1) {
        // Most runs are words: no function is called for them.
        const isWord = at - runStart < 8 && isHexEnd[buffer.charCodeAt(at - 1)] === 0
        if (isWord && hex.state === 0 && webhook === -1) runStart = -1
        else tokensEnd(at, unit)
      } else if (webhook !== -1) tokensEnd(at, unit)
      if (unit === 10 || unit === 13) {
        breaks += 1
        if (breaks > a.breaks) {
          state = 0
          undone = null
        }
      } else {
        breaks = 0
        plain += 1
        state = state === 0 ? (root[unit] as number) : advance(a, state, unit)
        if (state !== 0) {
          const length = known[state] as number
          if (length > 0) knownEnds(at + 1, length)
          if (header[state] !== 0 || footer[state] !== 0) {
            expire(at + 1)
            if (header[state] !== 0) headers.push({ from: back(at + 1, header[state] as number), to: at + 1 })
            else keyEnds(at + 1)
          }
        }
      }
      if (undone === null && pending === null) continue
      if (pending === null) {
        if (undone !== null && !isBreak(unit)) takeUndone(undone, unit, at, at + 1)
      } else if (pending.to === at + 1) {
        const { units, from, to } = pending
        pending = null
        if (undone !== null) undone.escape = from
        for (let index = 0; index < units.length && undone !== null; index += 1)
          takeUndone(undone, units.charCodeAt(index), from, to)
        if (undone?.state === 0) undone = null
      }
    }
    scanned = at
    expire(scanned)
  }

  /** The first unit that may still become secret. */
  const firstOpen = (): number => {
    const partial = state === 0 ? scanned : back(scanned, a.depth[state] ?? 0)
    const run = runStart === -1 ? scanned : runStart
    if (hex.state !== 0 && run - hex.to > hexReach()) hex.state = 0
    const inHex = hex.state === 0 ? scanned : (hex.starts.at(-(a.depth[hex.state] ?? 0)) ?? scanned)
    const hidden = undone === null ? scanned : (undone.starts.at(-(a.depth[undone.state] ?? 0)) ?? scanned)
    const hook = webhook === -1 ? scanned : webhook
    return Math.min(partial, run, hidden, inHex, hook, pending?.from ?? scanned, headers[0]?.from ?? scanned)
  }

  /** Hides at the end of a line what the next one may make a secret. */
  const hideBeginnings = (text: string): void => {
    const end = buffer.length
    const depth = a.depth[state] ?? 0
    if (depth >= BEGINNING) mark(back(end, depth), end)
    const undoneDepth = a.depth[undone?.state ?? 0] ?? 0
    if (undoneDepth >= BEGINNING) mark(undone?.starts.at(-undoneDepth) ?? end, end)
    const hexDepth = a.depth[hex.state] ?? 0
    if (hexDepth >= BEGINNING) mark(hex.starts.at(-hexDepth) ?? end, end)
    if (inKey && /^[\s>|]*[A-Za-z0-9+/=]+\s*$/.test(text)) mark(0, text.length)
    else if (!/^\s*$|^\s*[\w-]+: /.test(text)) inKey = false
    headers = headers.filter(opens)
    for (const it of headers) {
      inKey ||= it.to > 0
      it.opens = true
      mark(it.from, it.to)
      markKeyLines(Math.max(0, it.to), end)
    }
  }

  const give = (safe: number): string => {
    let out = ''
    if (!marked && safe > 0) {
      out = buffer.slice(0, safe)
      inSecret = false
    } else {
      const done = marks.subarray(0, safe)
      for (let at = 0; at < safe; ) {
        const secret = done[at] === 1
        const change = done.indexOf(secret ? 0 : 1, at)
        const next = change === -1 ? safe : change
        if (!secret) out += buffer.slice(at, next)
        else if (!inSecret) out += REDACTED
        inSecret = secret
        at = next
      }
    }
    marks.copyWithin(0, safe, buffer.length)
    marks.fill(0, buffer.length - safe, buffer.length)
    marked = marked && marks.subarray(0, buffer.length - safe).includes(1)
    buffer = buffer.slice(safe)
    dropped += safe
    if (runStart !== -1) runStart -= safe
    bodyDone -= safe
    scanned -= safe
    if (webhook !== -1) webhook -= safe
    hex.to -= safe
    if (hex.state !== 0) hex.starts = hex.starts.map((start) => start - safe)
    for (const it of [last, covered, hexCovered, ...headers, ...(pending === null ? [] : [pending])]) {
      it.from -= safe
      it.to -= safe
    }
    if (undone !== null) {
      undone.starts = undone.starts.map((start) => start - safe)
      undone.escape -= safe
    }
    return out
  }

  const take = (chunk: string): void => {
    const from = buffer.length
    buffer += chunk
    if (buffer.length <= marks.length) return
    const more = new Uint8Array(Math.max(buffer.length, 2 * marks.length))
    more.set(marks.subarray(0, from))
    marks = more
  }

  return {
    write(chunk) {
      if (chunk === '') return ''
      take(chunk)
      scan(false)
      return give(firstOpen())
    },
    end() {
      scan(true)
      if (runStart !== -1) runEnds(runStart, buffer.length)
      if (webhook !== -1) webhookEnds(buffer.length)
      runStart = -1
      hex.state = 0
      state = 0
      undone = null
      expire(Number.MAX_SAFE_INTEGER)
      return give(buffer.length)
    },
    line(text) {
      inSecret = false
      take(`${text}\n`)
      scan(true)
      hideBeginnings(text)
      return give(buffer.length).replace(/\n$/, '')
    },
  }
}

function isBreak(unit: number): boolean {
  return unit === 10 || unit === 13
}

/** A line break follows a key's header, a real or an escaped one; code that only looks for the header has none. */
function isKeyStart(text: string, at: number): boolean {
  return /^[ \t]*(?:$|[\r\n]|\\+[rn])/.test(text.slice(at, at + 16))
}
