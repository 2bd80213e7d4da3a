// Checks of the repository: its configuration, clone, work tree and prompts, the author of commits, and the working directory.
import { existsSync, lstatSync } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { isAlive } from '../../app/at-work.ts'
import { withRequestedScope } from '../../app/claim-feature.ts'
import { checkDirt } from '../../app/dirt.ts'
import { limitsOf } from '../../app/loop-limits.ts'
import type { Workspace } from '../../app/workspace.ts'
import { agentSteps } from '../../engine/model/pipeline-step.ts'
import type { State } from '../../engine/model/state.ts'
import { checkTemplates } from '../../engine/prompts/template-files.ts'
import { nextStepOfRun } from '../../engine/situation.ts'
import { refuseFiltered } from '../../git/filters.ts'
import { execute, gitEnv } from '../../git/git-process.ts'
import { checkedOutElsewhere } from '../../git/open-clone.ts'
import { pluralize } from '../../report/figures.ts'
import { configFileNames, type Settings } from '../../settings/read-settings.ts'
import type { Mistake } from '../../system/errors.ts'
import { readRegularFile } from '../../system/files.ts'
import { shellWord } from '../../system/shell-word.ts'
import {
  type CheckResult,
  faultResult,
  okResult,
  type RunStart,
  refuseDuringRun,
  requireCheckout,
  type Subject,
  toFaults,
  warningResult,
} from './subject.ts'

export async function checkConfiguration({
  mistakes,
  notes,
  settings,
  checkout,
  features,
}: Subject): Promise<CheckResult[]> {
  const differences: (string | null)[] = []
  if ('workspace' in checkout)
    for (const state of features.states)
      differences.push(await configDifference(checkout.workspace, settings, state))
  const warnings = [...notes, ...differences.filter((one) => one !== null)].map((note) =>
    warningResult(note, '', 'change the setting, or ignore this warning if you meant it'),
  )
  const found = [...toFaults(mistakes), ...warnings]
  const file = settings.configFile
  return found.length > 0 ? found : [okResult(file === null ? 'fine' : `${file} is fine`)]
}

const isOfGit = ({ path }: Mistake) => path === 'git'

/** What is wrong with git itself, as found when the checkout was opened. */
export function gitMistakes({ checkout }: RunStart): readonly Mistake[] {
  return 'workspace' in checkout ? [] : checkout.filter(isOfGit)
}

/** Reasons to refuse the clone; most of them are found when it is opened. */
export async function cloneMistakes({ checkout }: RunStart): Promise<readonly Mistake[]> {
  if (!('workspace' in checkout)) return checkout.filter((mistake) => !isOfGit(mistake))
  const { git, objects } = checkout.workspace
  if (checkout.detached !== undefined) return [checkout.detached]
  await refuseFiltered(git, objects)
  return []
}

