// Targets of a Makefile and recipes of a justfile.
import type { Target } from './target.ts'

/** How a target is named, and a line of what it runs. */
type Recipes = { name: RegExp; line: RegExp; start: string }

const MAKE: Recipes = {
  name: /^([\w-]+)(?: [\w ./-]*)?\s*::?(?!=)/,
  line: /^\t(.*)$/,
  start: 'make',
}
const JUST: Recipes = { name: /^@?([\w-]+)(?: [^:]*)?:(?!=)/, line: /^[ \t]+(.*)$/, start: 'just' }

export const makeTargets = (text: string) => recipesIn(text, MAKE)
export const justRecipes = (text: string) => recipesIn(text, JUST)

function recipesIn(text: string, recipes: Recipes): Target[] {
  const found: (Target & { lines: string[] })[] = []
  for (const line of text.replace(/\\\n\s*/g, ' ').split('\n')) {
    const [, name] = recipes.name.exec(line) ?? []
    const [, run] = recipes.line.exec(line) ?? []
    if (run !== undefined) found.at(-1)?.lines.push(run.replace(/^[@+-]+/, '').trim())
    else if (name !== undefined) found.push({ name, start: `${recipes.start} ${name}`, lines: [] })
  }
  return found
}
