// The steps of sealed examples: writing them before a story's first attempt, and trying a green candidate with them. Expected values are
// open only in this process, while it compares (docs/adr/0030-sealed-examples.md).

import { messageOf } from '../../system/errors.ts'
import { type AttemptIn, idOf, isChosen } from '../model/attempt.ts'
import type { ExamplesAnswer, TriedAnswer } from '../model/event.ts'
import type { Example, ExampleResult, Glue, GlueRun } from '../model/example.ts'
import type { Story } from '../model/feature.ts'
import type { CleanRoom, ExamplesTask, SealPort, Words } from '../model/ports.ts'
import { addUsage, emptyUsage, type Usage } from '../model/usage.ts'
import { type StepContext, type StepResult, sessionBounds } from '../state/step-context.ts'
import { compareExamples, glueFault, type OpenExample, RUNS, shown } from './compare.ts'
import { examplesOf, findContradiction, knownExamples, SHOWN_FROM, uncoveredCriteria } from './examples-of.ts'
import { hideValues } from './hide-values.ts'
import { readGlue, readWritten } from './read-examples.ts'

/** How long one run of a glue may take, milliseconds. */
const GLUE_MS = 5 * 60_000
/** Sessions that may write a glue for one candidate. */
const MAX_GLUES = 2

/** Writes the examples of a story. What people and criteria say needs no session. */
export async function writeExamples(storyId: string, context: StepContext): Promise<StepResult> {
  const { state, ports } = context
  const story = storyWithId(context, storyId)
  const { seal } = ports
  const nothing = { kind: 'exampled' as const, storyId, usage: emptyUsage() }
  if (story === null || seal === undefined)
    return { ...nothing, answer: { kind: 'written', examples: [], none: [] } }
  const known = openAll(knownExamples(story, state.records[storyId]), seal)
  const conflict = findContradiction(known)
  if (conflict !== null) return { ...nothing, answer: { kind: 'contradiction', why: conflict } }
  const missing = uncoveredCriteria(story, known)
  const sealed = (examples: readonly Example[]) =>
    examples.map((one) => ({ ...one, expect: seal.seal(one.expect) }))
  if (missing.length === 0)
    return { ...nothing, answer: { kind: 'written', examples: sealed(known), none: [] } }
  await ports.repository.checkOut(state.green, null)
  const task = { kind: 'write' as const, storyId, known: known.map(withoutSource) }
  const { answer: words, usage } = await ask(task, state.green, context)
  if (words.kind !== 'words') return { ...nothing, usage, answer: words }
  const covered = new Set(known.map(({ criterion }) => criterion))
  const written = readWritten(words.text, story.acceptanceCriteria.length, covered)
  const fresh = written.kind === 'written' ? written.examples : []
  const hide = (text: string) =>
    hideValues(
      text,
      [...known, ...fresh].map(({ expect }) => expect),
    )
  const answer = sealedAnswer(written, sealed([...known, ...fresh]), hide)
  return { ...nothing, usage, answer }
}

/** A session's reasons may quote what it expects, so they are cleaned before anyone else reads them. */
function sealedAnswer(
  written: ReturnType<typeof readWritten>,
  examples: Example[],
  hide: (text: string) => string,
): ExamplesAnswer {
  if (written.kind === 'contradiction') return { ...written, why: hide(written.why) }
  if (written.kind === 'none') return written
  return { ...written, examples, none: written.none.map((one) => ({ ...one, why: hide(one.why) })) }
}

function withoutSource({ criterion, given, expect }: Example) {
  return { criterion, given, expect }
}

/** Each example with its expected value. What a lost key sealed cannot be compared, so it is left out. */
function openAll(examples: readonly Example[], seal: SealPort): Example[] {
  return examples.flatMap((one) => {
    const opened = seal.open(one.expect)
    return opened === null ? [] : [{ ...one, expect: opened.value }]
  })
}

