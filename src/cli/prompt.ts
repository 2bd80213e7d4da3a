// `ralph prompt`: prints the prompt of a story's next session, and which parts make it long. Starts nothing.
import { buildPrompt, type Prompt } from '../agents/prompts.ts'
import { promptSources } from '../app/agents.ts'
import { limitsOf } from '../app/loop-limits.ts'
import type { Story } from '../engine/model/feature.ts'
import type { State } from '../engine/model/state.ts'
import { idList, nearestId } from '../engine/prd/known-ids.ts'
import { type Part, textOf } from '../engine/prompts/template.ts'
import { byteLimitOf } from '../engine/prompts/variables.ts'
import { nextStepOfRun } from '../engine/situation.ts'
import { UserError } from '../system/errors.ts'
import { utf8Bytes } from '../system/excerpt.ts'
import { type CommandResult, type Context, printLines, resultOfState } from './command-context.ts'
import { type LocalRun, openFeature } from './local-feature.ts'

export async function prompt(context: Context): Promise<CommandResult> {
  using local = await openFeature(context)
  const state = await local.look()
  const story = storyOf(context, state) ?? nextStory(local, state)
  const sources = promptSources(local.settings, (_commit, path) => local.read(state, path))
  const kept = state.kept[story.id]
  const { repository, redactor } = local.workspace
  // As far as is known before the kept work is put on top of the newest code.
  const conflict = kept === undefined ? null : await repository.conflict(state.green, kept)
  const made = await buildPrompt(sources, { mode: 'run', story, conflict }, state)
  if (made === null) throw new Error(`no prompt of ${story.id}`)
  const text = redactor.redact(textOf(made.parts))
  const sizes = sizesOf(made.parts)
  if (!context.json) printLines(process.stdout, text.replace(/\n$/, ''))
  for (const line of table(made, sizes)) printLines(process.stderr, line)
  const { template } = made
  return resultOfState(state, {
    storyId: story.id,
    template,
    bytes: utf8Bytes(text),
    parts: sizes,
    prompt: text,
  })
}

/** The story that was named, if any. */
function storyOf({ given }: Context, { prd }: State): Story | null {
  const [word, second] = given?.words ?? []
  if (word === undefined) return null
  const ids = prd.userStories.map(({ id }) => id)
  const story = prd.userStories.find(({ id }) => id.toLowerCase() === word.toLowerCase())
  if (story !== undefined && second === undefined) return story
  const near = nearestId(second ?? word, ids)
  throw new UserError({
    path: 'ralph prompt',
    found: second === undefined ? word : `${word} ${second}`,
    expected: 'the id of one story',
    fix: near === null ? `use one of: ${idList(ids)}` : `ralph prompt ${near}`,
  })
}

/** The one that a run would work on next; where it would work on none, the first. */
function nextStory({ settings }: LocalRun, state: State): Story {
  const step = nextStepOfRun(state, limitsOf(settings), Date.now())
  const id = step.kind === 'reserve' ? step.storyId : null
  const { userStories } = state.prd
  const story = userStories.find((one) => one.id === id) ?? userStories[0]
  if (story !== undefined) return story
  const expected = 'a story to work on'
  throw new UserError({ path: state.feature, found: 'no story', expected, fix: 'ralph plan' })
}

type Size = { name: Part['name']; bytes: number; bound: number | null }

/** By name, in the order in which they first come. */
function sizesOf(parts: readonly Part[]): Size[] {
  const sizes = new Map<Part['name'], number>()
  for (const { name, text } of parts) sizes.set(name, (sizes.get(name) ?? 0) + utf8Bytes(text))
  return [...sizes].map(([name, size]) => ({ name, bytes: size, bound: byteLimitOf(name) }))
}

/** Not bounded: the story's own words. context.md has a bound of its own. */
const OWN: ReadonlySet<string> = new Set(
  'storyId storyTitle storyDescription acceptanceCriteria context'.split(' '),
)
const REST_BYTES = 8192

function table({ template }: Prompt, sizes: readonly Size[]): string[] {
  const sum = (some: readonly Size[]) => some.reduce((total, size) => total + size.bytes, 0)
  const rest = sum(sizes.filter(({ name }) => !OWN.has(name)))
  const row = (name: string, size: number | string, bound: number | string | null) =>
    `${name.padEnd(20)} ${String(size).padStart(7)} ${String(bound ?? '').padStart(7)}`.trimEnd()
  return [
    '',
    row('part', 'bytes', 'at most'),
    ...sizes.map(({ name, bytes: size, bound }) => row(name, size, bound)),
    row('in all', sum(sizes), null),
    `${rest} of ${REST_BYTES} bytes beside the story's own text and context.md`,
    `template: ${template ?? 'built in'}`,
  ]
}
