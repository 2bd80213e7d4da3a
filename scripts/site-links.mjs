// Asks other sites whether the pages that the documentation links to are still there. Needs a network: the nightly workflow does it.
// node scripts/site-links.mjs
import { readPages } from '../test/unit/docs/pages.ts'

const TIMEOUT_MS = 30_000
/** Answers of a page that is gone. Other refusals, such as 403 and 429, are about the program that asks. */
const GONE = [404, 410]

/** A line for each address that is gone, or gives no answer twice. */
export async function deadLinks(addresses) {
  const found = await Promise.all(addresses.map(async (address) => [address, await problemOf(address)]))
  return found.flatMap(([address, problem]) => (problem === null ? [] : [`${address}: ${problem}`]))
}

async function problemOf(address, isLast = false) {
  try {
    const { status, body } = await fetch(address, { signal: AbortSignal.timeout(TIMEOUT_MS) })
    await body?.cancel()
    return GONE.includes(status) ? `HTTP ${status}` : null
  } catch (error) {
    return isLast ? `no answer (${error.cause?.message ?? error.message})` : problemOf(address, true)
  }
}

if (import.meta.main) {
  const links = (await readPages()).flatMap((page) => page.links)
  const dead = await deadLinks([...new Set(links)].filter((link) => link.startsWith('https://')))
  if (dead.length > 0) {
    process.stderr.write(`${dead.join('\n')}\n`)
    process.exit(1)
  }
}
