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
  joinContext,
  parsePage,
  withStories,
  withStoriesReplaced,
} from './plan-draft.ts'
import { CONTEXT_TITLE, differenceLines, storyLines, textLines, wrapHanging } from './plan-view.ts'
import { Cancelled, type Choice, type TerminalPrompts } from './terminal-questions.ts'
import { writeFiles } from './write-files.ts'

/** `start`: the plan is taken, and its run begins. `sketch`: only prd.md is kept. */
export type Reviewed = { kind: 'taken' | 'start' | 'sketch' | 'left'; draft: Draft }

const REFINE = 'Refine it in words'

type Move = 'take' | 'start' | 'look' | 'refine' | 'markdown' | 'json' | 'sketch' | 'leave'

/** Shows the plan until the person decides, and saves it where something fails. `start`: the hint of *Start the run*; null for none. */
export async function reviewPlan(
  planContext: PlanContext,
  ask: TerminalPrompts,
  feature: string,
  existing: ExistingPlan,
  { first, start }: { first: Draft; start: string | null },
): Promise<Reviewed> {
  let draft = first
  try {
    for (;;) {
      const mistakes = showDraft(planContext, feature, existing, draft)
      const choices = moves(planContext, existing, draft, { mistakes, start })
      const move = await askForMove(planContext, ask, choices, draft)
      if (move === 'take') return { kind: 'taken', draft }
      if (move === 'start') return { kind: 'start', draft }
      if (move === 'sketch') return { kind: 'sketch', draft }
      if (move === 'leave') return { kind: 'left', draft: await saveDraft(planContext, feature, draft) }
      draft = await applyChange(move, { planContext, ask, feature, existing, draft })
    }
  } catch (error) {
    if (error instanceof Cancelled) await saveDraft(planContext, feature, draft)
    throw error
  }
}

