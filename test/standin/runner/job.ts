// One job on one fresh machine: its steps in order, its post steps in reverse, and every way in which it can end.
import { randomUUID } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Conclusion, Job, Json, Run, Step } from '../model.ts'
import { newRuntimeToken } from '../results.ts'
import type { World } from '../world.ts'
import {
  type ActionSource,
  downloadAction,
  inputEnvironment,
  localAction,
  readManifest,
  unexpectedInputs,
} from './action.ts'
import { type Artifacts, download, upload } from './artifacts.ts'
import { checkout } from './checkout.ts'
import { Commands, Masks } from './commands.ts'
import {
  condition,
  interpolate,
  interpolateEnv,
  interpolateText,
  type Scope,
  type Standing,
} from './expressions.ts'
import { type CommandFiles, makeCommandFiles, readCommandFiles } from './file-commands.ts'
import {
  type Folders,
  githubContext,
  githubEnvironment,
  type IdentityService,
  makeFolders,
  runnerContext,
  runnerEnvironment,
  serviceEnvironment,
} from './machine.ts'
import { killOrphans, StepProcess, type Times } from './process.ts'
import type { JobSpec, StepSpec, Workflow } from './workflow.ts'

export interface JobSetup {
  world: World
  run: Run
  job: Job
  spec: JobSpec
  workflow: Workflow
  /** Contexts that the runner's orchestration knows: inputs, needs, vars. */
  contexts: Json
  secrets: Record<string, string>
  identity: IdentityService | null
  actions: ActionSource[]
  artifacts: Artifacts
  workRoot: string
  samePaths: boolean
  times: Times
  /** The `node24` that actions run with. */
  node: string
  env: Record<string, string>
  lacks: string[]
  path: string[]
  changed: () => void
}
interface Phase {
  step: Step
  env: Record<string, string>
  command: { file: string; args: string[]; cwd: string }
  /** Re-evaluated when the job is cancelled: does this step go on? */
  goesOn: () => boolean
  timeoutMinutes: number | null
  name: string
}
interface Post {
  name: string
  isWanted: () => boolean
  run: (step: Step) => Promise<Conclusion>
}
const cancelMinutes = 5

export class JobExecution {
  readonly #setup: JobSetup
  readonly #masks = new Masks()
  readonly #env: Record<string, string> = {}
  readonly #paths: string[] = []
  readonly #posts: Post[] = []
  readonly #trackingId = `github_${randomUUID()}`
  readonly #runtimeToken: string
  readonly #stepContexts: Record<string, Json> = {}
  #folders: Folders | null = null
  #current: { process: StepProcess; goesOn: () => boolean; onCancel: () => void } | null = null
  #failed = false
  #isOver = false
  #cancelled = false
  #lost: 'killed' | 'shutdown' | null = null
  readonly #timers: NodeJS.Timeout[] = []

