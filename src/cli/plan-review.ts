// The review of a plan before it is written. The person takes it, refines it in words, edits it by hand, saves it as a draft, or leaves.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Prd } from '../engine/model/feature.ts'
import { runUsage } from '../engine/model/usage-totals.ts'
import { parsePrd } from '../engine/prd/parse.ts'
import { serializePrd } from '../engine/prd/serialize.ts'
import { renderPrdMarkdown, sizeRemarks } from '../plan/documents.ts'
import { terminalText } from '../report/escape.ts'
import { pluralize } from '../report/figures.ts'
import { CONFIG } from '../setup/init/init-files.ts'
import { messageOf, UserError } from '../system/errors.ts'
import { filesOf, isGated, type PlanDialogue } from './plan-dialogue.ts'
import {
  type Draft,
  draftMistakes,
  isReadBack,
  joinContext,
  parsePage,
  withStories,
  withStoriesReplaced,
} from './plan-draft.ts'
import { propose } from './plan-session.ts'
import { CONTEXT_TITLE, differenceLines, storyLines, textLines, wrapHanging } from './plan-view.ts'
import { Cancelled, type Choice, type TerminalPrompts } from './terminal-questions.ts'
import { plannedChanges, writeFiles } from './write-files.ts'

/** `take`: all files are written. `start`: the same, and the run begins. `sketch`: only prd.md is kept. `leave`: nothing is written. */
export type Decision = 'take' | 'start' | 'sketch' | 'leave'

type Change = 'refine' | 'markdown' | 'json'
type Move = Decision | Change | 'look'

const REFINE = 'Refine it in words'

/** Shows the draft until it is decided on. A draft that sessions made is saved if it is left, or if the review fails. */
export function reviewPlan(dialogue: PlanDialogue): Promise<Decision> {
  const { ask } = dialogue
  return ask === null ? reviewUnattended(dialogue) : reviewOnTerminal(dialogue, ask)
}

/** For a plan without a person to ask. With `--yes` a plan without mistakes is taken; without it, only a plan that changes nothing. */
async function reviewUnattended(dialogue: PlanDialogue): Promise<Decision> {
  const { clone, draft, existing, typed } = dialogue
  showDraft(dialogue)
  const mistakes = draftMistakes(draft.prd, `${existing.folder}/prd.json`)
  if (mistakes.length > 0) {
    await saveDraft(dialogue)
    throw new UserError(mistakes)
  }
  if (typed.yes || (await plannedChanges(clone.workTree, filesOf(dialogue))).length === 0) return 'take'
  const found = existing.isNew
    ? 'Ralph cannot ask whether to take the plan, because there is no terminal.'
    : 'a plan already exists, and Ralph cannot ask whether to replace it, because there is no terminal.'
  const fix = 'add --yes to take the plan as it is shown'
  throw new UserError({ path: 'ralph plan', found, expected: '', fix })
}

async function reviewOnTerminal(dialogue: PlanDialogue, ask: TerminalPrompts): Promise<Decision> {
  const start = await startHint(dialogue)
  try {
    for (;;) {
      const mistakes = showDraft(dialogue)
      const move = await askForMove(dialogue, ask, choicesOf(dialogue, mistakes, start))
      if (move === 'leave') await saveDraft(dialogue)
      if (move !== 'refine' && move !== 'markdown' && move !== 'json') return move
      dialogue.draft = await changedDraft(move, dialogue, ask)
    }
  } catch (error) {
    if (error instanceof Cancelled) await saveDraft(dialogue)
    throw error
  }
}

/** What *Start the run* does first; null if no run could begin: without gates, without a commit, or on a tree that is not clean. */
async function startHint(dialogue: PlanDialogue): Promise<string | null> {
  const { answered, clone, local } = dialogue
  if (!isGated(dialogue) || clone.head === null || local === null) return null
  const dirt = await local.workspace.repository.uncommitted(clone.head)
  if (dirt.some(({ path }) => !path.startsWith('.ralph/'))) return null
  return answered.config === null ? 'writes the files first' : `commits ${CONFIG} first`
}

