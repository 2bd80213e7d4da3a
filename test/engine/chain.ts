// A chain of jobs in this process: real git, a bare remote, the loop as it is; agent, gates' code, people and dispatch are functions.
import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { readExpectation, readSignals } from '../../src/agents/signals.ts'
import { claim } from '../../src/app/claim-feature.ts'
import { gatedTagsOf, leaseFor, limitsOf } from '../../src/app/loop-limits.ts'
import { createPorts, gatesPort } from '../../src/app/loop-ports.ts'
import { withSteps } from '../../src/app/pipeline-runner.ts'
import { type Issue, type PlanRequest as Planned, requestFromIssue } from '../../src/app/plan-request.ts'
import type { PortOptions } from '../../src/app/port-options.ts'
import { openWorkspace } from '../../src/app/workspace.ts'
import { parseSlash } from '../../src/engine/commands/command-table.ts'
import { runToEnd } from '../../src/engine/driver.ts'
import { inCheckout } from '../../src/engine/executors/in-checkout.ts'
import type { AgentEvent } from '../../src/engine/model/agent-event.ts'
import type { Session } from '../../src/engine/model/attempt.ts'
import type { Event } from '../../src/engine/model/event.ts'
import type { Prd } from '../../src/engine/model/feature.ts'
import { newJob } from '../../src/engine/model/job.ts'
import type { AgentPort, QueuePort } from '../../src/engine/model/ports.ts'
import type { Conclusion, State } from '../../src/engine/model/state.ts'
import { emptyUsage } from '../../src/engine/model/usage.ts'
import { readProposal } from '../../src/engine/planning/proposed-plan.ts'
import type { ScopeRequest } from '../../src/engine/prd/scope.ts'
import { readSettings, type Settings } from '../../src/settings/read-settings.ts'
import { UserError } from '../../src/system/errors.ts'
import { Bare, type Files, git, type Person } from '../standin/bare.ts'

export const BRANCH = 'ralph/sample'
export const FOLDER = '.ralph/2026-01-31-sample'
export const PRD = `${FOLDER}/prd.json`
export const STATE_REF = 'refs/ralph/2026-01-31-sample'
const PEOPLE: Readonly<Record<string, Person>> = {
  alice: { name: 'alice', email: 'alice@example.com' },
  bob: { name: 'bob', email: 'bob@example.com' },
}

/** What an agent does in one session: files (null removes), then whatever `meanwhile` is; then it says that it is done. */
export type Turn = {
  files?: Files
  meanwhile?: (chain: Chain) => Promise<unknown>
  session?: Partial<Session>
  /** The last words of a plan session, or of a judge's. */
  answer?: string
}
export type Script = Readonly<Record<string, readonly Turn[]>>
export type Asked = {
  mode: 'run' | 'verify' | 'plan' | 'setup'
  story: string
  conflict: string | null
  /** Of a plan session: what it is made from, and what was wrong with the answer before. */
  brief?: string
  /** Of a judge who is asked whether a change of what gates expect was asked for. */
  findings?: string
  /** Of a step of a pipeline: its name, the agent that it names, and what it is told of a failure before it. */
  step?: { name: string; agent: string | null; failed: string }
}

/** What a person asks for; `anew`: `ralph run --force`. */
export type KickOff = ScopeRequest & { anew: boolean }

export type ChainOptions = {
  stories: readonly Record<string, unknown>[]
  script: Script
  /** Of the action, by name. */
  inputs?: Readonly<Record<string, string>>
  /** The configuration file. */
  config?: Readonly<Record<string, unknown>>
  files?: Files
  /** Variables of the trusted side. */
  env?: Readonly<Record<string, string>>
  /** The feature begins without stories: they are to be planned from this. */
  issue?: Issue
}

/** A story's file, as a good agent writes it, and as one does whose work is red. */
export const goodTurn = (name: string): Turn => ({ files: { [`src/${name}`]: `${name}\n` } })
export const badTurn = (name: string): Turn => ({ files: { [`src/${name}`]: 'RED\n' } })

export function story(
  id: string,
  title: string,
  more: Record<string, unknown> = {},
): Record<string, unknown> {
  const about = { description: `As a user, I want ${title}.`, acceptanceCriteria: [`${title} works`] }
  return { id, title, ...about, priority: 1, passes: false, ...more }
}

const FINISHED: Omit<Session, 'usage'> = {
  status: 'finished',
  message: 'done',
  resetsAt: null,
  hints: { done: true, notDone: false, stuck: null },
  learnings: [],
}

