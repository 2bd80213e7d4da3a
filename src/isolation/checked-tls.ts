// Holds back what a client sends through a tunnel until it is known which server it asks for.
import { Transform } from 'node:stream'
import { readClientHello } from './client-hello.ts'

/** Why TLS is refused, said in TLS: a fatal alert `unrecognized_name`. */
export const UNRECOGNIZED_NAME = Buffer.from([21, 3, 3, 0, 2, 2, 112])

const HANDSHAKE = 22
/** Records of other types: change of the cipher, alerts, data. */
const OTHER_RECORDS = [20, 21, 23]
const RECORD_HEADER = 5

export type TlsRules = {
  /** Whether the client may ask for this server. A name that is encrypted, or missing, is null. */
  permits(name: string | null): boolean
  /** Whether the connection may carry something else than TLS. */
  allowsOther: boolean
}

/**
 * Passes a client's bytes on. Fails before the first byte of a hello that is not permitted. A client sends a second hello if the server
 * wants other keys (RFC 8446, 4.1.4). Other records may come before it, so every record is examined.
 */
export function checkedTls({ permits, allowsOther }: TlsRules): Transform {
  let pending: Buffer = Buffer.alloc(0)
  let isTls = false
  /** Bytes of the current record that are still to come. */
  let left = 0

  /** How many of the bytes may be passed on now; null if none may ever be. */
  const judge = (bytes: Buffer): number | null => {
    if (isTls && bytes[0] !== HANDSHAKE) return recordBytes(bytes, OTHER_RECORDS)
    const hello = readClientHello(bytes)
    if (hello.kind === 'more') return 0
    if (hello.kind === 'other') {
      if (isTls) return recordBytes(bytes, [HANDSHAKE])
      return allowsOther ? Number.POSITIVE_INFINITY : null
    }
    isTls = true
    return permits(hello.isEncrypted ? null : hello.name) ? hello.length : null
  }

  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk])
      while (pending.length > 0) {
        if (left === 0) {
          const passed = judge(pending)
          if (passed === null) return done(new Error('network-allow does not permit this server'))
          if (passed === 0) break
          left = passed
        }
        const part = pending.subarray(0, left)
        this.push(part)
        pending = pending.subarray(part.length)
        left -= part.length
      }
      done()
    },
  })
}

/** The length of a record of these types, 0 if its header is no longer complete. What is not TLS no server reads: all of it. */
function recordBytes(bytes: Buffer, types: readonly number[]): number {
  if (!types.includes(bytes[0] ?? 0)) return Number.POSITIVE_INFINITY
  return bytes.length < RECORD_HEADER ? 0 : RECORD_HEADER + bytes.readUInt16BE(3)
}
