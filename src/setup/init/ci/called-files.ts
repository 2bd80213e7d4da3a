// The files of the same repository that a workflow calls, with their inputs: reusable workflows and composite actions. A file that is
// being read is not entered again, and a project's CI calls a bounded number of files: `init` reads any checkout. Pure.
import { asObject, asString, type Json } from '../../../engine/model/json.ts'
import { yamlObject } from '../../yaml-object.ts'
import type { Folder } from '../project.ts'
import type { Values } from './expressions.ts'

/** What one workflow may still call: `entered` are the files on the way to this place. */
export type Calls = { folder: Folder; entered: readonly string[]; left: { files: number } }

export type CalledFile = { path: string; text: string; file: Json; inputs: Values; calls: Calls }

/** The maximum number of files that one workflow calls, and of calls inside one another: GitHub allows ten levels. */
const MAX_FILES = 100
const MAX_LEVELS = 10

export function startCalls(folder: Folder, path: string): Calls {
  return { folder, entered: [path], left: { files: MAX_FILES } }
}

/** The reusable workflow that a job uses; null if it is not in this repository, or calls itself. */
export function calledWorkflow(uses: string, given: Values, calls: Calls): CalledFile | null {
  const [, path] = /^\.\/(\.github\/workflows\/[\w.-]+)$/.exec(uses) ?? []
  const called = path === undefined ? null : enter(path, calls)
  if (called === null) return null
  const declared = asObject(asObject(asObject(called.file.on)?.workflow_call)?.inputs)
  return { ...called, inputs: inputsOf(declared, given) }
}

/** The composite action that a step uses, as `./folder`; null if there is none, or if it uses itself. */
export function calledAction(uses: string, given: Values, calls: Calls): CalledFile | null {
  const folder = uses.replace(/^(?:\.\/)+|\/+$/g, '')
  const names = ['action.yml', 'action.yaml'].map((name) => (folder === '' ? name : `${folder}/${name}`))
  const path = names.find((one) => calls.folder.paths.includes(one))
  const called = path === undefined ? null : enter(path, calls)
  if (called === null || asString(asObject(called.file.runs)?.using) !== 'composite') return null
  return { ...called, inputs: inputsOf(asObject(called.file.inputs), given) }
}

function enter(path: string, { folder, entered, left }: Calls): Omit<CalledFile, 'inputs'> | null {
  if (entered.includes(path) || entered.length > MAX_LEVELS || left.files === 0) return null
  left.files -= 1
  const text = folder.text(path)
  const file = yamlObject(text)
  return file === null ? null : { path, text, file, calls: { folder, entered: [...entered, path], left } }
}

/** The inputs that a file declares: what the caller gives, or their defaults. */
function inputsOf(declared: Json | null, given: Values): Values {
  const defaults = Object.entries(declared ?? {}).map(([name, input]) => {
    const value = asObject(input)?.default
    return [name, value === undefined || value === null ? '' : String(value)]
  })
  return { ...Object.fromEntries(defaults), ...given }
}