export class Chain {
  readonly #folder: string
  readonly bare: Bare
  readonly script: Script
  /** As people leave it now. */
  issue: Issue | null
  /** What a kick-off asks to be planned, where it is no issue. */
  planned: Planned | null = null
  readonly #settings: Settings
  readonly #env: Readonly<Record<string, string>>
  readonly #comments: { id: number; text: string; at: number }[] = []
  #jobs = 0
  /** What the agent was asked, a session each. */
  readonly sessions: Asked[] = []
  /** What happened, of all jobs. */
  readonly events: Event[] = []
  /** Gates that ran, by name, of all jobs. */
  readonly gates: string[] = []
  /** What the display says of sessions and steps. */
  readonly said: string[] = []
  /** What was warned of and noted. */
  readonly notes: string[] = []
  /** How each job ended. */
  readonly conclusions: Conclusion[] = []

  private constructor(
    folder: string,
    bare: Bare,
    script: Script,
    settings: Settings,
    { issue, env }: Pick<ChainOptions, 'issue' | 'env'>,
  ) {
    this.#folder = folder
    this.bare = bare
    this.script = script
    this.#settings = settings
    this.issue = issue ?? null
    this.#env = env ?? {}
  }

  static async open({
    stories,
    script,
    inputs = {},
    config = {},
    files = {},
    issue,
    env = {},
  }: ChainOptions): Promise<Chain> {
    const folder = await mkdtemp(join(tmpdir(), 'ralph-chain-'))
    const bare = new Bare(join(folder, 'remote.git'))
    await bare.create('main', { guarded: false })
    const prd = { schemaVersion: 2, project: 'Sample', branchName: BRANCH, userStories: stories }
    const first = {
      'README.md': '# sample\n',
      'src/base': 'base\n',
      ...(issue === undefined ? { [PRD]: `${JSON.stringify(prd, null, 2)}\n` } : {}),
      ...files,
    }
    await bare.commit('main', first, 'begin', PEOPLE.alice ?? { name: '', email: '' }, null)
    const read = readSettings({
      surface: 'action',
      env: {},
      file: { path: 'ralph.config.json', text: JSON.stringify(config) },
      inputs: {
        agent: 'custom',
        'agent-command': 'true',
        gates: 'test: "! grep -rqs RED src"',
        'iterations-per-job': '3',
        'final-verification': 'false',
        ...inputs,
      },
    })
    if (!read.ok) throw new UserError(read.mistakes)
    return new Chain(folder, bare, script, read.settings, { env, ...(issue === undefined ? {} : { issue }) })
  }

  /** A person's push on top of a branch; gives the commit. */
  commit(branch: string, files: Files, message = 'by hand', login = 'alice'): Promise<string> {
    return this.bare.commit(branch, files, message, PEOPLE[login] ?? { name: login, email: '' }, null)
  }

  /** A person's push that edits prd.json. */
  async edit(change: (prd: Prd) => void, branch = BRANCH): Promise<string> {
    const prd: Prd = JSON.parse((await this.read(branch, PRD)) ?? '')
    change(prd)
    return this.commit(branch, { [PRD]: `${JSON.stringify(prd, null, 2)}\n` }, 'edit the plan')
  }

  /** A person's forced push; null deletes the branch. */
  async move(after: string | null, branch = BRANCH): Promise<void> {
    const ref = `refs/heads/${branch}`
    await this.bare.run(after === null ? ['update-ref', '-d', ref] : ['update-ref', ref, after])
  }

  /** A person's forced push of the same files without their history; gives the commit. */
  async rewrite(branch = BRANCH): Promise<string> {
    const tree = await this.bare.run(['rev-parse', `${branch}^{tree}`])
    const who = PEOPLE.alice ?? { name: '', email: '' }
    const parents = [(await this.bare.head('main')) ?? '']
    const theirs = await this.bare.commitTree(tree, parents, 'squashed by hand', {
      author: who,
      committer: who,
    })
    await this.move(theirs, branch)
    return theirs
  }

  read(at: string, path: string): Promise<string | null> {
    return this.bare.read(at, path)
  }

  async head(branch = BRANCH): Promise<string> {
    return (await this.bare.head(branch)) ?? ''
  }

  async prd(branch = BRANCH): Promise<Prd> {
    return JSON.parse((await this.read(branch, PRD)) ?? '')
  }

