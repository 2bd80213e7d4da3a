// `ralph prompt`: exactly what the next session of a story is told, and what makes it so long. Starts nothing.
import { type Asked, type Prompt, promptOf } from '../agents/prompts.ts'
import { promptSources } from '../app/agents.ts'
import { limitsOf } from '../app/limits.ts'
import { bytes } from '../loop/bounded.ts'
import { type Part, textOf } from '../loop/template.ts'
import { boundOf, MODES, type Mode } from '../loop/variables.ts'
import { isSetUp } from '../loop/work.ts'
import type { Story } from '../model/feature.ts'
import type { State } from '../model/state.ts'
import { UserError } from '../system/errors.ts'
import { nearest } from '../system/nearest.ts'
import { type Answer, answerOf, type Context, tell } from './context.ts'
import { type LocalRun, openFeature, stepOfRun } from './local.ts'

export async function prompt(context: Context): Promise<Answer> {
  const mode = modeOf(context.flags.mode)
  const note = (text: string) => tell(process.stderr, text)
  using local = await openFeature(context)
  const state = await local.look()
  const named = storyOf(context, state)
  const asked = await askedOf(local, state, mode, named)
  const story = asked.mode === 'run' ? asked.story : named
  const sources = promptSources(local.settings, (_commit, path) => local.read(state, path))
  const made = await promptOf(sources, asked, state)
  if (made === null) throw noSetup()
  // As far as is known before the kept work is put on top of the newest code.
  const isDue = mode === 'run' && !isSetUp(state, story?.id ?? '', null)
  if (isDue && (await promptOf(sources, { mode: 'setup' }, state)) !== null)
    note('a set-up session comes first: ralph prompt --mode setup')
  const text = local.workspace.redactor.redact(textOf(made.parts))
  const sizes = sizesOf(made.parts)
  if (!context.json) tell(process.stdout, text.replace(/\n$/, ''))
  for (const line of table(mode, made, sizes)) note(line)
  const { template } = made
  const more = { mode, storyId: story?.id ?? null, template, bytes: bytes(text), parts: sizes, prompt: text }
  return answerOf(state, more)
}

function modeOf(given: Context['flags'][string]): Mode {
  const found = given ?? 'run'
  const mode = MODES.find((one) => one === found)
  if (mode !== undefined) return mode
  const fix = `use one of: ${MODES.join(', ')}`
  throw new UserError({ path: '--mode', found: String(found), expected: 'a kind of session', fix })
}

/** The story that was named, if any. */
function storyOf({ given }: Context, { prd }: State): Story | null {
  const [word, second] = given?.words ?? []
  if (word === undefined) return null
  const ids = prd.userStories.map(({ id }) => id)
  const story = prd.userStories.find(({ id }) => id.toLowerCase() === word.toLowerCase())
  if (story !== undefined && second === undefined) return story
  const near = nearest(second ?? word, ids)
  throw new UserError({
    path: 'ralph prompt',
    found: second === undefined ? word : `${word} ${second}`,
    expected: 'the id of one story',
    fix: near === null ? `use one of: ${ids.slice(0, 20).join(', ')}` : `ralph prompt ${near}`,
  })
}

/** The one that a run would work on next; where it would work on none, the first. */
function nextStory({ settings }: LocalRun, state: State): Story {
  const step = stepOfRun(state, limitsOf(settings))
  const id = step.kind === 'reserve' ? step.storyId : null
  const { userStories } = state.prd
  const story = userStories.find((one) => one.id === id) ?? userStories[0]
  if (story !== undefined) return story
  const expected = 'a story to work on'
  throw new UserError({ path: state.feature, found: 'no story', expected, fix: 'ralph plan' })
}

async function askedOf(local: LocalRun, state: State, mode: Mode, named: Story | null): Promise<Asked> {
  switch (mode) {
    case 'run': {
      const story = named ?? nextStory(local, state)
      const kept = state.kept[story.id]
      const { repository } = local.workspace
      const conflict = kept === undefined ? null : await repository.conflict(state.green, kept)
      return { mode, story, conflict }
    }
    case 'verify': {
      if (named !== null) return { mode, task: { stories: [named.id], gates: [] } }
      // As the final verification will have them: every story that is not skipped has passed by then.
      const left = state.prd.userStories.filter(({ skipped }) => !skipped)
      return { mode, task: { stories: left.map(({ id }) => id), gates: [] } }
    }
    case 'plan': {
      const stories = state.prd.userStories
      const split = named?.id ?? null
      const { brief = '', message = '' } = (split === null ? state.plan : state.splits?.[split]) ?? {}
      return { mode, task: { brief, stories, split, message } }
    }
    case 'setup':
      return { mode }
  }
}

function noSetup(): UserError {
  return new UserError({
    path: '.ralph/prompts/setup.md',
    found: 'nothing',
    expected: 'what a set-up session is to do',
    fix: 'write it there; without it there is no set-up session',
  })
}

type Size = { name: Part['name']; bytes: number; bound: number | null }

/** By name, in the order in which they first come. */
function sizesOf(parts: readonly Part[]): Size[] {
  const sizes = new Map<Part['name'], number>()
  for (const { name, text } of parts) sizes.set(name, (sizes.get(name) ?? 0) + bytes(text))
  return [...sizes].map(([name, size]) => ({ name, bytes: size, bound: boundOf(name) }))
}

/** Not bounded: the story's own words. context.md has a bound of its own. */
const OWN: ReadonlySet<string> = new Set(
  'storyId storyTitle storyDescription acceptanceCriteria context'.split(' '),
)
const REST_BYTES = 8192

function table(mode: Mode, { template }: Prompt, sizes: readonly Size[]): string[] {
  const sum = (some: readonly Size[]) => some.reduce((total, size) => total + size.bytes, 0)
  const rest = sum(sizes.filter(({ name }) => !OWN.has(name)))
  const row = (name: string, size: number | string, bound: number | string | null) =>
    `${name.padEnd(20)} ${String(size).padStart(7)} ${String(bound ?? '').padStart(7)}`.trimEnd()
  return [
    '',
    row('part', 'bytes', 'at most'),
    ...sizes.map(({ name, bytes: size, bound }) => row(name, size, bound)),
    row('in all', sum(sizes), null),
    ...(mode === 'run' ? [`${rest} of ${REST_BYTES} bytes beside the story's own text and context.md`] : []),
    `template: ${template ?? 'built in'}`,
  ]
}
