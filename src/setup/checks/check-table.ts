// What a run needs, a row each. A run, `validate` and `next` refuse by what blocks it, `validate` shows what is wrong with the files,
// and `doctor` shows all. docs/doctor.md has a row for each.
import { missingAgents } from '../../app/agents.ts'
import { refuseNoBrowser } from '../../app/browser-gate.ts'
import { refuseUngated } from '../../app/loop-limits.ts'
import { type Mistake, UserError } from '../../system/errors.ts'
import { answers } from './agent-answer.ts'
import { actionlint } from './check-actionlint.ts'
import { agents, keys } from './check-agent.ts'
import { gates } from './check-gates.ts'
import { limits } from './check-limits.ts'
import {
  checkedOutThere,
  checkout,
  configuration,
  identity,
  noFolder,
  owner,
  prompts,
  unusable,
  workingDirectory,
  workTree,
  wrongPrompts,
} from './check-repository.ts'
import { stories, wrongStories } from './check-stories.ts'
import { browser, gitVersion, isolation, noLanes, sideBySide } from './machine.ts'
import { isUnread, mistakesOf, type Result, type Start, type Subject } from './subject.ts'
import { trust } from './trust.ts'
import { permissions, workflow } from './workflow.ts'

/** Each has bounds of its own. */
export type Check = {
  /** Users know it by this: it never changes. */
  name: string
  /** From where it can be seen: the files of the repository, this machine and clone, GitHub, or only by running gates or the agent. */
  seen: 'files' | 'machine' | 'remote' | 'running'
  /** All there is to say: what is wrong, what was expected, and how to mend it. */
  look(subject: Subject): Result | Result[] | Promise<Result | Result[]>
  /** What a run refuses to begin with, as far as it is seen without starting a program or asking anybody; it may throw UserError. */
  blocks?(start: Start): readonly Mistake[] | undefined | Promise<readonly Mistake[]>
  /** It needs the machine, or the work tree, to itself. */
  alone?: true
  /** Settings whose defaults say nothing where they could not be read. */
  reads?: readonly string[]
}

// What asks GitHub brings its client along, which no run on a command line loads.
const github = () => import(/* webpackChunkName: "cli" */ './check-github.ts')
const required = () => import(/* webpackChunkName: "cli" */ './required.ts')

/** In the order in which they are told. */
export const CHECKS: readonly Check[] = [
  { name: 'git', seen: 'machine', look: gitVersion },
  { name: 'configuration', seen: 'files', look: configuration, blocks: ({ mistakes }) => mistakes },
  { name: 'checkout', seen: 'machine', look: checkout, blocks: unusable },
  { name: 'owner', seen: 'machine', look: owner },
  { name: 'work tree', seen: 'machine', look: workTree, blocks: checkedOutThere },
  { name: 'identity', seen: 'machine', look: identity },
  { name: 'stories', seen: 'files', look: stories, blocks: wrongStories },
  { name: 'prompts', seen: 'files', look: prompts, blocks: wrongPrompts, reads: ['steps'] },
  {
    name: 'working directory',
    seen: 'files',
    look: workingDirectory,
    blocks: noFolder,
    reads: ['workingDirectory'],
  },
  { name: 'isolation', seen: 'machine', look: isolation, alone: true, reads: ['isolation'] },
  {
    name: 'agent',
    seen: 'machine',
    look: agents,
    blocks: ({ settings, env }) => missingAgents(settings, env),
    alone: true,
    reads: ['agent', 'agentCommand', 'fallbackAgent'],
  },
  { name: 'key', seen: 'machine', look: keys, reads: ['agent'] },
  { name: 'agent answers', seen: 'running', look: answers, alone: true },
  { name: 'workflow', seen: 'files', look: workflow },
  { name: 'github', seen: 'remote', look: async (subject) => (await github()).githubItself(subject) },
  { name: 'permissions', seen: 'files', look: permissions },
  { name: 'pull requests', seen: 'remote', look: async (subject) => (await github()).pullRequests(subject) },
  {
    name: 'required checks',
    seen: 'remote',
    look: async (subject) => (await required()).requiredChecks(subject),
  },
  { name: 'actionlint', seen: 'files', look: actionlint },
  {
    name: 'side by side',
    seen: 'machine',
    look: sideBySide,
    blocks: noLanes,
    reads: ['maxParallel', 'isolation', 'services'],
  },
  { name: 'limits', seen: 'files', look: limits, reads: [] },
  {
    name: 'trust',
    seen: 'machine',
    look: trust,
    reads: ['gates', 'weakenedTests', 'cleanRoom', 'isolation', 'prepare'],
  },
  { name: 'release', seen: 'remote', look: async (subject) => (await github()).release(subject) },
  {
    name: 'browser',
    seen: 'machine',
    look: browser,
    blocks: ({ settings, env }) => void refuseNoBrowser(settings, env),
    reads: ['browser'],
  },
  {
    name: 'gates',
    seen: 'running',
    look: gates,
    blocks: ({ settings }) => void refuseUngated(settings),
    alone: true,
    reads: ['gates', 'services'],
  },
]

/** Everything that keeps a run from beginning, or what of it the named checks see; empty where nothing does. */
export async function blocking(start: Start, names?: readonly string[]): Promise<Mistake[]> {
  const found: Mistake[] = []
  for (const { name, blocks, reads } of CHECKS) {
    if (blocks === undefined || names?.includes(name) === false) continue
    if (reads !== undefined && isUnread(start, reads)) continue
    found.push(...(await mistakesOf(() => blocks(start))))
  }
  return found
}

/** Throws UserError with all of it. */
export async function refuseBlocked(start: Start, names?: readonly string[]): Promise<void> {
  const mistakes = await blocking(start, names)
  if (mistakes.length > 0) throw new UserError(mistakes)
}
