// The lock file of GitHub Actions, which `gh actions-pin` writes. If a listed workflow has an action that the file lacks, no job starts:
// the run ends in `startup_failure`, without a log.
import { asObject, asString, type Json } from '../engine/model/json.ts'
import { yamlObject } from './yaml-object.ts'

export const ACTIONS_LOCK = '.github/workflows/actions.lock'
export const LOCK_FIX = 'run `gh actions-pin`, and commit the file with the workflow'

/** Actions of a workflow that its entry in the lock file does not list; empty if the file does not list the workflow. */
export function unlockedActions(lock: string, path: string, workflow: string): string[] {
  const listed = asObject(yamlObject(lock)?.workflows)?.[path]
  if (!Array.isArray(listed)) return []
  const locked = new Set(listed.map((one) => String(one).toLowerCase()))
  return [...new Set(actionsOf(yamlObject(workflow) ?? {}))].filter((uses) => !locked.has(uses.toLowerCase()))
}

/** `owner/repo@ref` of each action; the folder of an action within its repository is left out. */
function actionsOf(workflow: Json): string[] {
  const jobs = Object.values(asObject(workflow.jobs) ?? {}).map((job) => asObject(job) ?? {})
  const steps = jobs.flatMap((job) => (Array.isArray(job.steps) ? job.steps : []))
  return steps.flatMap((step) => {
    const [, name, ref] =
      /^([\w.-]+\/[\w.-]+)(?:\/[^@]*)?@(.+)$/.exec(asString(asObject(step)?.uses) ?? '') ?? []
    return name === undefined ? [] : [`${name}@${ref}`]
  })
}
