// What a run needs, a row each. `run`, `validate` and `next` refuse if a row blocks, `validate` shows mistakes in files,
// and `doctor` shows all rows. docs/doctor.md has a row for each.
import { missingAgents } from '../../app/agents.ts'
import { refuseNoBrowser } from '../../app/browser-gate.ts'
import { refuseUngated } from '../../app/loop-limits.ts'
import type { Part } from '../../engine/model/step.ts'
import { type Mistake, UserError } from '../../system/errors.ts'
import { checkAgentAnswer } from './agent-answer.ts'
import { checkActionlint } from './check-actionlint.ts'
import { checkAgents, checkKeys } from './check-agent.ts'
import { checkEvents } from './check-events.ts'
import { checkExamples } from './check-examples.ts'
import { checkGates } from './check-gates.ts'
import { checkKeyless, keylessMistakes } from './check-keyless.ts'
import { checkLimits } from './check-limits.ts'
import { checkNetwork } from './check-network.ts'
import { checkProduct } from './check-product.ts'
import {
  checkCheckout,
  checkConfiguration,
  checkIdentity,
  checkOwner,
  checkPrompts,
  checkWorkingDirectory,
  checkWorkTree,
  cloneMistakes,
  gitMistakes,
  otherWorkTreeMistakes,
  promptMistakes,
  workingDirectoryMistakes,
} from './check-repository.ts'
import { checkServer, serverMistakes } from './check-server.ts'
import { checkStories, storyMistakes } from './check-stories.ts'
import {
  checkBrowser,
  checkGitVersion,
  checkIsolation,
  checkSideBySide,
  findLaneMistakes,
} from './machine.ts'
import {
  areSettingsUnread,
  type CheckResult,
  collectMistakes,
  type RunStart,
  type Subject,
} from './subject.ts'
import { checkTrust } from './trust.ts'
import { checkPermissions, checkWorkflow } from './workflow.ts'

/** Each check limits its own time. */
export type Check = CheckLook & (BlockingCheck | { blocks?: undefined; parts?: undefined })

type CheckLook = {
  /** Users know it by this: it never changes. */
  name: string
  /** From where it can be seen: the files of the repository, this machine and clone, GitHub, or only by running gates or the agent. */
  seen: 'files' | 'machine' | 'remote' | 'running'
  /** All findings: what is wrong, what was expected, and how to fix it. */
  look(subject: Subject): CheckResult | CheckResult[] | Promise<CheckResult | CheckResult[]>
  /** It is about runs in CI: on a laptop it is shown below what is about this machine. */
  ofCi?: true
  /** It needs the machine, or the work tree, to itself. */
  alone?: true
  /** Settings that the check needs. It is skipped if they could not be read: their defaults prove nothing. */
  reads?: readonly string[]
}

type BlockingCheck = {
  /** Mistakes that a run refuses to begin with, found without starting a program or a request. It may throw UserError. */
  blocks(start: RunStart): readonly Mistake[] | undefined | Promise<readonly Mistake[]>
  /** The jobs of `isolation: separate-job` on whose machine the check makes sense. */
  parts: readonly Part[]
}

const EVERY_PART = ['claim', 'work', 'gate', 'land'] as const

// Imported lazily: these load the GitHub client, which a run on a command line does not need.
const github = () => import(/* webpackChunkName: "cli" */ './check-github.ts')
const environment = () => import(/* webpackChunkName: "cli" */ './check-environment.ts')
const states = () => import(/* webpackChunkName: "cli" */ './check-states.ts')
const signing = () => import(/* webpackChunkName: "cli" */ './check-signing.ts')
const required = () => import(/* webpackChunkName: "cli" */ './required.ts')

