// The checks that a project's CI runs on a pull request, each as a command line, and how the tools for them are installed. Pure.
import { shellWord } from '../../../system/shell-word.ts'
import type { Folder } from '../project.ts'
import { commandOfAction } from './action-commands.ts'
import {
  asGate,
  type CommandKind,
  GATE_KINDS,
  type GateKind,
  kindOf,
  targetOf,
  withoutStarters,
} from './command-kind.ts'
import { pipInstalls } from './pip-installs.ts'
import { commandsIn } from './script-lines.ts'
import { RUST_FILES, versionIn } from './version-files.ts'
import { type CiJob, type CiService, type CiStep, pullRequestJobs } from './workflow-jobs.ts'

export type CiCheck = {
  kind: GateKind | 'other'
  run: string
  /** Relative to the top, '' for the top itself. */
  folder: string
  /** Of the step, for people. */
  step: string
  job: string
  /** Words for pip: what its job installed before. */
  installs: readonly string[]
}

export type CiFacts = {
  checks: CiCheck[]
  services: CiService[]
  /** Actions that the jobs with checks use. */
  uses: Extract<CiStep, { kind: 'uses' }>[]
  /** Steps that cannot be read without a run. */
  unread: string[]
  /** Commands that test something, but not in this checkout: in a container, or with files of the machine. */
  elsewhere: string[]
}

/** The maximum number of checks that are read. */
const MAX_CHECKS = 40
const MAX_LENGTH = 500

export function readCi(folder: Folder): CiFacts {
  const facts: CiFacts = { checks: [], services: [], uses: [], unread: [], elsewhere: [] }
  const isNightly = versionIn(folder, RUST_FILES)?.version.startsWith('nightly') === true
  const jobs = pullRequestJobs(folder)
  for (const job of jobs) if (isNightly || !needsNightly(job)) readJob(job, facts)
  // If only such jobs test, the tests may well pass with another Rust, and the trial shows it.
  const hasTests = isNightly || facts.checks.some(({ kind }) => kind === 'test')
  for (const job of hasTests ? [] : jobs.filter(needsNightly)) readJob(job, facts)
  facts.checks = withoutRepeats(facts.checks).slice(0, MAX_CHECKS)
  return facts
}

/** A job with no other Rust than a nightly one checks what the project's own toolchain may not be able to. */
function needsNightly({ steps }: CiJob): boolean {
  const channels = steps.flatMap((step) => rustChannel(step) ?? [])
  return channels.length > 0 && channels.every((channel) => channel.startsWith('nightly'))
}

function readJob({ name, steps, services }: CiJob, facts: CiFacts): void {
  const found = steps.flatMap((step) => commandsOf(step, facts))
  // Coverage of the results that other jobs uploaded is not in a checkout.
  const isOfOtherJobs = steps.some((step) => step.kind === 'uses' && /\/download-artifact@/.test(step.uses))
  const installsIn = (folder: string) => found.flatMap((one) => installsOf(one, folder))
  const checks = found.flatMap(({ kind, run, folder, step }): CiCheck[] => {
    if (kind === 'skip' || kind === 'prepare' || run.length > MAX_LENGTH) return []
    if (isOfOtherJobs && kind === 'test' && /cov/i.test(targetOf(run))) return []
    return [{ kind, run: asGate(run), folder, step, job: name, installs: installsIn(folder) }]
  })
  // A script next to a comment on the pull request makes the comment.
  const isOnlyOfScripts = checks.every(({ kind }) => kind === 'other')
  if (isOnlyOfScripts && steps.some(comments)) return
  if (!checks.some(({ kind, run }) => kind !== 'other' || targetOf(run) !== '')) return
  facts.checks.push(...checks)
  facts.services.push(...services)
  facts.uses.push(...steps.flatMap((step) => (step.kind === 'uses' ? [step] : [])))
}

/** What a command installs for checks in a folder. Files, groups and the project itself are those of the command's own folder. */
function installsOf({ run, folder }: Found, forFolder: string): string[] {
  const lines = run.split(' && ').map(pipInstalls)
  return lines.flatMap((words) =>
    folder === forFolder || !words.some((word) => word.startsWith('-')) ? words : [],
  )
}

/** The toolchain of Rust that a step makes the default; null if it makes none. */
function rustChannel(step: CiStep): string | null {
  if (step.kind === 'run')
    return /\brustup (?:default|override set) (\S+)/.exec(step.script ?? '')?.[1] ?? null
  const [, ref] = /^(?:dtolnay|actions-rs|actions-rust-lang)\/\S*toolchain@(.+)$/.exec(step.uses) ?? []
  return ref === undefined ? null : (step.inputs.toolchain ?? ref)
}

