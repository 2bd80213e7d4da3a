// One run of a workflow: the graph of its jobs, concurrency groups, tokens and results.
import { ExpressionError, ExpressionEvaluationError } from '@actions/expressions'
import { accountId, actionsApp } from '../accounts.ts'
import type { Conclusion, Job, Json, Scope as PermissionScope, Permissions, Run } from '../model.ts'
import type { World } from '../world.ts'
import type { ActionSource } from './action.ts'
import type { Artifacts } from './artifacts.ts'
import type { Groups, Place, Policy } from './concurrency.ts'
import { condition, interpolate, interpolateText, type Scope, type Standing } from './expressions.ts'
import { JobExecution } from './job.ts'
import type { IdentityService } from './machine.ts'
import { githubContext } from './machine.ts'
import type { Times } from './process.ts'
import { type JobSpec, readWorkflow, typedInputs, type Workflow, WorkflowError } from './workflow.ts'

export interface RunSetup {
  world: World
  groups: Groups
  actions: ActionSource[]
  env: Record<string, string>
  lacks: string[]
  path: string[]
  secrets: Record<string, string>
  identity: IdentityService | null
  vars: Record<string, string>
  defaultPermissions: Permissions
  times: Times
  workRoot: string
  samePaths: boolean
  node: string
  changed: () => void
  takeMachine: () => Promise<() => void>
}
interface Result {
  result: Conclusion
  outputs: Record<string, string>
  /** The job itself and everything that it needed, directly or not, has succeeded; or something of it failed. */
  isSound: boolean
  hasFailed: boolean
}

export class RunExecution {
  readonly #run: Run
  readonly #setup: RunSetup
  readonly #artifacts: Artifacts = new Map()
  /** What runs now, and whether it goes on when the run is cancelled: a job's condition is asked again (facts 2.1). */
  readonly #executions = new Map<JobExecution, () => boolean>()
  readonly #places = new Set<Place>()
  readonly #results = new Map<string, Promise<Result>>()
  #cancelled = false
  #abandoned = false

  /** `kept`: jobs of an earlier attempt whose results count, as where only some are re-run. */
  constructor(run: Run, setup: RunSetup, kept: readonly string[] = []) {
    this.#run = run
    this.#setup = setup
    for (const key of kept) {
      const { outputs, conclusion } = run.earlier.findLast((job) => job.key === key) ?? {}
      const isSound = conclusion === 'success'
      const result = { result: conclusion ?? 'skipped', outputs: outputs ?? {}, isSound, hasFailed: !isSound }
      this.#results.set(key, Promise.resolve(result))
    }
  }

