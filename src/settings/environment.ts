// The environment of this process. Only the action's first steps read `process.env` themselves as well.

export function hostEnvironment(): Record<string, string> {
  const variables = Object.entries(process.env).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, value]],
  )
  return Object.fromEntries(variables)
}

/**
 * The inputs by kebab-case name out of a step's environment. The runner upper-cases a name, keeps hyphens and
 * turns spaces into `_`; it exports unknown `with:` keys too, after a mere warning.
 */
export function actionInputs(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const inputs = Object.entries(env).flatMap(([name, value]): [string, string][] => {
    if (!/^INPUT_./i.test(name) || value === undefined) return []
    return [[name.slice('INPUT_'.length).toLowerCase(), value]]
  })
  return Object.fromEntries(inputs)
}
