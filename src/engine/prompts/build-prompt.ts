// Builds the prompts: fills the variables of their templates, each cut to its limit. Pure.

import { utf8Bytes } from '../../system/excerpt.ts'
import { provedTests } from '../gating/proved-tests.ts'
import type { Story } from '../model/feature.ts'
import { failureOutput } from '../model/gate-output.ts'
import { ownFiles } from '../model/paths.ts'
import type { PlanTask } from '../model/plan-state.ts'
import type { JudgeTask } from '../model/ports.ts'
import type { State, StoryRecord } from '../model/state.ts'
import { fenced, mapTexts, oneLine, sanitizeText } from '../model/text.ts'
import { epicName } from '../prd/epics.ts'
import { planFile } from '../prd/plan-file.ts'
import { remaining } from '../prd/select.ts'
import { describeFalseDone } from '../state/breaker.ts'
import { pictureName, picturePath } from '../state/screenshots.ts'
import { peopleNotes, shortenEntry } from '../state/story-notes.ts'
import {
  ASK_ANSWER,
  ASK_FIRST,
  COUNTEREXAMPLE,
  COUNTEREXAMPLE_ANSWER,
  EXPECTATION,
  EXPECTATION_ANSWER,
  NEW_PACKAGES,
  NEW_PLAN,
  PLAN_ANSWER,
  QUESTIONS,
  splitTask,
  TEMPLATES,
  UNCHANGED,
  VERDICT,
} from './built-in.ts'
import { contextParts } from './context-parts.ts'
import {
  bullets,
  firstBytes,
  gateResultsText,
  guidanceText,
  head,
  itemsThatFit,
  linesOf,
  numbered,
  quotedOutput,
  steadyNewest,
  tail,
} from './prompt-text.ts'
import { fill, type PromptPart, variablesIn } from './template.ts'
import { type Mode, VARIABLES, type Values, type VariableName } from './variables.ts'

/** The limit for existing stories in a plan's prompt. A judge gets its stories uncut. */
const PLAN_STORIES_BYTES = 20_000

/** Values for templates that are not in the state. Texts may be hostile: they are data in the prompt, never templates. */
export type PromptFacts = {
  gates: readonly string[]
  /** `name: when it is ready`, for each service that runs alongside the gates. */
  services: readonly string[]
  instructions: string
  context: string
  /** Paths that the guard or the redaction left out of the saved work. */
  dropped: readonly string[]
  /** Why the saved work no longer applied, or null. */
  conflict: string | null
}

/** A template with none of these variables does not state the task: it is put before the built-in one. */
const TASK_VARIABLES: Readonly<Record<Mode, readonly VariableName[]>> = {
  run: ['storyId', 'storyTitle', 'storyDescription', 'acceptanceCriteria'],
  plan: ['brief', 'stories'],
  verify: ['stories'],
  setup: [],
}

/** Text that a template must contain to state the form of the answer that the loop reads. */
const ANSWERS: Partial<Record<Mode, string>> = { plan: '"stories"', verify: '<ralph>VERIFIED</ralph>' }

/** The template of a session: the built-in one, or a person's instead or before it. */
function templateOf(mode: Mode, ownTemplate: string | null): string {
  if (ownTemplate === null) return TEMPLATES[mode]
  const text = sanitizeText(ownTemplate)
  const named = variablesIn(text, mode)
  if (!TASK_VARIABLES[mode].some((name) => named.has(name))) return `${text.trimEnd()}\n\n${TEMPLATES[mode]}`
  const answer = ANSWERS[mode]
  const withAnswer =
    answer === undefined || text.includes(answer) || named.has('answer') ? text : `${text}\n\n{{answer}}`
  // The questions come first, because the form of the answer must be at the end.
  return mode === 'verify' && !text.includes(QUESTIONS) ? `${QUESTIONS}\n\n${withAnswer}` : withAnswer
}

/** The prompt for one story's session, piece by piece. */
export function runParts(
  template: string | null,
  run: State,
  storyToWork: Story,
  promptFacts: PromptFacts,
): PromptPart[] {
  const { state, facts } = sanitizeRun(run, [storyToWork.id], promptFacts)
  const story = mapTexts(storyToWork, sanitizeText)
  const record = state.records[story.id]
  const failure = record?.failure ?? null
  const output = failureOutput(failure, record?.gates ?? [])?.output ?? ''
  const guidance = state.control.guidance[story.id] ?? []
  const values: Values<'run'> = {
    ...commonValues(state, facts, run),
    ...sessionValues(state),
    storyId: story.id,
    storyTitle: oneLine(story.title, 1000),
    storyDescription: story.description,
    acceptanceCriteria: bullets(story.acceptanceCriteria),
    attempt: String(story.retries + 1),
    epic: story.epicId === null ? '' : firstBytes(oneLine(story.epicId), 60),
    epicName: firstBytes(oneLine(epicName(state.prd, story)), 120),
    priority: String(story.priority),
    tags: listOnLine(story.tags),
    dependsOn: listOnLine(story.dependsOn),
    blocks: () =>
      listOnLine(run.prd.userStories.filter((one) => one.dependsOn.includes(story.id)).map(({ id }) => id)),
    notes: linesOf(peopleNotes(story, record), VARIABLES.notes.bytes),
    guidance: guidanceText(guidance, VARIABLES.guidance.bytes),
    kept: savedWorkNote(state.kept[story.id] !== undefined, facts),
    failure: failure === null ? '' : quotedOutput(output, VARIABLES.failure.bytes),
    failureSummary:
      failure === null
        ? ''
        : firstBytes(oneLine(withFalseDone(failure.summary, record), 1000), VARIABLES.failureSummary.bytes),
  }
  return fill(templateOf('run', template), 'run', values)
}