/** In the order in which they are shown. */
export const CHECKS: readonly Check[] = [
  { name: 'git', seen: 'machine', look: checkGitVersion, blocks: gitMistakes, parts: EVERY_PART },
  {
    name: 'configuration',
    seen: 'files',
    look: checkConfiguration,
    blocks: ({ mistakes }) => mistakes,
    parts: [],
  },
  { name: 'checkout', seen: 'machine', look: checkCheckout, blocks: cloneMistakes, parts: EVERY_PART },
  { name: 'owner', seen: 'machine', look: checkOwner },
  {
    name: 'work tree',
    seen: 'machine',
    look: checkWorkTree,
    blocks: otherWorkTreeMistakes,
    parts: ['claim'],
  },
  { name: 'identity', seen: 'machine', look: checkIdentity },
  { name: 'stories', seen: 'files', look: checkStories, blocks: storyMistakes, parts: ['claim'] },
  {
    name: 'prompts',
    seen: 'files',
    look: checkPrompts,
    blocks: promptMistakes,
    parts: ['claim'],
    reads: ['steps'],
  },
  {
    name: 'working directory',
    seen: 'files',
    look: checkWorkingDirectory,
    blocks: workingDirectoryMistakes,
    parts: ['claim'],
    reads: ['workingDirectory'],
  },
  {
    name: 'server',
    seen: 'machine',
    ofCi: true,
    look: checkServer,
    blocks: serverMistakes,
    parts: ['claim'],
    reads: ['isolation', 'pullRequest'],
  },
  { name: 'isolation', seen: 'machine', look: checkIsolation, alone: true, reads: ['isolation'] },
  {
    name: 'agent',
    seen: 'machine',
    look: checkAgents,
    blocks: ({ settings, env }) => missingAgents(settings, env),
    parts: [],
    alone: true,
    reads: ['agent', 'agentCommand', 'fallbackAgent'],
  },
  { name: 'key', seen: 'machine', look: checkKeys, reads: ['agent'] },
  { name: 'agent answers', seen: 'running', look: checkAgentAnswer, alone: true },
  { name: 'workflow', seen: 'files', ofCi: true, look: checkWorkflow },
  {
    name: 'github',
    seen: 'remote',
    ofCi: true,
    look: async (subject) => (await github()).checkGitHubAccess(subject),
  },
  { name: 'network', seen: 'files', ofCi: true, look: checkNetwork },
  {
    name: 'keyless',
    seen: 'files',
    ofCi: true,
    look: checkKeyless,
    blocks: keylessMistakes,
    parts: ['claim', 'work'],
    reads: ['auth', 'isolation', 'agent'],
  },
  { name: 'permissions', seen: 'files', ofCi: true, look: checkPermissions },
  { name: 'events', seen: 'files', ofCi: true, look: checkEvents },
  {
    name: 'environment',
    seen: 'remote',
    ofCi: true,
    look: async (subject) => (await environment()).checkEnvironment(subject),
  },
  {
    name: 'label',
    seen: 'remote',
    ofCi: true,
    look: async (subject) => (await environment()).checkLabel(subject),
  },
  {
    name: 'pull requests',
    seen: 'remote',
    ofCi: true,
    look: async (subject) => (await github()).checkPullRequests(subject),
  },
  {
    name: 'required checks',
    seen: 'remote',
    ofCi: true,
    look: async (subject) => (await required()).requiredChecks(subject),
  },
  {
    name: 'signed commits',
    seen: 'remote',
    look: async (subject) => (await signing()).checkSigning(subject),
  },
  { name: 'states', seen: 'remote', look: async (subject) => (await states()).checkStates(subject) },
  { name: 'actionlint', seen: 'files', ofCi: true, look: checkActionlint },
  {
    name: 'side by side',
    seen: 'machine',
    look: checkSideBySide,
    blocks: findLaneMistakes,
    parts: [],
    reads: ['maxParallel', 'isolation', 'services'],
  },
  { name: 'limits', seen: 'files', look: checkLimits, reads: [] },
  { name: 'examples', seen: 'files', look: checkExamples, reads: ['examples'] },
  {
    name: 'trust',
    seen: 'machine',
    look: checkTrust,
    reads: ['gates', 'weakenedTests', 'cleanRoom', 'isolation', 'prepare'],
  },
  { name: 'product', seen: 'files', look: checkProduct, reads: ['product'] },
  { name: 'release', seen: 'remote', look: async (subject) => (await github()).checkRelease(subject) },
  {
    name: 'browser',
    seen: 'machine',
    look: checkBrowser,
    blocks: ({ settings, env }) => void refuseNoBrowser(settings, env),
    parts: ['gate'],
    reads: ['browser'],
  },
  {
    name: 'gates',
    seen: 'running',
    look: checkGates,
    blocks: ({ settings }) => void refuseUngated(settings),
    parts: EVERY_PART,
    alone: true,
    reads: ['gates', 'services'],
  },
]

/** The names of the checks that this job of `isolation: separate-job` refuses by. */
export function checksOfPart(part: Part): string[] {
  return CHECKS.filter(({ parts }) => parts?.includes(part)).map(({ name }) => name)
}

/** All mistakes that a run refuses to begin with, or those of the named checks. */
export async function findBlockingMistakes(start: RunStart, names?: readonly string[]): Promise<Mistake[]> {
  const found: Mistake[] = []
  for (const { name, blocks, reads } of CHECKS) {
    if (blocks === undefined || names?.includes(name) === false) continue
    if (reads !== undefined && areSettingsUnread(start, reads)) continue
    found.push(...(await collectMistakes(() => blocks(start))))
  }
  return found
}

/** Throws UserError with all of it. */
export async function refuseBlocked(start: RunStart, names?: readonly string[]): Promise<void> {
  const mistakes = await findBlockingMistakes(start, names)
  if (mistakes.length > 0) throw new UserError(mistakes)
}