/** Asks what to do with the plan. The person can read it again first. */
async function askForMove(
  { draft, say, width }: PlanDialogue,
  ask: TerminalPrompts,
  choices: readonly Choice<Move>[],
): Promise<Exclude<Move, 'look'>> {
  for (;;) {
    const move = await ask.choose('What now?', choices)
    if (move !== 'look') return move
    say(['', ...textLines(renderPrdMarkdown(draft.prd), width), ''])
  }
}

/** Prints the plan as it would be written, and returns the number of its mistakes. */
function showDraft({ ask, draft, existing, feature, say, width }: PlanDialogue): number {
  const { prd, questions, context } = draft
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
      'Open questions, and what the session assumed:',
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

function choicesOf(
  { context, draft: { prd }, existing, settings }: PlanDialogue,
  mistakes: number,
  start: string | null,
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

/** The draft after the change. If the change fails, prints why and returns the draft unchanged. */
async function changedDraft(change: Change, dialogue: PlanDialogue, ask: TerminalPrompts): Promise<Draft> {
  const { draft, say } = dialogue
  try {
    switch (change) {
      case 'refine':
        return await refine(dialogue, await ask.text('What should be different?'))
      case 'markdown':
        return await editByHand(dialogue, ask, 'prd.md', renderPrdMarkdown(draft.prd), parsePage)
      case 'json':
        return await editByHand(dialogue, ask, 'prd.json', serializePrd(draft.prd), fromJson)
    }
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    say([error.message])
    return draft
  }
}

/** Starts another session, with the person's words at the end of the brief. */
async function refine(dialogue: PlanDialogue, words: string): Promise<Draft> {
  const { draft } = dialogue
  if (words === '') return draft
  const brief = `${draft.brief}\n\n# What the maintainer says about the plan so far\n\n${words}`.trim()
  const proposed = await propose(dialogue, brief)
  const { background } = draft
  const context = proposed.context === '' ? draft.context : joinContext(background, proposed.context)
  const prd = withStoriesReplaced(draft.prd, proposed)
  return { prd, context, questions: proposed.questions, brief, background }
}

/** Opens a copy in the person's editor until it can be parsed. If the person gives up, the copy stays, and its path is printed. */
async function editByHand(
  { clone, context, draft, say }: PlanDialogue,
  ask: TerminalPrompts,
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
    say([`The plan is unchanged. Your edit is in ${file}.`])
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
  const found = `the editor ${editor} ended with exit code ${code}.`
  const fix = 'set VISUAL or EDITOR to an editor that waits, such as `code --wait`'
  throw new UserError({ path: '$EDITOR', found, expected: '', fix })
}

function fromJson(text: string, before: Prd): Prd {
  const parsed = parsePrd(text, 'prd.json')
  if (!parsed.ok) throw new UserError(parsed.mistakes)
  const { run, userStories } = before
  return withStories({ ...parsed.prd, run, userStories }, parsed.prd.userStories)
}

/** Saves the plan outside of the work tree if sessions made it: a key press must not lose what was paid for. */
async function saveDraft({ clone, draft, feature, say, sessions }: PlanDialogue): Promise<void> {
  if (runUsage({ sessions }).calls === 0) return
  const file = await writeAside(clone, `${feature}.json`, serializePrd(draft.prd))
  say([`The plan so far is saved. To continue with it: ralph plan ${feature} --from ${file}`])
}

/** Writes a file outside of the work tree. Gives its path. */
async function writeAside({ gitDir }: PlanDialogue['clone'], name: string, text: string): Promise<string> {
  await writeFiles(gitDir, { [`ralph/plan/${name}`]: text })
  return join(gitDir, 'ralph', 'plan', name)
}
