// Formats that every report shares: times, money, tokens, test counts, the progress bar.
import type { TestCounts } from '../engine/model/gate.ts'
import type { Usage } from '../engine/model/usage.ts'

/** `0.4s`, `38s`, `2m 04s`, `1h 05m` for milliseconds; tenths below ten seconds. */
export function formatDuration(ms: number): string {
  const safeMs = Number.isFinite(ms) ? Math.max(0, ms) : 0
  if (safeMs > 0 && safeMs < 9_950)
    return `${Math.max(0.1, safeMs / 1000)
      .toFixed(1)
      .replace(/\.0$/, '')}s`
  const seconds = Math.round(safeMs / 1000)
  if (seconds < 60) return `${seconds}s`
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m ${twoDigits(seconds % 60)}s`
  const minutes = Math.round(seconds / 60)
  return `${Math.floor(minutes / 60)}h ${twoDigits(minutes % 60)}m`
}

/** `$0.42`; `<$0.01` for a positive amount below half a cent. */
export function formatUsd(dollars: number): string {
  const safeDollars = Number.isFinite(dollars) ? Math.max(0, dollars) : 0
  if (safeDollars > 0 && safeDollars < 0.005) return '<$0.01'
  return `$${safeDollars.toFixed(2).replace(/\B(?=(\d{3})+\.)/g, ',')}`
}

/** The dollars of this usage, with `estimated` or `partly estimated` if Ralph computed them. */
export function describeCost(usage: Pick<Usage, 'costUsd' | 'estimatedCostUsd'>): string {
  return formatUsd(usage.costUsd) + estimateSuffix(usage.costUsd, usage.estimatedCostUsd)
}

export const NO_COST = 'not reported'

/** Whether the cost is known: an agent reported a cost, or no agent was called. */
export function hasCost({ costUsd, calls }: Pick<Usage, 'costUsd' | 'calls'>): boolean {
  return costUsd > 0 || calls === 0
}

/** The cost; empty if it is zero or not known. */
export function costOrEmpty(usage: Pick<Usage, 'costUsd' | 'estimatedCostUsd'>): string {
  return usage.costUsd > 0 ? describeCost(usage) : ''
}

/** The cost, with its limit if there is one; `not reported` if no agent reported a cost. */
export function costLabel(
  usage: Pick<Usage, 'costUsd' | 'estimatedCostUsd' | 'calls'>,
  maxUsd: number | null = null,
): string {
  return hasCost(usage) ? withLimit(describeCost(usage), maxUsd, formatUsd) : NO_COST
}

/** `attempt 2 of 3`; `attempt 4` beyond the limit, which happens with imported stories and after the limit was lowered. */
export function attemptLabel(number: number, most: number | null): string {
  return most === null || number > most ? `attempt ${number}` : `attempt ${number} of ${most}`
}

/** The short id of a commit; empty if `id` is not a commit id. */
export function shortCommit(id: string | null): string {
  return id !== null && /^[0-9a-f]{7,64}$/.test(id) ? id.slice(0, 7) : ''
}

/** `4 of 50`, or `4` without a limit. */
export function withLimit(shown: string, most: number | null, words: (most: number) => string): string {
  return most === null ? shown : `${shown} of ${words(most)}`
}

/** The tokens of this usage: `48k partly estimated`. `word` follows the number. */
export function describeTokens(
  usage: Pick<Usage, 'inputTokens' | 'outputTokens' | 'estimatedTokens'>,
  word = '',
): string {
  const used = usage.inputTokens + usage.outputTokens
  return formatTokens(used) + word + estimateSuffix(used, usage.estimatedTokens)
}

/** ` estimated` or ` partly estimated` if Ralph computed all or a part of `whole` itself; else empty. */
export function estimateSuffix(whole: number, estimated = 0): string {
  if (estimated <= 0) return ''
  // Sums of floats may differ by a tenth of a cent.
  return whole - estimated < 0.001 ? ' estimated' : ' partly estimated'
}

/** `950`, `48k`, `1.2M` for a count of tokens. */
export function formatTokens(count: number): string {
  if (count < 1000) return String(Math.round(count))
  if (count < 999_500) return `${Math.round(count / 1000)}k`
  return `${(count / 1_000_000).toFixed(1)}M`
}

/** The text with a capital first letter. */
export function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** `2 attempts`, `1 attempt, 2 given back`. */
export function describeAttempts({ attempts, givenBack }: { attempts: number; givenBack: number }): string {
  return `${pluralize(attempts, 'attempt')}${givenBack === 0 ? '' : `, ${givenBack} given back`}`
}

/** `1 job`, `2 jobs`. */
export function pluralize(count: number, word: string, words = `${word}s`): string {
  return `${count} ${count === 1 ? word : words}`
}

/** A bar of `width` cells: full only if all is done, empty only if nothing is done. */
export function textBar(done: number, total: number, width: number): string {
  const share = total > 0 ? Math.min(1, Math.max(0, done / total)) : 0
  let cells = Math.round(share * width)
  if (share > 0 && cells === 0) cells = 1
  if (share < 1 && cells === width) cells = width - 1
  return '█'.repeat(cells) + '░'.repeat(width - cells)
}

/** `2026-01-10 14:05 UTC` for epoch milliseconds. */
export function formatUtc(at: number): string {
  return Number.isFinite(at) && Math.abs(at) < 8.64e15
    ? `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`
    : '-'
}

function twoDigits(number: number): string {
  return String(number).padStart(2, '0')
}

/** `38 passed, 2 failed, 1 skipped`; empty if the counts are not known. */
export function describeTests(tests: TestCounts | undefined): string {
  if (tests === undefined) return ''
  const { passed, failed, skipped } = tests
  const more = [failed > 0 ? `${failed} failed` : '', skipped > 0 ? `${skipped} skipped` : '']
  return [`${passed} passed`, ...more].filter((part) => part !== '').join(', ')
}

/** Hosts that the sentence names. */
const MAX_HOSTS = 10

/** The refused hosts in one line, the most frequent first; null without any. Port 443 is left out. */
export function describeRefusedHosts(refused: ReadonlyMap<string, number>): string | null {
  if (refused.size === 0) return null
  const named = [...refused]
    .sort(([, one], [, other]) => other - one)
    .slice(0, MAX_HOSTS)
    .map(([host, count]) => `${host.replace(/:443$/, '').slice(0, 60)} (${count})`)
  const more = refused.size > MAX_HOSTS ? ` and ${refused.size - MAX_HOSTS} more` : ''
  return `The network refused: ${named.join(', ')}${more}`
}

/** The parts that are not empty, joined by ` · `. */
export function joinWithDots(...parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join(' · ')
}

/** The time left until `until`, as minutes and seconds: `14:05`; as `1:14:05` from an hour on. */
export function formatCountdown(until: number, now: number): string {
  const seconds = Math.max(0, Math.ceil((until - now) / 1000))
  const two = (count: number) => String(Math.floor(count) % 60).padStart(2, '0')
  const hours = Math.floor(seconds / 3600)
  return `${hours > 0 ? `${hours}:` : ''}${two(seconds / 60)}:${two(seconds)}`
}

/** The first `most` names, and how many more there are: `a, b and 3 more`. */
export function listNames(names: readonly string[], most = 10): string {
  const more = names.length - most
  return `${names.slice(0, most).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
