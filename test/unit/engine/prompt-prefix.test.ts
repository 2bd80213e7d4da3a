// How much of a prompt begins as the one before it did: what a vendor can take from its cache.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type PromptFacts, runParts } from '../../../src/engine/prompts/build-prompt.ts'
import { type PromptPart, textOf } from '../../../src/engine/prompts/template.ts'
import { gate, limitsWith, runJob, type Script, session, stateOf, stories, storyOf } from './samples.ts'

/** What a prompt says of the story itself. */
const OF_STORY = new Set<PromptPart['name']>([
  ...([
    'storyId',
    'storyTitle',
    'storyDescription',
    'acceptanceCriteria',
    'attempt',
    'epic',
    'tags',
  ] as const),
  ...(['notes', 'guidance', 'kept', 'failure', 'failureSummary'] as const),
])

const FACTS: PromptFacts = {
  gates: ['typecheck: npm run typecheck', 'e2e: npm run e2e (for stories tagged ui)', 'test: npm test'],
  ...{ services: [], instructions: '', context: '', dropped: [], conflict: null },
}
const ORDINARY: PromptFacts = {
  ...FACTS,
  instructions: 'Use the house style, and ask before a new dependency.',
  context: 'A shop with a cart, sessions and a mailer. '.repeat(50),
}

/** The prompts of a feature's sessions in their order; every third attempt is red, and every session may learn something. */
function promptsOf(count: number, facts: PromptFacts, learns: (at: number) => string[]): PromptPart[][] {
  const prompts: PromptPart[][] = []
  const ids = Array.from({ length: count }, (_, at) => `US-${String(at + 1).padStart(3, '0')}`)
  const tagged = stories(...ids).map((story, at) => (at % 3 === 1 ? { ...story, tags: ['ui'] } : story))
  const script: Script = (step, state) => {
    if (step.kind === 'gates' && prompts.length % 3 === 0)
      return { kind: 'gated', commit: step.attempt.candidate.commit, gates: [gate(false)] }
    if (step.kind !== 'agent') return null
    prompts.push(runParts(null, state, storyOf(state, step.attempt.storyId), facts))
    return { kind: 'worked', session: session({ learnings: learns(prompts.length) }) }
  }
  runJob(stateOf(tagged), limitsWith({ maxIterations: 0 }), script)
  return prompts
}

/** Of the bytes beside the story, the share that stands as in the prompt before, from the first byte on. */
function shares(prompts: readonly PromptPart[][]): number[] {
  return prompts.slice(1).map((parts, at) => {
    const [text, before] = [textOf(parts), textOf(prompts[at] ?? [])].map((one) => Buffer.from(one))
    assert.ok(text !== undefined && before !== undefined)
    const differs = text.findIndex((byte, index) => byte !== before[index])
    const own = parts.filter(({ name }) => OF_STORY.has(name)).map((part) => Buffer.byteLength(part.text))
    const beside = text.length - own.reduce((sum, bytes) => sum + bytes, 0)
    return Math.min(differs === -1 ? text.length : differs, beside) / beside
  })
}

const mean = (all: readonly number[]) => all.reduce((sum, one) => sum + one, 0) / all.length
const learning = (at: number) => [`lesson ${at}: the tests of the cart need a fresh database, see test/db.ts`]

test("two prompts in a row share at least 80 % of the bytes that are not the story's, with an ordinary context", () => {
  const all = shares(promptsOf(8, ORDINARY, learning))
  assert.ok(all.length >= 10)
  assert.ok(Math.min(...all) >= 0.8, all.map((one) => one.toFixed(2)).join(' '))
})

test('two prompts in a row share their start in a project without context, instructions and learnings, too', () => {
  const all = shares(promptsOf(8, FACTS, () => []))
  assert.ok(mean(all) >= 0.8, all.map((one) => one.toFixed(2)).join(' '))
})

test('with more learnings than fit, the first one in the prompt stays the same for several sessions', () => {
  const all = shares(promptsOf(60, ORDINARY, learning))
  assert.ok(mean(all) >= 0.8, mean(all).toFixed(3))
})