/** Asks what to do with the plan. The person can read it again first. */
async function askForMove(
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

/** Prints the plan as it would be written, and returns the number of its mistakes. */
export function showDraft(
  { ask, say, width }: PlanContext,
  feature: string,
  existing: ExistingPlan,
  { prd, questions, context }: Draft,
): number {
  const stories = storyLines(prd, sizeRemarks(prd.userStories), width)
  say(['', `${pluralize(prd.userStories.length, 'story', 'stories')}:`, ...stories])
  if (questions.length > 0) {
    const questionLines = questions.flatMap((one) => wrapHanging(`? ${terminalText(one)}`, '  ', width))
    const refine = `"${REFINE}"`
    const how =
      ask === null
        ? `To answer: ralph plan ${feature} on a terminal, then ${refine}; for one story: ralph note ${prd.userStories[0]?.id ?? 'US-001'} -- <answer>`
        : `To answer, choose ${refine} below.`
    say([
      '',
      'The session did not know these, and assumed:',
      ...questionLines,
      ...wrapHanging(terminalText(how), '  ', width),
    ])
  }
  if (context !== null && context !== existing.context)
    say(['', `${CONTEXT_TITLE}:`, ...textLines(context, width)])
  const difference = existing.prd === null ? [] : differenceLines(existing.prd, prd, width)
  if (difference.length > 0) say(['', `What changes in ${existing.folder}:`, ...difference])
  const mistakes = draftMistakes(prd, 'plan')
  if (mistakes.length > 0) say(['', new UserError(mistakes).message])
  say([''])
  return mistakes.length
}

function moves(
  { context, settings }: PlanContext,
  existing: ExistingPlan,
  { prd }: Draft,
  { mistakes, start }: { mistakes: number; start: string | null },
): Choice<Move>[] {
  const isNew = existing.prd === null || serializePrd(existing.prd) !== serializePrd(prd)
  const editor = terminalText(editorOf(context.env), 40)
  const all: [isPossible: boolean, Choice<Move>][] = [
    [mistakes === 0 && isNew, { value: 'take', label: 'Take it', hint: 'writes the files' }],
    [mistakes === 0 && start !== null, { value: 'start', label: 'Start the run with it', hint: start ?? '' }],
    [true, { value: 'look', label: 'Read all of it', hint: 'with its criteria' }],
    [true, { value: 'refine', label: REFINE, hint: `a session of ${settings.agent}` }],
    [isReadBack(prd), { value: 'markdown', label: 'Edit prd.md', hint: editor }],
    [true, { value: 'json', label: 'Edit prd.json', hint: editor }],
    [existing.prd === null, { value: 'sketch', label: 'Keep only prd.md', hint: 'continue another day' }],
    [true, { value: 'leave', label: isNew ? 'Leave it' : 'Leave it as it is', hint: 'writes nothing' }],
  ]
  return all.flatMap(([isPossible, choice]) => (isPossible ? [choice] : []))
}

type Change = {
  planContext: PlanContext
  ask: TerminalPrompts
  feature: string
  existing: ExistingPlan
  draft: Draft
}

async function applyChange(move: 'refine' | 'markdown' | 'json', change: Change): Promise<Draft> {
  const { planContext, ask, draft } = change
  try {
    switch (move) {
      case 'refine':
        return await refine(change, await ask.text('What should be different?'))
      case 'markdown':
        return await editByHand(change, 'prd.md', renderPrdMarkdown(draft.prd), parsePage)
      case 'json':
        return await editByHand(change, 'prd.json', serializePrd(draft.prd), fromJson)
    }
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    planContext.say([error.message])
    return draft
  }
}

/** Starts another session, with the person's words at the end of the brief. */
async function refine({ planContext, feature, existing, draft }: Change, words: string): Promise<Draft> {
  if (words === '') return draft
  const brief = `${draft.brief}\n\n# What the maintainer says of the plan so far\n\n${words}`.trim()
  const proposed = await planContext.planner.propose(
    { feature, folder: existing.folder, prd: draft.prd },
    brief,
  )
  const { background } = draft
  const context = proposed.context === '' ? draft.context : joinContext(background, proposed.context)
  const prd = withStoriesReplaced(draft.prd, proposed)
  return { prd, context, questions: proposed.questions, brief, background }
}

/** Opens a copy in the person's editor until it can be parsed. If the person gives up, the copy stays, and its path is printed. */
async function editByHand(
  { planContext: { clone, context, say }, ask, draft }: Change,
  name: 'prd.md' | 'prd.json',
  text: string,
  read: (text: string, before: Prd) => Prd,
): Promise<Draft> {
  const file = await writeAside(clone, name, text)
  for (;;) {
    await openEditor(file, context.env)
    const current = await readFile(file, 'utf8')
    if (current === text) return draft
    try {
      const prd = read(current, draft.prd)
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

/** Starts the editor by the shell, as git does, because it may have arguments. Throws UserError if it cannot be started. */
async function openEditor(file: string, env: Readonly<Record<string, string>>): Promise<void> {
  const editor = editorOf(env)
  // Ctrl+C is for the editor, and must not end this process, which holds the plan.
  const ignore = () => {}
  process.on('SIGINT', ignore)
  const child = spawn('sh', ['-c', `${editor} "$@"`, editor, file], { stdio: 'inherit', env: { ...env } })
  const [code] = await once(child, 'close').catch((error: unknown) => [messageOf(error)])
  process.off('SIGINT', ignore)
  if (code === 0) return
  const found = `the editor ${editor} ended with ${code}.`
  const fix = 'set VISUAL or EDITOR to an editor that waits, such as `code --wait`'
  throw new UserError({ path: '$EDITOR', found, expected: '', fix })
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
  if (planner.usage().calls === 0) return draft
  const file = await writeAside(clone, `${feature}.json`, serializePrd(draft.prd))
  say([`The plan so far stays outside the tree: ralph plan ${feature} --from ${file}`])
  return draft
}

/** Writes a file outside of the work tree. Gives its path. */
async function writeAside({ gitDir }: PlanContext['clone'], name: string, text: string): Promise<string> {
  await writeFiles(gitDir, { [`ralph/plan/${name}`]: text })
  return join(gitDir, 'ralph', 'plan', name)
}