  cancel(): void {
    if (this.#cancelled) return
    this.#cancelled = true
    for (const place of this.#places) if (place.isPending()) place.leave()
    for (const [execution, goesOn] of this.#executions) if (!goesOn()) execution.cancel()
  }
  kill(job?: string): void {
    for (const execution of this.#executions.keys())
      if (job === undefined || execution.job.name === job) execution.kill()
  }
  shutdown(): void {
    for (const execution of this.#executions.keys()) execution.shutdown()
  }
  /** The test is over: nothing more starts, what runs dies. */
  abandon(): void {
    this.#abandoned = true
    this.cancel()
    this.kill()
  }

  async run(): Promise<void> {
    const run = this.#run
    try {
      const workflow = await this.#workflow()
      const scope = this.#scope(workflow, {}, null)
      if (workflow.runName !== null) run.title = interpolateText(workflow.runName, scope)
      const place = this.#enter(policyOf(workflow.concurrency, scope), () => this.cancel())
      if (place?.isPending() === true) this.#status('pending')
      try {
        this.#end(await this.#inTurn(workflow, place))
      } finally {
        place?.leave()
      }
    } catch (error) {
      run.error = (error as Error).message
      this.#end('failure')
      const isOfTheFile = [WorkflowError, ExpressionError, ExpressionEvaluationError].some(
        (kind) => error instanceof kind,
      )
      if (!isOfTheFile) throw error
    }
  }

  async #inTurn(workflow: Workflow, place: Place | null): Promise<Conclusion> {
    const turn = place === null ? 'run' : await place.turn
    if (turn === 'cancelled' || this.#cancelled) return 'cancelled'
    this.#status('queued')
    const results = await Promise.all(Object.keys(workflow.jobs).map((key) => this.#job(workflow, key)))
    return this.#conclude(results.map(({ result }) => result))
  }

  async #workflow(): Promise<Workflow> {
    const run = this.#run
    const text = await this.#setup.world.bare.read(run.sha, run.workflow)
    if (text === null) throw new WorkflowError(`${run.workflow} is not there at ${run.sha}`)
    return readWorkflow(run.workflow, text)
  }
  #status(status: Run['status']): void {
    this.#run.status = status
    this.#run.updatedAt = this.#setup.world.now()
    this.#setup.changed()
  }
  #end(conclusion: Conclusion): void {
    this.#run.conclusion = conclusion
    this.#status('completed')
  }
  #conclude(results: Conclusion[]): Conclusion {
    if (results.includes('failure')) return 'failure'
    if (this.#cancelled || results.includes('cancelled')) return 'cancelled'
    return results.every((result) => result === 'skipped') ? 'skipped' : 'success'
  }
  #enter(policy: Policy | null, cancel: () => void): Place | null {
    if (policy === null) return null
    const place = this.#setup.groups.enter(policy, cancel)
    this.#places.add(place)
    return place
  }
  #scope(workflow: Workflow, contexts: Json, job: Job | null, standing?: Standing): Scope {
    const { world, vars } = this.#setup
    return {
      contexts: {
        github: githubContext(world, this.#run, job, null),
        inputs: typedInputs(workflow, this.#run.inputs),
        vars,
        ...contexts,
      },
      standing: standing ?? { success: true, failure: false, cancelled: this.#cancelled },
      workspace: null,
    }
  }

  /** The result of a job; every job is run once, whoever asks. */
  #job(workflow: Workflow, key: string): Promise<Result> {
    const known = this.#results.get(key)
    if (known !== undefined) return known
    const made = this.#runJob(workflow, key)
    this.#results.set(key, made)
    return made
  }

  async #runJob(workflow: Workflow, key: string): Promise<Result> {
    const spec = workflow.jobs[key] ?? {}
    const names = spec.needs === undefined ? [] : [spec.needs].flat()
    const needed = await Promise.all(names.map((name) => this.#job(workflow, name)))
    const needs = Object.fromEntries(
      names.map((name, at) => [name, { result: needed[at]?.result, outputs: needed[at]?.outputs ?? {} }]),
    )
    const standing = {
      success: needed.every((one) => one.isSound),
      failure: needed.some((one) => one.hasFailed),
      cancelled: this.#cancelled,
    }
    const over = (result: Conclusion, outputs: Record<string, string> = {}): Result => ({
      result,
      outputs,
      isSound: result === 'success' && standing.success,
      hasFailed: result === 'failure' || standing.failure,
    })
    const record = (result: Conclusion, note?: string): Result => {
      const job = this.#record(key, spec.name ?? key, spec)
      if (note !== undefined) job.notes.push(note)
      this.#endJob(job, result)
      return over(result)
    }
    if (this.#abandoned) return over('cancelled')
    try {
      if (!condition(spec.if, this.#scope(workflow, { needs }, null, standing))) return record('skipped')
      if (spec.uses !== undefined)
        return record('failure', `reusable workflows are not simulated: ${spec.uses}`)
      const legs = matrixOf(spec, this.#scope(workflow, { needs }, null, standing))
      const jobs = await Promise.all(
        legs.map((matrix) => this.#execute(workflow, key, spec, { needs, standing, matrix })),
      )
      const results = jobs.map(({ conclusion }) => conclusion ?? 'failure')
      const result = (['failure', 'cancelled'] as const).find((one) => results.includes(one)) ?? 'success'
      // By key, and the last to end wins.
      const byEnd = jobs.toSorted((a, b) => Date.parse(a.completedAt ?? '') - Date.parse(b.completedAt ?? ''))
      return over(result, Object.assign({}, ...byEnd.map(({ outputs }) => outputs)))
    } catch (error) {
      return record('failure', (error as Error).message)
    }
  }

  async #execute(
    workflow: Workflow,
    key: string,
    spec: JobSpec,
    { needs, standing, matrix }: { needs: Json; standing: Standing; matrix: Json },
  ): Promise<Job> {
    const { world } = this.#setup
    const legs = Object.values(matrix).join(', ')
    const plain = legs === '' ? key : `${key} (${legs})`
    const name = interpolateText(spec.name ?? plain, this.#scope(workflow, { needs, matrix }, null, standing))
    const job = this.#record(key, name, spec)
    const scope = this.#scope(workflow, { needs, matrix }, job, standing)
    let execution: JobExecution | null = null
    const place = this.#enter(policyOf(spec.concurrency, scope), () => execution?.cancel())
    if (place?.isPending() === true) {
      job.status = 'pending'
      this.#refresh()
    }
    const turn = place === null ? 'run' : await place.turn
    const refund = turn === 'run' ? await this.#setup.takeMachine() : () => {}
    // A job that still waited when the run was cancelled runs only if its condition holds nevertheless.
    const goesOn = () =>
      condition(spec.if, this.#scope(workflow, { needs, matrix }, job, { ...standing, cancelled: true }))
    if (turn === 'cancelled' || (this.#cancelled && !goesOn()) || this.#abandoned) {
      this.#endJob(job, 'cancelled')
      place?.leave()
      refund()
      return job
    }
    job.permissions = permissionsOf(spec.permissions ?? workflow.permissions, this.#setup.defaultPermissions)
    job.token = world.mintJobToken(job.permissions, { runId: this.#run.id, jobId: job.id, name: job.name })
    job.status = 'in_progress'
    job.startedAt = world.now()
    this.#check(job)
    this.#refresh()
    execution = new JobExecution({
      ...this.#setup,
      run: this.#run,
      job,
      spec,
      workflow,
      contexts: { needs, matrix, inputs: typedInputs(workflow, this.#run.inputs), vars: this.#setup.vars },
      artifacts: this.#artifacts,
    })
    this.#executions.set(execution, goesOn)
    const conclusion = await execution.run()
    this.#executions.delete(execution)
    world.tokens.delete(job.token)
    this.#endJob(job, conclusion)
    place?.leave()
    refund()
    return job
  }

  #record(key: string, name: string, spec: JobSpec): Job {
    const { world } = this.#setup
    const runsOn = spec['runs-on']
    const job: Job = {
      id: world.nextId(),
      key,
      name,
      attempt: this.#run.attempt,
      status: 'queued',
      conclusion: null,
      createdAt: world.now(),
      startedAt: null,
      completedAt: null,
      labels: typeof runsOn === 'string' ? [runsOn] : Array.isArray(runsOn) ? runsOn.map(String) : [],
      steps: [],
      outputs: {},
      token: null,
      runtimeToken: null,
      permissions: {},
      workspace: null,
      notes: [],
    }
    this.#run.jobs.push(job)
    this.#refresh()
    return job
  }
  #endJob(job: Job, conclusion: Conclusion): void {
    job.status = 'completed'
    job.conclusion = conclusion
    job.completedAt = this.#setup.world.now()
    this.#check(job)
    this.#refresh()
  }
  #refresh(): void {
    const { jobs } = this.#run
    const open = jobs.filter((job) => job.status !== 'completed')
    const isWaiting = open.length > 0 && open.every((job) => job.status === 'pending')
    const isRunning = jobs.some((job) => job.status === 'in_progress' || job.status === 'completed')
    this.#status(isWaiting ? 'pending' : isRunning ? 'in_progress' : 'queued')
  }
  /** Actions shows each of its jobs as a check run with the job's own number. */
  #check(job: Job): void {
    const { world } = this.#setup
    const sha = this.#run.sha
    world.checks.set(job.id, {
      id: job.id,
      name: job.name,
      sha,
      app: actionsApp,
      suite: accountId(`${sha}/${actionsApp.id}`),
      status: job.status,
      conclusion: job.conclusion,
      startedAt: job.startedAt,
      completedAt: job.completedAt,
      externalId: String(job.id),
      detailsUrl: null,
      title: null,
      summary: null,
      text: null,
      annotations: [],
      ofJob: true,
    })
  }
}

/** A matrix of lists, a combination each; one empty combination where there is none. Its other parts are not simulated. */
function matrixOf({ strategy }: JobSpec, scope: Scope): Json[] {
  if (strategy === undefined) return [{}]
  const others = Object.keys(strategy).filter((key) => key !== 'matrix' && key !== 'fail-fast')
  if (others.length > 0) throw new WorkflowError(`not simulated: strategy.${others[0]}`)
  if (strategy['fail-fast'] !== false) throw new WorkflowError('not simulated: strategy.fail-fast')
  const matrix = interpolate(strategy.matrix, scope) as Json
  const entries = Object.entries(matrix ?? {})
  if (entries.some(([key, values]) => !Array.isArray(values) || key === 'include' || key === 'exclude'))
    throw new WorkflowError('a matrix is simulated as lists by name alone')
  if (entries.length === 0 || entries.some(([, values]) => (values as unknown[]).length === 0))
    throw new WorkflowError('Matrix must define at least one vector')
  return entries.reduce<Json[]>(
    (all, [key, values]) =>
      all.flatMap((one) => (values as unknown[]).map((value) => ({ ...one, [key]: value }))),
    [{}],
  )
}

function policyOf(concurrency: unknown, scope: Scope): Policy | null {
  if (concurrency === undefined || concurrency === null) return null
  const filled = interpolate(concurrency, scope)
  if (typeof filled !== 'object') return { group: String(filled), cancelInProgress: false, queue: 'single' }
  const { group, queue } = filled as Json
  const isCancelling = (filled as Json)['cancel-in-progress']
  return {
    group: String(group),
    cancelInProgress: isCancelling === true,
    queue: queue === 'max' ? 'max' : 'single',
  }
}

const scopes: PermissionScope[] = ['contents', 'checks', 'pull_requests', 'issues', 'actions', 'statuses']
/** Once any permission is named, all others are none (facts 6.3). */
function permissionsOf(given: unknown, fallback: Permissions): Permissions {
  if (given === undefined || given === null) return fallback
  if (typeof given === 'string') {
    const access = given === 'write-all' ? 'write' : 'read'
    return Object.fromEntries(scopes.map((scope) => [scope, access]))
  }
  const named = given as Record<string, string>
  return Object.fromEntries(
    scopes.map((scope) => [scope, named[scope.replace('_', '-')] ?? 'none']),
  ) as Permissions
}
