// Masks the model's key in a vendor's responses, which may repeat what was sent: on an error page or in a header.
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { type Duplex, Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'

/** A shorter key is a common word: people write `ollama` for a server that needs no key. */
const SHORTEST_KEY = 8
/** The same for a part of a key: a key that people made up (`my-local-key`) is masked whole or not at all. */
const SHORTEST_BEGINNING = 16

/** The key unchanged, URL-encoded, and as in JSON. */
function formsOf(key: string): Buffer[] {
  if (key.length < SHORTEST_KEY) return []
  const forms = new Set([key, encodeURIComponent(key), JSON.stringify(key).slice(1, -1)])
  return [...forms].map((form) => Buffer.from(form))
}

/** How many bytes of a key count as the key. An agent may choose where a server cuts its page, so half a key is masked as well. */
const minimumMatch = ({ length }: Buffer) =>
  Math.min(length, Math.max(SHORTEST_BEGINNING, Math.ceil(length / 2)))

/** One character for each byte, so that a content-length stays correct. */
const MASK = '*'

/**
 * Passes bytes on with the key masked. Only the end of a chunk that may be the beginning of a key is held back.
 * `onChunk` gets the original bytes.
 */
export function keyCutter(key: string, onChunk: (chunk: Buffer) => void = () => {}): Transform {
  const forms = formsOf(key)
  let pending: Buffer = Buffer.alloc(0)
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      onChunk(chunk)
      const whole = cut(pending.length === 0 ? chunk : Buffer.concat([pending, chunk]), forms, 'more follows')
      const keptBytes = Math.max(0, ...forms.map((form) => partialMatch(whole, form)))
      pending = whole.subarray(whole.length - keptBytes)
      done(null, whole.subarray(0, whole.length - keptBytes))
    },
    flush(done) {
      done(null, cut(pending, forms))
    },
  })
}

/** How many bytes at the end of `whole` are a proper prefix of `form`. */
function partialMatch(whole: Buffer, form: Buffer): number {
  for (let length = Math.min(form.length - 1, whole.length); length > 0; length -= 1)
    if (whole.subarray(whole.length - length).equals(form.subarray(0, length))) return length
  return 0
}

/** Masks keys and long prefixes of keys. If more follows, a prefix at the very end is left for the next chunk. */
function cut(bytes: Buffer, forms: readonly Buffer[], end: 'more follows' | 'over' = 'over'): Buffer {
  let found = bytes
  for (const form of forms) {
    for (const start of [form, form.subarray(0, minimumMatch(form))])
      for (let at = found.indexOf(start); at >= 0; at = found.indexOf(start, at + 1)) {
        const length = sameLength(found, at, form)
        if (end === 'more follows' && length < form.length && at + length === found.length) break
        // A copy: others still use the original bytes.
        if (found === bytes) found = Buffer.from(bytes)
        found.fill(MASK, at, at + length)
      }
  }
  return found
}

/** How many bytes from `at` on match `form`. */
function sameLength(bytes: Buffer, at: number, form: Buffer): number {
  let length = 0
  while (length < form.length && bytes[at + length] === form[length]) length += 1
  return length
}

export function withoutKey(headers: IncomingHttpHeaders, key: string): IncomingHttpHeaders {
  const forms = formsOf(key)
  const clean = (text: string) => cut(Buffer.from(text, 'latin1'), forms).toString('latin1')
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.map(clean) : value === undefined ? value : clean(value),
    ]),
  )
}

const DECODERS: Readonly<Record<string, () => Duplex>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
}

/** The decoders for a response that a server compressed although it was asked not to. Throws for an unknown encoding. */
export function decodeResponse({ headers, statusCode }: IncomingMessage, isHead: boolean) {
  const { 'content-encoding': encoding = '', 'content-length': _length, ...others } = headers
  const names = encoding
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
  const encodings = names.filter((name) => name !== '' && name !== 'identity').reverse()
  const hasBody = !isHead && statusCode !== 204 && statusCode !== 304
  if (encodings.length === 0 || !hasBody) return { headers, decoders: [] }
  const decoders = encodings.map((name) => {
    const decoder = DECODERS[name]
    if (decoder === undefined) throw new Error('the answer is in an encoding that cannot be read')
    return decoder()
  })
  return { headers: others, decoders }
}