/** Tries a candidate with the examples: a session writes a glue, which runs several times, and Ralph compares what it prints. */
export async function tryExamples(attempt: AttemptIn<'gated'>, context: StepContext): Promise<StepResult> {
  const { ports } = context
  const { commit } = attempt.candidate
  const story = storyWithId(context, attempt.storyId)
  const { seal } = ports
  const given = story === null ? [] : examplesOf(story)
  const event = (answer: TriedAnswer, usage: Usage): StepResult => {
    return { kind: 'tried', ...idOf(attempt), commit, answer, usage }
  }
  if (seal === undefined)
    return event(withoutTrial(given, 'there is no examples-key to open it'), emptyUsage())
  const isReadable = (example: Example) => seal.open(example.expect) !== null
  const examples: OpenExample[] = openAll(given, seal)
  if (!given.every(isReadable))
    ports.warn(
      `${attempt.storyId}: ${given.length - examples.length} examples were sealed with another examples-key, so Ralph does not try them`,
    )
  if (examples.length === 0) return event(withoutTrial(given, 'it was sealed with another key'), emptyUsage())
  if (isChosen(attempt)) await ports.repository.checkOut(commit, null)
  let usage = emptyUsage()
  let message = ''
  let last: ExampleResult[] | null = null
  await using room = await openRoom(commit, context)
  if (room.value === null) return event(withoutTrial(given, room.why), usage)
  for (let number = 1; number <= MAX_GLUES; number += 1) {
    const task = { kind: 'glue' as const, storyId: attempt.storyId, givens: givensOf(examples), message }
    const asked = await ask(task, commit, context)
    usage = addUsage(usage, asked.usage)
    if (asked.answer.kind === 'limit' || asked.answer.kind === 'refused') return event(asked.answer, usage)
    const glue = asked.answer.kind === 'words' ? readGlue(asked.answer.text) : { fault: asked.answer.message }
    if ('fault' in glue) {
      message = glue.fault
      continue
    }
    const runs = await runGlue(glue, examples, commit, room.value, context)
    last = compareExamples(examples, runs, glue)
    const fault = glueFault(runs, examples, glue)
    if (fault === null) break
    message = fault
  }
  if (last === null)
    return event(
      withoutTrial(examples, `no session wrote a program that calls the product: ${message}`),
      usage,
    )
  return event(
    { kind: 'tried', results: last.map((one) => revealed(one, examples, context, attempt.storyId)) },
    usage,
  )
}

/** Shows what was expected from the third mismatch of the story on. */
function revealed(
  result: ExampleResult,
  examples: readonly OpenExample[],
  { state }: StepContext,
  storyId: string,
): ExampleResult {
  const earlier = state.records[storyId]?.examples?.mismatches ?? 0
  if (result.result !== 'mismatch' || earlier + 1 < SHOWN_FROM) return result
  return { ...result, expected: shown(examples[result.example - 1]?.expect) }
}

function withoutTrial(examples: readonly Pick<Example, 'criterion'>[], why: string): TriedAnswer {
  const results = examples.map(({ criterion }, index) => {
    return { example: index + 1, criterion, result: 'none' as const, why: why.slice(0, 300) }
  })
  return { kind: 'tried', results }
}

function givensOf(examples: readonly OpenExample[]) {
  return examples.map(({ criterion, given }, index) => ({ example: index + 1, criterion, given }))
}

/** A clean room with the commit and its dependencies; or why there is none. Glue runs nowhere else. */
async function openRoom(
  commit: string,
  { state, ports }: StepContext,
): Promise<AsyncDisposable & { value: CleanRoom | null; why: string }> {
  const { openCleanRoom, signal } = ports
  const none = (why: string) => ({ value: null, why, [Symbol.asyncDispose]: async () => {} })
  if (openCleanRoom === null) return none('there is no clean room')
  let room: CleanRoom | null = null
  try {
    room = await openCleanRoom({ ...state, green: commit })
    const value = room
    await value.checkOut(commit)
    const prepared = await value.gates.prepare(commit, signal, 'examples')
    if (prepared?.ok === false) throw new Error(`prepare failed (${prepared.ended})`)
    return { value, why: '', [Symbol.asyncDispose]: () => value[Symbol.asyncDispose]() }
  } catch (error) {
    await room?.[Symbol.asyncDispose]()
    return none(`Ralph could not use the clean room: ${messageOf(error)}`)
  }
}

async function runGlue(
  glue: Glue,
  examples: readonly OpenExample[],
  commit: string,
  room: CleanRoom,
  { ports }: StepContext,
): Promise<GlueRun[]> {
  if (glue.run === '' || room.runGlue === undefined) return []
  const givens = givensOf(examples).map(
    (one) => `${JSON.stringify({ example: one.example, given: one.given })}\n`,
  )
  const runs: GlueRun[] = []
  while (runs.length < RUNS && !ports.signal.aborted) {
    await room.restore(commit)
    runs.push(
      await room.runGlue(
        { files: glue.files, run: glue.run, givens: givens.join(''), timeoutMs: GLUE_MS },
        ports.signal,
      ),
    )
  }
  return runs
}

/** Runs a session that sees `commit`, which is checked out, as a judge would. */
async function ask(
  task: ExamplesTask,
  commit: string,
  { state, limits, ports, now }: StepContext,
): Promise<{ answer: Words; usage: Usage }> {
  const { agent, repository, signal } = ports
  if (agent.ask === undefined)
    return { answer: { kind: 'none', message: 'this agent writes no examples' }, usage: emptyUsage() }
  const view = await repository.openForJudge(state.base.sha, commit, [])
  try {
    return await agent.ask(state, task, sessionBounds(state, limits, now), signal)
  } finally {
    await repository.restore(commit).finally(view.close)
  }
}

function storyWithId({ state }: StepContext, storyId: string): Story | null {
  return state.prd.userStories.find(({ id }) => id === storyId) ?? null
}
