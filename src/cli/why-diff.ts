// `ralph why` and `ralph diff`: why a story is not done, and what was changed for it. They change nothing.
import { storyCommits } from '../branch/story-commits.ts'
import { OUTPUT_BYTES } from '../engine/model/gate-output.ts'
import type { State } from '../engine/model/state.ts'
import { sanitizeText } from '../engine/model/text.ts'
import { terminalText } from '../report/escape.ts'
import { costOrEmpty, formatDuration } from '../report/figures.ts'
import { toPlainText } from '../report/sentence.ts'
import { diffColours, lookOf, paint } from '../report/terminal/terminal-line.ts'
import { type Why, whyOf } from '../report/why.ts'
import { excerpt, withoutPassed } from '../system/excerpt.ts'
import { sanitizeLine } from '../system/workflow-commands.ts'
import { type CommandResult, type Context, resultOfState } from './command-context.ts'
import { type LocalRun, openFeature } from './local-feature.ts'
import { parseSteering } from './steer.ts'

/** So much of a diff is in `--json`. UTF-16 units. */
const DIFF_IN_JSON = 256 * 1024

export async function why(context: Context): Promise<CommandResult> {
  using local = await openFeature(context, true)
  const state = await local.look()
  const found = whyOf(state, storyOf(context, state), 'cli')
  if (found === null) {
    context.print('no story has failed; see ralph status')
    return resultOfState(state, { why: null })
  }
  context.print(whyLines(found).join('\n'))
  const { story, attempts, output, guidance, help, last } = found
  const inJson = {
    story: story.id,
    standing: story.status,
    failure: last === null ? null : toPlainText(last),
    attempts,
    seen: output,
    said: guidance,
    help: help.map(toPlainText),
  }
  return resultOfState(state, { why: inJson })
}

function whyLines({ story, statusText, last, attempts, output, guidance, help }: Why): string[] {
  const tried = attempts.map(({ attempt, result, summary, ms, ...cost }) => {
    const figures = [costOrEmpty(cost), ms > 0 ? formatDuration(ms) : ''].filter(Boolean).join(', ')
    return `  attempt ${attempt}: ${result}${figures === '' ? '' : ` (${figures})`}: ${terminalText(summary, 300)}`
  })
  const outputLines =
    output === null
      ? []
      : sanitizeText(excerpt(withoutPassed(output.output), OUTPUT_BYTES.terminal)).split('\n')
  return [
    `${terminalText(story.id)}  ${terminalText(story.title)}`,
    `Status: ${statusText}.`,
    ...(last === null ? [] : [toPlainText(last)]),
    ...(tried.length === 0 ? [] : ['', 'Tried:', ...tried]),
    ...(output === null ? [] : ['', output.of === '' ? 'Output:' : `Gate ${terminalText(output.of, 60)}:`]),
    ...outputLines.map((line) => `  ${line}`),
    ...(guidance.length === 0
      ? []
      : ['', 'Notes of people:', ...guidance.map((one) => `  - ${terminalText(one, 500)}`)]),
    ...(help.length === 0 ? [] : ['', 'What would help:', ...help.map((one) => `  - ${toPlainText(one)}`)]),
    ...(story.attempts + story.givenBack === 0
      ? []
      : ['', `The whole log: ralph log ${terminalText(story.id)}`]),
  ]
}

export async function diff(context: Context): Promise<CommandResult> {
  using local = await openFeature(context, true)
  const state = await local.look()
  const id = storyOf(context, state)
  const { redactor } = local.workspace
  const found = await changesOf(local, state, id)
  const { out } = context
  const look = lookOf(out, context.env.NO_COLOR !== undefined)
  const text = redactor.redact(found.patch)
  context.print(found.what)
  const lines = text.trim() === '' || context.json ? [] : sanitizeText(text.trimEnd()).split('\n')
  for (const line of lines) out.write(`${paint(sanitizeLine(line), diffColours(line), look)}\n`)
  const { commits, what } = found
  return resultOfState(state, { story: id, what, commits, diff: text.slice(0, DIFF_IN_JSON) })
}

type Changes = { what: string; commits: readonly string[]; patch: string }

/** What a story's rejected attempts left, else its commits; for `id` null everything on the branch. */
async function changesOf({ workspace }: LocalRun, state: State, id: string | null): Promise<Changes> {
  const { git } = workspace
  const { base, green, kept, nonce } = state
  if (nonce === '') return { what: 'no run of this feature has begun', commits: [], patch: '' }
  if (id === null) {
    const patch = await git.patch(`${base.sha}...${green}`)
    const all = patch.trim() === '' ? 'nothing was changed' : 'everything'
    const what = `${all} on ${terminalText(state.branch)} since ${terminalText(base.branch)}`
    return { what, commits: [], patch }
  }
  const work = kept[id]
  if (work !== undefined) {
    const what = `${id}: what its rejected attempts left; it is on no branch`
    return { what, commits: [], patch: await git.patch(work.base, work.tree) }
  }
  const all = await storyCommits(git, `${base.sha}..${green}`, nonce)
  const commits = all.filter(({ storyId }) => storyId === id).map(({ commit }) => commit)
  if (commits.length === 0) return { what: `${id}: nothing was changed for it yet`, commits, patch: '' }
  const each = await Promise.all(
    commits.toReversed().map(async (commit) => `commit ${commit}\n${await git.patch(`${commit}^`, commit)}`),
  )
  return {
    what: `${id}: ${commits.length === 1 ? 'its commit' : 'its commits'}`,
    commits,
    patch: each.join('\n'),
  }
}

/** The story that was typed; null for the whole run. Throws UserError. */
function storyOf(context: Context, state: State): string | null {
  const parsed = parseSteering(context, { words: [], text: '', ...context.args, below: [] }, state)
  return parsed.kind === 'why' || parsed.kind === 'diff' ? parsed.story : null
}
