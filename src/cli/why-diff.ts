// `ralph why` and `ralph diff`: why a story is not done, and what was changed for it. They change nothing.
import { storyCommits } from '../branch/story-commits.ts'
import { OUTPUT_BYTES } from '../engine/model/gate-output.ts'
import type { State } from '../engine/model/state.ts'
import { sanitizeText } from '../engine/model/text.ts'
import { terminalText } from '../report/escape.ts'
import { costOrEmpty, formatDuration } from '../report/figures.ts'
import { toPlainText } from '../report/sentence.ts'
import { diffColours, type Look, lookOf, paint } from '../report/terminal/terminal-line.ts'
import { fit } from '../report/terminal/width.ts'
import { type Why, whyOf } from '../report/why.ts'
import { excerpt, importantLines, withoutPassed } from '../system/excerpt.ts'
import { sanitizeLine } from '../system/workflow-commands.ts'
import { type CommandResult, type Context, resultOfState } from './command-context.ts'
import { type LocalRun, openFeature, storyWords } from './local-feature.ts'
import { parseSteering } from './steer.ts'

/** The maximum number of rows of a gate's output on a terminal; `ralph log` shows all. */
const OUTPUT_ROWS = 5

/** So much of a diff is in `--json`. UTF-16 units. */
const DIFF_IN_JSON = 256 * 1024

export async function why(context: Context): Promise<CommandResult> {
  using local = await openFeature(context, true)
  const state = await local.look()
  const found = whyOf(state, typedStoryId(context, state), 'cli')
  if (found === null) {
    context.print(nothingFailed(state))
    return resultOfState(state, { why: null })
  }
  context.print(whyLines(found, lookOf(context.out, true)).join('\n'))
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

/** What `why` prints if no story has a failure to explain. */
function nothingFailed({ feature, prd, nonce }: State): string {
  const done = prd.userStories.every(({ passes, skipped }) => passes || skipped)
  if (done) return `nothing to explain: every story of ${feature} is done`
  if (nonce === '')
    return `nothing to explain: no run of ${feature} has begun. Start it with ralph run ${feature}`
  return `nothing to explain: no story of ${feature} has failed. ralph status shows what is next`
}

function whyLines(
  { story, statusText, last, passed, attempts, output, guidance, helpTitle, help }: Why,
  { plain, width }: Look,
): string[] {
  const tried = attempts.map(({ attempt, result, summary, ms, ...cost }) => {
    const figures = [costOrEmpty(cost), ms > 0 ? formatDuration(ms) : ''].filter(Boolean).join(', ')
    return `  attempt ${attempt}: ${result}${figures === '' ? '' : ` (${figures})`}: ${terminalText(summary, 300)}`
  })
  const outputLines =
    output === null
      ? []
      : sanitizeText(excerpt(withoutPassed(output.output), OUTPUT_BYTES.terminal)).split('\n')
  // A screen must not lose what failed, and what would help, to a stack trace.
  const shownLines = plain ? outputLines : importantLines(outputLines.join('\n'), OUTPUT_ROWS)
  return [
    `${terminalText(story.id)}  ${terminalText(story.title)}`,
    `Status: ${statusText}.`,
    ...[last, passed].flatMap((one) => (one === null ? [] : [toPlainText(one)])),
    ...(tried.length === 0 ? [] : ['', 'Tried:', ...tried]),
    ...(output === null ? [] : ['', output.of === '' ? 'Output:' : `Gate ${terminalText(output.of, 60)}:`]),
    ...shownLines.map((line) => `  ${fit(line, width - 2)}`),
    ...(guidance.length === 0
      ? []
      : ['', 'Notes from people:', ...guidance.map((one) => `  - ${terminalText(one, 500)}`)]),
    ...(help.length === 0 ? [] : ['', `${helpTitle}:`, ...help.map((one) => `  - ${toPlainText(one)}`)]),
    ...(story.attempts + story.givenBack === 0
      ? []
      : ['', `The whole log: ralph log ${terminalText(story.id)}`]),
  ]
}

export async function diff(context: Context): Promise<CommandResult> {
  using local = await openFeature(context, true)
  const state = await local.look()
  const id = typedStoryId(context, state)
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
  if (nonce === '')
    return {
      what: `no run of ${terminalText(state.feature)} has begun, so nothing has changed`,
      commits: [],
      patch: '',
    }
  if (id === null) {
    const patch = await git.patch(`${base.sha}...${green}`)
    const all = patch.trim() === '' ? 'no change' : 'all changes'
    const what = `${all} on ${terminalText(state.branch)} since ${terminalText(base.branch)}`
    return { what, commits: [], patch }
  }
  const work = kept[id]
  if (work !== undefined) {
    const what = `${id}: the saved work of its rejected attempts, which is on no branch`
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
function typedStoryId(context: Context, state: State): string | null {
  const words = storyWords(context, state)
  const parsed = parseSteering(context, { text: '', ...context.args, words, below: [] }, state)
  return parsed.kind === 'why' || parsed.kind === 'diff' ? parsed.story : null
}
