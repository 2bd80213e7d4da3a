// What a person can do next, in one sentence: derived from how the feature stands, in commands of the reader's surface.
import { type Surface, typedOn } from '../loop/command-table.ts'
import { sayHolder } from '../loop/lease.ts'
import { iterationsLeft, spent } from '../loop/limits.ts'
import type { Situation } from '../loop/situation.ts'
import type { Limits } from '../model/limits.ts'
import type { Conclusion, State } from '../model/state.ts'
import type { Step } from '../model/step.ts'
import { counts, remaining } from '../prd/select.ts'
import { code, markdownText } from './escape.ts'
import { blockedIds, goesOn, heldBack, storyInWork } from './words.ts'

/** Who reads, and can type: `limits` tell which one was reached, where there are several. */
type Reader = { state: State; surface: Surface; limits: Limits | null }

/**
 * One sentence of markdown; commands stand in backticks, each as it can be typed on the surface. For a terminal:
 * `spoken(nextMove(state, situation, 'cli', limits))`.
 */
export function nextMove(
  state: State,
  situation: Situation,
  surface: Surface,
  limits: Limits | null = null,
): string {
  const reader = { state, surface, limits }
  switch (situation.kind) {
    case 'working':
      return whileWorking(reader, situation.lease === null ? null : sayHolder(situation.lease))
    case 'ready':
      return whenReady(reader, situation.step)
    case 'ended':
      return whenEnded(reader, situation.conclusion)
  }
}

/** A command as the reader types it. */
function say({ surface }: Reader, command: string): string {
  return code(typedOn(surface, command))
}

/** Comments are heard on the run's pull request only. */
function hasNoThread({ state, surface }: Reader): boolean {
  return surface === 'comment' && state.github.pull === null
}

/** How work goes on: by a command, or from the page of the workflow where no pull request hears one. */
function run(reader: Reader): string {
  return hasNoThread(reader) ? '*Run workflow*' : say(reader, 'run')
}

/** A command that gives the run something to do: a comment starts the next job, on a command line a person does. */
function asking(reader: Reader, sentence: string): string {
  if (reader.surface === 'cli') return `${sentence}, then go on with ${say(reader, 'run')}.`
  return hasNoThread(reader) ? `${openOne(reader)} and comment there. ${sentence}.` : `${sentence}.`
}

function openOne({ state }: Reader): string {
  return `Open a pull request from ${code(state.branch, 200)}`
}

function whileWorking(reader: Reader, holder: string | null): string {
  const { state } = reader
  const who = holder === null ? '' : ` (${markdownText(holder)})`
  const begin = `Nothing to do: Ralph is at work${who}.`
  if (hasNoThread(reader)) return begin
  const story = storyInWork(state) ?? blockedIds(state)[0]
  const hint =
    story === undefined ? '' : `, ${say(reader, `note ${story} -- <hint>`)} reaches the next prompt`
  const stop =
    reader.surface === 'cli' ? `, ${say(reader, 'stop')} ends the session now and loses nothing` : ''
  return `${begin} ${say(reader, 'pause')} holds it after this iteration${stop}${hint}.`
}

function whenReady(reader: Reader, step: Step | null): string {
  const begun = reader.state.nonce !== ''
  const go = begun ? `Go on with ${run(reader)}` : `Start with ${run(reader)}`
  switch (step?.kind) {
    case 'reserve':
      return `${go}: ${code(step.storyId, 64)} is next.`
    case 'verify':
      return `${go}: the final verification is next.`
    case 'wait':
      return whileWaiting(reader, step.until)
    case 'conclude':
      return `${go}: nothing is left to be worked on, and it concludes the run.`
    default:
      return `${go}.`
  }
}

function whenEnded(reader: Reader, conclusion: Conclusion): string {
  const { state, limits, surface } = reader
  switch (conclusion.outcome) {
    case 'continued':
      if (goesOn(state)) return 'Nothing to do: the next job was started.'
      if (heldBack(state) !== null)
        return `Where the hourly ${code('resume-lost')} workflow is set up it starts the next job; else go on then with ${run(reader)}.`
      return `Go on with ${run(reader)}.`
    case 'complete':
      return whenComplete(reader)
    case 'stuck':
      return whenStuck(reader)
    case 'max-iterations':
      if (limits !== null && limits.maxIterations > 0 && iterationsLeft(state, limits) > 0)
        return hasNoThread(reader)
          ? `Raise ${code('max-jobs')}, then go on with ${run(reader)}.`
          : `Go on with ${run(reader)}: jobs are counted anew from there.`
      return asking(
        reader,
        `What was done so far is kept. Allow more with ${say(reader, `limit iterations +${moreIterations(state)}`)}`,
      )
    case 'budget':
      return whenSpent(reader)
    case 'paused':
      if (state.control.paused === null && conclusion.until !== null)
        return whileWaiting(reader, conclusion.until)
      if (state.control.paused?.by === 'ralph')
        return `Mend what the reason names, then go on with ${run(reader)}.`
      return `Go on with ${run(reader)}.`
    case 'error':
      return whenWrong(reader)
    case 'interrupted':
      return `Go on with ${run(reader)}: it begins where ${surface === 'cli' ? 'the last one' : 'this job'} ended.`
  }
}

