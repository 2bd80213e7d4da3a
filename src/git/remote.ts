// Talks to the remote: pushes with leases, and reads refs. Network failures are tried again for a minute.
import { setTimeout as delay } from 'node:timers/promises'
import { oneLine } from '../engine/model/text.ts'
import type { Git, RefMove, Remote } from './git.ts'
import { GitError, type GitResult, UNKNOWN_TOKEN_MESSAGE } from './git-process.ts'

/** Pauses before each further try, seconds: a minute in all. */
const PAUSES_S = [0.25, 1, 3, 8, 16, 32]
/** The remote knows the token but refuses: another try would not help. */
export const REMOTE_REFUSAL =
  /(returned error:|HTTP) 40[34]|permission to .* denied|write access to repository not granted|repository .*not found/i

/** Another push holds the ref's lock for a moment. Ralph pushes again, and the lease then decides. */
const LOCKED = /^!.*\[remote rejected\] \((?:cannot lock ref|failed to update ref)/
/** A ref that failed because another ref of the atomic push did. If all lines are like this, only standard error has the reason. */
const FAILED_WITH_ANOTHER = /^!.*\[(?:remote )?rejected\] \(atomic /
const LOCKED_ON_STDERR = /^remote: error: cannot lock ref /m
/** A ref `a` exists, so that a ref `a/b` can never be created: another try would not help. */
const REF_BLOCKED = /exists; cannot create/

/** Before it sent anything, git saw another value of the ref than the lease names. */
const STALE = /^!.*\[rejected\] \(stale info\)/m

/** A line of `git push --porcelain` about a ref that is as it was pushed: its flag does not mean a refusal. */
const PUSHED = /^[ +*=]\t/

/** `stale`: a ref has another value than its lease names. `answer`: git's output. `isUnmoved`: of the compared ref, if known. */
export type PushResult =
  | { kind: 'pushed'; isUnmoved?: boolean }
  | { kind: 'rejected' | 'stale' | 'unknown-token'; answer: string }

/**
 * `compared`: a ref that stays unchanged. git reads all refs before it pushes, so the same requests show whether that ref is at the
 * given commit. This clone must have that commit.
 */
export async function push(
  git: Git,
  remote: Remote,
  moves: readonly RefMove[],
  compared: { ref: string; at: string } | null = null,
): Promise<PushResult> {
  let answer = ''
  const stays = compared === null ? [] : [{ ref: compared.ref, from: compared.at, to: compared.at }]
  for (let tries = 0; tries <= PAUSES_S.length; tries++) {
    if (tries > 0) await pause(tries)
    const pushed = await git.push(remote, [...moves, ...stays], moves.length > 1)
    if (pushed.code === 0) return { kind: 'pushed', ...(compared !== null && { isUnmoved: true }) }
    const lines = pushed.stdout.split('\n')
    const ofMoves = lines.filter((line) => compared === null || !line.includes(`:${compared.ref}\t`))
    const areMoved = moves.every(({ ref }) =>
      ofMoves.some((line) => PUSHED.test(line) && line.includes(`:${ref}\t`)),
    )
    if (compared !== null && areMoved) return { kind: 'pushed', isUnmoved: false }
    const result = { ...pushed, stdout: ofMoves.join('\n') }
    answer = `${result.stdout}\n${result.stderr}`.trim()
    if (UNKNOWN_TOKEN_MESSAGE.test(result.stderr)) return { kind: 'unknown-token', answer }
    if (REMOTE_REFUSAL.test(result.stderr)) return { kind: 'rejected', answer }
    // A later try may find what an earlier one has pushed.
    if (tries === 0 && STALE.test(result.stdout)) return { kind: 'stale', answer }
    // The push may have succeeded although its answer was lost, so the remote's refs are read.
    const refs = moves.map(({ ref }) => ref)
    const now = await remoteRefs(git, remote, refs).catch(() => null)
    if (now === null) return { kind: 'rejected', answer } // reading was tried for a minute
    const left = moves.filter(({ ref, to }) => now.get(ref) !== to)
    if (left.length === 0) return { kind: 'pushed' }
    const isUnmoved = ({ ref, from }: RefMove) => (now.get(ref) ?? null) === from
    // A server that died in between has moved only some of the refs: the others are pushed now.
    if (left.length < moves.length && left.every(isUnmoved)) return push(git, remote, left)
    const failures = result.stdout.split('\n').filter((line) => line.startsWith('!'))
    const causes = failures.filter((line) => !FAILED_WITH_ANOTHER.test(line))
    const areLocked =
      causes.length > 0 ? causes.every((line) => LOCKED.test(line)) : LOCKED_ON_STDERR.test(result.stderr)
    const isLocked = areLocked && !REF_BLOCKED.test(answer)
    const isRefused = failures.length > 0 && !isLocked
    if (!moves.every(isUnmoved) || isRefused) return { kind: 'rejected', answer }
  }
  return { kind: 'rejected', answer }
}

/** Ref to object id. Throws GitError if the remote cannot be reached. */
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

/** How long an answer about a branch is used. Installing an agent may take minutes, in which people push. */
export const ANSWER_HOLDS_MS = 60_000

/**
 * One request for all refs that a job needs before it pushes. The answer may be some seconds old when it is used. That is safe, since
 * a push names the value that it expects and is refused if the ref has moved.
 */
export class InitialRefs {
  readonly #patterns: readonly string[]
  readonly #now: () => number
  #found: Promise<Map<string, string>> | null = null
  #askedAt = 0
  #isOver = false

  /** Full names of refs; `refs/ralph/*` for all refs with that prefix. */
  constructor(patterns: readonly string[], now = () => performance.now()) {
    this.#patterns = patterns
    this.#now = now
  }

  async refs(git: Git, remote: Remote, pattern: string): Promise<Map<string, string>> {
    if (this.#isOver || !this.#patterns.some((one) => matchesPattern(one, pattern)))
      return remoteRefs(git, remote, [pattern])
    if (this.#found === null) {
      this.#askedAt = this.#now()
      this.#found = remoteRefs(git, remote, this.#patterns)
    }
    return new Map([...(await this.#found)].filter(([ref]) => matchesPattern(pattern, ref)))
  }

  /** The value of a ref in the first answer, also after `end`. Null if the ref was not requested or the answer is over a minute old. */
  async answer(ref: string): Promise<{ at: string | null } | null> {
    if (this.#now() - this.#askedAt > ANSWER_HOLDS_MS) return null
    if (this.#found === null || !this.#patterns.some((one) => matchesPattern(one, ref))) return null
    return { at: (await this.#found).get(ref) ?? null }
  }

  /** From now on every call reads the remote again. */
  end(): void {
    this.#isOver = true
  }
}

function matchesPattern(pattern: string, ref: string): boolean {
  return pattern === ref || (pattern.endsWith('*') && ref.startsWith(pattern.slice(0, -1)))
}

/** git's messages about damaged objects of this clone: another try would not help. */
const DAMAGED = /^(?:error: object file .* is empty|fatal: loose object .* is corrupt)/m

/** Runs a reading command on the remote, and repeats it after network failures. */
export async function queryRemote(command: string, query: () => Promise<GitResult>): Promise<GitResult> {
  for (let tries = 1; ; tries++) {
    const result = await query()
    if (result.code === 0) return result
    const isFinal = [UNKNOWN_TOKEN_MESSAGE, REMOTE_REFUSAL, DAMAGED].some((one) => one.test(result.stderr))
    if (isFinal || tries > PAUSES_S.length) throw new GitError([command], result.code, result.stderr)
    await pause(tries)
  }
}

/** `GH013: Repository rule violations found for refs/heads/ralph/lab.`: the remote's own number for a refusal. */
const NUMBERED = /\bGH\d{3}: /
/** Lines around the reasons: where to read on, progress, rules of dashes, and the commits that the reasons are about. */
const ASIDE =
  /^(?:Review all repository rules|\(\?\)|https?:\/\/\S+$|Found \d+ violations?:|Resolving deltas|[\u2014-]*$|[0-9a-f]{40}$)/
const MAX_REFUSAL = 1000

/**
 * The remote's reasons and the refs that it refused, in one line of at most a thousand characters, without a full stop. Hints,
 * progress and git's own line with the URL are left out. `what`: named if the answer has no ref. The remote's text is neither redacted
 * nor escaped here.
 */
export function describeRefusal(answer: string, what: string): string {
  const lines = answer.split('\n').filter((line) => !/^To \S+$/.test(line))
  const said = lines
    .flatMap((line) => /^remote:\s*(?:error:\s*)?(.*?)\s*$/.exec(line)?.[1] ?? [])
    .filter(Boolean)
  const header = said.find((line) => NUMBERED.test(line))
  const reasons = said
    .filter((line) => line !== header && !ASIDE.test(line))
    .map((line) => line.replace(/^[-\u2014 ]+|[\u2014 ]+$/g, ''))
  const others = lines.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('remote:'))
  const cause = others.find((line) =>
    /refus|denied|protect|permission|error:|fatal:|declined|\b40[13]\b/i.test(line),
  )
  const text =
    reasons.length > 0 ? reasons.join(' ') : (header ?? cause ?? others[0] ?? 'the remote gave no reason')
  const number = header === undefined || reasons.length === 0 ? '' : ` (${header.replace(/\.$/, '')})`
  const refused = `the remote refused ${refusedRefs(answer, header) || what}: ${text}${number}`
  return oneLine(refused, MAX_REFUSAL).replace(/\.$/, '')
}

/** The refs that the remote names, or that git reports as refused for their own reason. Branches by their short name. */
function refusedRefs(answer: string, header: string | undefined): string {
  const named = /\bfor (refs\/\S+?)\.?$/.exec(header ?? '')?.[1]
  const failed = answer
    .split('\n')
    .filter((line) => line.startsWith('!\t') && !FAILED_WITH_ANOTHER.test(line))
  const refs =
    named === undefined ? failed.flatMap((line) => /:(refs\/\S+)\t/.exec(line)?.[1] ?? []) : [named]
  return [...new Set(refs)].map((ref) => ref.replace(/^refs\/heads\//, '')).join(', ')
}

/** Waits before a further try, counted from 1. Up to a quarter longer, at random, so that two runs do not collide again. */
function pause(tries: number): Promise<void> {
  return delay((PAUSES_S[tries - 1] ?? 0) * 1000 * (1 + Math.random() / 4))
}
