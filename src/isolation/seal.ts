// Seals values with a key that no untrusted program has, for files and refs that everyone can read.
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { isSealed } from '../engine/model/example.ts'
import type { SealPort } from '../engine/model/ports.ts'
import { createRedactor } from './redact.ts'

const VERSION = 'v1'
const NONCE_BYTES = 12
const TAG_BYTES = 16
/** Values are padded to a multiple of this, so that the length does not tell `true` from `false`. */
const PADDING = 128
/** Knows the shapes of keys, and no value of this run. */
const { redact } = createRedactor([])

/** `secret`: any text; the same text opens what it sealed. */
export function sealWith(secret: string): SealPort {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'ralph sealed examples', 32))
  return {
    seal(value) {
      let sealed = sealedBox(key, value)
      // A box is random text, so about one in 20,000 looks like a key and would be masked in prd.json.
      while (redact(sealed) !== sealed) sealed = sealedBox(key, value)
      return { sealed }
    },
    open(value) {
      if (!isSealed(value)) return { value }
      try {
        return { value: openBox(key, value.sealed) }
      } catch {
        return null
      }
    },
  }
}

function sealedBox(key: Buffer, value: unknown): string {
  const text = JSON.stringify([value === undefined ? null : value])
  const padded = text.padEnd(Math.ceil(text.length / PADDING) * PADDING)
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, nonce)
  const bytes = [nonce, cipher.update(padded, 'utf8'), cipher.final(), cipher.getAuthTag()]
  return `${VERSION}:${Buffer.concat(bytes).toString('base64url')}`
}

function openBox(key: Buffer, sealed: string): unknown {
  const [version, text = ''] = sealed.split(':')
  const bytes = Buffer.from(text, 'base64url')
  if (version !== VERSION || bytes.length < NONCE_BYTES + TAG_BYTES) throw new Error('not a sealed value')
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES))
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
  const opened = [decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]
  const [value]: unknown[] = JSON.parse(Buffer.concat(opened).toString('utf8'))
  return value
}