/** Stories that rest are waked by a hint, our own limit is raised, and a vendor's is tried again. */
function whileWaiting(reader: Reader, until: number): string {
  const { state, surface } = reader
  const byItself =
    surface === 'cli'
      ? `${run(reader)} waits until then and goes on`
      : `Nothing to do: work goes on by itself where the hourly ${code('resume-lost')} workflow is set up`
  const resting = state.prd.userStories.find(({ id }) => state.records[id]?.breaker.until === until)
  if (resting !== undefined) {
    const hint = say(reader, `retry ${resting.id} -- <hint>`)
    if (surface === 'cli') return `${byItself}; after ${hint} at once.`
    return hasNoThread(reader) ? `${byItself}.` : `${byItself}; ${hint} goes on at once.`
  }
  if (!Object.values(state.control.agentLimits).includes(until))
    return `${byItself}; to go on at once raise ${code('calls-per-hour')}, then ${run(reader)}.`
  return surface === 'cli'
    ? `${run(reader)} tries again at once, and waits where the limit still holds.`
    : `${byItself}; ${run(reader)} tries again at once.`
}

function whenComplete(reader: Reader): string {
  const { state, surface } = reader
  const { pull, pullUrl } = state.github
  if (surface === 'comment')
    return pull === null
      ? `${openOne(reader)}, review it like any other, and merge it.`
      : 'Review this pull request like any other, and merge it.'
  if (pullUrl !== null) return `Review and merge ${pullUrl}`
  return `Review it with ${code(`git diff ${state.base.branch}...${state.branch}`, 300)}, then merge the branch.`
}

function whenStuck(reader: Reader): string {
  const [first, ...others] = blockedIds(reader.state)
  if (first === undefined)
    return reader.surface === 'cli'
      ? `Have it judged again with ${say(reader, 'run')}.`
      : asking(reader, `Have it judged again with ${say(reader, 'verify')}`)
  const all = others.length === 0 ? '' : ` (all of them: ${say(reader, 'retry all')})`
  return asking(
    reader,
    `Say what is missing: ${say(reader, `retry ${first} -- <hint>`)}${all}, or leave it out: ${say(reader, `skip ${first}`)}`,
  )
}

function whenSpent(reader: Reader): string {
  const { state, limits } = reader
  const only = (changes: Partial<Limits>) =>
    limits !== null &&
    spent(state, { ...limits, maxCostUsd: null, maxTokens: null, maxAgentTimeMs: null, ...changes }) !== null
  const others: [string, boolean][] = [
    ['max-tokens', only({ maxTokens: limits?.maxTokens ?? null })],
    ['max-agent-time', only({ maxAgentTimeMs: limits?.maxAgentTimeMs ?? null })],
  ]
  const reached = others.filter(([, isReached]) => isReached).map(([name]) => code(name))
  if (reached.length > 0) return `Raise ${reached.join(' and ')}, then go on with ${run(reader)}.`
  return asking(
    reader,
    `What was done so far is kept. Allow more with ${say(reader, `limit cost +${moreCost(state)}`)}`,
  )
}

function whenWrong(reader: Reader): string {
  const fix =
    reader.state.job.error?.fix
      .split('\n', 1)[0]
      ?.trim()
      .replace(/(?:; its output)?[.:]$/, '') ?? ''
  if (fix === '') {
    const mend =
      reader.surface === 'cli' ? 'Mend what the reason names' : 'See the log of the job, mend what it names'
    return `${mend}, then go on with ${run(reader)}.`
  }
  const sentence = `${fix.charAt(0).toUpperCase()}${fix.slice(1)}`
  const told = markdownText(sentence)
  return /\b(?:run|go on)\b/.test(fix) ? `${told}.` : `${told}; then go on with ${run(reader)}.`
}

/** Two iterations for each story that is left, in fives. */
function moreIterations(state: State): number {
  return Math.max(5, Math.ceil((remaining(state.prd).length * 2) / 5) * 5)
}

/** What the stories that are left will cost at the price of those that passed, in whole dollars. */
function moreCost(state: State): number {
  const each = state.prd.run.usage.costUsd / Math.max(1, counts(state.prd).passed)
  return Math.max(1, Math.ceil(each * remaining(state.prd).length))
}
