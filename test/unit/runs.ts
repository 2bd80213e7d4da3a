import fc, { type StringConstraints } from 'fast-check'

// How much is tried: little by default, `RALPH_RUNS` times as much in the full tests and at night.
const times = Number(process.env.RALPH_RUNS ?? 1)

/** For the options of a property. */
export const runs = (few: number): { numRuns: number } => ({ numRuns: few * times })

/** Every so many of a list of examples that cost much each; in the full tests all of them. */
export const every = <Example>(nth: number, examples: readonly Example[], first = 0): Example[] =>
  examples.filter((_, at) => times > 1 || at % nth === first % nth)

const [SURROGATES, SURROGATES_END] = [0xd800, 0xe000]
/** The library's own unit `binary` makes a table of all of Unicode first: a second and 180 MB in each process. */
const codePoint = fc.nat(0x10ffff - (SURROGATES_END - SURROGATES)).map(
  (at) => String.fromCodePoint(at < SURROGATES ? at : at + SURROGATES_END - SURROGATES),
  (text) => {
    const point = typeof text === 'string' ? (text.codePointAt(0) ?? SURROGATES) : SURROGATES
    const isOne = typeof text === 'string' && String.fromCodePoint(point) === text
    if (!isOne || (point >= SURROGATES && point < SURROGATES_END)) throw new Error('no code point')
    return point < SURROGATES ? point : point - (SURROGATES_END - SURROGATES)
  },
)

/** Any text of whole code points. */
export const anyText = (bounds: StringConstraints = {}) => fc.string({ ...bounds, unit: codePoint })
