// What is settled before `ralph init` proposes anything: by flags, and by the configuration and the workflow that stand there.
import type { Given, Settled, Written } from '../init/answers.ts'
import { CONFIG, WORKFLOW } from '../init/files.ts'
import { inputsIn, inputTexts, yamlOf } from '../init/workflow.ts'
import { readSettings, writtenSettings } from '../settings/index.ts'
import type { Mistake } from '../system/errors.ts'
import type { Context } from './context.ts'
import { textAt } from './init-look.ts'

type Environment = Readonly<Record<string, string>>

/** `configAt`: the configuration that is read, null where there is none. */
export type Standing = Omit<Given, 'person'> & { configAt: string | null }

const CONFIGS = [CONFIG, 'ralph.config.yaml', 'ralph.config.json']

export function standingIn(top: string, env: Environment): Standing {
  const configAt = CONFIGS.find((path) => textAt(top, path) !== null) ?? null
  const file = configAt === null ? null : { path: configAt, text: textAt(top, configAt) ?? '' }
  const inputs = inputsIn(textAt(top, WORKFLOW) ?? '')
  return { config: writtenSettings({ file, env }), workflow: writtenSettings({ inputs, env }), configAt }
}

/** The settings among the flags. */
export function personGives({ flags, env }: Context): Written {
  const { gate, yes: _yes, bmad: _bmad, pin: _pin, json: _json, directory: _directory, ...settings } = flags
  const written = writtenSettings({ flags: settings, env })
  return gate === undefined ? written : { ...written, gate: [gate].flat() }
}

/** What no run would take, told before anything is written. */
export function mistakesIn(
  { config, inputs, isSeparate }: Settled,
  standing: Standing,
  env: Environment,
): Mistake[] {
  if (inputs.gates === undefined) return [NO_GATES]
  // What stands in the configuration already, and may name variables of CI, is for `ralph validate`.
  const unused = Object.keys(standing.config)
  const file = { path: CONFIG, text: yamlOf(config) }
  const results = [
    readSettings({ file, unused, env, surface: 'cli' }),
    readSettings({ inputs: isSeparate ? {} : inputTexts(inputs), env, surface: 'action' }),
  ]
  const mistakes = results.flatMap((result) => (result.ok ? [] : result.mistakes))
  return mistakes.filter(({ found }, at) => mistakes.findIndex((one) => one.found === found) === at)
}

const NO_GATES: Mistake = {
  path: 'gates',
  found: 'no command that tests this project',
  expected: 'a command that must exit 0 before a story counts as done',
  fix: 'give one: ralph init --gate test="make test"; or --gates none, where there is none',
}