/** The prompt for an independent judgement of the named stories, piece by piece. */
export function verifyParts(
  template: string | null,
  run: State,
  task: JudgeTask,
  promptFacts: PromptFacts,
): PromptPart[] {
  const { state, facts } = sanitizeRun(run, task.stories, promptFacts)
  const values: Values<'verify'> = {
    ...commonValues(state, facts, run),
    stories: state.prd.userStories
      .map((story) => `${storyText(story, numbered)}${provedText(provedTests(state, story.id))}`)
      .join('\n\n'),
    gateResults: gateResultsText(mapTexts(task.gates, sanitizeText), VARIABLES.gateResults.bytes),
    screenshots: pictureLines(task),
    failureSummary: run.verification.sessions === 0 ? '' : oneLine(run.verification.message, 1000),
    answer: task.isUnchanged === true ? `${VERDICT}\n${UNCHANGED}` : VERDICT,
  }
  const { expectation, counterexample } = task
  if (counterexample !== undefined) {
    const { run: command, files, output } = mapTexts(counterexample, sanitizeText)
    const texts = files.map(({ path, text }) => `${path}:\n${fenced(text)}`)
    const shown = [`The command: ${command}`, ...texts, 'Its output:', quotedOutput(output, 3000)].join('\n')
    const secondValues = { gateResults: head(shown, 2 * VARIABLES.gateResults.bytes) }
    return fill(COUNTEREXAMPLE, 'verify', { ...values, ...secondValues, answer: COUNTEREXAMPLE_ANSWER })
  }
  if (expectation === undefined) return fill(templateOf('verify', template), 'verify', values)
  const { findings, paths, packages = [], from, to } = mapTexts(expectation, sanitizeText)
  const changed = paths.length === 0 ? [] : ['', 'Files that it touches:', bullets(paths.slice(0, 50))]
  const found = [bullets([...findings, ...packages]), ...changed, '', String(values.gateResults)].join('\n')
  const expectationValues = { base: from, commit: to, gateResults: head(found, VARIABLES.gateResults.bytes) }
  const question = findings.length === 0 && packages.length > 0 ? NEW_PACKAGES : EXPECTATION
  return fill(question, 'verify', { ...values, ...expectationValues, answer: EXPECTATION_ANSWER })
}

/** The prompt for a session that proposes stories, or the parts of one, piece by piece. */
export function planParts(
  template: string | null,
  run: State,
  task: PlanTask,
  promptFacts: PromptFacts,
): PromptPart[] {
  const { state, facts } = sanitizeRun(run, [], promptFacts)
  const { stories, split, brief, message, asks } = mapTexts(task, sanitizeText)
  const splitStories = stories.filter(({ id }) => id === split)
  const others = stories.filter(({ id }) => id !== split)
  const values: Values<'plan'> = {
    ...commonValues(state, facts, run),
    task: asks === true ? ASK_FIRST : split === null ? NEW_PLAN : splitTask(split),
    storyId: split ?? '',
    stories: head(
      [...splitStories, ...others].map((one) => storyText(one)).join('\n\n'),
      PLAN_STORIES_BYTES,
    ).trim(),
    failureSummary: oneLine(message, 1000),
    brief: brief.trim() === '' ? '' : fenced(head(brief, VARIABLES.brief.bytes)),
    answer: asks === true ? ASK_ANSWER : PLAN_ANSWER,
  }
  // Questions use the built-in template: a person's template may demand the form of a plan.
  return fill(templateOf('plan', asks === true ? null : template), 'plan', values)
}

/** The tests that a judge may name as proof of the story's criteria. */
function provedText(names: readonly string[]): string {
  if (names.length === 0) return ''
  const shown = itemsThatFit(
    names.map((name) => `- ${oneLine(name, 200)}`),
    PROVED_BYTES,
  )
  return `\n\nTests that fail without the change of this story:\n${shown.join('\n')}`
}

const PROVED_BYTES = 1500

function pictureLines({ pictures = [] }: JudgeTask): string {
  const lines = pictures.map((one) => `${pictureName(one)}: ${picturePath(one)}, ${oneLine(one.url, 200)}`)
  return itemsThatFit(lines, VARIABLES.screenshots.bytes).join('\n')
}

