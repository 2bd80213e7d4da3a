/** How often a property is tried: few times by default, `RALPH_RUNS` times as often in the full tests and at night. */
export const runs = (few: number): { numRuns: number } => ({
  numRuns: few * Number(process.env.RALPH_RUNS ?? 1),
})
