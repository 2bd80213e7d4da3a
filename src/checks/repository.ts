// The repository: the configuration in it, the clone, the work tree, whose commits are made, and the stories.
import { lstatSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { branchToTake } from '../app/branch.ts'
import { checkDirt } from '../app/dirt.ts'
import { findFeatures } from '../app/features.ts'
import { unaskedTags } from '../app/tags.ts'
import { featureOfFolder } from '../branch/features.ts'
import { refuseFiltered } from '../git/filters.ts'
import { execute, plainEnv } from '../git/process.ts'
import { checkTemplates } from '../loop/templates.ts'
import { agentSteps } from '../model/pipeline.ts'
import { counts } from '../prd/select.ts'
import { many } from '../report/words.ts'
import { shellWord } from '../system/shell-word.ts'
import {
  checkoutOf,
  fault,
  faultsOf,
  fine,
  type Result,
  refuseAtWork,
  type Subject,
  startOf,
  warning,
} from './subject.ts'

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
  const isShallow = await git.isShallow()
  const submodules = (await objects.text(`${clone.head}:.gitmodules`))?.match(/^\s*\[submodule /gm) ?? null
  const remarks = [
    ...(isShallow ? ['shallow'] : []),
    ...(submodules === null ? [] : [many(submodules.length, 'submodule')]),
  ]
  const where = `${clone.branch ?? 'a detached HEAD'} at ${clone.head?.slice(0, 7)}`
  const found = remarks.length === 0 ? where : `${where} (${remarks.join(', ')})`
  // In a job, what is missing is fetched when it is needed; on a laptop git stays local.
  if (!isShallow || isAction) return [fine(found)]
  return [warning(found, 'the whole history: people and Ralph merge by it', 'run `git fetch --unshallow`')]
}

/** Ralph's own git works in any folder; that of agent and gates refuses another user's, and a run cannot change their files. */
export async function owner({ checkout, settings, env }: Subject): Promise<Result[]> {
  if (!('workspace' in checkout) || settings.surface === 'action') return []
  const { workTree: top } = checkout.workspace.clone
  const options = { directory: top, env: plainEnv(env), accept: [128] }
  const { stderr } = await execute(['rev-parse', '--git-dir'], options)
  const mine = process.getuid?.() ?? 0
  const chown = `sudo chown -R "$(id -un)" ${shellWord(top)}`
  if (/dubious ownership/.test(stderr)) {
    const found = `${top} is owned by user ${lstatSync(top).uid}, and you are user ${mine}: git refuses to work there`
    const fix = `${chown}; or git config --global --add safe.directory ${shellWord(top)}`
    return [fault(found, 'a folder of your own', fix)]
  }
  if (mine === 0) return []
  const names = await readdir(top)
  const others = names.filter((name) => lstatSync(join(top, name), { throwIfNoEntry: false })?.uid !== mine)
  if (others.length === 0) return []
  const found = `${others.slice(0, 5).join(', ')}${others.length > 5 ? ' and more' : ''}: owned by another user`
  return [warning(found, 'files that you may change', chown)]
}

/** Templates as a run would read them at its start. */
export async function prompts(subject: Subject): Promise<Result[]> {
  const { repository } = checkoutOf(subject).workspace
  const read = (path: string) => repository.read(startOf(subject), path)
  const { mistakes, notes, warnings } = await checkTemplates(read, agentSteps(subject.settings.steps))
  const told = [...notes, ...warnings].map((note) =>
    warning(note, 'a prompt of this version', 'do so, or let it be'),
  )
  return [...faultsOf(mistakes), ...told]
}

/** In a job the checkout is Ralph's: what earlier steps left there is removed. */
export async function workTree(subject: Subject): Promise<Result[]> {
  const { repository } = checkoutOf(subject).workspace
  if (subject.settings.surface === 'action') return []
  refuseAtWork(subject)
  const edits = await checkDirt(repository, startOf(subject), (path) => path.startsWith('.ralph/'))
  const but = `, but for ${many(edits.length, 'file')} below .ralph/: a run takes them up`
  return [fine(`clean${edits.length > 0 ? but : ''}`)]
}

export function identity(subject: Subject): Result[] {
  if (subject.settings.surface === 'action') return []
  const { config } = checkoutOf(subject).workspace.clone
  const [name, email] = [config.get('user.name'), config.get('user.email')]
  if (name !== undefined && email !== undefined) return [fine(`${name} <${email}>`)]
  const lacks = name === undefined ? 'user.name' : 'user.email'
  const fix = 'git config --global user.name "Your Name" && git config --global user.email you@example.com'
  const found = `no ${lacks}: commits would be by Ralph <ralph@localhost>`
  return [warning(found, 'whose commits these are', fix)]
}

export async function stories(subject: Subject): Promise<Result[]> {
  const { workspace, base, defaultBranch } = checkoutOf(subject)
  const { objects, clone, store } = workspace
  const { branchPrefix } = subject.settings
  const workTree = subject.settings.surface === 'action' ? null : clone.workTree
  const place = { commit: startOf(subject), workTree }
  const { features, mistakes } = await findFeatures(objects, place, branchPrefix)
  const meant = features.filter(({ name }) => subject.feature === null || name === subject.feature)
  const begun = new Set([...(await store.list()).keys()].map(featureOfFolder))
  const request = { base: { ...base, defaultBranch: defaultBranch.name }, branchPrefix }
  for (const file of meant) if (!begun.has(file.name)) await branchToTake(file, null, workspace, request)
  const found = meant.flatMap(({ name, prd }) => {
    const { total, open } = counts(prd)
    const left = `${open === 0 ? 'none' : open} to be worked on`
    const unasked = unaskedTags(subject.settings, prd.userStories).map((text) =>
      warning(
        `${name}: ${text}`,
        'a story with that tag',
        'give its stories the tag in prd.json, or drop the setting',
      ),
    )
    return [fine(`${name}: ${many(total, 'story', 'stories')}, ${left}`), ...unasked]
  })
  if (found.length + mistakes.length > 0) return [...faultsOf(mistakes), ...found]
  const fix = 'write .ralph/<yyyy-mm-dd>-<feature>/prd.json, or let `ralph plan` write it'
  return [warning('no prd.json yet', 'stories to work on', fix)]
}
