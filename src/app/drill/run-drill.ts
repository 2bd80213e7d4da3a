// `ralph drill`: plants wrong work in a clean clone of the user's commit, and reports what gates and settings stop. The user's repository
// is only read.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import type { Feature } from '../../branch/find-features.ts'
import type { Story } from '../../engine/model/feature.ts'
import type { GateResult } from '../../engine/model/gate.ts'
import type { Ports, StorePort } from '../../engine/model/ports.ts'
import type { State } from '../../engine/model/state.ts'
import { parsePrd } from '../../engine/prd/parse.ts'
import { execute, gitEnv } from '../../git/git-process.ts'
import type { Environment } from '../../isolation/untrusted-env.ts'
import type { Settings } from '../../settings/read-settings.ts'
import { newMark } from '../../system/process.ts'
import { freshState } from '../claim-feature.ts'
import { limitsOf } from '../loop-limits.ts'
import { createPorts } from '../loop-ports.ts'
import { openWorkspace } from '../workspace.ts'
import { type DrillProject, openProject } from './drilled-project.ts'
import { judgePlant, openBaseline, type PlantVerdict } from './judged-plant.ts'
import type { Break, Plant } from './plant.ts'
import { type PlantedAgent, plantedAgent } from './planted-session.ts'
import { PLANTS } from './plants/index.ts'
import { REMEDIES } from './remedies.ts'

/** The result of a plant. `none`: it was not made, or not tried. */
export type DrillRow = {
  plant: string
  does: string
  result: 'stopped' | 'asked' | 'reported' | 'passed' | 'none'
  /** Who stopped or reported it, or why it was not made. */
  why: string
  ms: number
}

/** A line of the configuration, and the plants that it stopped when it was tried. */
export type DrillRemedy = { line: string; stops: readonly string[] }
export type DrillResult = { rows: DrillRow[]; remedies: DrillRemedy[]; commit: string; isCut: boolean }

export type DrillOptions = {
  /** The top folder of the user's checkout. */
  top: string
  settings: Settings
  env: Environment
  /** Time for all plants, milliseconds; `prepare` and the first run of the gates are not in it. */
  timeMs: number
  signal: AbortSignal
  warn(message: string): void
  /** Called before a plant is tried. */
  onPlant(plant: Plant | null, at: number, of: number): void
  onRow(row: DrillRow): void
}

/** Throws UserError if the gates are not green in a clean clone. */
export async function drill(options: DrillOptions): Promise<DrillResult> {
  const folder = await mkdtemp(join(tmpdir(), 'ralph-drill-'))
  try {
    return await inClone(options, folder)
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 })
  }
}

async function inClone(options: DrillOptions, folder: string): Promise<DrillResult> {
  const { settings, env } = options
  const copy = join(folder, basename(options.top))
  const git = (directory: string, ...args: string[]) =>
    execute(['-c', 'core.hooksPath=/dev/null', ...args], { directory, env: gitEnv(env) })
  // `--shared` reads the objects of the user's repository, and writes none there.
  await git(folder, 'clone', '--quiet', '--shared', options.top, copy)
  await git(copy, 'remote', 'remove', 'origin')
  const project = await openProject({
    directory: copy,
    env,
    gates: settings.gates,
    product: settings.product,
  })
  const agent = plantedAgent(copy)
  const open = (changed: Partial<Settings>) => openDrill(options, changed, copy, agent)
  await using drilled = await open({})
  options.onPlant(null, 0, PLANTS.length)
  const base = await openBaseline(drilled.start, drilled.limits, drilled.ports)
  const until = performance.now() + options.timeMs
  const rows: DrillRow[] = []
  const passed = new Map<Plant, () => void>()
  const breaks: Break[] = []
  for (const [index, plant] of PLANTS.entries()) {
    options.onPlant(plant, index + 1, PLANTS.length)
    const began = performance.now()
    const isLate = began > until || options.signal.aborted
    const tried: Tried | null = isLate
      ? { row: { does: plant.does, result: 'none', why: 'no time was left' } }
      : await tryPlant(plant, project, bestOf(breaks), { ...drilled, base, agent })
    if (tried === null) return { rows, remedies: [], commit: base.base.sha, isCut: true }
    if (tried.broken !== undefined) breaks.push(tried.broken)
    if (tried.prepare !== undefined) passed.set(plant, tried.prepare)
    const row = { plant: plant.name, ms: Math.round(performance.now() - began), ...tried.row }
    rows.push(row)
    options.onRow(row)
  }
  const remedies = await findRemedies(options, passed, { base, open, until })
  return { rows, remedies, commit: base.base.sha, isCut: options.signal.aborted }
}

type Drilled = Awaited<ReturnType<typeof openDrill>>
type Trying = Pick<Drilled, 'limits' | 'ports'> & { base: State; agent: PlantedAgent }

/** `broken`: the change, if it broke the product and a test noticed. `prepare`: plants it again, if it passed. */
type Tried = { row: Omit<DrillRow, 'plant' | 'ms'>; broken?: Break; prepare?: () => void }

/** Null if it was cut short. */
async function tryPlant(
  plant: Plant,
  project: DrillProject,
  broken: Break | null,
  { base, limits, ports, agent }: Trying,
): Promise<Tried | null> {
  const made = await plant.make(project, broken)
  if ('reason' in made) return { row: { does: plant.does, result: 'none', why: made.reason } }
  const does = made.what ?? plant.does
  const prepare = () => agent.plant(made.work)
  prepare()
  const verdict = await judgePlant(base, storyOfPlant(plant), limits, ports)
  if (verdict === null) return null
  // The next plant must not find ignored files of this one.
  await ports.repository.renew(base.green)
  const row = { does, ...resultOf(plant, verdict) }
  if (verdict.kind === 'red' && plant.kind === 'broken')
    return { row, broken: { what: does, work: made.work, tests: failingTests(project, verdict.gates) } }
  return row.result === 'passed' || row.result === 'reported' ? { row, prepare } : { row }
}

