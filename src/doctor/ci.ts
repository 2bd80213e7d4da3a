// The workflow as the default branch has it, and the settings that its jobs will have.
import type { Workspace } from '../app/workspace.ts'
import { pathsIn } from '../git/tree-walk.ts'
import { resolveSettings, type Settings } from '../settings/index.ts'
import type { Mistake } from '../system/errors.ts'
import type { Environment } from '../system/untrusted-env.ts'
import { type RalphJob, type Role, readWorkflow, type WorkflowFile } from './workflow-file.ts'

export const WORKFLOWS = '.github/workflows/'

export type Ci = {
  file: WorkflowFile
  /** That works on features, or begins to. */
  job: RalphJob
  settings: Settings
  /** Of the step's own inputs, where all of them can be read. */
  mistakes: readonly Mistake[]
}

const WORKING: ReadonlySet<Role> = new Set(['run', 'claim'])

/** The workflow at a commit that works on features; null where there is none. */
export async function ciAt(
  { objects }: Workspace,
  commit: string,
  env: Environment,
  action: string,
): Promise<Ci | null> {
  const look = (path: string) => objects.text(`${commit}:${path}`)
  for (const path of (await pathsIn(objects, commit, WORKFLOWS)).filter(isWorkflow).sort()) {
    const file = readWorkflow(path, (await look(path)) ?? '', action)
    const job = file?.jobs.find(({ role }) => WORKING.has(role))
    if (file === null || job === undefined) continue
    const read = await resolveSettings({ inputs: job.inputs, env, surface: 'action' }, look)
    const mistakes = read.ok || job.unread.length > 0 ? [] : read.mistakes
    return {
      file,
      job,
      settings: read.settings,
      mistakes: mistakes.filter(({ path: at }) => /^input\b/.test(at)),
    }
  }
  return null
}

export function isWorkflow(path: string): boolean {
  return /^\.github\/workflows\/[^/]+\.ya?ml$/.test(path)
}
