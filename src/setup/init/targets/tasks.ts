// Tasks in YAML, TOML and JSON: Taskfile, mise, pipenv, deno.
import { asObject, asString, type Json, jsonObject } from '../../../engine/model/json.ts'
import { yamlObject } from '../../yaml-object.ts'
import { tomlIn } from '../toml.ts'
import { linesOf, type Target } from './target.ts'

export function taskfileTasks(text: string): Target[] {
  return targetsIn(yamlObject(text)?.tasks, 'task', taskLines)
}

function taskLines(task: unknown): string[] {
  if (typeof task === 'string') return linesOf(task)
  const fields: Json = asObject(task) ?? {}
  const list: unknown[] = Array.isArray(task) ? task : Array.isArray(fields.cmds) ? fields.cmds : [fields.cmd]
  return list.flatMap((one) => linesOf(asString(one) ?? asString(asObject(one)?.cmd) ?? ''))
}

export function miseTasks(text: string): Target[] {
  return targetsIn(tomlIn(text).tasks, 'mise run', (task) => textsOf(asObject(task)?.run ?? task))
}

/** `call` scripts are functions of Python. */
export function pipenvScripts(text: string): Target[] {
  return targetsIn(tomlIn(text).scripts, 'pipenv run', (script) =>
    textsOf(asObject(script)?.cmd ?? asObject(script)?.call ?? script),
  )
}

export function denoTasks(text: string): Target[] {
  return targetsIn(jsonObject(text.replace(/^\s*\/\/.*$/gm, ''))?.tasks, 'deno task', (task) =>
    textsOf(asObject(task)?.command ?? task),
  )
}

function targetsIn(tasks: unknown, start: string, lines: (task: unknown) => string[]): Target[] {
  return Object.entries(asObject(tasks) ?? {}).map(([name, task]) => ({
    name,
    start: `${start} ${name}`,
    lines: lines(task),
  }))
}

function textsOf(value: unknown): string[] {
  const list: unknown[] = Array.isArray(value) ? value : [value]
  return list.flatMap((one) => linesOf(asString(one) ?? ''))
}
