// Cuts the model's key out of what a vendor answers: it may repeat what it was sent, on an error page or in a header.
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { type Duplex, Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'

/** A shorter one is a word that stands everywhere by chance: people write `ollama` for a server that asks for none. */
const SHORTEST_KEY = 8
/** The same of a part: one that people made up (`my-local-key`) is cut out whole, or not at all. */
const SHORTEST_BEGINNING = 16

/** The key as it is, and as it stands within an address or JSON. */
function formsOf(key: string): Buffer[] {
  if (key.length < SHORTEST_KEY) return []
  const forms = new Set([key, encodeURIComponent(key), JSON.stringify(key).slice(1, -1)])
  return [...forms].map((form) => Buffer.from(form))
}

/** A server may end its page within a key, at a length that the asker has a say in: half of one is as good as cut out whole. */
const minimumMatch = ({ length }: Buffer) =>
  Math.min(length, Math.max(SHORTEST_BEGINNING, Math.ceil(length / 2)))

/** As long as what it stands for: lengths that were announced stay true. */
const MASK = '*'

/**
 * Passes bytes on as they come, with other ones in the place of the key. Of a chunk only the end waits that may be the
 * beginning of a key. `hear` gets the bytes as they came.
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

/** How many bytes at the end of `whole` are the beginning of `form`, and not all of it. */
function partialMatch(whole: Buffer, form: Buffer): number {
  for (let length = Math.min(form.length - 1, whole.length); length > 0; length -= 1)
    if (whole.subarray(whole.length - length).equals(form.subarray(0, length))) return length
  return 0
}

/** Without keys and beginnings of one; where more follows, what stands at the end may be one that goes on. */
function cut(bytes: Buffer, forms: readonly Buffer[], end: 'more follows' | 'over' = 'over'): Buffer {
  let found = bytes
  for (const form of forms) {
    for (const start of [form, form.subarray(0, minimumMatch(form))])
      for (let at = found.indexOf(start); at >= 0; at = found.indexOf(start, at + 1)) {
        const length = sameLength(found, at, form)
        if (end === 'more follows' && length < form.length && at + length === found.length) break
        // Others hold the bytes that came.
        if (found === bytes) found = Buffer.from(bytes)
        found.fill(MASK, at, at + length)
      }
  }
  return found
}

/** How many bytes from `at` on are those of `form`. */
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

/** The answer as if it had come plain, for a server may pack it although it was asked not to. Throws for what cannot be read. */
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
