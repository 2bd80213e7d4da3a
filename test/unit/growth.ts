/**
 * How much more processor time four times the input takes: about 4 where time grows evenly, 16 where it grows by the
 * square. The least of three tries, since a machine is busy at times.
 */
export function growth(work: (size: number) => unknown, size: number): number {
  const spent = (of: number): number => {
    const start = process.cpuUsage()
    work(of)
    const { user, system } = process.cpuUsage(start)
    return user + system
  }
  work(size) // so that it is compiled
  return Math.min(...[1, 2, 3].map(() => spent(4 * size) / (spent(size) || 1)))
}
