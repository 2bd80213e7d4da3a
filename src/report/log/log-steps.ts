// The lines of a log on steps that begin, on commands that begin, and on waits.
import { isUngated, openAttempt } from '../../engine/model/job.ts'
import type { State } from '../../engine/model/state.ts'
import type { Step } from '../../engine/model/step.ts'
import { attemptLabel, formatDuration, formatUtc } from '../figures.ts'
import { type Line, type LineFacts, line } from './log-line.ts'

/** Lines before a step is performed; none for most steps. */
export function stepLines(step: Step, state: State, facts: LineFacts): Line[] {
  switch (step.kind) {
    case 'baseline':
      return [line('baseline', `checking that the gates pass on ${state.base.branch}`, 'dim')]
    case 'agent':
      return iterationLines(state, facts)
    case 'examples':
      return [
        line(
          'examples',
          `a fresh session writes the examples of ${step.storyId}, and Ralph seals them`,
          'dim',
        ),
      ]
    case 'answer':
      return [line('answer', `a fresh read-only session answers ${step.storyId}`, 'dim')]
    case 'try':
      return [line('examples', 'a fresh session runs the product, and Ralph compares its output', 'dim')]
    case 'gates':
      return isUngated(state.job) ? [] : [line('gates', 'running', 'dim')]
    case 'judge': {
      const { storyId, candidate } = step.attempt
      const why = candidate.empty
        ? `nothing was changed, so a fresh session judges whether ${storyId} is met`
        : `a fresh session judges whether ${storyId} requires the changed tests`
      return [line('judge', why, 'dim')]
    }
    case 'verify': {
      const heading = { heading: 'Final verification' }
      return isUngated(state.job)
        ? [heading]
        : [heading, line('verify', 'every gate, in a clean clone', 'dim')]
    }
    case 'judge-whole': {
      const judges = line('verify', 'a fresh session judges every criterion', 'dim')
      // A judge is asked again: the gates have run before.
      return state.verification.sessions === 0 ? [judges] : [{ heading: 'Final verification' }, judges]
    }
    case 'plan':
      return [
        { heading: step.split === null ? 'Plan' : `Split ${step.split}` },
        line(
          facts.agent,
          'reading the project and proposing stories; Ralph undoes any change to files',
          'dim',
        ),
      ]
    case 'join':
      return [line('git', `merging ${step.theirs.slice(0, 7)}, which people pushed`)]
    case 'publish':
      return [line('git', `publishing ${state.branch}`, 'dim')]
    default:
      return []
  }
}

function iterationLines(state: State, facts: LineFacts): Line[] {
  const { prd } = state
  const attempt = openAttempt(state)
  if (attempt === null) return []
  const { storyId, iteration, number, model } = attempt
  const title = prd.userStories.find(({ id }) => id === storyId)?.title ?? ''
  const end = number > 1 ? ` (${attemptLabel(number, facts.limits.maxAttempts)})` : ''
  return [
    { heading: `Iteration ${iteration}: ${storyId} - ${title}`, end },
    line(facts.agent, `working on ${storyId}${model === undefined ? '' : ` with ${model}`}`, 'dim'),
  ]
}

/** A line on `prepare` or a service that begins; none on a gate, because a step's line announces all gates. */
export function startLines(name: string): Line[] {
  if (name.startsWith('service ')) return [line(name, 'starting', 'dim')]
  return name === 'prepare' ? [line('prepare', 'running', 'dim')] : []
}

/** `until` is epoch milliseconds. */
export function waitLine(until: number, reason: string): Line {
  return line('ralph', `waiting until ${formatUtc(until)}: ${reason}`, 'yellow')
}

export function waitedLine(ms: number): Line {
  return line('ralph', `waited ${formatDuration(ms)}`, 'dim')
}
