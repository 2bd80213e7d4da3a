// `ralph report`: a run as one HTML file (or Markdown), or all runs of the clone with totals. Changes nothing of a run.

import { spawn } from 'node:child_process'
import { mkdir, readdir, readFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { annotationsByStory } from '../app/finding-places.ts'
import { limitsOf } from '../app/loop-limits.ts'
import { mergedRun } from '../app/merged-run.ts'
import { pictureUris } from '../app/report-pictures.ts'
import { findFeatures } from '../app/resolve-feature.ts'
import { featureOfFolder } from '../branch/find-features.ts'
import { ARCHIVE } from '../branch/run-archive.ts'
import { changesByStory } from '../branch/story-changes.ts'
import type { Prd } from '../engine/model/feature.ts'
import type { State } from '../engine/model/state.ts'
import { mapTexts } from '../engine/model/text.ts'
import { parsePrd } from '../engine/prd/parse.ts'
import { serverFacts } from '../github/forges/forge.ts'
import { aggregate, type FeatureRun, featureRun, type RunWithRows } from '../report/aggregate.ts'
import { renderAll } from '../report/html/all.ts'
import { MAX_PICTURES, pictureBlobs, renderReport } from '../report/html/report-page.ts'
import { outputsOf } from '../report/outputs.ts'
import { resultsCsv } from '../report/run-results.ts'
import { jobSummary } from '../report/sticky-comment.ts'
import { type View, viewOf } from '../report/view.ts'
import { type Mistake, messageOf, UserError } from '../system/errors.ts'
import { clearPathTo, replaceFile } from '../system/files.ts'
import type { CommandResult, Context } from './command-context.ts'
import { readStatus } from './feature-status.ts'
import { type LocalRun, openFeature } from './local-feature.ts'
import { defaultOf, remoteOf } from './origin.ts'

/** So many of the newest runs get their own page, alongside the table of all. */
const MAX_PAGES = 100

export async function report(context: Context): Promise<CommandResult> {
  const { flags } = context
  if (flags.all === true && (context.feature !== null || flags.markdown === true)) {
    const other = context.feature ?? '--markdown'
    const found = `the page of all features cannot be combined with ${other}.`
    const fix = `leave out --all or ${other}`
    throw new UserError({ path: '--all', found, expected: '', fix })
  }
  if (flags.csv === true && flags.all !== true) {
    const found = 'CSV is available only for all features together.'
    throw new UserError({ path: '--csv', found, expected: '', fix: 'add --all' })
  }
  using local = await openFeature(context)
  if (flags.all === true) return reportAll(context, local)
  const { view, state, outcome } = await localView(context, local, await local.look())
  if (flags.markdown === true) {
    const text = jobSummary(view)
    const path = typeof flags.output === 'string' ? await writeReport(context, local, '', text) : null
    if (path === null) context.print(text)
    return { code: 0, outputs: outputsOf(state, outcome, path) }
  }
  const path = await writeReport(context, local, `${state.feature}.html`, await reportPage(local, view))
  show(context, path)
  return { code: 0, outputs: outputsOf(state, outcome, path) }
}

/** The run's view as this clone has it, redacted. */
async function localView({ env }: Context, { settings, workspace }: LocalRun, saved: State) {
  const { git, clone, redactor } = workspace
  const limits = limitsOf(settings)
  const { state, situation, isAtWork } = await readStatus(workspace, mapTexts(saved, redactor.redact), limits)
  const { place } = remoteOf(clone, env)
  const facts = {
    ...(place === null ? {} : serverFacts({ ...place, defaultBranch: '' })),
    runUrl: state.lease?.url ?? null,
    limits,
    now: Date.now(),
    notes: isAtWork ? ['A job is working on it now: this page shows the last state that it saved.'] : [],
    annotations: await annotationsByStory(git, state).catch(() => ({})),
    changes: await changesByStory(git, state).catch(() => ({})),
    surface: 'cli' as const,
  }
  const view = viewOf(state, facts, situation)
  return { view, state, outcome: situation.kind === 'ended' ? situation.conclusion.outcome : null }
}

async function reportPage({ workspace: { store } }: LocalRun, view: View): Promise<string> {
  const read = (blob: string) => store.readScreenshot(blob)
  return renderReport(view, await pictureUris(pictureBlobs(view), read, MAX_PICTURES))
}

/** Writes the file of --output, else `name` in Ralph's own folder, and returns its path. */
async function writeReport(
  { flags, directory }: Context,
  { workspace }: LocalRun,
  name: string,
  text: string,
): Promise<string> {
  const own = join(workspace.clone.gitDir, 'ralph', 'report', name)
  const path = typeof flags.output === 'string' ? resolve(directory, flags.output) : own
  if (path === own) await clearPathTo(workspace.clone.gitDir, path)
  else await mkdir(dirname(path), { recursive: true })
  await replaceFile(path, text)
  return path
}

/** Prints the report's path, and opens the report with `--open` on a terminal. */
function show(context: Context, path: string): void {
  context.print(path)
  if (context.flags.open !== true) return
  const isTerminal = process.stdout.isTTY === true && !context.json
  if (isTerminal) openInBrowser(context, path)
  else context.warn('--open: the report was not opened, because this is not a terminal')
}

function openInBrowser({ warn }: Context, file: string): void {
  const program = process.platform === 'darwin' ? 'open' : 'xdg-open'
  const browser = spawn(program, [pathToFileURL(file).href], { detached: true, stdio: 'ignore' })
  browser.on('error', () => warn(`--open: Ralph could not start ${program}. Open the report yourself`))
  browser.unref()
}

/** Every run that this clone knows: from its states, and for runs without one from prd.json, also in the archive. */
async function reportAll(context: Context, local: LocalRun): Promise<CommandResult> {
  const { redact } = local.workspace.redactor
  const unread: Mistake[] = []
  const states = await statesOf(local, unread)
  const begun = await begunRuns(context, local, states)
  const all = aggregate([...begun, ...(await withoutState(local, states, unread))])
  const newest = all.runs.filter((run) => !run.isArchived && states.has(run.folder)).slice(0, MAX_PAGES)
  const hrefs = new Map(newest.map(({ folder }) => [folder, `${folder.replace(/[^\w.-]/g, '_')}.html`]))
  const why = unread.map(({ path, found }) => `${path}: ${found}`)
  for (const one of why) context.warn(one)
  const redacted = mapTexts(all, redact)
  if (context.flags.csv === true) context.print(resultsCsv(redacted.runs))
  const page = renderAll(redacted, { now: Date.now(), unread: why.map(redact), hrefs })
  const path = await writeReport(context, local, 'index.html', page)
  for (const [folder, name] of hrefs) {
    const state = states.get(folder)
    if (state === undefined) continue
    const { view } = await localView(context, local, state)
    await replaceFile(join(dirname(path), name), await reportPage(local, view))
  }
  if (context.flags.csv !== true) show(context, path)
  const sum = (of: (run: FeatureRun) => number) => all.runs.reduce((total, run) => total + of(run), 0)
  const outputs = {
    ...outputsOf(null, null, path),
    iterations: sum(({ iterations }) => iterations),
    storiesTotal: sum(({ stories }) => stories.total),
    storiesPassed: sum(({ stories }) => stories.passed),
    storiesBlocked: sum(({ stories }) => stories.blocked),
    costUsd: all.total.costUsd,
  }
  const { runs: features, ...totals } = redacted
  return { code: 0, outputs, more: { features, ...totals, unread } }
}

/** The runs with a state, and what the default branch has of those that were merged. */
async function begunRuns(
  { env }: Context,
  { workspace, base }: LocalRun,
  states: ReadonlyMap<string, State>,
): Promise<RunWithRows[]> {
  const { sha } = await defaultOf(workspace, base, env)
  const runs: RunWithRows[] = []
  for (const [folder, state] of states) {
    // A shallow clone may lack the commits that are compared.
    const merged = await mergedRun(workspace, state, sha).catch(() => null)
    runs.push(featureRun(state, { feature: state.feature, folder, isArchived: false }, merged))
  }
  return runs
}

/** The states by folder. One that cannot be read adds to `mistakes`, and the others are still read. */
async function statesOf({ workspace: { store } }: LocalRun, mistakes: Mistake[]) {
  const states = new Map<string, State>()
  for (const folder of [...(await store.list()).keys()].sort()) {
    try {
      const found = await store.load(folder)
      if (found !== null) states.set(folder, found.state)
    } catch (error) {
      const unknown = {
        path: folder,
        found: `Ralph cannot read the state of this feature: ${messageOf(error)}`,
        expected: '',
        fix: 'fix the problem that the message reports, then run it again',
      }
      mistakes.push(...(error instanceof UserError ? error.mistakes : [unknown]))
    }
  }
  return states
}

/** Features without a state here: those that have not begun, archived runs, and runs of another clone. */
async function withoutState(
  { workspace, base, settings }: LocalRun,
  states: ReadonlyMap<string, State>,
  unread: Mistake[],
): Promise<RunWithRows[]> {
  const { clone, objects } = workspace
  const known = new Set([...states.values()].map(({ nonce }) => nonce))
  // Its state is listed already, and has more.
  const isKnownRun = (prd: Prd) =>
    typeof prd.run.control.nonce === 'string' && known.has(prd.run.control.nonce)
  const place = { commit: clone.head ?? base.sha, workTree: clone.workTree }
  const { features, mistakes } = await findFeatures(objects, place, settings.branchPrefix)
  unread.push(...mistakes)
  const runs: RunWithRows[] = []
  for (const { name, folder, path, prd } of features) {
    const short = (folder ?? dirname(path)).replace(/^\.ralph\//, '')
    if (states.has(short) || isKnownRun(prd)) continue
    runs.push(featureRun({ prd }, { feature: name, folder: short, isArchived: false }))
  }
  for (const folder of (await readdir(join(clone.workTree, ARCHIVE)).catch(() => [])).sort()) {
    const text = await readFile(join(clone.workTree, ARCHIVE, folder, 'prd.json'), 'utf8').catch(() => null)
    const parsed = text === null ? null : parsePrd(text, `${ARCHIVE}/${folder}/prd.json`)
    if (parsed?.ok === false) unread.push(...parsed.mistakes)
    if (parsed?.ok !== true || isKnownRun(parsed.prd)) continue
    runs.push(featureRun(parsed, { feature: featureOfFolder(folder) ?? folder, folder, isArchived: true }))
  }
  return runs
}
