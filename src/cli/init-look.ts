// What `ralph init` examines before it proposes anything: files, git, agents on this machine, and the action's release. Flags and an
// existing configuration may answer some questions already.
import { lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { AgentVendor } from '../agents/agent.ts'
import { checkAgent } from '../agents/agent-ready.ts'
import { agentNames, defaultAgent, findAgent } from '../agents/registry.ts'
import { newestRuns } from '../app/earlier-runs.ts'
import { unreachableModel } from '../app/reach-model.ts'
import type { Trial } from '../app/trial.ts'
import { parsePrd } from '../engine/prd/parse.ts'
import { remaining } from '../engine/prd/select.ts'
import { execute, gitEnv } from '../git/git-process.ts'
import { type OtherHost, otherHostOf } from '../github/forges/forge.ts'
import { earlierRuns, proposedLimit } from '../report/expected-cost.ts'
import { configFileNames, readSettings, writtenSettings } from '../settings/read-settings.ts'
import type { FoundFacts, GivenAnswers, ResolvedAnswers, WrittenSettings } from '../setup/init/answers.ts'
import { detect, type FileTree } from '../setup/init/detect.ts'
import { CONFIG, inputTexts, toYaml } from '../setup/init/init-files.ts'
import { productHere } from '../setup/init/product-here.ts'
import type { Mistake } from '../system/errors.ts'
import { readRegularFileSync } from '../system/files.ts'
import { findProgram } from '../system/program.ts'
import type { Context } from './command-context.ts'
import { versionNotes } from './init-versions.ts'

type Environment = Readonly<Record<string, string>>

/** Folders that tools make or download. They do not hold projects of the repository. */
const GENERATED = new Set(
  'node_modules vendor third_party target dist build out venv __pycache__ bower_components'.split(' '),
)
const DEEPEST = 5
const MAX_FILES = 10_000
/** Of a file, in characters: what is read of it. */
const LONGEST_TEXT = 5 * 1024 * 1024
const MAX_DOCUMENTS = 50

/** The files of a repository, as far as projects are looked for. */
export function openTree(top: string): FileTree {
  const paths: string[] = []
  const left = ['']
  for (let folder = left.shift(); folder !== undefined && paths.length < MAX_FILES; folder = left.shift()) {
    for (const entry of entriesOf(join(top, folder))) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`
      if (entry.isFile()) paths.push(path)
      else if (entry.isDirectory() && isLookedInto(path, entry.name)) left.push(path)
    }
  }
  const texts = new Map<string, string>()
  const text = (path: string): string => {
    const known =
      texts.get(path) ?? readRegularFileSync(join(top, path))?.toString('utf8').slice(0, LONGEST_TEXT) ?? ''
    texts.set(path, known)
    return known
  }
  return { paths, text }
}

/** Hidden folders of workflows, stories and configurations of other tools. */
const HIDDEN = new Set(['.github', '.ralph', '.ralphy', '.ralph-tui'])

function isLookedInto(path: string, name: string): boolean {
  if (name.startsWith('.') && !HIDDEN.has(name)) return false
  return !GENERATED.has(name) && path.split('/').length < DEEPEST
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))
  } catch {
    return [] // not readable: nothing in it is proposed
  }
}

/** Files that any empty project may have. */
const NO_CODE =
  /^\.|\/\.[^/]*$|\.(?:md|txt)$|^(?:LICEN[CS]E|NOTICE|CODEOWNERS|docs\/.*|_?bmad\/.*|prd\.json|ralph\.config\.\w+)$/i

export type Place = {
  top: string
  isRepository: boolean
  tree: FileTree
  /** Where agent and gates are to run. */
  workingDirectory: string
}

export async function findFacts(
  { top, isRepository, tree, workingDirectory }: Place,
  env: Environment,
): Promise<FoundFacts> {
  const [agents, baseBranch, older] = await Promise.all([
    agentsHere(env),
    isRepository ? baseOf(top, env) : null,
    olderAnswers(tree, env),
  ])
  const folder = join(top, workingDirectory)
  const detected = detect(workingDirectory === '.' ? tree : openTree(folder))
  const notes = [...detected.notes, ...(await versionNotes(detected.wanted, folder, env))]
  const project = { ...detected, notes }
  const isEmpty = tree.paths.every((path) => NO_CODE.test(path))
  const product = await productHere(tree)
  return { project, isEmpty, ...agents, baseBranch, ...older, budgetUsd: budgetIn(tree), product }
}

/** A limit in USD to propose, from what earlier runs cost and how many stories remain; null if no run tells. */
function budgetIn(tree: FileTree): number | null {
  const paths = tree.paths.filter((path) => /^\.ralph\/(?:archive\/)?\d[^/]*\/prd\.json$/.test(path))
  const prds = newestRuns(paths).flatMap((path) => {
    const parsed = parsePrd(tree.text(path), path)
    return parsed.ok ? [parsed.prd] : []
  })
  const open = prds.map((prd) => remaining(prd)).sort((one, other) => other.length - one.length)
  return proposedLimit(open[0] ?? [], earlierRuns(prds))
}

/** What documents and configurations of other tools name as gates. A person sees them in the diff before any of them runs. */
async function olderAnswers(
  tree: FileTree,
  env: Environment,
): Promise<Pick<FoundFacts, 'olderGates' | 'olderSettings' | 'olderNotes'>> {
  const { findDocuments, proposedSettings, readDocuments } = await import('../plan/documents.ts')
  const gates: Record<string, { run: string; path: string }> = {}
  const settings: Record<string, { value: unknown; path: string }> = {}
  const notes: string[] = []
  for (const path of findDocuments(tree.paths).slice(0, MAX_DOCUMENTS)) {
    const file = { path, text: tree.text(path) }
    const read = readDocuments([file])
    for (const [name, run] of Object.entries(read.ok ? read.documents.gates : {}))
      if (isGate(name, run)) gates[name] ??= { run, path }
    const proposed = proposedSettings(file)
    for (const [key, value] of Object.entries(proposed.settings)) {
      if (isSetting(key, value, env)) settings[key] ??= { value, path }
      else notes.push(`${path}: the value of ${key} is not valid here`)
    }
    if (proposed.unread.length > 0)
      notes.push(`${path}: these keys are not read. ${proposed.unread.join('; ')}`)
  }
  return { olderGates: gates, olderSettings: settings, olderNotes: notes }
}

/** Whether a configuration with only this setting is valid. An expression or a variable would mean something else in it. */
function isSetting(key: string, value: unknown, env: Environment): boolean {
  const text = JSON.stringify({ [key]: value })
  if (/\$\{/.test(text)) return false
  return readSettings({ file: { path: 'ralph.config.json', text }, env, surface: 'cli' }).ok
}

/** Whether it can be written as a gate. The workflow would read an expression in it, and the configuration a variable. */
function isGate(name: string, run: string): boolean {
  return /^(?!\d+$)[A-Za-z0-9][\w.-]{0,63}$/.test(name) && run.trim() !== '' && !/[\n\r]|\$\{/.test(run)
}

/** The agents of the registry whose programs are here, and the version of the first. */
async function agentsHere(env: Environment): Promise<Pick<FoundFacts, 'agent' | 'installedAgents'>> {
  const vendors = agentNames.flatMap((name) => findAgent(name) ?? [])
  const isHere = ({ npm, login, program }: AgentVendor) =>
    (npm !== null || login !== null) && findProgram(program, env.PATH ?? '') !== null
  const [first, ...others] = vendors.filter(isHere)
  if (first === undefined) return { agent: { name: defaultAgent, version: null }, installedAgents: [] }
  const found = await checkAgent(first, env, { timeoutMs: 10_000 })
  const version = found.ok && /^\d/.test(found.version) ? found.version : null
  return { agent: { name: first.name, version }, installedAgents: [first, ...others].map(({ name }) => name) }
}

/** git's answer in one line; '' if it has none. */
async function askGit(top: string, env: Environment, ...args: string[]): Promise<string> {
  const answer = await execute(args, { directory: top, env: gitEnv(env), accept: [1, 128] })
  return answer.code === 0 ? answer.stdout.trim() : ''
}

/** The branch that GitHub starts workflows from, as far as this clone tells. */
export async function defaultBranchOf(top: string, env: Environment): Promise<string> {
  const head = await askGit(top, env, 'symbolic-ref', '--quiet', 'refs/remotes/origin/HEAD')
  if (head !== '') return head.replace('refs/remotes/origin/', '')
  for (const name of ['main', 'master'])
    if ((await askGit(top, env, 'rev-parse', '--verify', '--quiet', `refs/heads/${name}`)) !== '') return name
  return (await askGit(top, env, 'symbolic-ref', '--quiet', '--short', 'HEAD')) || 'main'
}

/** The host of the remote; null without one, and for GitHub's own. */
export async function findOtherHost(top: string, env: Environment): Promise<OtherHost | null> {
  return otherHostOf(await askGit(top, env, 'config', '--get', 'remote.origin.url'))
}

/** The current branch; null if a run finds the base by itself: from `origin/HEAD`, `main` or `master`. */
async function baseOf(top: string, env: Environment): Promise<string | null> {
  const ask = (...args: string[]) => askGit(top, env, ...args)
  if ((await ask('symbolic-ref', '--quiet', 'refs/remotes/origin/HEAD')) !== '') return null
  for (const name of ['main', 'master'])
    if ((await ask('rev-parse', '--verify', '--quiet', `refs/heads/${name}`)) !== '') return null
  const current = await ask('symbolic-ref', '--quiet', '--short', 'HEAD')
  return ['', 'main', 'master'].includes(current) ? null : current
}

/** A file's text; null if it does not exist, '' if it is a folder, a link or the like. */
export function readTextAt(top: string, path: string): string | null {
  try {
    if (lstatSync(join(top, path), { throwIfNoEntry: false }) === undefined) return null
  } catch {
    return null // a folder above it is a file
  }
  return readRegularFileSync(join(top, path))?.toString('utf8') ?? ''
}

const REPOSITORY = 'https://github.com/ralph/action'

/** The commit of the action's newest release of this version; null if it cannot be asked. */
export async function releasedCommit(directory: string, env: Environment): Promise<string | null> {
  const args = ['ls-remote', REPOSITORY, 'refs/tags/v1', 'refs/tags/v1^{}']
  const { code, stdout } = await execute(args, {
    directory,
    env: gitEnv(env),
    accept: [124, 128],
    timeoutMs: 5000,
  })
  // The second line of an annotated tag is the commit.
  const last = stdout.trim().split('\n').at(-1) ?? ''
  return code === 0 ? (/^[0-9a-f]{40}/.exec(last)?.[0] ?? null) : null
}

/** `configAt`: the configuration that is read, null if there is none. */
export type ConfigStatus = Omit<GivenAnswers, 'person'> & { configAt: string | null }

export function readConfigStatus(top: string, env: Environment): ConfigStatus {
  const configAt = configFileNames.find((path) => readTextAt(top, path) !== null) ?? null
  const file = configAt === null ? null : { path: configAt, text: readTextAt(top, configAt) ?? '' }
  return { config: writtenSettings({ file, env }), configAt }
}

/** The settings among the flags. */
export function settingsFromFlags({ flags, env }: Context): WrittenSettings {
  const {
    gate,
    yes: _yes,
    try: _try,
    diff: _diff,
    bmad: _bmad,
    pin: _pin,
    json: _json,
    directory: _directory,
    ...others
  } = flags
  const { required: _required, ...settings } = others
  const written = writtenSettings({ flags: settings, env })
  return gate === undefined ? written : { ...written, gate: [gate].flat() }
}

/** Mistakes that would keep a run from beginning, found before any file is written. */
export function mistakesIn(
  { config, inputs, jobs }: ResolvedAnswers,
  keys: readonly string[],
  existing: ConfigStatus,
  red: readonly Trial[],
  env: Environment,
): Mistake[] {
  if (inputs.gates === undefined) return [red.length === 0 ? NO_GATES : allRed(red)]
  // `ralph validate` checks what the configuration has already: that may name variables of CI, which are not set here.
  const unused = Object.keys(existing.config)
  const file = { path: CONFIG, text: toYaml(config) }
  const results = [
    readSettings({ file, unused, env, surface: 'cli' }),
    readSettings({ inputs: jobs !== 'one' ? {} : inputTexts(inputs), env, surface: 'action' }),
  ]
  const mistakes = results.flatMap((result) => (result.ok ? [] : result.mistakes))
  const ofJobs = jobs === 'one' ? { inputs: inputTexts(inputs) } : { file, unused }
  const inCi = readSettings({ ...ofJobs, env, surface: 'action' })
  const vendor = inCi.ok ? findAgent(inCi.settings.agent) : null
  const isKey = (name: string) => keys.includes(name)
  const unreachable = vendor === null ? null : unreachableModel(inCi.settings, vendor, isKey)
  if (unreachable !== null) mistakes.push(unreachable)
  return mistakes.filter(({ found }, at) => mistakes.findIndex((other) => other.found === found) === at)
}

function allRed(red: readonly Trial[]): Mistake {
  const words = red.map(({ name, run, ended, line }) => `${name} (${run}) ${ended}${line && `: ${line}`}`)
  return {
    path: 'gates',
    found: `every gate fails on the project as it is: ${words.join('; ')}`,
    expected: '',
    fix: 'fix the project and run `ralph init` again. To keep these gates anyway, add --no-try. To use another gate, add --gate NAME=COMMAND',
  }
}

const NO_GATES: Mistake = {
  path: 'gates',
  found: 'Ralph found no command that tests this project.',
  expected: '',
  fix: 'give one: ralph init --gate test="make test"; or --gates none, if there is none',
}
