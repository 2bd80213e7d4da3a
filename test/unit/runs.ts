// How much is tried: little by default, `RALPH_RUNS` times as much in the full tests and at night.
const times = Number(process.env.RALPH_RUNS ?? 1)

/** For the options of a property. */
export const runs = (few: number): { numRuns: number } => ({ numRuns: few * times })

/** Every so many of a list of examples that cost much each; in the full tests all of them. */
export const every = <Example>(nth: number, examples: readonly Example[]): Example[] =>
  examples.filter((_, at) => times > 1 || at % nth === 0)
