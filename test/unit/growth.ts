import assert from 'node:assert/strict'

/**
 * Four times the input takes less than ten times the processor time: about 4 times where time grows evenly, 16 where it grows
 * by the square. The least of three tries counts, since a machine is busy at times.
 */
export function assertGrowth(work: (size: number) => unknown, size: number, name = '', most = 10): void {
  const spent = (of: number): number => {
    const start = process.cpuUsage()
    work(of)
    const { user, system } = process.cpuUsage(start)
    return user + system
  }
  work(size) // so that it is compiled
  let least = Number.POSITIVE_INFINITY
  for (let tries = 0; tries < 3 && least >= most; tries += 1)
    least = Math.min(least, spent(4 * size) / (spent(size) || 1))
  assert.ok(least < most, `${name}: four times the input takes ${least.toFixed(1)} times as long`)
}
