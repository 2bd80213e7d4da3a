// Finds keys by their shape: how they begin, and what follows; and private keys, from header to footer.
import { KEY_RULES } from './key-rules.ts'

/**
 * `key` is tried if one of the `starts` was found. It consists of a start and greedy classes, so that it cannot backtrack over
 * more than one run. If it has a group, the group is the secret part. A match counts only if `also` matches it as well (after its first
 * three characters), and if it has at least `entropy` bits a character.
 */
export type KeyShape = {
  what: string
  starts: readonly string[]
  key: RegExp
  also?: RegExp
  entropy?: number
}

/** A team, an app or workflow, and a secret that is not one character repeated (a placeholder). */
const SLACK_HOOK =
  /\/(?:services|workflows|triggers)\\?\/([TE][A-Z0-9]{6,}\\?\/(?:(?:[AB][A-Z0-9]{6,}|\d{6,})\\?\/){1,2}(?!(.)\2*(?!\w))[A-Za-z0-9]{16,}(?!\w))/y
const DISCORD_HOOK = /\/webhooks\\?\/(\d{15,21}\\?\/(?!(.)\2*(?![\w-]))[\w-]{50,})/y

/** Shapes that gitleaks' rules miss or match too narrowly: a part of a key, or a key right after other letters. */
const SHAPES: readonly KeyShape[] = [
  {
    what: 'a GitHub token',
    starts: ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'],
    // A job's token is `ghs_<app id>_<JSON web token>` since 2026-04-27. It may be cut anywhere.
    key: /gh[pousr]_(?:\d+_eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]+){0,2}|[A-Za-z0-9]{20,})/y,
  },
  { what: 'a GitHub token', starts: ['github_pat_'], key: /github_pat_[A-Za-z0-9_]{20,}/y },
  {
    // CSS classes also begin with `sk-`, and words end with it. So a key needs a long unbroken piece, and does not begin within a word.
    what: 'an API key (sk-...)',
    starts: ['sk-'],
    key: /(?<![A-Za-z0-9])sk-[A-Za-z0-9_-]{20,}/y,
    also: /[A-Za-z0-9]{16}/,
  },
  {
    what: 'an AWS access key id',
    starts: ['AKIA', 'ASIA'],
    key: /(?<![A-Za-z0-9])A[KS]IA[A-Z0-9]{16}(?![A-Za-z0-9])/y,
  },
  {
    what: 'a Slack token',
    starts: ['xoxa-', 'xoxb-', 'xoxe-', 'xoxp-', 'xoxr-', 'xoxs-'],
    key: /xox[abeprs]-[A-Za-z0-9-]{10,}/y,
  },
  { what: 'a Slack token', starts: ['xapp-'], key: /xapp-\d-[A-Za-z0-9-]{20,}/y },
  { what: 'a Slack webhook', starts: ['/services', '/workflows', '/triggers'], key: SLACK_HOOK, also: /\d/ },
  { what: 'a Discord webhook', starts: ['/webhooks'], key: DISCORD_HOOK },
  { what: 'a Google API key', starts: ['AIza'], key: /AIza[A-Za-z0-9_-]{35}/y },
  { what: 'a Google token', starts: ['ya29.'], key: /ya29\.[A-Za-z0-9_-]{30,}/y },
  { what: 'a Google client secret', starts: ['GOCSPX-'], key: /GOCSPX-[A-Za-z0-9_-]{28}/y },
  { what: 'a PyPI token', starts: ['pypi-AgE'], key: /pypi-AgE[A-Za-z0-9_-]{50,}/y },
  { what: 'a GitLab token', starts: ['glpat-'], key: /glpat-[A-Za-z0-9_-]{20,}/y },
  {
    what: 'a live Stripe key',
    starts: ['sk_live_', 'pk_live_', 'rk_live_'],
    key: /(?<![A-Za-z0-9])[spr]k_live_[A-Za-z0-9]{16,}/y,
  },
  {
    what: 'a SendGrid key',
    starts: ['SG.'],
    key: /(?<![A-Za-z0-9])SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}/y,
  },
  { what: 'a Docker token', starts: ['dckr_pat_'], key: /dckr_pat_[A-Za-z0-9_-]{27,}/y },
  {
    what: 'a Hugging Face token',
    starts: ['hf_'],
    key: /(?<![A-Za-z0-9_])hf_[A-Za-z0-9]{34,}/y,
    also: /\d/,
  },
  { what: 'a Vault token', starts: ['hvs.'], key: /(?<![A-Za-z0-9.])hvs\.[A-Za-z0-9_-]{24,}/y, also: /\d/ },
  {
    what: 'a JSON web token',
    starts: ['eyJ'],
    key: /eyJ[A-Za-z0-9_-]{9,}(?:\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,})?/y,
    also: /\./,
  },
]

