// How a check run of the project is read: which one counts if there are several of a name, and whether it is red. Pure.

/** The fields of a check run that decide. GitHub's numbers rise, so the highest one is the newest. */
type Run = {
  id: number
  name: string
  status: string
  conclusion: string | null
  app: { slug?: string | undefined } | null
}

const GREEN = new Set(['success', 'neutral', 'skipped'])

export function stateOf({ status, conclusion }: Run): 'pending' | 'green' | 'red' {
  if (status !== 'completed') return 'pending'
  return GREEN.has(conclusion ?? '') ? 'green' : 'red'
}

export function isRed(run: Run): boolean {
  return stateOf(run) === 'red'
}

/** The newest run of each name and App. Two Apps may use one name, and neither speaks for the other. */
export function newestOf<T extends Run>(runs: readonly T[]): T[] {
  const newest = new Map<string, T>()
  for (const run of runs) {
    const key = `${run.app?.slug ?? ''}\0${run.name}`
    const known = newest.get(key)
    if (known === undefined || known.id < run.id) newest.set(key, run)
  }
  return [...newest.values()]
}
