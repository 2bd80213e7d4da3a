// A reporter of node:test beside another: appends the reason of each skipped test to the file that RALPH_SKIPS names.
import { appendFileSync } from 'node:fs'

export default async function* skips(events) {
  for await (const { type, data } of events)
    if (type === 'test:pass' && data.skip !== undefined)
      appendFileSync(
        process.env.RALPH_SKIPS,
        `${JSON.stringify(data.skip === true ? 'no reason' : data.skip)}\n`,
      )
  yield ''
}

/** Of the file's text: how many were skipped, and below it each reason with its count, the most frequent first. */
export function skipLines(text) {
  const reasons = text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
  const counts = [...Map.groupBy(reasons, (reason) => reason)].map(([reason, all]) => [all.length, reason])
  const lines = counts.sort(([one], [other]) => other - one).map(([count, reason]) => `${count} x ${reason}`)
  return [`== skipped: ${reasons.length === 1 ? '1 test' : `${reasons.length} tests`}`, ...lines]
}