const GENERATED: readonly KeyShape[] = KEY_RULES.map(([id, starts, entropy, key]) => ({
  what: `a key (${id})`,
  starts: starts.split(' '),
  key,
  entropy,
}))

/** The texts with which keys begin: of well-known services, and of `more`. */
export function keyStarts(more: readonly KeyShape[]) {
  const shapes = [...SHAPES, ...GENERATED, ...more]
  return shapes.flatMap((shape, index) => shape.starts.map((text) => ({ text, shape, index })))
}
export type KeyStarts = ReturnType<typeof keyStarts>

/** Finds the keys of one text, which must be asked for from front to back: a run that was tried is not tried again. */
export class KeyFinder {
  readonly #starts: KeyStarts
  readonly #text: string
  #tried: number[] | undefined

  constructor(starts: KeyStarts, text: string) {
    this.#starts = starts
    this.#text = text
  }

  /** The key that begins at `at` with start number `start` (from 1), or null. */
  keyAt(start: number, at: number): { what: string; from: number; to: number } | null {
    const found = this.#starts[start - 1]
    if (found === undefined || at < (this.#tried?.[found.index] ?? 0)) return null
    const { what, key, also, entropy = 0 } = found.shape
    key.lastIndex = at
    const match = key.exec(this.#text)
    if (match === null) return null
    const to = at + match[0].length
    this.#tried ??= []
    this.#tried[found.index] = to
    const secret = match[1] ?? match[0]
    if (also?.test(match[0].slice(3)) === false || entropyOf(secret) < entropy) return null
    return { what, from: to - secret.length, to }
  }
}

/** Shannon entropy, bits a character: a placeholder in an example has little. */
function entropyOf(text: string): number {
  const counts = new Map<string, number>()
  for (const unit of text) counts.set(unit, (counts.get(unit) ?? 0) + 1)
  const shares = [...counts.values()].map((count) => count / text.length)
  return shares.reduce((bits, share) => bits - share * Math.log2(share), 0)
}

// ---------------------------------------------------------------- private keys in PEM

type Span = { from: number; to: number }

const BORDER =
  /-----(?:BEGIN|(END)) (?:(?:RSA |EC |DSA |OPENSSH |ENCRYPTED |ANY )?PRIVATE KEY|PGP PRIVATE KEY BLOCK)-----/g
/** The maximum number of characters between a header and its footer. A 16,384 bit RSA key has 12,700. */
const WINDOW = 16_384
const KEY_LINE = /[A-Za-z0-9+/=]{24,}/g
/** The last line of a key may be short. */
const WHOLE_LINE = /^[\s>|]*[A-Za-z0-9+/=]+\s*$/
const BLANK_OR_NOTE = /^\s*$|^\s*[\w-]+: /

/** Gives a function that takes consecutive texts of whole lines, and gives the spans of private keys in each. */
export function privateKeyFinder(): (text: string) => Span[] {
  let base = 0 // offsets count from the first text
  let header = Number.NEGATIVE_INFINITY
  let inBody = false // the last line was the key's
  const isOpen = (at: number): boolean => at - header <= WINDOW

  const inLine = (line: string, at: number): Span[] => {
    const found: Span[] = []
    const wasOpen = isOpen(at)
    for (const match of line.matchAll(BORDER)) {
      const from = at + match.index
      const to = from + match[0].length
      if (match[1] === undefined) {
        if (!beginsKey(line, to - at)) continue
        header = from
        found.push({ from, to })
      } else if (isOpen(from)) {
        found.push({ from: header, to })
        header = Number.NEGATIVE_INFINITY
      }
    }
    const isBody = wasOpen && inBody && WHOLE_LINE.test(line)
    inBody = isOpen(at) && (isBody || found.length > 0 || (inBody && BLANK_OR_NOTE.test(line)))
    if (isBody) found.push({ from: at, to: at + line.length })
    else if (isOpen(at))
      for (const { index, 0: one } of line.matchAll(KEY_LINE))
        found.push({ from: at + index, to: at + index + one.length })
    return found
  }

  return (text) => {
    const began = base
    base += text.length + 1
    if (!isOpen(began) && !text.includes('-----')) return []
    let at = began
    return text.split('\n').flatMap((line) => {
      const found = inLine(line, at)
      at += line.length + 1
      return found.map(({ from, to }) => ({ from: Math.max(0, from - began), to: to - began }))
    })
  }
}

/** Whether a line break, real or escaped, follows the header: code that only searches for the header has none. */
function beginsKey(text: string, at: number): boolean {
  return /^[ \t]*(?:$|[\r\n]|\\+[rn])/.test(text.slice(at, at + 16))
}
