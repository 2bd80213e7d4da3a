// Holds back what a client sends through a tunnel until it is known which server it asks for.
import { Transform } from 'node:stream'
import { type ClientHello, readClientHello } from './client-hello.ts'

/** A record without effect. It may come before a second hello, which answers a server that wants other keys (RFC 8446, 4.1.4). */
const WITHOUT_EFFECT = Buffer.from([20, 3, 3, 0, 1, 1])
/** Why TLS is refused, said in TLS: a fatal alert `unrecognized_name`. */
export const UNRECOGNIZED_NAME = Buffer.from([21, 3, 3, 0, 2, 2, 112])

export type TlsRules = {
  /** Whether the client may ask for this server. A name that is encrypted, or missing, is null. */
  permits(name: string | null): boolean
  /** Whether the connection may carry something else than TLS. */
  allowsOther: boolean
}

/** Passes a client's bytes on. Fails before the first byte of a hello that is not permitted. */
export function checkedTls({ permits, allowsOther }: TlsRules): Transform {
  let pending: Buffer = Buffer.alloc(0)
  let phase: 'first' | 'second' | 'over' = 'first'

  const judge = (hello: ClientHello): 'wait' | 'pass' | 'refuse' => {
    if (hello.kind === 'more') return 'wait'
    // A second message that is not a hello is the rest of the first one's connection.
    if (hello.kind === 'other') return phase === 'second' || allowsOther ? 'pass' : 'refuse'
    return permits(hello.isEncrypted ? null : hello.name) ? 'pass' : 'refuse'
  }
  const skipped = (): number => {
    if (phase !== 'second') return 0
    return pending.subarray(0, WITHOUT_EFFECT.length).equals(WITHOUT_EFFECT) ? WITHOUT_EFFECT.length : 0
  }
  const isBeginningOfSkipped = (): boolean =>
    phase === 'second' &&
    pending.length < WITHOUT_EFFECT.length &&
    WITHOUT_EFFECT.subarray(0, pending.length).equals(pending)

  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      if (phase === 'over') return done(null, chunk)
      pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk])
      while (phase !== 'over' && pending.length > 0 && !isBeginningOfSkipped()) {
        const from = skipped()
        const hello = readClientHello(pending.subarray(from))
        const verdict = judge(hello)
        if (verdict === 'wait') break
        if (verdict === 'refuse')
          return done(new Error('the server that the client asks for is not permitted'))
        const end = hello.kind === 'hello' ? from + hello.length : pending.length
        this.push(pending.subarray(0, end))
        pending = pending.subarray(end)
        phase = phase === 'first' && hello.kind === 'hello' ? 'second' : 'over'
      }
      if (phase !== 'over') return done()
      const rest = pending
      pending = Buffer.alloc(0)
      done(null, rest.length === 0 ? undefined : rest)
    },
  })
}
