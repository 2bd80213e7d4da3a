// The Actions runner of the stand-in: events start runs, runs have jobs, jobs run real processes.
//
// A simulation of ours after the runner's source and the facts collected about the service. Real are: GitHub's own
// workflow parser and expression evaluator, git, the action's processes, signals and exit codes. Not simulated:
// matrices, composite and container actions, reusable workflows, environments, `pre` steps, problem matchers, background steps,
// other actions (no-ops; upload- and download-artifact copy folders; results.ts and cache-entries.ts are the services behind ours).
//
//   await using runner = await startRunner({ github, action: { match: /^ralph\/action@|^\.\//, path: projectRoot } })
//   await runner.dispatch('ralph.yml', { feature: 'auth' }, { actor: 'alice' })
//   await runner.settled()
//   assert.equal(runner.runs.at(-1)?.conclusion, 'success')
import { execFileSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { GitHub } from './github.ts'
import type { Json, Permissions, Run, SiteEvent } from './model.ts'
import { renderEvent } from './render.ts'
import { dispatch, newRun, workflowPaths } from './rest/actions.ts'
import type { ActionSource } from './runner/action.ts'
import { Groups } from './runner/concurrency.ts'
import type { IdentityService } from './runner/machine.ts'
import { realTimes, type Times } from './runner/process.ts'
import { RunExecution } from './runner/run.ts'
import { listens, readWorkflow, WorkflowError } from './runner/workflow.ts'
import type { World } from './world.ts'

export type { Job, Run, Step, StepAnnotation } from './model.ts'

export interface RunnerOptions {
  github: GitHub
  /** The actions that are really run; every other `uses:` but checkout and the artifact ones does nothing. */
  action?: ActionSource | ActionSource[]
  /** More environment for every process of every job. */
  env?: Record<string, string>
  /** Names of variables that this runner does not set, as nektos/act and other forges leave some out. */
  lacks?: string[]
  /** Folders put in front of PATH. */
  path?: string[]
  secrets?: Record<string, string>
  /** Who tells jobs with `id-token: write` who they are; left out: nobody. */
  identity?: IdentityService
  vars?: Record<string, string>
  /** What a job's token may do where the workflow does not say. */
  defaultPermissions?: Permissions
  /** Shorter minutes and ladders. */
  times?: Partial<Times>
  /** How many jobs may run at once. */
  capacity?: number
  /** Where the machines' folders go; a temporary folder that is removed at the end by default. */
  workRoot?: string
  /** Every machine has its folders at the same paths, as GitHub's have; then one job runs at a time. */
  samePaths?: boolean
  /** The `node24` of the machines. */
  node?: string
}

export interface Runner extends AsyncDisposable {
  /** All runs, oldest first; they change while they run. */
  readonly runs: Run[]
  /** Presses "Run workflow" (or dispatches as a person). Rejects as the endpoint does. */
  dispatch: (workflow: string, inputs?: Json, options?: { actor?: string; ref?: string }) => Promise<Run>
  /** Raises an event by hand, such as `schedule`; starts the workflows that listen to it. Returns their runs. */
  trigger: (event: string, payload?: Json, options?: { action?: string; actor?: string }) => Promise<Run[]>
  /** Resolves when no run is queued, pending or running any more. */
  settled: () => Promise<void>
  /** Resolves with the first run for which this holds; looked at after every change, log lines included. */
  when: (holds: (run: Run) => boolean) => Promise<Run>
  /** Cancels as the button does. */
  cancel: (runId: number) => void
  /** The machines of the running jobs vanish, or that of one. */
  kill: (runId: number, job?: string) => void
  /** The machines of the running jobs are shut down with a warning. */
  shutdown: (runId: number) => void
  /** "Re-run all jobs": the same id, the next attempt. `kept`: keys of jobs that are not run again. */
  rerun: (runId: number, options?: { actor?: string; kept?: readonly string[] }) => Run
  /** The log of a run, for messages of tests. */
  log: (run: Run) => string
}

interface Waiter {
  holds: (run: Run) => boolean
  resolve: (run: Run) => void
  reject: (error: Error) => void
}

class ActionsRunner implements Runner {
  readonly #options: RunnerOptions
  readonly #workRoot: string
  readonly #groups = new Groups()
  readonly #executions = new Map<Run, RunExecution>()
  readonly #waiters = new Set<Waiter>()
  #busy = 0
  #idle: (() => void)[] = []
  /** Events are looked at one after the other, so that runs start in the order of what happened. */
  #events: Promise<unknown> = Promise.resolve()
  #slots: number
  readonly #queue: (() => void)[] = []
  #isOver = false

  constructor(options: RunnerOptions, workRoot: string) {
    this.#options = options
    this.#workRoot = workRoot
    this.#slots = options.samePaths === true ? 1 : (options.capacity ?? 20)
    const { world } = options.github
    world.cancelRun = (run) => this.#executions.get(run)?.cancel()
    world.onRun((run) => (run.status === 'completed' ? this.#changed(run) : this.#start(run)))
    world.onEvent((event) => void this.#listen(event))
  }

  get runs(): Run[] {
    return this.#options.github.world.runs
  }
  async dispatch(
    workflow: string,
    inputs: Json = {},
    options: { actor?: string; ref?: string } = {},
  ): Promise<Run> {
    const { world } = this.#options.github
    const ref = options.ref ?? world.settings.defaultBranch
    return dispatch(world, { workflow, inputs, ref, actor: options.actor ?? this.#somebody() })
  }
  trigger(
    event: string,
    payload: Json = {},
    options: { action?: string; actor?: string } = {},
  ): Promise<Run[]> {
    const actor = options.actor ?? this.#somebody()
    const full = { ...payload, ...renderEvent(this.#options.github.world, actor) }
    return this.#listen({ name: event, action: options.action ?? null, payload: full, actor, byJob: false })
  }
  settled(): Promise<void> {
    if (this.#busy === 0) return Promise.resolve()
    return new Promise((resolve) => this.#idle.push(resolve))
  }
  when(holds: (run: Run) => boolean): Promise<Run> {
    const found = this.runs.find(holds)
    if (found !== undefined) return Promise.resolve(found)
    return new Promise((resolve, reject) => this.#waiters.add({ holds, resolve, reject }))
  }
  cancel(runId: number): void {
    this.#execution(runId).cancel()
  }
  kill(runId: number, job?: string): void {
    this.#execution(runId).kill(job)
  }
  shutdown(runId: number): void {
    this.#execution(runId).shutdown()
  }
  rerun(runId: number, options: { actor?: string; kept?: readonly string[] } = {}): Run {
    const run = this.#options.github.world.run(runId)
    if (run.status !== 'completed') throw new Error(`run ${runId} is not over yet`)
    run.earlier.push(...run.jobs)
    Object.assign(run, {
      jobs: [],
      attempt: run.attempt + 1,
      status: 'queued',
      conclusion: null,
      error: null,
    })
    if (options.actor !== undefined) run.actor = options.actor
    this.#start(run, options.kept)
    return run
  }
  log(run: Run): string {
    const lines = run.jobs.flatMap((job) => [
      `== ${job.name}: ${job.conclusion ?? job.status} ${job.notes.join('; ')}`,
      ...job.steps.flatMap((step) => [
        `-- ${step.name}: ${step.conclusion ?? step.status}`,
        step.log.trimEnd(),
      ]),
    ])
    return [`${run.workflow} #${run.id}: ${run.conclusion ?? run.status} ${run.error ?? ''}`, ...lines].join(
      '\n',
    )
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true
    for (const waiter of this.#waiters) waiter.reject(new Error('the runner was stopped'))
    for (const execution of this.#executions.values()) execution.abandon()
    await this.settled()
    if (this.#options.workRoot === undefined)
      await rm(this.#workRoot, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 }).catch(() =>
        // Folders may lie deeper than a path can name.
        execFileSync('rm', ['-rf', '--', this.#workRoot]),
      )
  }

  #somebody(): string {
    const { github } = this.#options
    const names = Object.entries(github.people)
    return (names.find(([, level]) => level === 'admin') ?? names[0])?.[0] ?? github.owner
  }
  #execution(runId: number): RunExecution {
    const run = this.#options.github.world.run(runId)
    const execution = this.#executions.get(run)
    if (execution === undefined) throw new Error(`run ${runId} is not running`)
    return execution
  }
  #enter(): void {
    this.#busy += 1
  }
  #leave(): void {
    this.#busy -= 1
    if (this.#busy > 0) return
    for (const resolve of this.#idle.splice(0)) resolve()
  }
  #changed(run: Run): void {
    for (const waiter of this.#waiters) {
      if (!waiter.holds(run)) continue
      this.#waiters.delete(waiter)
      waiter.resolve(run)
    }
  }

  /** Starts the workflows of the default branch that listen to an event. */
  #listen(event: SiteEvent): Promise<Run[]> {
    if (this.#isOver) return Promise.resolve([])
    this.#enter()
    const started = this.#events.then(() => this.#begin(event)).finally(() => this.#leave())
    this.#events = started.catch((error) => this.#blame(error))
    return started
  }
  async #begin(event: SiteEvent): Promise<Run[]> {
    const { world } = this.#options.github
    const { ref, sha, filter } = await place(world, event)
    if (sha === null) return []
    const begun: Run[] = []
    for (const path of await workflowPaths(world, sha)) {
      if (world.settings.disabledWorkflows.some((file) => path.endsWith(`/${file}`))) continue
      try {
        const workflow = await readWorkflow(path, (await world.bare.read(sha, path)) ?? '')
        if (!listens(workflow, { ...event, ...(filter === null ? {} : { ref: filter }) })) continue
        begun.push(
          newRun(world, {
            workflow,
            event: event.name,
            payload: event.payload,
            actor: event.actor,
            ref,
            sha,
            inputs: {},
          }),
        )
        // What a job's token did to a pull request waits for somebody's click (facts 3.2).
        if (event.byJob)
          Object.assign(begun.at(-1) ?? {}, { status: 'completed', conclusion: 'action_required' })
      } catch (error) {
        // GitHub shows a broken file as a failed run on push; other events pass it over.
        if (!(error instanceof WorkflowError)) throw error
      }
    }
    for (const run of begun) world.addRun(run)
    return begun
  }
  #blame(error: unknown): void {
    this.#options.github.violations.push(`the runner failed: ${String((error as Error).stack ?? error)}`)
  }

  #start(run: Run, kept: readonly string[] = []): void {
    if (this.#isOver) return
    const { github, action, ...options } = this.#options
    this.#enter()
    const setup = {
      world: github.world,
      groups: this.#groups,
      actions: action === undefined ? [] : [action].flat(),
      env: options.env ?? {},
      lacks: options.lacks ?? [],
      path: options.path ?? [],
      secrets: options.secrets ?? {},
      identity: options.identity ?? null,
      vars: options.vars ?? {},
      defaultPermissions: options.defaultPermissions ?? { contents: 'read' },
      times: { ...realTimes, ...options.times },
      workRoot: this.#workRoot,
      samePaths: options.samePaths ?? false,
      node: options.node ?? process.execPath,
      changed: () => this.#changed(run),
      takeMachine: () => this.#takeMachine(),
    }
    const execution = new RunExecution(run, setup, kept)
    this.#executions.set(run, execution)
    this.#changed(run)
    void execution
      .run()
      .catch((error) => this.#blame(error))
      .finally(() => {
        this.#executions.delete(run)
        this.#changed(run)
        this.#leave()
      })
  }
  /** Waits for a free machine; the returned function gives it back. */
  async #takeMachine(): Promise<() => void> {
    if (this.#slots > 0) this.#slots -= 1
    else await new Promise<void>((resolve) => this.#queue.push(resolve))
    return () => {
      const next = this.#queue.shift()
      if (next === undefined) this.#slots += 1
      else next()
    }
  }
}

/** Where an event's workflows are read and run: at what was pushed, at a pull request's head, or on the default branch. */
async function place(
  world: World,
  event: SiteEvent,
): Promise<{ ref: string; sha: string | null; filter: string | null }> {
  const payload = event.payload as { ref?: string; number?: number; pull_request?: { base: { ref: string } } }
  if (event.name === 'push' && payload.ref !== undefined)
    return { ref: payload.ref, sha: await world.bare.resolve(payload.ref), filter: payload.ref }
  if (event.name === 'pull_request' && payload.pull_request !== undefined) {
    // GitHub runs them on the merge of head and base, and not at all if these conflict; the stand-in on the head.
    const base = payload.pull_request.base.ref
    const head = `refs/pull/${payload.number}/head`
    const merge = await world.bare.ask(['merge-tree', '--write-tree', `refs/heads/${base}`, head])
    const sha = merge === null ? null : await world.bare.resolve(head)
    return {
      ref: `refs/pull/${payload.number}/merge`,
      sha,
      filter: `refs/heads/${base}`,
    }
  }
  const ref = `refs/heads/${world.settings.defaultBranch}`
  return { ref, sha: await world.bare.resolve(ref), filter: null }
}

/** Starts the runner; from now on events and dispatches of this GitHub start runs. */
export async function startRunner(options: RunnerOptions): Promise<Runner> {
  const workRoot = options.workRoot ?? (await mkdtemp(join(tmpdir(), 'runner-')))
  return new ActionsRunner(options, workRoot)
}
