// Configurations of two earlier Ralphs, read as they are; what means something else here is a note.
import { agentOfProgram } from '../agents/registry.ts'
import { shellWord } from '../system/shell-word.ts'
import { parseText } from './settings-text.ts'
import { shown } from './show.ts'
import { stepKeys } from './step-settings.ts'
import { below, type Given, givenAt, mistake, note, type Place, type Report, readAs } from './value-place.ts'
import * as v from './values.ts'

// ---- the ralph.config.json of the agent-agnostic Ralph: `provider`, `runVerifyStep` and `maxRetries`

const commands = v.orElse(v.listOf(v.lines), [])

/** The structures that only this shape has. */
export const agnosticShape = {
  provider: v.structure({ command: v.text, args: commands, timeout: v.orNull(v.seconds) }),
  verify: v.structure({ default: commands, ui: commands }),
}

/** What stands for each of them here. */
const replacedBy: Readonly<Record<string, readonly string[]>> = {
  provider: ['agent', 'agentCommand', 'agentArgs'],
  verify: ['gates'],
  maxRetries: ['maxAttempts'],
}
export const agnosticKeys = Object.keys(replacedBy)

/** The settings that the older keys stand for beside those `given`; notes say what means something else here. */
export function readAgnosticKeys(
  older: ReadonlyMap<string, Given>,
  given: ReadonlyMap<string, Given>,
  at: Place,
): [string, Given][] {
  const entries = [...older].flatMap(([key, one]) => {
    const beside = replacedBy[key]?.find((name) => given.has(name))
    if (beside === undefined) return settingsFrom(key, one)
    const fix = `remove ${key}, which is the older form`
    mistake(one.at, `${key} beside ${beside}`, 'one of the two', fix)
    return []
  })
  if ((older.has('provider') || older.has('verify')) && !given.has('maxIterations'))
    note(at, 'the loop ends after 50 iterations here; maxIterations: 0 gives a loop without end')
  const browser = given.get('browser')?.value
  if (v.isMap(browser) && 'screenshotDir' in browser) {
    const place = below(at, 'browser', 'screenshotDir')
    note(place, 'screenshots are kept with the state of the run, and in .git/ralph/screenshots of this clone')
  }
  return entries
}

function settingsFrom(key: string, given: Given): [string, Given][] {
  if (key === 'provider') return provider(given)
  if (key === 'verify') return verify(given)
  note(given.at, 'read as maxAttempts: failed attempts on a story before it is blocked')
  return [['maxAttempts', given]]
}

function provider(given: Given): [string, Given][] {
  const { at } = given
  const read = readAs(agnosticShape.provider, given)
  if (read === undefined) return []
  // What a variable brought in is not replaced again, and not shown.
  const from = (value: unknown): Given => ({ at, written: undefined, value, shownAs: 'provider' })
  const name = agentOfProgram(read.command)
  const entries: [string, Given][] = []
  if (name !== null) {
    entries.push(['agent', from(name)], ['agentArgs', from(read.args)])
    note(at, `read as agent: ${name}; its args come after those that Ralph itself gives it`)
  } else {
    const program = /^[\w.-]+\s/.test(read.command) ? read.command : shellWord(read.command)
    const command = [program, ...read.args.map(shellWord)].join(' ')
    entries.push(['agent', from('custom')], ['agentCommand', from(command)])
    note(at, 'read as agent: custom with this command as agentCommand')
  }
  if (read.timeout !== null)
    entries.push(['iterationTimeout', { ...from(`${read.timeout / 1000}s`), at: below(at, 'timeout') }])
  return entries
}

function verify(given: Given): [string, Given][] {
  const read = readAs(agnosticShape.verify, given)
  if (read === undefined) return []
  note(
    given.at,
    'read as gates; those of verify.ui run for stories with the tag ui, once their pages were looked at, and all run at the final verification',
  )
  const gates: Record<string, unknown> = {}
  for (const run of read.default) gates[freeName(run, 'default', gates)] = run
  for (const run of read.ui) gates[freeName(run, 'ui', gates)] = { run, when: 'ui', behindPages: true }
  return [['gates', { at: given.at, written: undefined, value: gates, shownAs: 'verify' }]]
}

/**
 * The command as a name, made unique: `bun-run-test-unit`; `default` where it holds neither letter nor digit. Variables and
 * options may hold a secret, and a name is shown everywhere.
 */
function freeName(command: string, group: string, taken: object): string {
  const names = new Set(Object.keys(taken).map((key) => key.toLowerCase()))
  const stem =
    command
      .split(/\s+/)
      .filter((word) => !/^(?:-|\w+=)/.test(word))
      .slice(0, 3)
      .join('-')
      .replace(/[^A-Za-z0-9]+/g, '-')
      .slice(0, 40)
      .replace(/^[-\d]+|-+$/g, '') || group
  let name = stem
  for (let count = 2; names.has(name.toLowerCase()); count += 1) name = `${stem}-${count}`
  return name
}

// ---- configs/*.json of the Ralph with steps

/** Its steps, and what else of it is a setting here. */
export function readStepsFile(
  file: { path: string; text: string },
  env: Place['env'],
  report: Report,
): { steps: Given | null; maxAttempts: Given | null } {
  const at: Place = { root: file.path, keys: [], env, report }
  const tree = parseText(at, 'json', file.text)
  if (!v.isMap(tree) || !Array.isArray(tree.steps)) {
    const found = v.isMap(tree) ? 'no list `steps`' : shown(tree)
    if (tree !== undefined) mistake(at, found, 'a map with `steps`', 'add "steps": [...]')
    return { steps: null, maxAttempts: null }
  }
  const { steps: written, max_loops_per_task: loops, ...others } = tree
  for (const key of Object.keys(others).filter((one) => !['name', 'description', '$schema'].includes(one)))
    note(below(at, key), 'means nothing here')
  const place = below(at, 'max_loops_per_task')
  if (loops === 0) note(place, 'a story has no end of attempts there; here max-attempts (3) bounds them')
  else if (!v.isEmpty(loops))
    note(place, 'read as maxAttempts: failed attempts on a story before it is blocked')
  return {
    steps: givenAt(
      below(at, 'steps'),
      written.map((one, index) => known(one, below(at, 'steps', index))),
    ),
    maxAttempts: v.isEmpty(loops) || loops === 0 ? null : givenAt(place, loops),
  }
}

/** A step without the keys that nobody here knows: its program passed them over, too. */
function known(one: unknown, at: Place): unknown {
  if (!v.isMap(one)) return one
  const only = (map: Readonly<Record<string, unknown>>, keys: readonly string[], place: Place) =>
    Object.fromEntries(
      Object.entries(map).filter(([key]) => {
        const isKnown = keys.includes(v.camelCase(key)) || keys.includes(key)
        if (!isKnown) note(below(place, key), 'means nothing here')
        return isKnown
      }),
    )
  const inner = v.isMap(one.config) ? { config: only(one.config, stepKeys.config, below(at, 'config')) } : {}
  return { ...only(one, stepKeys.step, at), ...inner }
}
