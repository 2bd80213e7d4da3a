// A clone of real git in which an agent has worked on US-001: what follows is our look at what it left.
import { agentSettings } from '../../../src/agents/registry.ts'
import { createRepository } from '../../../src/branch/repository.ts'
import { reduce } from '../../../src/engine/reduce.ts'
import { isRalphPath } from '../../../src/gates/guard.ts'
import { createProductRules } from '../../../src/gates/product/rules.ts'
import { createExamine } from '../../../src/gates/remarks/examine.ts'
import { CatFile } from '../../../src/git/cat-file.ts'
import { takeSnapshot } from '../../../src/git/clone.ts'
import { Git, openClone } from '../../../src/git/git.ts'
import { findSubmodules } from '../../../src/git/submodules.ts'
import { createRedactor } from '../../../src/isolation/redact.ts'
import { limitsWith, NOW, session, stateOf, stories, workedIn } from '../engine/samples.ts'

type Odd = {
  whole?: boolean
  protectedPaths?: string[]
  warn?: (message: string) => void
}

/** `whole`: the work tree is ours to clean. */
export async function openWorked(
  top: string,
  env: Record<string, string>,
  { whole = true, protectedPaths = [], warn = () => {} }: Odd = {},
) {
  const clone = await openClone(top, env)
  const head = clone.head ?? ''
  const git = await Git.open(clone, env)
  const objects = new CatFile(git)
  const snapshot = await takeSnapshot(git, whole)
  const redactor = createRedactor([])
  const repository = createRepository(git, objects, {
    submodules: await findSubmodules(git, head, env),
    identity: { name: 'a', email: 'a@b' },
    sign: null,
    snapshot,
    warn,
    isRalphPath: isRalphPath,
    redact: redactor.redact,
    stateCommits: true,
    stateSubject: null,
    onOutcome: () => [],
    documents: { isDocument: () => false, above: [] },
    product: createProductRules([], { paths: async () => [], read: async () => null }),
    examine: createExamine({
      isAgentDocument: () => false,
      configFile: null,
      agentSettings,
      protectedPaths,
      productOf: async () => () => true,
      redactor,
    }),
  })
  const events = [
    { at: NOW, kind: 'reserved', storyId: 'US-001' } as const,
    { at: NOW, kind: 'worked', storyId: 'US-001', session: session({}) } as const,
  ]
  const first = stateOf(stories('US-001'), { green: head, base: { branch: 'main', sha: head } })
  const state = events.reduce((one, event) => reduce(one, event, limitsWith()), first)
  return {
    head,
    git,
    objects,
    snapshot,
    repository,
    state,
    inspect: () => repository.inspect(state, workedIn(state), NOW),
  }
}
