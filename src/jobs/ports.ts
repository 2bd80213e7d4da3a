// Ports for a job that does a part of an iteration: what other jobs have done is answered from what they handed over.

import type { CatFile } from '../git/cat-file.ts'
import type { Git } from '../git/git.ts'
import type { Verdict } from '../model/event.ts'
import type { Gate, GateResult } from '../model/gate.ts'
import type { AgentPort, GatesPort, RepositoryPort } from '../model/ports.ts'
import type { Session } from '../model/state.ts'
import type { Usage } from '../model/usage.ts'
import { settledLines } from '../system/excerpt.ts'
import { withoutControls } from '../system/workflow-commands.ts'
import type { FromGate, FromWork } from './handover.ts'
import { codeOf } from './pack.ts'

const NO_USAGE = { calls: 0, inputTokens: 0, outputTokens: 0, cachedTokens: 0, costUsd: 0, agentSeconds: 0 }

/** The job that lands or claims runs no agent and no code of the repository: being asked is our own mistake. */
export const unavailable: { agent: AgentPort; gates: GatesPort } = {
  agent: {
    work: () => Promise.reject(new Error('no agent runs in this job')),
    judge: () => Promise.reject(new Error('no agent runs in this job')),
  },
  gates: {
    prepare: async () => null,
    renew: async () => {},
    run: () => Promise.reject(new Error('no gate runs in this job')),
  },
}

/** What a session in this job said, to be handed on. */
export type Heard = { session: Session | null; judged: { verdict: Verdict; usage: Usage } | null }

/** The agent, with everything it said written down. */
export function recording(agent: AgentPort, heard: Heard): AgentPort {
  return {
    async work(...asked) {
      heard.session = await agent.work(...asked)
      return heard.session
    },
    async judge(...asked) {
      heard.judged = await agent.judge(...asked)
      return heard.judged
    },
  }
}

/** The agent as it worked in another job: its changes are put into the work tree, for the guard to look at. */
export function replayed(
  work: FromWork,
  repository: RepositoryPort,
  objects: CatFile,
  redact: (text: string) => string,
): AgentPort {
  const clean = cleaner(redact)
  return {
    async work(state) {
      const { session, commit } = work
      if (session === null) throw new Error('the work job handed over no session')
      if (commit !== null) {
        const [base, tree] = [await treeOf(objects, state.green), await treeOf(objects, commit)]
        await repository.checkOut(state.green, { base, tree, dropped: [] })
      }
      const { hints } = session
      return {
        ...session,
        message: clean(session.message),
        learnings: session.learnings.slice(0, MOST_LEARNINGS).map(clean),
        // Nobody but the job of the agent would confirm that nothing had to be done: an empty diff passes no story here.
        hints: { ...hints, done: false, stuck: hints.stuck === null ? null : clean(hints.stuck) },
      }
    },
    async judge() {
      const none = { kind: 'none' as const, message: 'the work job handed over no verdict' }
      if (work.judged === null) return { verdict: none, usage: NO_USAGE }
      const { verdict, usage } = work.judged
      if (verdict.kind === 'reset') return { verdict: { ...verdict, reason: clean(verdict.reason) }, usage }
      return {
        verdict: 'message' in verdict ? { ...verdict, message: clean(verdict.message) } : verdict,
        usage,
      }
    },
  }
}

/** As this job would have heard it itself: one line, bounded, without what could hide a secret from the redaction. */
export function cleaner(redact: (text: string) => string): (text: string) => string {
  return (text) => redact(withoutControls(text.replace(/\s+/g, ' ')).trim()).slice(0, MESSAGE)
}

const MESSAGE = 400
const MOST_LEARNINGS = 20

async function treeOf(objects: CatFile, commit: string): Promise<string> {
  const tree = await objects.info(`${commit}^{tree}`)
  if (tree === null) throw new Error(`there is no commit ${commit} in this clone`)
  return tree.oid
}

/** What the gates of this job said, and of which code. */
export type Results = { code: string | null; gates: GateResult[] }

/** The gates, with their results written down. */
export function recorded(gates: GatesPort, git: Git, objects: CatFile, results: Results): GatesPort {
  return {
    renew: () => gates.renew(),
    async prepare(commit, signal, what) {
      results.code = await codeOf(git, objects, commit)
      const prepared = await gates.prepare(commit, signal, what)
      results.gates = prepared === null ? [] : [prepared]
      return prepared
    },
    async run(tags, signal, what) {
      const ran = await gates.run(tags, signal, what)
      results.gates.push(...ran)
      return ran
    },
  }
}

/** The gates as they ran in another job: they count for exactly the code they saw, and each one has to be there. */
export function answered(
  from: FromGate,
  configured: readonly Gate[],
  git: Git,
  objects: CatFile,
  redact: (text: string) => string,
): GatesPort {
  let commit = ''
  const clean = cleaner(redact)
  const shown = (text: string) => redact(settledLines(text).join('\n'))
  return {
    async prepare(candidate) {
      commit = candidate
      return null
    },
    renew: async () => {},
    async run(tags) {
      const same = from.code !== null && from.code === (await codeOf(git, objects, commit))
      const results: GateResult[] = []
      const prepared = from.gates.find((one) => one.name === 'prepare' && !one.ok)
      if (same && prepared !== undefined)
        return [{ ...prepared, ended: clean(prepared.ended), output: shown(prepared.output) }]
      for (const gate of configured) {
        if (tags !== null && gate.when !== null && !gate.when.some((tag) => tags.includes(tag))) continue
        const said = same ? from.gates.find((one) => one.name === gate.name) : undefined
        const missing = {
          name: gate.name,
          ok: false,
          ended: same ? 'no result from the gate job' : 'the gate job ran on other code',
          ms: 0,
          output: '',
        }
        const result = { ...(said ?? missing), advisory: gate.advisory }
        results.push({ ...result, ended: clean(result.ended), output: shown(result.output) })
        if (!result.ok && !gate.advisory) break
      }
      return results
    },
  }
}