  async state(): Promise<State> {
    return JSON.parse((await this.read(STATE_REF, '.ralph-state/state.json')) ?? '')
  }

  /** A file beside the checkouts of the jobs. */
  async block(name: string, isThere: boolean): Promise<void> {
    const file = join(this.#folder, name)
    if (isThere) await writeFile(file, '')
    else await rm(file)
  }

  /** A comment of a person who may write; heard by the next look. */
  say(text: string, at = Date.now()): void {
    this.#comments.push({ id: this.#comments.length + 1, text, at })
  }

  /**
   * Kicks the chain off, for a part of the feature where one is asked for, and works jobs until none is dispatched; gives how
   * the last one ended. `as it stands`: a comment has started the first job.
   */
  async go(asked: Partial<KickOff> | 'as it stands' = {}): Promise<Conclusion> {
    let generation = asked === 'as it stands' ? (await this.state()).generation : null
    const wanted = { stories: [], epic: null, anew: false, ...(asked === 'as it stands' ? {} : asked) }
    for (;;) {
      const dispatched: number[] = []
      const conclusion = await this.#job(generation, wanted, (next) => dispatched.push(next))
      this.conclusions.push(conclusion)
      const [next] = dispatched
      if (next === undefined) return conclusion
      generation = next
    }
  }

  async #job(
    generation: number | null,
    wanted: KickOff,
    dispatched: (generation: number) => void,
  ): Promise<Conclusion> {
    this.#jobs += 1
    assert.ok(this.#jobs < 30, 'the chain does not end')
    const directory = join(this.#folder, `job-${this.#jobs}`)
    const env = { PATH: process.env.PATH ?? '', HOME: this.#folder, ...this.#env }
    await git(['clone', '--quiet', '--branch=main', '--template=', this.bare.path, directory])
    const settings = this.#settings
    const { issue, planned } = this
    const note = (text: string) => void this.notes.push(text)
    using workspace = await openWorkspace({
      settings,
      env,
      directory,
      remote: { url: this.bare.path, env: {} },
      identity: { name: 'Ralph', email: 'ralph@localhost' },
      warn: note,
    })
    const now = Date.now()
    const lease = await leaseFor(settings, now, null)
    const { repository } = workspace
    const claimed = await claim(workspace, {
      feature: 'sample',
      branchPrefix: settings.branchPrefix,
      base: { branch: 'main', sha: await this.head('main'), defaultBranch: 'main' },
      workTree: null,
      generation,
      lease,
      isAlive: async () => false,
      endOrphansOf: async () => {},
      job: newJob(now, now + settings.jobDeadlineMs, gatedTagsOf(settings)),
      chosen: {},
      scope: wanted,
      anew: wanted.anew && generation === null,
      planRequest:
        issue === null || generation !== null
          ? generation === null
            ? planned
            : null
          : requestFromIssue(issue, { known: 'sample', today: '2026-01-31', gates: ['test'] }),
      async prepareState(state) {
        await repository.checkOut(state.green, null)
        return state
      },
      today: '2026-01-31',
      firstComment: async () => 0,
    })
    claimed.notes.forEach(note)
    const limits = limitsOf(settings)
    const agent = this.#agent(directory)
    const options = {
      settings,
      env,
      workspace,
      observers: [{ event: async (event: Event) => void this.events.push(event) }],
      warn: note,
      queue: this.#queue(),
      dispatch: {
        async dispatch(state: State) {
          dispatched(state.generation)
          return { kind: 'dispatched' as const, runId: null }
        },
      },
      signal: new AbortController().signal,
      as: null,
      mark: lease.mark,
      onAgent: (event: AgentEvent) => void (event.kind === 'step' && this.said.push(event.text)),
      onGateStart: (name: string) => void this.gates.push(name),
      onGateEnd: () => {},
    }
    const clock = { now: Date.now, sleep: async () => {} }
    const makers = {
      agentOf: async (_options: PortOptions, name: string) => this.#agent(directory, name),
      gatesOf: gatesPort,
    }
    const { steps } = settings
    const around = { base: agent, gates: gatesPort(options), clock }
    const ports = await createPorts({
      ...options,
      agent: steps === null ? agent : await withSteps(steps, around, options, makers),
    })
    const { conclusion } = await runToEnd(claimed.state, limits, inCheckout(limits, ports))
    return conclusion
  }

  /** `name`: that a step names; null: the run's own. */
  #agent(directory: string, name: string | null = null): AgentPort {
    const usage = { ...emptyUsage(), calls: 1, inputTokens: 1000, outputTokens: 100, costUsd: 0.01 }
    const act = async (key: string, asked: Asked): Promise<Turn> => {
      const before = this.sessions.filter(
        ({ mode, story, step }) =>
          mode === asked.mode && story === asked.story && step?.name === asked.step?.name,
      ).length
      this.sessions.push(asked)
      const turns = this.script[key] ?? []
      const turn = turns[Math.min(before, turns.length - 1)] ?? {}
      for (const [path, text] of Object.entries(turn.files ?? {})) {
        const file = join(directory, path)
        if (text === null) await rm(file, { force: true })
        else {
          await mkdir(dirname(file), { recursive: true })
          await writeFile(file, text)
        }
      }
      await turn.meanwhile?.(this)
      return turn
    }
    return {
      work: async (state, attempt, { conflict, step }) => {
        const { storyId } = attempt
        const failed = state.records[storyId]?.failure?.summary ?? ''
        const asked: Asked = {
          mode: 'run',
          story: storyId,
          conflict,
          ...(step === undefined ? {} : { step: { name: step.name, agent: name, failed } }),
        }
        const isFirst = step === undefined || !step.log.includes(step.name)
        const { session } = await act(isFirst ? storyId : `${storyId} ${step.name}`, asked)
        return { ...FINISHED, usage, ...session }
      },
      setUp: async (_state, attempt) => {
        if (this.script.setup === undefined) return null
        const asked = { mode: 'setup', story: attempt.storyId, conflict: null } as const
        const { session } = await act('setup', asked)
        return { ...FINISHED, usage, ...session }
      },
      judge: async (_state, { stories, expectation, counterexample }) => {
        if (counterexample !== undefined) {
          const findings = counterexample.output
          const { answer = '<ralph>EXPECTED</ralph>' } = await act('counterexample', {
            mode: 'verify',
            story: stories.join(),
            conflict: null,
            findings,
          })
          const isRight = readExpectation(answer)?.kind !== 'unexpected'
          const no = { kind: 'reset' as const, stories: [...stories], reason: 'it checks too much' }
          return { verdict: isRight ? { kind: 'verified' } : no, usage }
        }
        if (expectation !== undefined) {
          const findings = expectation.findings.join('\n')
          const question: Asked = { mode: 'verify', story: stories.join(), conflict: null, findings }
          const { answer = '<ralph>VERIFIED</ralph>' } = await act('expectation', question)
          const said = readExpectation(answer)
          if (said === null) return { verdict: { kind: 'none', message: 'no marker' }, usage }
          const no = { kind: 'reset' as const, stories: [...stories], reason: 'nobody asked for it' }
          return { verdict: said.kind === 'expected' ? { kind: 'verified' } : no, usage }
        }
        const asked = { mode: 'verify', story: stories.join(), conflict: null } as const
        const { answer = '<ralph>VERIFIED</ralph>' } = await act('verify', asked)
        const { verdict } = readSignals(answer)
        if (verdict === null) return { verdict: { kind: 'none', message: 'no marker' }, usage }
        if (verdict.kind === 'verified') return { verdict, usage }
        const { ids, reason, commands = [] } = verdict
        const counterexamples = commands.map((one) => ({ ...one, files: [] }))
        return { verdict: { kind: 'reset', stories: ids, reason, counterexamples }, usage }
      },
      plan: async (_state, task) => {
        const key = `plan ${task.split ?? ''}`.trim()
        const { answer = '' } = await act(key, {
          mode: 'plan',
          story: task.split ?? '',
          conflict: null,
          brief: `${task.brief}\n${task.message}`,
        })
        return { proposal: readProposal(answer, task), usage }
      },
    }
  }

  #queue(): QueuePort {
    const fresh = (state: State) => this.#comments.filter(({ id }) => id > state.control.lastComment)
    return {
      async read(state) {
        const ids = state.prd.userStories.map((one) => one.id)
        return fresh(state).map(({ id, text, at }) => {
          const parsed = parseSlash(text, ids)
          return {
            ...(parsed.kind === 'command' ? parsed.command : { kind: 'refused' as const }),
            id,
            by: 'alice',
            at,
          }
        })
      },
      waiting: async (state) => fresh(state).length > 0,
      arrived: async (state) => fresh(state).length > 0,
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true })
  }
}
