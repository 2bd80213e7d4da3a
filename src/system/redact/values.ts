// The forms in which a known value gives itself away.

/** Shorter values are ignored: hiding `true` or `1234` would garble every text and protect nothing. */
const MIN_VALUE = 6
const HTML: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** Every text that gives one of the values away, in the views of views.ts: without line breaks. */
export function formsOf(values: readonly string[]): string[] {
  const forms = new Set<string>()
  for (const value of values) {
    // The value without blanks around it is found in the value with them, in every encoding.
    for (const part of [value, ...value.split(/[\r\n]+/)].map((it) => it.trim())) {
      if (withoutBreaks(part).length < MIN_VALUE || /^\**$/.test(part)) continue
      for (const form of encodingsOf(part)) forms.add(withoutBreaks(form))
    }
  }
  return [...forms]
}

function withoutBreaks(text: string): string {
  return text.replace(/[\r\n]/g, '')
}

/** Escapes are undone once by a view: those that stand here are found behind a second escape, too (JSON in JSON). */
function encodingsOf(value: string): string[] {
  const bytes = new TextEncoder().encode(value)
  const binary = binaryOf(bytes) // escapes and hex are undone byte by byte
  const url = encodeURIComponent(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes))
  const strict = url.replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)
  const json = JSON.stringify(value).slice(1, -1)
  const html = value.replace(/[&<>"]/g, (c) => HTML[c] ?? c)
  const hex = Buffer.from(bytes).toString('hex')
  return [
    value,
    binary,
    binary.replaceAll(' ', '+'), // of a form
    url,
    strict,
    strict.replaceAll('%20', '+'),
    json,
    json.replace(/[\u007f-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`),
    html,
    html.replaceAll("'", '&#39;'),
    hex,
    hex.toUpperCase(),
    ...base64Of(bytes),
    ...base64Of(Buffer.from(value, 'utf16le')), // as PowerShell takes and gives it (`-EncodedCommand`)
  ]
}

/** In each alignment and both alphabets: the characters that depend on these bytes alone. */
function base64Of(bytes: Uint8Array): string[] {
  return [0, 1, 2].flatMap((shift) => {
    const text = Buffer.concat([new Uint8Array(shift), bytes]).toString('base64')
    const inside = text.slice(Math.ceil((shift * 8) / 6), Math.floor(((shift + bytes.length) * 8) / 6))
    return [inside, inside.replaceAll('+', '-').replaceAll('/', '_')]
  })
}

/** A unit for each byte. */
function binaryOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('latin1')
}
