// `ralph archive`: a finished run's folder goes to .ralph/archive; of an unfinished one the stories that are done leave prd.json.
import { mkdir, readdir, rename } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { refuseAtWork, refuseOtherRun } from '../app/at-work.ts'
import { prdPathOf } from '../app/claim-feature.ts'
import { ARCHIVE, freeName } from '../branch/run-archive.ts'
import type { Prd } from '../engine/model/feature.ts'
import type { State } from '../engine/model/state.ts'
import { DONE, doneFile, withoutDone } from '../engine/prd/done.ts'
import { parsePrd } from '../engine/prd/parse.ts'
import { remaining } from '../engine/prd/select.ts'
import { serializePrd } from '../engine/prd/serialize.ts'
import { learningsPage } from '../report/agents-md.ts'
import { pluralize } from '../report/figures.ts'
import { UserError } from '../system/errors.ts'
import { replaceFile } from '../system/files.ts'
import { type CommandResult, type Context, resultOfState } from './command-context.ts'
import { type LocalRun, openFeature } from './local-feature.ts'
import { pruneStates } from './prune.ts'
import { steer } from './steer.ts'
import { linkMistakes, readText, writeFiles } from './write-files.ts'

/** Moves the files without a commit: people look at the change and commit it themselves. */
export async function archive(context: Context): Promise<CommandResult> {
  if (context.flags.prune === true) return pruneStates(context)
  using local = await openFeature(context)
  const state = await local.look()
  await refuseAtWork(state)
  await refuseOtherRun(local, state.branch)
  const here = await readPrdInCheckout(local, state)
  const isFinished = here !== null && remaining(here).length === 0
  const isOver = remaining(state.prd).length === 0
  if (!isFinished && state.nonce !== '') {
    if (isOver) throw notMerged(state)
    return steer(context)
  }
  if (here === null) throw notInFolder(state)
  await refuseUncommitted(local, state)
  const paths = isFinished ? await moveFolder(local, state, here) : await moveDone(local, state, here)
  context.print(`archived: ${paths.moved}`)
  context.print(
    `${paths.what}. Commit this: git add -A .ralph && git commit -m "chore: archive ${state.feature}"`,
  )
  return resultOfState(state, { archived: [paths.moved] })
}

type Moved = { moved: string; what: string }

async function readPrdInCheckout({ workspace }: LocalRun, state: State): Promise<Prd | null> {
  const path = `${state.folder}/prd.json`
  const text = await readText(workspace.clone.workTree, path)
  const parsed = text === null ? null : parsePrd(text, path)
  if (parsed?.ok === false) throw new UserError(parsed.mistakes)
  return parsed?.prd ?? null
}

function notInFolder(state: State): UserError {
  const found = `${prdPathOf(state)} is not in a folder of .ralph.`
  const fix = `move it to ${state.folder}/prd.json, or type ralph run ${state.feature}: the first commit of the run moves it there`
  return new UserError({ path: 'feature', found, expected: '', fix })
}

function notMerged({ feature, branch }: State): UserError {
  const found = `${feature} is finished, but ${branch} is not merged into this checkout.`
  const fix = `merge ${branch}, then type ralph archive ${feature}. If ${feature} is in .ralph/archive already, there is nothing to do`
  return new UserError({ path: 'feature', found, expected: '', fix })
}

/**
 * Throws UserError for uncommitted files, because only the archive would have them. It also does on the run's own branch, because its files
 * must stay there.
 */
async function refuseUncommitted({ workspace, base }: LocalRun, state: State): Promise<void> {
  const { clone, repository } = workspace
  if (state.published !== null && clone.branch === state.branch) {
    const target = base.defaultBranch ?? state.base.branch
    const fix = `merge ${state.branch}, then type git switch ${target} and ralph archive ${state.feature}`
    const found = `${state.branch} is checked out. A feature is archived on the branch that it was merged into.`
    throw new UserError({ path: 'HEAD', found, expected: '', fix })
  }
  const dirt = await repository.uncommitted(clone.head ?? base.sha)
  const uncommitted = dirt.find(({ path }) => path.startsWith(`${state.folder}/`))
  if (uncommitted === undefined) return
  const found = 'this file has uncommitted changes, and Ralph archives only what is committed.'
  const fix = `git add -A ${state.folder} && git commit -m "docs: stories", then ralph archive ${state.feature}`
  throw new UserError({ path: uncommitted.path, found, expected: '', fix })
}

async function moveFolder({ workspace }: LocalRun, { folder }: State, prd: Prd): Promise<Moved> {
  const { workTree } = workspace.clone
  const mistakes = linkMistakes(workTree, [`${ARCHIVE}/${basename(folder)}`])
  if (mistakes.length > 0) throw new UserError(mistakes)
  const taken = await readdir(join(workTree, ARCHIVE)).catch(() => [])
  const to = `${ARCHIVE}/${freeName(basename(folder), new Set(taken))}`
  const page = learningsPage(basename(folder), prd.run.learnings)
  if (page !== null) await replaceFile(join(workTree, folder, 'learnings.md'), page)
  await mkdir(dirname(join(workTree, to)), { recursive: true })
  await rename(join(workTree, folder), join(workTree, to))
  return { moved: to, what: `${folder} is now in ${ARCHIVE}` }
}

async function moveDone({ workspace }: LocalRun, { feature, folder }: State, before: Prd): Promise<Moved> {
  const { clone } = workspace
  const { prd, done } = withoutDone(before)
  if (done.length === 0) {
    const found = 'no story has passed or been skipped, so there is nothing to archive.'
    throw new UserError({
      path: `${folder}/prd.json`,
      found,
      expected: '',
      fix: `work on the stories first: ralph run ${feature}`,
    })
  }
  const taken = (await readdir(join(clone.workTree, folder))).map((name) => name.replace(/\.json$/, ''))
  const to = `${folder}/${freeName(DONE, new Set(taken))}.json`
  await writeFiles(clone.workTree, {
    [to]: doneFile(before, done),
    [`${folder}/prd.json`]: serializePrd(prd),
  })
  return {
    moved: to,
    what: `Moved ${pluralize(done.length, 'finished story', 'finished stories')} out of prd.json`,
  }
}