export async function checkCheckout(subject: Subject): Promise<CheckResult[]> {
  const wrong = await cloneMistakes(subject)
  if (wrong.length > 0) return toFaults(wrong)
  const { git, clone, objects } = requireCheckout(subject).workspace
  const isShallow = await git.isShallow()
  const submodules = (await objects.text(`${clone.head}:.gitmodules`))?.match(/^\s*\[submodule /gm) ?? null
  const remarks = [
    ...(isShallow ? ['shallow'] : []),
    ...(submodules === null ? [] : [pluralize(submodules.length, 'submodule')]),
  ]
  const position = `${clone.branch ?? 'a detached HEAD'} at ${clone.head?.slice(0, 7)}`
  const found = remarks.length === 0 ? position : `${position} (${remarks.join(', ')})`
  // In a job, what is missing is fetched when it is needed; on a laptop git stays local.
  if (!isShallow || subject.settings.surface === 'action') return [okResult(found)]
  return [warningResult(`${found}: merges need the whole history`, '', 'run `git fetch --unshallow`')]
}

/** Ralph's own git works in any folder. The git of agent and gates refuses a folder of another user, whose files a run cannot change. */
export async function checkOwner({ checkout, settings, env }: Subject): Promise<CheckResult[]> {
  if (!('workspace' in checkout) || settings.surface === 'action') return []
  const { workTree: top } = checkout.workspace.clone
  const options = { directory: top, env: gitEnv(env), accept: [128] }
  const { stderr } = await execute(['rev-parse', '--git-dir'], options)
  const ownId = process.getuid?.() ?? 0
  const chown = `sudo chown -R "$(id -un)" ${shellWord(top)}`
  if (/dubious ownership/.test(stderr)) {
    const found = `${top} is owned by user ${lstatSync(top).uid}, and you are user ${ownId}, so git refuses to work there`
    const fix = `run ${chown}, or git config --global --add safe.directory ${shellWord(top)}`
    return [faultResult(found, '', fix)]
  }
  if (ownId === 0) return []
  const names = await readdir(top)
  const foreign = names.filter((name) => lstatSync(join(top, name), { throwIfNoEntry: false })?.uid !== ownId)
  if (foreign.length === 0) return []
  const found = `${foreign.slice(0, 5).join(', ')}${foreign.length > 5 ? ' and more' : ''} ${foreign.length === 1 ? 'belongs' : 'belong'} to another user`
  return [warningResult(`${found}, so a run cannot change them`, '', `run ${chown}`)]
}

/** The prompt templates, as a run would read them at its start. */
export const templatesOf = (start: RunStart) =>
  checkTemplates(requireCheckout(start).read, agentSteps(start.settings.steps))

/** Mistakes in prompt templates that a run refuses to begin with. */
export async function promptMistakes(start: RunStart): Promise<readonly Mistake[]> {
  return (await templatesOf(start)).mistakes
}

export async function checkPrompts(subject: Subject): Promise<CheckResult[]> {
  const { mistakes, notes, warnings } = await templatesOf(subject)
  const results = [...notes, ...warnings].map((note) =>
    warningResult(note, '', 'change the prompt as the note says, or ignore the note'),
  )
  return [...toFaults(mistakes), ...results]
}

/** The folder where agent and gates start has to exist on disk now, or in the commit that a run starts from. */
export async function workingDirectoryMistakes({
  checkout,
  settings,
}: RunStart): Promise<readonly Mistake[]> {
  const { workspace, commit } = requireCheckout({ checkout })
  const { workingDirectory: folder, surface } = settings
  if (folder === '.') return []
  const onDisk =
    surface === 'cli' ? await stat(join(workspace.clone.workTree, folder)).catch(() => null) : null
  if (onDisk?.isDirectory() === true) return []
  const tree = await workspace.objects.info(`${commit}:${folder.replace(/^\.\/|\/+$/g, '')}`)
  if (tree?.type === 'tree') return []
  const found = `this repository has no folder ${folder}.`
  const fix =
    'correct the path, which starts at the root of the repository, or commit a file in that folder first'
  return [{ path: 'working-directory', found, expected: '', fix }]
}

export async function checkWorkingDirectory(subject: Subject): Promise<CheckResult[]> {
  const wrong = await workingDirectoryMistakes(subject)
  if (wrong.length > 0) return toFaults(wrong)
  const { workingDirectory: folder } = subject.settings
  return folder === '.' ? [] : [okResult(folder)]
}

/**
 * The branch of a feature that another work tree has checked out: a run here would move it under that one. If the feature
 * is complete, or in work, a run here does nothing of that kind.
 */
export async function otherWorkTreeMistakes(start: RunStart): Promise<readonly Mistake[]> {
  const { clone } = requireCheckout(start).workspace
  const found: Mistake[] = []
  for (const state of start.features.states) {
    const other = checkedOutElsewhere(clone, state.branch)
    if (other === null || (await isAlive(state.lease))) continue
    const step = nextStepOfRun(
      withRequestedScope(state, start.settings),
      limitsOf(start.settings),
      Date.now(),
    )
    const isComplete = step.kind === 'conclude' && step.conclusion.outcome === 'complete'
    if (isComplete && !start.anew) continue
    found.push({
      path: 'work tree',
      found: `the branch ${state.branch} is checked out in another work tree, ${other}.`,
      expected: '',
      fix: 'run Ralph in that work tree, or switch that work tree to another branch',
    })
  }
  return found
}

/** In a job the checkout belongs to Ralph, which removes what earlier steps left: there is nothing to check. */
export async function checkWorkTree(subject: Subject): Promise<CheckResult[]> {
  const { workspace, commit } = requireCheckout(subject)
  const { repository } = workspace
  if (subject.settings.surface === 'action') return []
  refuseDuringRun(subject)
  const elsewhere = await otherWorkTreeMistakes(subject)
  if (elsewhere.length > 0) return toFaults(elsewhere)
  const edits = await checkDirt(repository, commit, (path) => path.startsWith('.ralph/'))
  const exception = `, except for ${pluralize(edits.length, 'file')} below .ralph/, which a run commits`
  return [okResult(`clean${edits.length > 0 ? exception : ''}`)]
}

export function checkIdentity(subject: Subject): CheckResult[] {
  if (subject.settings.surface === 'action') return []
  const { config } = requireCheckout(subject).workspace.clone
  const [name, email] = [config.get('user.name'), config.get('user.email')]
  if (name !== undefined && email !== undefined) return [okResult(`${name} <${email}>`)]
  const missing = name === undefined ? 'user.name' : 'user.email'
  const fix = 'git config --global user.name "Your Name" && git config --global user.email you@example.com'
  const found = `git has no ${missing}, so the author of commits would be Ralph <ralph@localhost>`
  return [warningResult(found, '', fix)]
}

/** A note if the feature's branch is checked out and its configuration differs from the base branch's. */
export async function configDifference(
  { clone, objects, store }: Workspace,
  settings: Settings,
  state: State,
): Promise<string | null> {
  const base = state.base.branch
  if (clone.branch !== state.branch || base === state.branch) return null
  const head = await store.head(base)
  if (head === null) return null
  for (const path of settings.configFile === null ? configFileNames : [settings.configFile]) {
    const baseText = await objects.text(`${head}:${path}`)
    const file = resolve(clone.workTree, path)
    const ownText = (await readRegularFile(file))?.toString('utf8') ?? null
    const isLink = ownText === null && existsSync(file)
    if (baseText === null && ownText === null && !isLink) continue
    // Without a file on the base, or behind a link, there is nothing to compare. Line ends depend on the checkout.
    if (
      baseText === null ||
      isLink ||
      ownText?.replaceAll('\r\n', '\n') === baseText.replaceAll('\r\n', '\n')
    )
      return null
    const difference =
      ownText === null
        ? `${path} exists on ${base}, but not on ${state.branch}, which this run uses`
        : `${path} differs between ${base} and ${state.branch}, and this run uses the file on ${state.branch}`
    return `${difference}. To use the file on ${base}, merge ${base} or switch to it`
  }
  return null
}
