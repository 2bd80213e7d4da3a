// The repository: the configuration in it, the clone, the work tree, whose commits are made, and the stories.
import { checkDirt } from '../app/dirt.ts'
import { findFeatures } from '../app/features.ts'
import { refuseFiltered } from '../git/filters.ts'
import { checkTemplates } from '../loop/templates.ts'
import { agentSteps } from '../model/pipeline.ts'
import { counts } from '../prd/select.ts'
import { many } from '../report/words.ts'
import { fault, faultsOf, fine, type Result, warning } from './result.ts'
import { checkoutOf, type Subject } from './subject.ts'

export function configuration({ mistakes, notes, settings }: Subject): Result[] {
  const told = notes.map((note) =>
    warning(note, 'a setting that means what it says', 'change it, or let it be'),
  )
  if (mistakes.length > 0) return [...faultsOf(mistakes), ...told]
  const file = settings.configFile
  return told.length > 0 ? told : [fine(file === null ? 'fine' : `${file} is fine`)]
}

/** What Ralph refuses of a clone is told by opening it. */
export async function checkout(subject: Subject): Promise<Result[]> {
  if (!('workspace' in subject.checkout)) return faultsOf(subject.checkout)
  const { git, clone, objects } = subject.checkout.workspace
  const isAction = subject.settings.surface === 'action'
  if (clone.branch === null && !isAction)
    return [fault('a detached HEAD', 'a branch', 'run `git switch <branch>`: a run starts from it')]
  await refuseFiltered(git, objects)
  const submodules = await objects.text(`${clone.head}:.gitmodules`)
  const isShallow = await git.isShallow()
  const remarks = [
    isShallow ? 'shallow' : '',
    submodules === null ? '' : many(submodules.split(/^\s*\[submodule /m).length - 1, 'submodule'),
  ].filter((one) => one !== '')
  const where = `${clone.branch ?? 'a detached HEAD'} at ${clone.head?.slice(0, 7)}`
  const found = remarks.length === 0 ? where : `${where} (${remarks.join(', ')})`
  // In a job, what is missing is fetched when it is needed; on a laptop git stays local.
  if (!isShallow || isAction) return [fine(found)]
  return [warning(found, 'the whole history: people and Ralph merge by it', 'run `git fetch --unshallow`')]
}

/** Templates as a run would read them at its start. */
export async function prompts(subject: Subject): Promise<Result[]> {
  const { workspace, base } = checkoutOf(subject)
  const commit = subject.settings.surface === 'action' ? base.sha : (workspace.clone.head ?? base.sha)
  const { mistakes, notes, warnings } = await checkTemplates(
    (path) => workspace.repository.read(commit, path),
    agentSteps(subject.settings.steps),
  )
  const remarks = [...notes, ...warnings].map(({ found, fix }) =>
    warning(found, 'a prompt of this version', fix),
  )
  return [...faultsOf(mistakes), ...remarks]
}

/** In a job the checkout is Ralph's: what earlier steps left there is removed. */
export async function workTree(subject: Subject): Promise<Result | Result[]> {
  const { workspace, base } = checkoutOf(subject)
  if (subject.settings.surface === 'action') return []
  const head = workspace.clone.head ?? base.sha
  const edits = await checkDirt(workspace.repository, head, (path) => path.startsWith('.ralph/'))
  if (edits.length > 0)
    return fine(`clean, but for ${many(edits.length, 'file')} below .ralph/: a run takes them up`)
  return fine('clean')
}

export function identity(subject: Subject): Result | Result[] {
  if (subject.settings.surface === 'action') return []
  const { config } = checkoutOf(subject).workspace.clone
  const [name, email] = [config.get('user.name'), config.get('user.email')]
  if (name !== undefined && email !== undefined) return fine(`${name} <${email}>`)
  return warning(
    `no ${name === undefined ? 'user.name' : 'user.email'}: commits would be by Ralph <ralph@localhost>`,
    'whose commits these are',
    'git config --global user.name "Your Name" && git config --global user.email you@example.com',
  )
}

export async function stories(subject: Subject): Promise<Result[]> {
  const { workspace, base } = checkoutOf(subject)
  const isAction = subject.settings.surface === 'action'
  const place = isAction
    ? { commit: base.sha, workTree: null }
    : { commit: workspace.clone.head ?? base.sha, workTree: workspace.clone.workTree }
  const { features, mistakes } = await findFeatures(workspace.objects, place, subject.settings.branchPrefix)
  const found = features
    .filter(({ name }) => subject.feature === null || name === subject.feature)
    .map(({ name, prd }) => {
      const { total, open } = counts(prd)
      return fine(
        `${name}: ${many(total, 'story', 'stories')}, ${open === 0 ? 'none' : open} to be worked on`,
      )
    })
  if (found.length + mistakes.length > 0) return [...faultsOf(mistakes), ...found]
  return [
    warning(
      'no prd.json yet',
      'stories to work on',
      'write .ralph/<yyyy-mm-dd>-<feature>/prd.json, or let `ralph plan` write it',
    ),
  ]
}
