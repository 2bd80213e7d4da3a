// `ralph doctor`: checks everything that a run needs, without beginning one. Exit 0 when all is fine, 1 when something is not.

import { isAlive } from '../app/at-work.ts'
import { redactorFor } from '../app/redactor.ts'
import { chooseFeature } from '../app/resolve-feature.ts'
import { openWorkspace, type Workspace } from '../app/workspace.ts'
import { featureOfFolder } from '../branch/find-features.ts'
import { formatHolder } from '../engine/lease.ts'
import type { Finding } from '../engine/model/finding.ts'
import { ACTION } from '../engine/model/version.ts'
import { connect, type GitHub } from '../github/client.ts'
import { secretsIn } from '../isolation/untrusted-env.ts'
import { EXIT_CODES, outputsOf } from '../report/outputs.ts'
import { isHealthy } from '../report/summaries.ts'
import {
  CI_HEADING,
  closingRows,
  doctorRow,
  formatCurrentCheck,
  isHeldBack,
} from '../report/terminal/doctor-lines.ts'
import { lookOf } from '../report/terminal/terminal-line.ts'
import type { Settings } from '../settings/read-settings.ts'
import { loadFeatures } from '../setup/checks/check-stories.ts'
import { CHECKS } from '../setup/checks/check-table.ts'
import { diagnoseIsolated } from '../setup/checks/diagnose.ts'
import type { Checkout, Subject } from '../setup/checks/subject.ts'
import { findCi } from '../setup/checks/workflow-file.ts'
import { type Mistake, UserError } from '../system/errors.ts'
import { newMark } from '../system/process.ts'
import { type CommandResult, type Context, onSignals, printLines, readSettings } from './command-context.ts'
import { baseOf, defaultBranchOf, defaultOf, detachedMistake, remoteOf } from './origin.ts'

export async function doctor(context: Context): Promise<CommandResult> {
  // Commander makes one option of the setting `--gates <value>` and of `--no-gates`.
  const { gates, ...others } = context.flags
  const read = await readSettings({ ...context, flags: gates === false ? others : context.flags })
  const mistakes = read.ok ? [] : read.mistakes
  // A mistake on the command line ends the command; a mistake in a file is one of the findings.
  const typed = mistakes.filter(({ path }) => path.startsWith('--'))
  if (typed.length > 0) throw new UserError(typed)
  const { settings, notes } = read
  const stop = new AbortController()
  const onSignal = (signal: string) =>
    printLines(process.stderr, `${signal}: stopping. Press Ctrl+C again to quit at once`)
  const release = onSignals(stop, onSignal)
  const checkout = await openCheckout(context, settings)
  try {
    const features = await loadFeatures(checkout, settings, settings.feature)
    if ('workspace' in checkout) await refuseUnknown(checkout, settings, features)
    const findings = await examine(context, stop.signal, {
      features,
      atWork: 'workspace' in checkout ? await findRunAtWork(checkout.workspace) : null,
      settings,
      mistakes,
      notes,
      checkout,
      withGates: gates !== false,
      asksAgent: context.flags.askAgent === true,
    })
    const outputs = { ...outputsOf(null, null, null), feature: settings.feature }
    // A laptop is ready although CI is not: what CI still needs is listed.
    const health = isHealthy(findings.filter(({ name }) => !OF_CI.has(name))) ? 0 : 1
    return { code: stop.signal.aborted ? EXIT_CODES.interrupted : health, outputs, more: { findings } }
  } finally {
    if ('workspace' in checkout) checkout.workspace[Symbol.dispose]()
    release()
  }
}

/** The names of the findings about runs in CI. */
const OF_CI: ReadonlySet<string> = new Set(CHECKS.filter(({ ofCi }) => ofCi === true).map(({ name }) => name))