  /** Only a job that names `id-token: write` may ask who it is (facts 6.3). */
  #identity(): IdentityService | null {
    const { identity, spec, workflow } = this.#setup
    const permissions: unknown = spec.permissions ?? workflow.permissions
    const isNamed =
      typeof permissions === 'object' && permissions !== null && 'id-token' in permissions
        ? permissions['id-token'] === 'write'
        : permissions === 'write-all'
    return isNamed ? identity : null
  }

  get job(): Job {
    return this.#setup.job
  }

  constructor(setup: JobSetup) {
    this.#setup = setup
    this.#runtimeToken = newRuntimeToken(String(setup.run.id))
  }

  /** Runs the job to its end and returns how it ended. */
  async run(): Promise<Conclusion> {
    const { world, run, job, spec, workRoot, samePaths, times } = this.#setup
    const folders = await makeFolders(world, workRoot, { run, job, samePaths })
    this.#folders = folders
    job.workspace = folders.workspace
    job.runtimeToken = this.#runtimeToken
    for (const secret of [job.token ?? '', this.#runtimeToken, ...Object.values(this.#setup.secrets)])
      this.#masks.add(secret)
    const minutes = Number(interpolate(spec['timeout-minutes'] ?? 360, this.#scope()))
    this.#timers.push(
      setTimeout(() => {
        job.notes.push(`The job has exceeded the maximum execution time of ${minutes}m0s`)
        this.cancel()
      }, minutes * times.minute),
    )
    try {
      Object.assign(this.#env, interpolateEnv(this.#setup.workflow.env, this.#scope()))
      Object.assign(this.#env, interpolateEnv(spec.env, this.#scope()))
      for (const step of spec.steps ?? []) if (this.#lost === null) await this.#step(step)
      for (const post of this.#posts.toReversed()) if (this.#lost === null) await this.#post(post)
    } catch (error) {
      this.#failed = true
      job.notes.push(String(error))
    } finally {
      // From here on nothing can end the job any more; a late cancel must not leave a timer behind.
      this.#isOver = true
      for (const timer of this.#timers) clearTimeout(timer)
    }
    if (this.#lost === null) this.#finalize()
    await rm(folders.temp, { recursive: true, force: true, maxRetries: 3 })
    if (this.#cancelled) return 'cancelled'
    return this.#failed || this.#lost !== null ? 'failure' : 'success'
  }

  /** The server's cancel message: the step in work is ended unless its condition still holds. */
  cancel(): void {
    if (this.#cancelled || this.#lost !== null || this.#isOver) return
    this.#cancelled = true
    const deadline = setTimeout(() => this.kill(), cancelMinutes * this.#setup.times.minute)
    this.#timers.push(deadline)
    const current = this.#current
    if (current === null || current.goesOn()) return
    current.onCancel()
    current.process.cancel()
  }
  /** The machine is lost: no signal, no post step, no file commands. */
  kill(): void {
    if (this.#lost !== null || this.#isOver) return
    this.#lost = 'killed'
    this.#setup.job.notes.push('The hosted runner lost communication with the server.')
    this.#current?.process.destroy()
    killOrphans(this.#trackingId)
  }
  /** A shutdown with warning: the step is cancelled, and nothing more runs (facts 2.4). */
  shutdown(): void {
    if (this.#lost !== null || this.#isOver) return
    this.#lost = 'shutdown'
    this.#setup.job.notes.push('The runner has received a shutdown signal.')
    this.#current?.onCancel()
    this.#current?.process.cancel()
  }

  #standing(): Standing {
    return { success: !this.#failed, failure: this.#failed && !this.#cancelled, cancelled: this.#cancelled }
  }
  #scope(extra: Json = {}): Scope {
    const { world, run, job, contexts, secrets } = this.#setup
    const status = this.#cancelled ? 'cancelled' : this.#failed ? 'failure' : 'success'
    return {
      contexts: {
        ...contexts,
        github: githubContext(world, run, job, this.#folders),
        job: { status, check_run_id: job.id },
        runner: this.#folders === null ? {} : runnerContext(this.#folders),
        env: this.#env,
        secrets: { ...secrets, GITHUB_TOKEN: job.token },
        steps: this.#stepContexts,
        ...extra,
      },
      standing: this.#standing(),
      workspace: this.#folders?.workspace ?? null,
    }
  }

  #newStep(name: string, id: string): Step {
    const { job, world } = this.#setup
    const step: Step = {
      number: job.steps.length + 1,
      id,
      name,
      status: 'in_progress',
      conclusion: null,
      outcome: null,
      outputs: {},
      state: {},
      log: '',
      annotations: [],
      masks: [],
      summary: '',
      startedAt: world.now(),
      completedAt: null,
    }
    job.steps.push(step)
    this.#setup.changed()
    return step
  }
  #endStep(step: Step, outcome: Conclusion, conclusion: Conclusion): void {
    Object.assign(step, { status: 'completed', outcome, conclusion, completedAt: this.#setup.world.now() })
    if (conclusion === 'failure') this.#failed = true
    if (step.id !== '') this.#stepContexts[step.id] = { outputs: step.outputs, outcome, conclusion }
    this.#setup.changed()
  }
  #log(step: Step, line: string): void {
    step.log += `${this.#masks.apply(line)}\n`
    this.#setup.changed()
  }
  #error(step: Step, message: string): void {
    this.#log(step, `Error: ${message}`)
    step.annotations.push({ level: 'error', message: this.#masks.apply(message), properties: {} })
  }

  async #step(spec: StepSpec): Promise<void> {
    const step = this.#newStep(
      spec.name ?? `Run ${spec.uses ?? spec.run?.trim().split('\n')[0] ?? ''}`,
      spec.id ?? '',
    )
    let outcome: Conclusion
    let isForgiven = false
    try {
      if (!condition(spec.if, this.#scope())) return this.#endStep(step, 'skipped', 'skipped')
      const env = { ...this.#env, ...interpolateEnv(spec.env, this.#scope()) }
      const scope = this.#scope({ env })
      step.name = interpolateText(step.name, scope)
      isForgiven = interpolate(spec['continue-on-error'] ?? false, scope) === true
      outcome =
        spec.uses === undefined
          ? await this.#script(step, spec, env, scope)
          : await this.#uses(step, spec, env, scope)
    } catch (error) {
      this.#error(step, (error as Error).message)
      outcome = 'failure'
    }
    this.#endStep(step, outcome, outcome === 'failure' && isForgiven ? 'success' : outcome)
  }

  #script(step: Step, spec: StepSpec, env: Record<string, string>, scope: Scope): Promise<Conclusion> {
    const folders = this.#here()
    const defaults = {
      ...(this.#setup.workflow.defaults.run as Json),
      ...(this.#setup.spec.defaults?.run as Json),
    }
    const file = join(folders.temp, `${randomUUID()}.sh`)
    const shell = spec.shell ?? defaults.shell
    const folder = interpolateText(spec['working-directory'] ?? defaults['working-directory'] ?? '.', scope)
    const words: Record<string, string[]> = {
      bash: ['bash', '--noprofile', '--norc', '-e', '-o', 'pipefail', file],
      sh: ['sh', '-e', file],
    }
    const [program = '', ...args] = shell === undefined ? ['bash', '-e', file] : (words[String(shell)] ?? [])
    if (program === '') throw new Error(`shell: ${shell} is not simulated`)
    return writeFile(file, interpolateText(spec.run, scope)).then(() =>
      this.#process({
        step,
        env,
        command: { file: program, args, cwd: join(folders.workspace, folder) },
        goesOn: () => condition(spec.if, this.#scope({ env })),
        timeoutMinutes: minutesOf(spec, scope),
        name: step.name,
      }),
    )
  }

  async #uses(step: Step, spec: StepSpec, env: Record<string, string>, scope: Scope): Promise<Conclusion> {
    const uses = shortName(this.#setup.world, spec.uses ?? '')
    const inputs = Object.fromEntries(
      Object.entries(spec.with ?? {}).map(([key, value]) => [
        key.toLowerCase(),
        interpolateText(value, scope),
      ]),
    )
    const source =
      this.#setup.actions.find(({ match }) => match.test(uses)) ?? localAction(uses, this.#here().workspace)
    if (source !== null) {
      const path = await downloadAction(source, uses, this.#here().actions)
      return this.#action(step, spec, { uses, path, inputs, env, scope })
    }
    const [name = '', version = ''] = uses.split('@')
    if (name === 'actions/checkout') return this.#checkout(step, version, inputs)
    const folders = this.#here()
    const { artifactFault: fault } = this.#setup.world
    if (fault !== null && name === `actions/${fault.what}-artifact`) throw new Error(fault.message)
    if (name === 'actions/upload-artifact') {
      const count = await upload(this.#setup.artifacts, folders.artifacts, folders.workspace, inputs)
      this.#log(step, `${count} file(s) uploaded`)
    } else if (name === 'actions/download-artifact') {
      this.#log(
        step,
        `${await download(this.#setup.artifacts, folders.workspace, inputs)} artifact(s) downloaded`,
      )
    } else {
      this.#log(step, `${uses} is not simulated: nothing was done`)
    }
    return 'success'
  }

  async #checkout(step: Step, version: string, inputs: Record<string, string>): Promise<Conclusion> {
    const { world, run, job } = this.#setup
    const folders = this.#here()
    const done = await checkout({
      version,
      inputs,
      serverUrl: world.url,
      repository: world.fullName,
      ref: run.ref,
      sha: run.sha,
      token: job.token ?? '',
      workspace: folders.workspace,
      temp: folders.temp,
      home: folders.home,
      log: (line) => this.#log(step, line),
    })
    Object.assign(step.outputs, done.outputs)
    this.#posts.push({
      name: `Post ${step.name}`,
      isWanted: () => true,
      run: () => done.post().then(() => 'success'),
    })
    return 'success'
  }

  async #action(
    step: Step,
    spec: StepSpec,
    wanted: {
      uses: string
      path: string
      inputs: Record<string, string>
      env: Record<string, string>
      scope: Scope
    },
  ): Promise<Conclusion> {
    const { uses, path, inputs, env, scope } = wanted
    const manifest = await readManifest(path)
    const unexpected = unexpectedInputs(manifest, inputs)
    if (unexpected !== null) {
      this.#log(step, `Warning: ${unexpected}`)
      step.annotations.push({ level: 'warning', message: unexpected, properties: {} })
    }
    const isLocal = uses.startsWith('./')
    const [repository = '', ref = ''] = isLocal ? ['', ''] : uses.split('@')
    const actionEnv = {
      ...env,
      ...inputEnvironment(manifest, inputs, scope),
      GITHUB_ACTION: spec.id ?? `__${repository.replaceAll('/', '_') || 'self'}`,
      GITHUB_ACTION_REPOSITORY: repository,
      GITHUB_ACTION_REF: ref,
      ...serviceEnvironment(this.#setup.world, this.#runtimeToken, this.#identity()),
    }
    const phase = (
      file: string,
      of: Step,
      goesOn: () => boolean,
      timeoutMinutes: number | null,
    ): Promise<Conclusion> => {
      const state = Object.entries(step.state).map(([name, value]) => [`STATE_${name}`, value])
      const command = { file: this.#setup.node, args: [join(path, file)], cwd: this.#here().workspace }
      return this.#process(
        {
          step: of,
          env: { ...actionEnv, ...Object.fromEntries(state) },
          command,
          goesOn,
          timeoutMinutes,
          name: of.name,
        },
        step,
      )
    }
    const { post } = manifest
    // Registered before main starts, so that it runs however main ends (facts 1.2).
    if (post !== null)
      this.#posts.push({
        name: `Post ${step.name}`,
        isWanted: () => condition(manifest.postIf, this.#scope({ env })),
        run: (of) => phase(post, of, () => true, null),
      })
    return phase(manifest.main, step, () => condition(spec.if, this.#scope({ env })), minutesOf(spec, scope))
  }

  async #post(post: Post): Promise<void> {
    const step = this.#newStep(post.name, '')
    let result: Conclusion
    try {
      result = post.isWanted() ? await post.run(step) : 'skipped'
    } catch (error) {
      this.#error(step, (error as Error).message)
      result = 'failure'
    }
    this.#endStep(step, result, result)
  }

  /** Runs one process of a step; state goes to `owner`, the step that the post step belongs to. */
  async #process(phase: Phase, owner = phase.step): Promise<Conclusion> {
    const { step } = phase
    const files = await makeCommandFiles(this.#here().commands)
    let isCommandWrong = false
    const commands = new Commands({
      annotate: (annotation) =>
        step.annotations.push({ ...annotation, message: this.#masks.apply(annotation.message) }),
      mask: (value) => {
        this.#masks.add(value)
        step.masks.push(value)
      },
      output: (name, value) => {
        step.outputs[name] = value
      },
      state: (name, value) => {
        owner.state[name] = value
      },
      log: (line) => this.#log(step, line),
      fail: () => {
        isCommandWrong = true
      },
    })
    const child = new StepProcess(
      {
        ...phase.command,
        env: this.#childEnvironment(phase.env, files),
        line: (line) => commands.line(line),
      },
      this.#setup.times,
    )
    let ending: 'cancelled' | 'timed out' | null = null
    this.#current = {
      process: child,
      goesOn: phase.goesOn,
      onCancel: () => {
        ending ??= 'cancelled'
      },
    }
    // The cancel may have come while the process was being started.
    if (this.#cancelled && !phase.goesOn()) {
      ending = 'cancelled'
      child.cancel()
    }
    const { timeoutMinutes } = phase
    const limit =
      timeoutMinutes === null
        ? null
        : setTimeout(() => {
            ending ??= 'timed out'
            child.cancel()
          }, timeoutMinutes * this.#setup.times.minute)
    const exit = await child.exit
    if (limit !== null) clearTimeout(limit)
    this.#current = null
    if (this.#lost === 'killed') return 'failure'
    const isWrong = await this.#readFiles(files, step, owner)
    if (ending === 'cancelled') {
      this.#error(step, 'The operation was canceled.')
      return 'cancelled'
    }
    if (ending === 'timed out') {
      this.#error(step, `The action '${phase.name}' has timed out after ${timeoutMinutes} minutes.`)
      return 'failure'
    }
    if (exit.code !== 0)
      this.#log(step, `Error: Process completed with exit code ${exit.code ?? exit.signal}.`)
    return exit.code === 0 && !isWrong && !isCommandWrong ? 'success' : 'failure'
  }

  #childEnvironment(env: Record<string, string>, files: CommandFiles): Record<string, string> {
    const { world, run, job, path } = this.#setup
    const folders = this.#here()
    const { NODE_COMPILE_CACHE } = process.env
    const machine = {
      PATH: process.env.PATH ?? '',
      // What Node has compiled for one job serves the next, where tests are run with a cache.
      ...(NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE }),
      LANG: 'C.UTF-8',
      HOME: folders.home,
      CI: 'true',
      ...this.#setup.env,
    }
    const context = { ...githubContext(world, run, job, folders), action: env.GITHUB_ACTION ?? '__run' }
    const all: Record<string, string> = {
      ...machine,
      ...env,
      ...githubEnvironment(context),
      ...(env.GITHUB_ACTION_REPOSITORY === undefined
        ? {}
        : {
            GITHUB_ACTION_REPOSITORY: env.GITHUB_ACTION_REPOSITORY,
            GITHUB_ACTION_REF: env.GITHUB_ACTION_REF ?? '',
          }),
      ...runnerEnvironment(folders, this.#trackingId),
      ...files,
    }
    for (const [name, value] of Object.entries(world.dialect.variables))
      if (value === null) delete all[name]
      else all[name] = value
    for (const name of this.#setup.lacks) delete all[name]
    all.PATH = [...this.#paths.toReversed(), ...path, all.PATH].join(':')
    return all
  }

  /** Takes in whatever the process wrote, however it ended. Returns whether a file was wrong. */
  async #readFiles(files: CommandFiles, step: Step, owner: Step): Promise<boolean> {
    const written = await readCommandFiles(files)
    for (const [key, value] of written.env) if (!/^(GITHUB|RUNNER)_/i.test(key)) this.#env[key] = value
    Object.assign(step.outputs, Object.fromEntries(written.outputs))
    Object.assign(owner.state, Object.fromEntries(written.state))
    this.#paths.push(...written.path)
    step.summary = this.#masks.apply(written.summary)
    for (const mistake of [...written.mistakes, ...written.complaints]) this.#error(step, mistake)
    return written.mistakes.length > 0
  }

  #finalize(): void {
    const { job, spec } = this.#setup
    for (const [name, value] of Object.entries(spec.outputs ?? {})) {
      const output = interpolateText(value, this.#scope())
      if (output === '') continue
      if (this.#masks.has(output)) job.notes.push(`Skip output '${name}' since it may contain secret.`)
      else job.outputs[name] = output
    }
    const orphans = killOrphans(this.#trackingId)
    if (orphans.length > 0) job.notes.push(`Terminate orphan processes: ${orphans.length}`)
  }
  #here(): Folders {
    if (this.#folders === null) throw new Error('the machine is not ready')
    return this.#folders
  }
}

function minutesOf(spec: StepSpec, scope: Scope): number | null {
  const value = spec['timeout-minutes']
  return value === undefined ? null : Number(interpolate(value, scope))
}

/** Other forges find an action without an address at a server that their administrator chose; GitHub's are named by address. */
function shortName({ dialect }: World, uses: string): string {
  if (dialect.workflowFolders.length === 1 || uses.startsWith('./')) return uses
  const start = 'https://github.com/'
  if (uses.startsWith(start)) return uses.slice(start.length)
  throw new Error(`${uses} is not on this server`)
}
