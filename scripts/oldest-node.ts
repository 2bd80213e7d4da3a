// What Node 20, the oldest that starts the command line, cannot parse, and esbuild leaves as it is: regular expressions
// that name a group twice, and such with modifiers. (A newer API in src/ is a type error: `lib` in tsconfig.json.)
import { parser } from '@lezer/javascript'

/** The regular expressions of a module that keep Node 20 from starting it. */
export function refusedByNode20(source: string): string[] {
  const refused: string[] = []
  // Most have no name and no modifier at all, and reading a module costs more than all else here.
  if (!/\(\?(?:<[^=!]|[ims-]+:)/.test(source)) return refused
  parser.parse(source).iterate({
    enter({ name, from, to }) {
      if (name !== 'RegExp') return
      const literal = source.slice(from, to)
      // Escapes, and classes of characters, are no groups.
      const groups = literal.replace(/\\.|\[(?:\\.|[^\]\\])*\]/g, '')
      const names = Array.from(groups.matchAll(/\(\?<(?<name>[^=!>][^>]*)>/g), ([, one]) => one)
      if (new Set(names).size < names.length || /\(\?[ims]*-?[ims]+:/.test(groups)) refused.push(literal)
    },
  })
  return refused
}
