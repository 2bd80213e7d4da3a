// The way to the remote: pushes with leases and questions, tried again for a minute when the way fails.
import { setTimeout as delay } from 'node:timers/promises'
import type { Git, RefMove, Remote } from './git.ts'
import { GitError, type GitResult, UNKNOWN_TOKEN_MESSAGE } from './git-process.ts'

/** Pauses before a way to the remote is tried again, seconds: a minute in all. */
const PAUSES_S = [0.25, 1, 3, 8, 16, 32]
/** The remote knows this token and says no: asking again changes nothing. */
export const REMOTE_REFUSAL =
  /(returned error:|HTTP) 40[34]|permission to .* denied|write access to repository not granted|repository .*not found/i

/** Another push was about to move the ref: that one is through soon, and then a lease says what is to be said. */
const LOCKED = /^!.*\[remote rejected\] \((?:cannot lock ref|failed to update ref)/m
/** A ref `a` where `a/b` is to be stays there. */
const IN_THE_WAY = /exists; cannot create/

export type PushResult = { kind: 'pushed' } | { kind: 'rejected' | 'unknown-token'; answer: string }

export async function push(git: Git, remote: Remote, moves: readonly RefMove[]): Promise<PushResult> {
  let answer = ''
  for (let tries = 0; tries <= PAUSES_S.length; tries++) {
    if (tries > 0) await pause(tries)
    const result = await git.push(remote, moves)
    if (result.code === 0) return { kind: 'pushed' }
    answer = `${result.stdout}\n${result.stderr}`.trim()
    if (UNKNOWN_TOKEN_MESSAGE.test(result.stderr)) return { kind: 'unknown-token', answer }
    if (REMOTE_REFUSAL.test(result.stderr)) return { kind: 'rejected', answer }
    // The answer may be lost although the push was done: the remote itself is asked before anything is said.
    const refs = moves.map(({ ref }) => ref)
    const now = await remoteRefs(git, remote, refs).catch(() => null)
    if (now === null) return { kind: 'rejected', answer } // a minute has been given to the question
    const left = moves.filter(({ ref, to }) => now.get(ref) !== to)
    if (left.length === 0) return { kind: 'pushed' }
    const isAsItWas = ({ ref, from }: RefMove) => (now.get(ref) ?? null) === from
    // A server that died between the refs has moved some: the rest is pushed alone.
    if (left.length < moves.length && left.every(isAsItWas)) return push(git, remote, left)
    const isLocked = LOCKED.test(result.stdout) && !IN_THE_WAY.test(answer)
    const isRefused = /^!/m.test(result.stdout) && !isLocked
    if (!moves.every(isAsItWas) || isRefused) return { kind: 'rejected', answer }
  }
  return { kind: 'rejected', answer }
}

/** Ref to object id. Throws GitError where the remote cannot be asked. */
export async function remoteRefs(
  git: Git,
  remote: Remote,
  patterns: readonly string[],
): Promise<Map<string, string>> {
  const { stdout } = await queryRemote('ls-remote', () => git.lsRemote(remote, patterns))
  const lines = stdout.split('\n').filter(Boolean)
  return new Map(
    lines.map((line) => [line.slice(line.indexOf('\t') + 1), line.slice(0, line.indexOf('\t'))] as const),
  )
}

/**
 * One question for the refs that a job asks for before it pushes anything. An answer may be older than the next look at it by
 * the seconds in between: whoever pushes by it says what he found, and is refused where that is not true any more.
 */
export class InitialRefs {
  readonly #patterns: readonly string[]
  #found: Promise<Map<string, string>> | null = null
  #isOver = false

  /** Refs by their full names, and `refs/ralph/*` for all that begin so. */
  constructor(patterns: readonly string[]) {
    this.#patterns = patterns
  }

  async refs(git: Git, remote: Remote, pattern: string): Promise<Map<string, string>> {
    if (this.#isOver || !this.#patterns.some((one) => matchesPattern(one, pattern)))
      return remoteRefs(git, remote, [pattern])
    this.#found ??= remoteRefs(git, remote, this.#patterns)
    return new Map([...(await this.#found)].filter(([ref]) => matchesPattern(pattern, ref)))
  }

  /** What it found there, also once it is over; null where it was not asked for that. */
  async answer(ref: string): Promise<{ at: string | null } | null> {
    if (this.#found === null || !this.#patterns.some((one) => matchesPattern(one, ref))) return null
    return { at: (await this.#found).get(ref) ?? null }
  }

  /** From here on the remote is asked anew. */
  end(): void {
    this.#isOver = true
  }
}

function matchesPattern(pattern: string, ref: string): boolean {
  return pattern === ref || (pattern.endsWith('*') && ref.startsWith(pattern.slice(0, -1)))
}

/** What git says of objects of this clone: no way to the remote mends them. */
const DAMAGED = /^(?:error: object file .* is empty|fatal: loose object .* is corrupt)/m

/** A question to the remote, repeated when the way to it fails. */
export async function queryRemote(command: string, question: () => Promise<GitResult>): Promise<GitResult> {
  for (let tries = 1; ; tries++) {
    const result = await question()
    if (result.code === 0) return result
    const isFinal = [UNKNOWN_TOKEN_MESSAGE, REMOTE_REFUSAL, DAMAGED].some((one) => one.test(result.stderr))
    if (isFinal || tries > PAUSES_S.length) throw new GitError([command], result.code, result.stderr)
    await pause(tries)
  }
}

/** What the remote answered, in one line; hints, progress and git's own line with the address left out. */
export function describeRefusal(answer: string, what: string): string {
  const lines = answer
    .split('\n')
    .map((line) => line.replace(/^remote:\s*/, '').trim())
    .filter((line) => line !== '' && !line.startsWith('To '))
  const cause = lines.find((line) =>
    /refus|denied|protect|permission|error:|fatal:|declined|\b40[13]\b/i.test(line),
  )
  return `${what} was not accepted: ${cause ?? lines[0] ?? 'no reason was given'}`
}

/** Before the given try; the first is 0. Up to a quarter more: those who met do not meet again. */
function pause(tries: number): Promise<void> {
  return delay((PAUSES_S[tries - 1] ?? 0) * 1000 * (1 + Math.random() / 4))
}