function resultOf(plant: Plant, verdict: PlantVerdict): Pick<DrillRow, 'result' | 'why'> {
  if (verdict.kind === 'passed') return { result: 'passed', why: '' }
  if (verdict.kind !== 'red') return { result: verdict.kind, why: verdict.by }
  if (plant.kind !== 'hidden') return { result: 'stopped', why: verdict.by }
  return { result: 'none', why: `it hides no failure here, but is stopped: ${verdict.by}` }
}

/** The break that other plants hide: one that leaves every file in place and that the fewest test files notice. */
function bestOf(breaks: readonly Break[]): Break | null {
  const cost = ({ work, tests }: Break) =>
    ([...work.values()].every((file) => typeof file === 'string' && file.trim().includes('\n')) ? 0 : 1000) +
    (tests.length === 0 ? 500 : tests.length)
  return breaks.toSorted((a, b) => cost(a) - cost(b))[0] ?? null
}

/** The test files that the output of red gates names. */
function failingTests(project: DrillProject, gates: readonly GateResult[]): string[] {
  const output = gates
    .filter(({ ok }) => !ok)
    .map((gate) => gate.output)
    .join('\n')
  const named = project.files.filter((path) => project.isTest(path) && output.includes(path))
  if (named.length > 0) return named
  // Some tools name a file by its last part only, and Rust has its tests in the product file.
  return project.files.filter((path) => {
    const name = basename(path)
    return (project.isTest(path) && output.includes(name)) || (path.endsWith('.rs') && output.includes(path))
  })
}

/** Tries each line that the settings do not have yet on the plants that passed. */
async function findRemedies(
  options: DrillOptions,
  passed: ReadonlyMap<Plant, () => void>,
  {
    base,
    open,
    until,
  }: { base: State; open: (changed: Partial<Settings>) => Promise<Drilled>; until: number },
): Promise<DrillRemedy[]> {
  const remedies: DrillRemedy[] = []
  for (const { line, change } of REMEDIES) {
    const changed = change(options.settings)
    if (changed === null) continue
    await using drilled = await open(changed)
    const stops: string[] = []
    for (const [plant, prepare] of passed) {
      if (performance.now() > until || options.signal.aborted) break
      prepare()
      const verdict = await judgePlant(base, storyOfPlant(plant), drilled.limits, drilled.ports)
      await drilled.ports.repository.renew(base.green)
      if (verdict?.kind === 'stopped' || verdict?.kind === 'asked') stops.push(plant.name)
    }
    if (stops.length > 0) remedies.push({ line, stops })
  }
  return remedies
}

/** Workspace and ports in the clone, with the settings of a run, without what a drill does not use. */
async function openDrill(
  { settings: own, env, signal, warn }: DrillOptions,
  changed: Partial<Settings>,
  directory: string,
  agent: PlantedAgent,
) {
  const settings: Settings = { ...own, ...changed, ...ALWAYS }
  const workspace = await openWorkspace({ settings, env, directory, remote: null, identity: DRILL, warn })
  const ports = await createPorts({
    settings,
    env,
    workspace,
    observers: null,
    warn,
    signal,
    as: null,
    mark: newMark(),
    run: null,
    agent,
    onAgent: () => {},
    onGateStart: () => {},
    onGateEnd: () => {},
  })
  const start = freshState(featureOf(), settings, { branch: 'main', sha: workspace.clone.head ?? '' })
  const drillPorts: Ports = { ...ports, store: NOTHING_IS_SAVED, openCleanRoom: null }
  return {
    start,
    limits: { ...limitsOf(settings), maxIterations: 1000, baseline: true },
    ports: drillPorts,
    async [Symbol.asyncDispose]() {
      await ports[Symbol.asyncDispose]()
      workspace[Symbol.dispose]()
    },
  }
}

const DRILL = { name: 'ralph drill', email: 'drill@localhost' }
/** One attempt a plant, as the user, in one clone. */
const ALWAYS = {
  isolation: 'same-user',
  steps: null,
  browser: null,
  maxAttempts: 1,
  maxParallel: 1,
  finalVerification: true,
} as const satisfies Partial<Settings>

const NOTHING_IS_SAVED: StorePort = {
  save: async () => {},
  publish: async () => ({ kind: 'published' }),
  peoplesHead: async () => null,
  restore: async () => ({ kind: 'published' }),
}

function featureOf(): Feature {
  const folder = '.ralph/2026-01-01-drill'
  const text = JSON.stringify({
    project: 'drill',
    userStories: [{ id: 'US-001', title: 'drill', acceptanceCriteria: ['it works'] }],
  })
  const parsed = parsePrd(text, `${folder}/prd.json`)
  if (!parsed.ok) throw new Error('the story of the drill has mistakes')
  return { name: 'drill', folder, path: `${folder}/prd.json`, prd: parsed.prd, digest: '', notes: [] }
}

function storyOfPlant({ does }: Plant): Story {
  const [story] = featureOf().prd.userStories
  if (story === undefined) throw new Error('the drill has no story')
  return { ...story, description: does }
}
