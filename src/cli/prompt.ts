// `ralph prompt`: prints the prompt of a story's next session, and which parts make it long. Starts nothing.
import { buildPrompt, type Prompt } from '../agents/prompts.ts'
import { promptSources } from '../app/agents.ts'
import { limitsOf } from '../app/loop-limits.ts'
import type { Story } from '../engine/model/feature.ts'
import type { State } from '../engine/model/state.ts'
import { idList, nearestId } from '../engine/prd/known-ids.ts'
import { type PromptPart, textOf } from '../engine/prompts/template.ts'
import { byteLimitOf } from '../engine/prompts/variables.ts'
import { nextStepOfRun } from '../engine/situation.ts'
import { UserError } from '../system/errors.ts'
import { utf8Bytes } from '../system/excerpt.ts'
import { type CommandResult, type Context, printLines, resultOfState } from './command-context.ts'
import { type LocalRun, openFeature } from './local-feature.ts'

export async function prompt(context: Context): Promise<CommandResult> {
  using local = await openFeature(context)
  const state = await local.look()
  const story = typedStory(context, state) ?? nextStory(local, state)
  const sources = promptSources(local.settings, (_commit, path) => local.read(state, path))
  const kept = state.kept[story.id]
  const { repository, redactor } = local.workspace
  // Whether the saved work conflicts with the newest code is only known once both are merged; this is what is known before.
  const conflict = kept === undefined ? null : await repository.conflict(state.green, kept)
  const built = await buildPrompt(sources, { mode: 'run', story, conflict }, state)
  if (built === null) throw new Error(`no prompt of ${story.id}`)
  const text = redactor.redact(textOf(built.parts))
  const sizes = sizesOf(built.parts)
  if (!context.json) printLines(process.stdout, text.replace(/\n$/, ''))
  for (const line of table(built, sizes)) printLines(process.stderr, line)
  const { template } = built
  return resultOfState(state, {
    storyId: story.id,
    template,
    bytes: utf8Bytes(text),
    parts: sizes,
    prompt: text,
  })
}

/** The story that was typed; null for none. Throws UserError. */
function typedStory({ args }: Context, { prd }: State): Story | null {
  const [word, second] = args?.words ?? []
  if (word === undefined) return null
  const ids = prd.userStories.map(({ id }) => id)
  const story = prd.userStories.find(({ id }) => id.toLowerCase() === word.toLowerCase())
  if (story !== undefined && second === undefined) return story
  const near = nearestId(second ?? word, ids)
  throw new UserError({
    path: 'ralph prompt',
    found: second === undefined ? `there is no story ${word}.` : `two stories are named: ${word} ${second}.`,
    expected: '',
    fix: near === null ? `use one of: ${idList(ids)}` : `ralph prompt ${near}`,
  })
}

/** The story that a run would work on next, else the first one. */
function nextStory({ settings }: LocalRun, state: State): Story {
  const step = nextStepOfRun(state, limitsOf(settings), Date.now())
  const id = step.kind === 'reserve' ? step.storyId : null
  const { userStories } = state.prd
  const story = userStories.find((one) => one.id === id) ?? userStories[0]
  if (story !== undefined) return story
  const fix = `plan stories: ralph plan ${state.feature}`
  throw new UserError({ path: state.feature, found: 'this feature has no story.', expected: '', fix })
}

type Size = { name: PromptPart['name']; bytes: number; bound: number | null }

/** The bytes of each part, in the order of their first appearance. */
function sizesOf(parts: readonly PromptPart[]): Size[] {
  const sizes = new Map<PromptPart['name'], number>()
  for (const { name, text } of parts) sizes.set(name, (sizes.get(name) ?? 0) + utf8Bytes(text))
  return [...sizes].map(([name, size]) => ({ name, bytes: size, bound: byteLimitOf(name) }))
}

/** Parts outside the sum that is compared with REST_BYTES: the story's own text, and context.md, which has its own limit. */
const STORY_PARTS: ReadonlySet<string> = new Set(
  'storyId storyTitle storyDescription acceptanceCriteria context'.split(' '),
)
const REST_BYTES = 8192

function table({ template }: Prompt, sizes: readonly Size[]): string[] {
  const sum = (some: readonly Size[]) => some.reduce((total, size) => total + size.bytes, 0)
  const rest = sum(sizes.filter(({ name }) => !STORY_PARTS.has(name)))
  const row = (name: string, size: number | string, bound: number | string | null) =>
    `${name.padEnd(20)} ${String(size).padStart(7)} ${String(bound ?? '').padStart(7)}`.trimEnd()
  return [
    '',
    row('part', 'bytes', 'limit'),
    ...sizes.map(({ name, bytes: size, bound }) => row(name, size, bound)),
    row('total', sum(sizes), null),
    `The story's text and context.md have their own limits. The other parts use ${rest} of their ${REST_BYTES} bytes`,
    `template: ${template ?? 'built in'}`,
  ]
}
