// `ralph report --all`: every run that this clone knows, by its states and by the prd.json of what is archived or has no state.
import { readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { findFeatures } from '../app/features.ts'
import { ARCHIVE } from '../git/archive.ts'
import { featureOfFolder } from '../git/features.ts'
import type { Prd } from '../model/feature.ts'
import type { State } from '../model/state.ts'
import { mapTexts } from '../model/text.ts'
import { parsePrd } from '../prd/parse.ts'
import { type Aggregate, aggregate, type FeatureRun, runOf } from '../report/aggregate.ts'
import { renderAll } from '../report/html/all.ts'
import { outputsOf } from '../report/outputs.ts'
import { type Mistake, messageOf, UserError } from '../system/errors.ts'
import { replaceFile } from '../system/files.ts'
import { type Answer, type Context, tell } from './context.ts'
import type { LocalRun } from './local.ts'
import { localView, reportPage, show, written } from './report-page.ts'

/** Runs that get a page of their own beside the table, the newest. */
const MOST_PAGES = 100

export async function reportAll(context: Context, local: LocalRun): Promise<Answer> {
  const { redact } = local.workspace.redactor
  const { states, unread } = await statesOf(local)
  const files = await archivesAndOpen(local, states, unread)
  const all = aggregate([
    ...[...states].map(([folder, state]) =>
      runOf(state, { feature: state.feature, folder, isArchived: false }),
    ),
    ...files,
  ])
  const newest = all.runs
    .filter(({ folder, isArchived }) => !isArchived && states.has(folder))
    .slice(0, MOST_PAGES)
  const hrefs = new Map(newest.map(({ folder }) => [folder, `${folder.replace(/[^\w.-]/g, '_')}.html`]))
  const why = unread.map(({ path, found }) => `${path}: ${found}`)
  for (const one of why) tell(process.stderr, `warning: ${one}`)
  const page = renderAll(mapTexts(all, redact), { now: Date.now(), unread: why.map(redact), hrefs })
  const path = await written(context, local, 'index.html', page)
  for (const [folder, name] of hrefs) {
    const state = states.get(folder)
    if (state === undefined) continue
    const { view } = await localView(context, local, state)
    await replaceFile(join(dirname(path), name), await reportPage(local, view))
  }
  show(context, path)
  return { code: 0, outputs: outputs(all, path), more: { ...inJson(mapTexts(all, redact)), unread } }
}

/** By folder. What cannot be read keeps nobody from reading the rest. */
async function statesOf({ workspace: { store } }: LocalRun) {
  const states = new Map<string, State>()
  const unread: Mistake[] = []
  for (const folder of [...(await store.list()).keys()].sort()) {
    const found = await store.load(folder).catch((error: unknown) => {
      unread.push(...mistakesIn(error, folder))
      return null
    })
    if (found !== null) states.set(folder, found.state)
  }
  return { states, unread }
}

function mistakesIn(error: unknown, path: string): readonly Mistake[] {
  if (error instanceof UserError) return error.mistakes
  return [{ path, found: messageOf(error), expected: 'a state', fix: 'see the message' }]
}

/** What no state tells of: features that have not begun, runs that were archived, and runs of another clone. */
async function archivesAndOpen(
  { workspace, base, settings }: LocalRun,
  states: ReadonlyMap<string, State>,
  unread: Mistake[],
): Promise<FeatureRun[]> {
  const { clone, objects } = workspace
  const known = new Set([...states.values()].map(({ nonce }) => nonce))
  // The same run, which its state tells better.
  const isTold = (prd: Prd) => typeof prd.run.control.nonce === 'string' && known.has(prd.run.control.nonce)
  const place = { commit: clone.head ?? base.sha, workTree: clone.workTree }
  const { features, mistakes } = await findFeatures(objects, place, settings.branchPrefix)
  unread.push(...mistakes)
  const open = features.flatMap(({ name, folder, path, prd }) => {
    const short = (folder ?? dirname(path)).replace(/^\.ralph\//, '')
    return states.has(short) || isTold(prd)
      ? []
      : [runOf({ prd }, { feature: name, folder: short, isArchived: false })]
  })
  const archived: FeatureRun[] = []
  for (const folder of (await readdir(join(clone.workTree, ARCHIVE)).catch(() => [])).sort()) {
    const text = await readFile(join(clone.workTree, ARCHIVE, folder, 'prd.json'), 'utf8').catch(() => null)
    const parsed = text === null ? null : parsePrd(text, `${ARCHIVE}/${folder}/prd.json`)
    if (parsed?.ok === false) unread.push(...parsed.mistakes)
    if (parsed?.ok !== true || isTold(parsed.prd)) continue
    const feature = featureOfFolder(folder) ?? folder
    archived.push(runOf(parsed, { feature, folder, isArchived: true }))
  }
  return [...open, ...archived]
}

function outputs({ runs, total }: Aggregate, reportPath: string) {
  const sum = (of: (run: FeatureRun) => number) => runs.reduce((all, run) => all + of(run), 0)
  return {
    ...outputsOf(null, null, reportPath),
    iterations: sum(({ iterations }) => iterations),
    storiesTotal: sum(({ stories }) => stories.total),
    storiesPassed: sum(({ stories }) => stories.passed),
    storiesBlocked: sum(({ stories }) => stories.blocked),
    costUsd: total.costUsd,
  }
}

function inJson({ runs, total, byModel, byVersion, byMonth }: Aggregate): Record<string, unknown> {
  return { features: runs, total, byModel, byVersion, byMonth }
}
