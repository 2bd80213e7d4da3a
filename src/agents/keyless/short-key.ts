// A way to a model without a stored key: the job's identity is exchanged for a key of minutes. It makes no requests by itself.

/** One request to a provider. Bodies are texts; a redirect is not followed. */
export type Ask = (request: {
  url: string
  headers: Readonly<Record<string, string>>
  body: string
}) => Promise<{ status: number; body: string }>

/** `expiresAt`: epoch milliseconds. */
export type ShortKey = { key: string; expiresAt: number }

type Env = Readonly<Record<string, string | undefined>>

export type Keyless = {
  /** For people: `Anthropic workload identity federation`. */
  name: string
  /** The way is chosen if this variable is set; null: if no other one is. */
  when: string | null
  /** Variables of the step that the exchange needs. None of them is a secret, and none of them reaches the agent. */
  needs: readonly string[]
  /** What proves the job's identity: a token of the runner's for this audience, or the job's own token. */
  identity: { kind: 'oidc'; audience(env: Env): string } | { kind: 'job-token' }
  /** The permission that the job needs. */
  permission: 'id-token' | 'copilot-requests'
  /** Throws KeylessRefusal if the provider refuses the identity. `now`: epoch milliseconds. */
  exchange(identity: string, env: Env, ask: Ask, now: number): Promise<ShortKey>
  /** The server of the model, with its base path. */
  upstream(env: Env): string
  /** The variable by which the program is given the proxy's key. */
  keyVariable: string
  /** The variable by which the program is given the proxy's address. */
  addressVariable: string
  /** What the program takes for the beginning of a key. */
  keyStart?: string
  /** Variables that are set for the program. */
  set?: Readonly<Record<string, string>>
  /** Headers of a request to the model, by those that the program sent. */
  headers?(sent: Readonly<Record<string, unknown>>): Record<string, string>
}

/** The provider refused the job's identity, or its answer has no key. The message has no token in it. */
export class KeylessRefusal extends Error {
  override name = 'KeylessRefusal'
}

/** The way that is chosen; null if the program knows none. */
export function findKeyless(
  ways: readonly Keyless[] | undefined,
  isSet: (variable: string) => boolean,
): Keyless | null {
  const all = ways ?? []
  return all.find(({ when }) => when !== null && isSet(when)) ?? all.find(({ when }) => when === null) ?? null
}

/** A key that is renewed before it expires. `exchange` is called again for each renewal, so no identity is used twice. */
export function renewingKey(
  exchange: () => Promise<ShortKey>,
  now: () => number,
  warn: (message: string) => void,
): () => Promise<string> {
  let current: (ShortKey & { renewAt: number }) | null = null
  let renewal: Promise<void> | null = null
  const renew = async () => {
    const began = now()
    const found = await exchange()
    // A request may take minutes, so a fifth of the life is left, and at most five minutes.
    const margin = Math.min(MAX_MARGIN_MS, (found.expiresAt - began) / 5)
    current = { ...found, renewAt: found.expiresAt - margin }
  }
  return async () => {
    if (current !== null && now() < current.renewAt) return current.key
    renewal ??= renew().finally(() => {
      renewal = null
    })
    try {
      await renewal
    } catch (error) {
      if (current === null || now() >= current.expiresAt) throw error
      warn(
        `Ralph could not renew the model's key, and still uses the current one: ${error instanceof Error ? error.message : 'unknown'}`,
      )
    }
    if (current === null) throw new KeylessRefusal('there is no key for the model')
    return current.key
  }
}

const MAX_MARGIN_MS = 5 * 60_000

/** A refusal with the beginning of the provider's answer, which never repeats the token that was sent. */
export function refusal(
  who: string,
  { status, body }: { status: number; body: string },
  sent: string,
): Error {
  const words = body.replaceAll(sent, '***').replace(/\s+/g, ' ').trim().slice(0, MAX_WORDS)
  return new KeylessRefusal(
    `${who} refuses the job's identity: HTTP ${status}${words === '' ? '' : `: ${words}`}`,
  )
}

const MAX_WORDS = 300
