// What the ports of a run are made from.

import type { AgentEvent } from '../engine/model/agent-event.ts'
import type { GateResult } from '../engine/model/gate.ts'
import type {
  AgentPort,
  CorrectionPort,
  DispatchPort,
  FileCache,
  GatesPort,
  Observer,
  PullRequestPort,
  QueuePort,
} from '../engine/model/ports.ts'
import type { Git } from '../git/git.ts'
import type { Environment } from '../isolation/untrusted-env.ts'
import type { Settings } from '../settings/read-settings.ts'
import type { Isolation } from './isolation.ts'
import type { Workspace } from './workspace.ts'

export type PortOptions = {
  settings: Settings
  env: Environment
  workspace: Workspace
  /** Observers in addition to those of `observersOf`; null for a part of a run, such as a lane, which has none. */
  observers: readonly Observer[] | null
  pullRequest?: PullRequestPort
  /** Commands that people send while the run works; left out if they cannot. */
  queue?: QueuePort
  /** Reads the pull request; left out if there is none. */
  corrections?: CorrectionPort
  /** Starts the next job; left out if there is no next job. */
  dispatch?: DispatchPort
  warn(message: string): void
  signal: AbortSignal
  /** The users that agent and gates run as; null for Ralph's own user. */
  as: Isolation | null
  /** The lease's mark. Every untrusted process has it, so that one that outlives Ralph can be found and ended. */
  mark: string
  /** The lane's number, if stories are worked on side by side on this machine. */
  worker?: string
  /** The name of the run's folder for transcripts and logs; left out if the run has none. */
  run?: string | null
  /** Ralph's folder in the clone, for logs and installed agents; left out: the one of the work tree. */
  folder?: string
  /** `storyId` is given if stories are worked on side by side. */
  onAgent(event: AgentEvent, storyId?: string): void
  onGateStart(name: string, storyId?: string): void
  /** The last line that a gate or `prepare` has printed. */
  onGateOutput?(name: string, line: string, storyId?: string): void
  onGateEnd(result: GateResult, storyId?: string): void
  /** Keeps the installed agent between jobs; left out if there is no cache. */
  cache?: FileCache | null
  /** Whose directory keeps the notes of what sessions use; left out: the work tree's own. A lane is gone after a kill. */
  notes?: Git
  /** Replace the agent, or the gates, of this job. */
  agent?: AgentPort
  gates?: GatesPort
}

export type GatesPortOptions = Pick<
  PortOptions,
  | 'settings'
  | 'env'
  | 'workspace'
  | 'as'
  | 'mark'
  | 'run'
  | 'folder'
  | 'onGateStart'
  | 'onGateOutput'
  | 'onGateEnd'
>
