// The review of a plan before it is written. The person takes it, refines it in words, edits it by hand, saves it as a draft, or leaves.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Prd } from '../engine/model/feature.ts'
import { parsePrd } from '../engine/prd/parse.ts'
import { serializePrd } from '../engine/prd/serialize.ts'
import { renderPrdMarkdown, sizeRemarks } from '../plan/documents.ts'
import { terminalText } from '../report/escape.ts'
import { pluralize } from '../report/figures.ts'
import { messageOf, UserError } from '../system/errors.ts'
import type { ExistingPlan, PlanContext } from './plan.ts'
import {
  type Draft,
  draftMistakes,
  isReadBack,
  parsePage,
  withStories,
  withStoriesReplaced,
} from './plan-draft.ts'
import { CONTEXT_TITLE, differenceLines, hanging, storyLines, textLines } from './plan-view.ts'
import { Cancelled, type Choice, type TerminalPrompts } from './terminal-questions.ts'
import { writeFiles } from './write-files.ts'

/** `start`: taken, and the run is to begin with it. */
export type Reviewed = { kind: 'taken' | 'start' | 'sketch' | 'left'; draft: Draft }

const REFINE = 'Refine it in words'

type Move = 'take' | 'start' | 'look' | 'refine' | 'markdown' | 'json' | 'sketch' | 'leave'

/** Shows the plan until the person has decided. The plan is not lost when something fails. `start`: what beginning the run would do; null where it cannot. */
export async function reviewPlan(
  desk: PlanContext,
  ask: TerminalPrompts,
  feature: string,
  standing: ExistingPlan,
  { first, start }: { first: Draft; start: string | null },
): Promise<Reviewed> {
  let draft = first
  try {
    for (;;) {
      const mistakes = showDraft(desk, feature, standing, draft)
      const choices = moves(desk, standing, draft, { mistakes, start })
      const move = await decision(desk, ask, choices, draft)
      if (move === 'take') return { kind: 'taken', draft }
      if (move === 'start') return { kind: 'start', draft }
      if (move === 'sketch') return { kind: 'sketch', draft }
      if (move === 'leave') return { kind: 'left', draft: await saveDraft(desk, feature, draft) }
      draft = await changed(move, { desk, ask, feature, standing, draft })
    }
  } catch (error) {
    if (error instanceof Cancelled) await saveDraft(desk, feature, draft)
    throw error
  }
}

/** Asks what to do with the plan. The person can read it again first. */
async function decision(
  { say, width }: PlanContext,
  ask: TerminalPrompts,
  choices: readonly Choice<Move>[],
  { prd }: Draft,
): Promise<Exclude<Move, 'look'>> {
  for (;;) {
    const move = await ask.choose('What now?', choices)
    if (move !== 'look') return move
    say(['', ...textLines(renderPrdMarkdown(prd), width), ''])
  }
}

/** The plan as it would be written; gives how many mistakes it has. */
export function showDraft(
  { ask, say, width }: PlanContext,
  feature: string,
  standing: ExistingPlan,
  { prd, questions, context }: Draft,
): number {
  const stories = storyLines(prd, sizeRemarks(prd.userStories), width)
  say(['', `${pluralize(prd.userStories.length, 'story', 'stories')}:`, ...stories])
  if (questions.length > 0) {
    const asked = questions.flatMap((one) => hanging(`? ${terminalText(one)}`, '  ', width))
    const refine = `"${REFINE}"`
    const how =
      ask === null
        ? `To answer: ralph plan ${feature} on a terminal, then ${refine}; for one story: ralph note ${prd.userStories[0]?.id ?? 'US-001'} -- <answer>`
        : `To answer, choose ${refine} below.`
    say([
      '',
      'What the session could not know, and assumed:',
      ...asked,
      ...hanging(terminalText(how), '  ', width),
    ])
  }
  if (context !== null && context !== standing.context)
    say(['', `${CONTEXT_TITLE}:`, ...textLines(context, width)])
  const difference = standing.prd === null ? [] : differenceLines(standing.prd, prd, width)
  if (difference.length > 0) say(['', `What changes in ${standing.folder}:`, ...difference])
  const mistakes = draftMistakes(prd, 'plan')
  if (mistakes.length > 0) say(['', new UserError(mistakes).message])
  say([''])
  return mistakes.length
}