function storyText(story: Story, joinList: (items: readonly string[]) => string = bullets): string {
  const { id, title, description, acceptanceCriteria, dependsOn, tags } = story
  const facts = [
    ...(dependsOn.length > 0 ? [`dependsOn: ${dependsOn.join(', ')}`] : []),
    ...(tags.length > 0 ? [`tags: ${tags.map((tag) => oneLine(tag, 60)).join(', ')}`] : []),
  ]
  const head = [`## ${id}: ${oneLine(title, 1000)}`, ...facts, description].join('\n')
  return `${head}\n\n${joinList(acceptanceCriteria)}`
}

/** The prompt for the session that sets the project up, piece by piece. */
export function setupParts(template: string, run: State, promptFacts: PromptFacts): PromptPart[] {
  const { state, facts } = sanitizeRun(run, [], promptFacts)
  const values: Values<'setup'> = { ...commonValues(state, facts, run), ...sessionValues(state) }
  return fill(templateOf('setup', template), 'setup', values)
}

/**
 * Sanitizes what prompts hold of the run and these stories: text that a reviewer cannot see must not reach an agent. Each text is
 * sanitized by itself: an escape sequence that begins in one must not swallow the next.
 */
function sanitizeRun(
  run: State,
  ids: readonly string[],
  facts: PromptFacts,
): { state: State; facts: PromptFacts } {
  const isNamed = (id: string) => ids.includes(id)
  const records = Object.fromEntries(Object.entries(run.records).filter(([id]) => isNamed(id)))
  const userStories = run.prd.userStories.filter(({ id }) => isNamed(id))
  // The other stories, of which there may be thousands, are not sanitized.
  const withNamedStories = { ...run, records, timeline: [], progress: [], prd: { ...run.prd, userStories } }
  return { state: mapTexts(withNamedStories, sanitizeText), facts: mapTexts(facts, sanitizeText) }
}

/** The values for every mode. `run` holds every story, not sanitized. */
function commonValues(state: State, facts: PromptFacts, run: State) {
  const gates = facts.gates.length === 0 ? '(no gate is configured)' : bullets(facts.gates)
  const services = itemsThatFit(facts.services, VARIABLES.services.bytes).join('\n')
  const { instructions, context } = facts
  const files = ownFiles(state)
  const { userStories } = run.prd
  return {
    feature: state.feature,
    project: oneLine(state.prd.project, 1000),
    branch: state.branch,
    base: state.base.sha,
    commit: state.green,
    date: /\d{4}-\d{2}-\d{2}/.exec(state.folder)?.[0] ?? '',
    iteration: String(state.prd.run.iterations + 1),
    // Gates and services share the limit of the gates.
    gates: head(gates, VARIABLES.gates.bytes - utf8Bytes(services)),
    services,
    instructions: head(instructions, VARIABLES.instructions.bytes).trim(),
    about: linesOf(state.prd.description, VARIABLES.about.bytes),
    context: head(context, VARIABLES.context.bytes).trim(),
    overview: () => {
      const text = contextParts(context).overview || state.prd.description
      return head(text, VARIABLES.overview.bytes).trim()
    },
    architecture: () => head(contextParts(context).rest, VARIABLES.architecture.bytes).trim(),
    storyList: () =>
      itemsThatFit(
        userStories.map(({ id, title, passes }) => `[${passes ? 'x' : ' '}] ${id}: ${title}`),
        VARIABLES.storyList.bytes,
      ).join('\n'),
    storiesLeft: () => String(remaining(run.prd).length),
    storiesPassed: () => String(userStories.filter(({ passes }) => passes).length),
    storiesTotal: () => String(userStories.length),
    prdFile: files.prd,
    planFile: oneLine(planFile(run.prd) ?? files.prd, 1000),
    progressFile: files.progress,
    contextFile: files.context,
  }
}

/** The additional values for sessions that work on the code. */
function sessionValues({ prd, recent }: State) {
  return {
    doneMarker: '<ralph>DONE</ralph>',
    learnings: steadyNewest(prd.run.learnings, VARIABLES.learnings.bytes),
    progress: tail(recent.map(shortenEntry).join('\n'), VARIABLES.progress.bytes).trim(),
  }
}

/** Why the last attempt was rejected, and how often the agent had declared it done. */
function withFalseDone(summary: string, record: StoryRecord | undefined): string {
  const falseDone = record === undefined ? '' : describeFalseDone(record.breaker)
  return falseDone === '' ? summary : `${summary}; ${falseDone}`
}

function listOnLine(items: readonly string[]): string {
  return items.map((item) => oneLine(item, 100)).join(', ')
}

function savedWorkNote(hasSavedWork: boolean, facts: PromptFacts): string {
  const lines: string[] = []
  if (facts.conflict !== null)
    lines.push(`The work of the last attempt was put aside: ${oneLine(facts.conflict)}.`)
  else if (hasSavedWork)
    lines.push('The work of the last attempt is in the work tree: build on it, or change it.')
  if (facts.dropped.length > 0) {
    const paths = facts.dropped.map((path) => oneLine(path)).join(', ')
    lines.push(`Left out of it, because it may not be changed: ${head(paths, 400)}.`)
  }
  return lines.join('\n')
}
