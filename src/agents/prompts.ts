// Builds the prompt of a session: its mode's template, filled from the state and people's files.

import type { Story } from '../engine/model/feature.ts'
import { ownFiles } from '../engine/model/paths.ts'
import type { SessionStep } from '../engine/model/pipeline-step.ts'
import type { PlanTask } from '../engine/model/plan-state.ts'
import type { JudgeTask, WordsTask } from '../engine/model/ports.ts'
import type { State } from '../engine/model/state.ts'
import { answerParts } from '../engine/prompts/answer-prompt.ts'
import {
  type PromptFacts,
  planParts,
  runParts,
  setupParts,
  verifyParts,
} from '../engine/prompts/build-prompt.ts'
import { stepTemplate } from '../engine/prompts/built-in.ts'
import { examplesParts } from '../engine/prompts/examples-prompt.ts'
import type { PromptPart } from '../engine/prompts/template.ts'
import { findTemplate, type ReadText, type Template } from '../engine/prompts/template-files.ts'

export type PromptSources = {
  /** `name: command` of each gate, with the stories that it is for: the same for every story, so that vendors can cache it. */
  gates: readonly string[]
  /** `name: when it is ready` of each service that runs while gates run, likewise. */
  services: readonly string[]
  instructions: string
  /** Ralph's or people's text at the green commit. */
  read(commit: string, path: string): Promise<string | null>
}

export type SessionRequest =
  /** `conflict`: why the work of earlier attempts is not in the tree, or null. */
  | { mode: 'run'; story: Story; conflict: string | null; step?: SessionStep }
  | { mode: 'plan'; task: PlanTask }
  | { mode: 'verify'; task: JudgeTask }
  | { mode: 'setup' }
  /** A session that answers in words. It works with the judge's model. */
  | { mode: 'verify'; asked: WordsTask }

/** `template`: the path of a person's template; null for the built-in one. */
export type Prompt = { parts: PromptPart[]; template: string | null }

/** The prompt; null without a set-up prompt, or if the file of a step is missing. */
export async function buildPrompt(
  sources: PromptSources,
  request: SessionRequest,
  state: State,
): Promise<Prompt | null> {
  const read = (path: string) => sources.read(state.green, path)
  const template = await templateOf(request, read)
  if (template === 'missing' || (template === null && request.mode === 'setup')) return null
  const story = request.mode === 'run' ? request.story : null
  const facts = {
    gates: sources.gates,
    services: sources.services,
    instructions: sources.instructions,
    context: (await read(ownFiles(state).context)) ?? '',
    dropped: state.kept[story?.id ?? '']?.dropped ?? [],
    conflict: request.mode === 'run' ? request.conflict : null,
  }
  return { parts: partsOf(template?.text ?? null, request, state, facts), template: template?.path ?? null }
}

/** The template of a step or a mode; null for the built-in one. */
async function templateOf(request: SessionRequest, read: ReadText): Promise<Template | null | 'missing'> {
  const step = request.mode === 'run' ? request.step : undefined
  if (request.mode === 'verify' && 'asked' in request) return null
  if (step?.prompt == null) return findTemplate(request.mode, read)
  const { prompt, name } = step
  if (prompt.kind === 'text') return { path: `step ${name}`, text: stepTemplate(name, prompt.text) }
  const text = await read(prompt.path)
  return text === null ? 'missing' : { path: prompt.path, text }
}

function partsOf(
  template: string | null,
  request: SessionRequest,
  state: State,
  facts: PromptFacts,
): PromptPart[] {
  switch (request.mode) {
    case 'run':
      return runParts(template, state, request.story, facts)
    case 'plan':
      return planParts(template, state, request.task, facts)
    case 'verify':
      if ('asked' in request) return wordsParts(state, request.asked, facts)
      return verifyParts(template, state, request.task, facts)
    case 'setup':
      return setupParts(template ?? '', state, facts)
  }
}

function wordsParts(state: State, task: WordsTask, facts: PromptFacts): PromptPart[] {
  return task.kind === 'answer' ? answerParts(state, task.storyId, facts) : examplesParts(state, task, facts)
}