/** Whether a step writes a comment or a review, by an action for it or through GitHub's API. */
function comments(step: CiStep): boolean {
  if (step.kind === 'run') return /\bgh (?:pr|issue) (?:comment|review)\b/.test(step.script ?? '')
  return /comment/i.test(step.uses) || /\.create(?:Comment|Review)\b/.test(step.inputs.script ?? '')
}

type Found = { kind: CommandKind; run: string; folder: string; step: string }

function commandsOf(step: CiStep, facts: CiFacts): Found[] {
  if (step.kind === 'uses') {
    const run = commandOfAction(step.uses, step.inputs)
    return run === null ? [] : [{ kind: kindOf(run), run, folder: '', step: step.uses.replace(/@.*/, '') }]
  }
  if (step.script === null) {
    facts.unread.push(step.name)
    return []
  }
  // A tool that an earlier step puts into the checkout is on the PATH of other machines.
  const script = step.script.replace(/\$\{?GITHUB_WORKSPACE\}?\/(?:bin\/)?(?=[\w-]+ )/g, '')
  const commands = commandsIn(script, step.folder)
  facts.elsewhere.push(...commands.map(({ run }) => run).filter(isTestElsewhere))
  return commands.map(({ run, folder }) => ({
    kind: isElsewhere(run) ? 'skip' : kindOf(run),
    run: withEnv(run, step.env),
    folder,
    step: step.name,
  }))
}

function isElsewhere(run: string): boolean {
  return EFFECTS.test(run) || hasUnknown(run)
}

function isTestElsewhere(run: string): boolean {
  return (
    isElsewhere(run) && TESTS.test(run) && !/^(?:echo|curl|wget|set -e)/.test(run) && run.length <= MAX_LENGTH
  )
}

const TESTS = /(?:^|[\s/:_-])(?:tests?|r?spec|check)(?=$|[\s:._-])/i

/** What reaches out of the checkout, anywhere in a command. */
const EFFECTS =
  /\$(?:\{?GITHUB_(?:ENV|OUTPUT|PATH|STEP_SUMMARY|TOKEN)|\{?RUNNER_)|\b(?:curl|wget|docker|gh|sudo|apt-get|brew) |git push|\/tmp\/|\/home\/|\/opt\/|~\/|\$\{?HOME\b|--global\b|\brm -/

/** A variable that neither the command nor every shell sets, and that has no value for this case, as `${NAME-value}` has. */
function hasUnknown(run: string): boolean {
  const names = [...run.matchAll(/\$(?:\{([A-Za-z_]\w*)(?!:?-)\b|([A-Za-z_]\w*))/g)].map(
    ([, braced, plain]) => braced ?? plain ?? '',
  )
  return names.some(
    (name) =>
      !['PWD', 'HOME', 'PATH'].includes(name) &&
      !new RegExp(`\\b${name}=|\\bfor ${name}\\b|\\bread (?:-r )?${name}\\b`).test(run),
  )
}

/** Plain values of the step's environment that a tool may need, written before the command. */
function withEnv(run: string, env: Readonly<Record<string, string>>): string {
  const words = Object.entries(env)
    .filter(
      ([name, value]) =>
        /^[A-Z_][A-Z0-9_]*$/.test(name) &&
        /^[\w@%+=:,./"-]+(?: [\w@%+=:,./"-]+)*$/.test(value) &&
        !SECRET.test(name),
    )
    .slice(0, 5)
    .map(([name, value]) => `${name}=${shellWord(value)}`)
  if (words.length === 0 || /^set -e/.test(run)) return run
  // Before another assignment the variables would reach no command.
  return /^(?:export )?\w+=/.test(run) ? `export ${words.join(' ')} && ${run}` : `${words.join(' ')} ${run}`
}

const SECRET = /TOKEN|SECRET|PASSWORD|_KEY$|^GITHUB_|^(?:PATH|HOME|CI|LD_PRELOAD|BASH_ENV|NODE_OPTIONS)$/

function withoutRepeats(checks: readonly CiCheck[]): CiCheck[] {
  const seen = new Set<string>()
  return checks.filter(({ run, folder }) => {
    const key = `${folder}\0${withoutStarters(run).replace(/ (?:--verbose|--color\S*|-v+|--quiet|-q)(?= |$)/g, '')}`
    const isNew = !seen.has(key)
    seen.add(key)
    return isNew
  })
}

/** Where in the order of gates a kind belongs. */
export function rankOf(kind: string): number {
  const at = (GATE_KINDS as readonly string[]).indexOf(kind)
  return at < 0 ? GATE_KINDS.indexOf('test') : at
}
