// What `ralph run` would refuse, found without beginning: said by `validate`, `next` and `run --dry-run` alike.
import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { missingAgents } from '../app/agents.ts'
import { refuseNoBrowser } from '../app/browser.ts'
import { withWanted } from '../app/claim.ts'
import { refuseUngated } from '../app/limits.ts'
import { refuseFiltered } from '../git/filters.ts'
import { checkTemplates, type TemplateFindings } from '../loop/templates.ts'
import { agentSteps } from '../model/pipeline.ts'
import type { State } from '../model/state.ts'
import { type Mistake, UserError } from '../system/errors.ts'
import type { Context } from './context.ts'
import type { LocalRun } from './local.ts'

/** Everything that keeps a run from beginning, apart from who is at work now; empty where nothing does. */
export async function preflight(context: Context, local: LocalRun, state: State): Promise<Mistake[]> {
  const { settings, workspace } = local
  const checks: (() => void | Promise<void>)[] = [
    () => refuseUngated(settings),
    () => refuseNoBrowser(settings, context.env),
    () => local.refuseBranch(state),
    () => refuseFiltered(workspace.git, workspace.objects),
    () => void withWanted(state, settings),
  ]
  const mistakes = [
    ...missingAgents(settings, context.env),
    ...(await missingFolder(local, state)),
    ...(await templateFindings(local, state)).mistakes,
  ]
  for (const check of checks) {
    try {
      await check()
    } catch (error) {
      if (!(error instanceof UserError)) throw error
      mistakes.push(...error.mistakes)
    }
  }
  return mistakes
}

/** What is to be said of the prompt templates that a run would use. */
export function templateFindings(local: LocalRun, state: State): Promise<TemplateFindings> {
  return checkTemplates((path) => local.read(state, path), agentSteps(local.settings.steps))
}

/** Agent and gates start there: on disk now, or on the branch that the run goes on from. */
async function missingFolder({ settings, workspace }: LocalRun, state: State): Promise<Mistake[]> {
  const { workingDirectory: folder } = settings
  const found = await stat(resolve(workspace.clone.workTree, folder)).catch(() => null)
  if (found?.isDirectory() === true) return []
  const tree = await workspace.objects.info(`${state.green}:${folder.replace(/^\.\/|\/+$/g, '')}`)
  if (tree?.type === 'tree') return []
  const fix = 'name a folder of this repository, from its root'
  return [{ path: 'working-directory', found: folder, expected: 'a folder that is there', fix }]
}