/** Shows each finding as it is made, and returns all of them. */
async function examine(
  context: Context,
  signal: AbortSignal,
  found: Pick<
    Subject,
    'settings' | 'mistakes' | 'notes' | 'checkout' | 'features' | 'withGates' | 'asksAgent' | 'atWork'
  >,
): Promise<Finding[]> {
  const { env, directory } = context
  const { settings, checkout } = found
  const { out } = context
  const look = lookOf(out, env.NO_COLOR !== undefined)
  const { feature } = settings
  const github = githubFor(context, checkout)
  const { redact } = redactorFor(secretsIn(env))
  const show = (lines: readonly string[]) => {
    const text = lines.join('\n')
    // A terminal gets the text unchanged: only a terminal shows colours. Elsewhere the lines are escaped, so that a runner reads no command.
    if (look.plain) context.print(text)
    else out.write(`${formatCurrentCheck(null, look)}${text}\n`)
  }
  const findings: Finding[] = []
  let current: string | null = null
  const showCurrent = () => {
    const faults = findings.filter((finding) => finding.state === 'fault' && isHeldBack(finding, look)).length
    const soFar = faults === 0 ? '' : ` (${faults} ${faults === 1 ? 'fault' : 'faults'} so far)`
    out.write(formatCurrentCheck(current === null ? null : `${current}${soFar}`, look))
  }
  const onBegin = (what: string) => {
    current = what
    showCurrent()
  }
  const onFinding = (finding: Finding) => {
    // On a terminal the heading is above what a person has to do in CI; rows that are fine need none.
    const isFirstOfCi = OF_CI.has(finding.name) && !findings.some(({ name }) => OF_CI.has(name))
    if (look.plain && isFirstOfCi) show(['', CI_HEADING])
    findings.push(finding)
    if (!isHeldBack(finding, look)) show(doctorRow(finding, look))
    showCurrent()
  }
  const place = { env, directory, signal, feature, anew: false, github, action: ACTION, onBegin, onFinding }
  const all = await diagnoseIsolated({ ...found, ...place }, { report: () => {}, mark: newMark() }, redact)
  show(closingRows(findings, (name) => OF_CI.has(name), look))
  return all
}

async function openCheckout(context: Context, settings: Settings): Promise<Checkout | readonly Mistake[]> {
  const { env, directory, warn } = context
  try {
    const workspace = await openWorkspace({ settings, env, directory, remote: null, identity: null, warn })
    const { head } = workspace.clone
    const start = await baseOf(workspace, settings, env)
    const detached = start === null ? { detached: await detachedMistake(workspace, context) } : {}
    const base = {
      ...(start ?? { branch: 'a detached HEAD', sha: head ?? '' }),
      ...(await defaultBranchOf(workspace, env)),
    }
    const defaultBranch = await defaultOf(workspace, base, env)
    const ci = await findCi(workspace, defaultBranch.sha, env, ACTION)
    const commit = head ?? base.sha
    const read = (path: string) => workspace.repository.read(commit, path)
    return { workspace, base, ...detached, commit, read, defaultBranch, ci }
  } catch (error) {
    if (!(error instanceof UserError) || context.flags.baseBranch !== undefined) throw error
    return error.mistakes
  }
}

/** A sentence about the run that is at work in this checkout; null if none is. */
async function findRunAtWork({ store }: Workspace): Promise<string | null> {
  for (const folder of (await store.list()).keys()) {
    const { lease = null, feature } = (await store.load(folder).catch(() => null))?.state ?? {}
    if (lease !== null && (await isAlive(lease))) return `${formatHolder(lease)} works on ${feature}`
  }
  return null
}

/** Throws UserError for a feature that does not exist, as every other command does. */
async function refuseUnknown(
  checkout: Checkout,
  settings: Settings,
  found: Subject['features'],
): Promise<void> {
  const { feature } = settings
  // Either it was read, or a finding says already what is wrong with it.
  const isThere = found.states.length > 0 || found.mistakes.some(({ path }) => path.includes(`-${feature}/`))
  if (feature === null || isThere) return
  const names = (await loadFeatures(checkout, settings, null)).states.map((state) => state.feature)
  const folders = [...(await checkout.workspace.store.list()).keys()].map(
    (folder) => featureOfFolder(folder) ?? '',
  )
  chooseFeature(feature, new Map([...names, ...folders].map((name) => [name, 'unfinished'])))
}

/** A token goes only to the server that the environment names, and to no other that a remote may name. */
function githubFor({ env }: Context, checkout: Subject['checkout']): GitHub | null {
  const token = env.GH_TOKEN || env.GITHUB_TOKEN
  if (token === undefined || token === '' || !('workspace' in checkout)) return null
  const { place } = remoteOf(checkout.workspace.clone, env)
  const { name: defaultBranch } = checkout.defaultBranch
  return place === null ? null : connect({ ...place, defaultBranch }, token, () => {})
}
