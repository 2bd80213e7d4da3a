// What an agent asked the network for and did not get, as one line. Plain text: who renders a note escapes it.

/** Most hosts that are named. */
const MOST_HOSTS = 10
const LONGEST_HOST = 60

/** By host, the most frequent first; null where nothing was refused. Port 443 goes without saying. */
export function refusedWords(refused: ReadonlyMap<string, number>): string | null {
  if (refused.size === 0) return null
  const all = [...refused].sort(([, one], [, other]) => other - one)
  const named = all
    .slice(0, MOST_HOSTS)
    .map(([host, count]) => `${host.replace(/:443$/, '').slice(0, LONGEST_HOST)} (${count})`)
  const more = all.length > MOST_HOSTS ? ` and ${all.length - MOST_HOSTS} more` : ''
  return `The network refused: ${named.join(', ')}${more}`
}
