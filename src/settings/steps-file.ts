// A configuration file of the Ralph with steps, read as it is; what means something else here is a note.
import { below, type Given, givenAt, mistake, note, type Place, type Report } from './place.ts'
import { shown } from './show.ts'
import { stepKeys } from './steps.ts'
import { parseText } from './text.ts'
import { camelCase, isEmpty, isMap } from './types.ts'

/** A configuration of the Ralph with steps: its steps, and what else of it is a setting here. */
export function readStepsFile(
  file: { path: string; text: string },
  env: Place['env'],
  report: Report,
): { steps: Given | null; maxAttempts: Given | null } {
  const at: Place = { root: file.path, keys: [], env, report }
  const tree = parseText(at, 'json', file.text)
  if (!isMap(tree) || !Array.isArray(tree.steps)) {
    if (tree !== undefined)
      mistake(at, isMap(tree) ? 'no list `steps`' : shown(tree), 'a map with `steps`', 'add "steps": [...]')
    return { steps: null, maxAttempts: null }
  }
  const { steps: written, max_loops_per_task: loops, ...others } = tree
  for (const key of Object.keys(others).filter((one) => !['name', 'description', '$schema'].includes(one)))
    note(below(at, key), 'means nothing here')
  const place = below(at, 'max_loops_per_task')
  if (loops === 0) note(place, 'a story has no end of attempts there; here max-attempts (3) bounds them')
  else if (!isEmpty(loops))
    note(place, 'read as maxAttempts: failed attempts on a story before it is blocked')
  return {
    steps: givenAt(
      below(at, 'steps'),
      written.map((one, index) => known(one, below(at, 'steps', index))),
    ),
    maxAttempts: isEmpty(loops) || loops === 0 ? null : givenAt(place, loops),
  }
}

/** A step without the keys that nobody here knows: its program passed them over, too. */
function known(one: unknown, at: Place): unknown {
  if (!isMap(one)) return one
  const only = (map: Readonly<Record<string, unknown>>, keys: readonly string[], place: Place) =>
    Object.fromEntries(
      Object.entries(map).filter(([key]) => {
        const isKnown = keys.includes(camelCase(key)) || keys.includes(key)
        if (!isKnown) note(below(place, key), 'means nothing here')
        return isKnown
      }),
    )
  const inner = isMap(one.config) ? { config: only(one.config, stepKeys.config, below(at, 'config')) } : {}
  return { ...only(one, stepKeys.step, at), ...inner }
}
