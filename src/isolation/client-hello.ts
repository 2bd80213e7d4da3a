// Reads the server's name from the beginning of a TLS connection (RFC 8446, 4.1.2; RFC 6066, 3). Pure and bounded.

/**
 * `more`: it is not complete yet. `hello`: the name is null if there is none, or more than one; `isEncrypted`: another one may be
 * encrypted in it. `other`: it is not the beginning of a TLS connection.
 */
export type ClientHello =
  | { kind: 'more' }
  | { kind: 'other' }
  | { kind: 'hello'; name: string | null; isEncrypted: boolean; length: number }

const HANDSHAKE = 22
const CLIENT_HELLO = 1
/** Bytes. A hello with post-quantum keys has about 2,000. */
const MAX_HELLO = 32 * 1024
const MAX_RECORD = 16 * 1024
/** More records for one hello are an attempt to keep us busy. */
const MAX_RECORDS = 32
const RECORD_HEADER = 5
const MESSAGE_HEADER = 4
const SERVER_NAME = 0
/** Encrypted Client Hello (RFC 9849). */
const ENCRYPTED_HELLO = 0xfe0d

/** Reads the first message, which may be split over several records. Never throws. */
export function readClientHello(bytes: Buffer): ClientHello {
  const parts: Buffer[] = []
  let collected = 0
  let at = 0
  for (let records = 0; records < MAX_RECORDS; records += 1) {
    // Each known byte is judged at once: a program of another protocol may wait for an answer to a few bytes.
    if (at < bytes.length && bytes[at] !== HANDSHAKE) return OTHER
    if (at + 1 < bytes.length && bytes[at + 1] !== 3) return OTHER
    if (at + RECORD_HEADER > bytes.length) return MORE
    const length = bytes.readUInt16BE(at + 3)
    if (length === 0 || length > MAX_RECORD) return OTHER
    const from = at + RECORD_HEADER
    const part = bytes.subarray(from, from + length)
    parts.push(part)
    collected += part.length
    const message = Buffer.concat(parts, collected)
    if (message.length > 0 && message[0] !== CLIENT_HELLO) return OTHER
    const size = message.length < MESSAGE_HEADER ? null : MESSAGE_HEADER + message.readUIntBE(1, 3)
    if (size !== null && size > MAX_HELLO) return OTHER
    if (size !== null && message.length >= size)
      return helloIn(message.subarray(MESSAGE_HEADER, size), from + length)
    if (part.length < length) return MORE
    at = from + length
  }
  return OTHER
}

const MORE: ClientHello = { kind: 'more' }
const OTHER: ClientHello = { kind: 'other' }

function helloIn(body: Buffer, length: number): ClientHello {
  try {
    const rest = new Fields(body)
    rest.skip(2 + 32) // version, random
    rest.vector(1) // session
    rest.vector(2) // cipher suites
    rest.vector(1) // compression
    const names: string[] = []
    let isEncrypted = false
    for (const extensions = new Fields(rest.vector(2)); !extensions.isEmpty; ) {
      const type = extensions.number(2)
      const data = extensions.vector(2)
      if (type === SERVER_NAME) names.push(...serverNames(data))
      if (type === ENCRYPTED_HELLO) isEncrypted = true
    }
    const [name = null, ...others] = names
    return { kind: 'hello', name: others.length === 0 ? name : null, isEncrypted, length }
  } catch (error) {
    if (error instanceof RangeError) return OTHER
    throw error
  }
}

function serverNames(data: Buffer): string[] {
  const names: string[] = []
  for (const list = new Fields(new Fields(data).vector(2)); !list.isEmpty; ) {
    list.skip(1) // the type: a host
    names.push(list.vector(2).toString('latin1').toLowerCase().replace(/\.$/, ''))
  }
  return names
}

/** Fields one after the other. Throws RangeError at the end. */
class Fields {
  #at = 0
  readonly #bytes: Buffer

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  get isEmpty(): boolean {
    return this.#at === this.#bytes.length
  }

  number(size: number): number {
    return this.#take(size).readUIntBE(0, size)
  }

  /** Bytes with their length in front of them, in so many bytes. */
  vector(size: number): Buffer {
    return this.#take(this.number(size))
  }

  skip(size: number): void {
    this.#take(size)
  }

  #take(size: number): Buffer {
    const bytes = this.#bytes.subarray(this.#at, this.#at + size)
    if (bytes.length < size) throw new RangeError('the message is too short')
    this.#at += size
    return bytes
  }
}