function moves(
  { context, settings }: PlanContext,
  standing: ExistingPlan,
  { prd }: Draft,
  { mistakes, start }: { mistakes: number; start: string | null },
): Choice<Move>[] {
  const isNew = standing.prd === null || serializePrd(standing.prd) !== serializePrd(prd)
  const editor = terminalText(editorOf(context.env), 40)
  const all: [isPossible: boolean, Choice<Move>][] = [
    [mistakes === 0 && isNew, { value: 'take', label: 'Take it', hint: 'writes the files' }],
    [mistakes === 0 && start !== null, { value: 'start', label: 'Start the run with it', hint: start ?? '' }],
    [true, { value: 'look', label: 'Read all of it', hint: 'with its criteria' }],
    [true, { value: 'refine', label: REFINE, hint: `a session of ${settings.agent}` }],
    [isReadBack(prd), { value: 'markdown', label: 'Edit prd.md', hint: editor }],
    [true, { value: 'json', label: 'Edit prd.json', hint: editor }],
    [standing.prd === null, { value: 'sketch', label: 'Keep prd.md alone', hint: 'go on another day' }],
    [true, { value: 'leave', label: isNew ? 'Leave it' : 'Leave it as it is', hint: 'writes nothing' }],
  ]
  return all.flatMap(([isPossible, choice]) => (isPossible ? [choice] : []))
}

type Change = {
  desk: PlanContext
  ask: TerminalPrompts
  feature: string
  standing: ExistingPlan
  draft: Draft
}

async function changed(move: 'refine' | 'markdown' | 'json', change: Change): Promise<Draft> {
  const { desk, ask, draft } = change
  try {
    switch (move) {
      case 'refine':
        return await refined(change, await ask.text('What should be different?'))
      case 'markdown':
        return await edited(change, 'prd.md', renderPrdMarkdown(draft.prd), parsePage)
      case 'json':
        return await edited(change, 'prd.json', serializePrd(draft.prd), fromJson)
    }
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    desk.say([error.message])
    return draft
  }
}

/** Starts another session, with the person's words at the end of the brief. */
async function refined({ desk, feature, standing, draft }: Change, words: string): Promise<Draft> {
  if (words === '') return draft
  const brief = `${draft.brief}\n\n# What the maintainer says of the plan so far\n\n${words}`.trim()
  const proposed = await desk.planner.propose({ feature, folder: standing.folder, prd: draft.prd }, brief)
  const context = proposed.context || draft.context
  return { prd: withStoriesReplaced(draft.prd, proposed), context, questions: proposed.questions, brief }
}

/** Opens a copy in the person's editor until it can be parsed. Where the person gives up, the copy is kept, and its path is printed. */
async function edited(
  { desk: { clone, context, say }, ask, draft }: Change,
  name: 'prd.md' | 'prd.json',
  text: string,
  read: (text: string, before: Prd) => Prd,
): Promise<Draft> {
  const file = await putAside(clone, name, text)
  for (;;) {
    await openEditor(file, context.env)
    const now = await readFile(file, 'utf8')
    if (now === text) return draft
    try {
      const prd = read(now, draft.prd)
      await rm(file, { force: true })
      return { ...draft, prd }
    } catch (error) {
      if (!(error instanceof UserError)) throw error
      say([error.message])
    }
    if (await ask.yes(`Open ${name} again? Your edit is in it.`, true)) continue
    say([`Your edit stays in ${file}; the plan is as it was before it.`])
    return draft
  }
}

/** VISUAL comes before EDITOR, as in git. */
function editorOf({ VISUAL, EDITOR }: Readonly<Record<string, string>>): string {
  return VISUAL || EDITOR || 'vi'
}

/** Starts the editor by the shell, as git does, because it may have arguments. Throws UserError where it cannot be started. */
async function openEditor(file: string, env: Readonly<Record<string, string>>): Promise<void> {
  const editor = editorOf(env)
  // Ctrl+C is for the editor: it must not end this process, which has the plan.
  const stay = () => {}
  process.on('SIGINT', stay)
  const child = spawn('sh', ['-c', `${editor} "$@"`, editor, file], { stdio: 'inherit', env: { ...env } })
  const [code] = await once(child, 'close').catch((error: unknown) => [messageOf(error)])
  process.off('SIGINT', stay)
  if (code === 0) return
  const found = `${editor}, which ended with ${code}`
  const fix = 'set VISUAL or EDITOR to an editor that waits, such as `code --wait`'
  throw new UserError({ path: '$EDITOR', found, expected: 'an editor', fix })
}

function fromJson(text: string, before: Prd): Prd {
  const parsed = parsePrd(text, 'prd.json')
  if (!parsed.ok) throw new UserError(parsed.mistakes)
  const { run, userStories } = before
  return withStories({ ...parsed.prd, run, userStories }, parsed.prd.userStories)
}

/** Saves the plan outside of the work tree where sessions made it: a key press must not lose what was paid for. */
export async function saveDraft(
  { clone, planner, say }: PlanContext,
  feature: string,
  draft: Draft,
): Promise<Draft> {
  if (planner.used().calls === 0) return draft
  const file = await putAside(clone, `${feature}.json`, serializePrd(draft.prd))
  say([`The plan so far stays outside the tree: ralph plan ${feature} --from ${file}`])
  return draft
}

/** Writes a file outside of the work tree. Gives its path. */
async function putAside({ gitDir }: PlanContext['clone'], name: string, text: string): Promise<string> {
  await writeFiles(gitDir, { [`ralph/plan/${name}`]: text })
  return join(gitDir, 'ralph', 'plan', name)
}
