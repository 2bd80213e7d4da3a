// `ralph plan`: documents, a sentence or an interview become the stories of a feature. Changes no code and passes nothing.
import { oneLine } from '../engine/model/text.ts'
import { runUsage } from '../engine/model/usage-totals.ts'
import { execute, gitEnv } from '../git/git-process.ts'
import type { RequestedUse } from '../plan/types.ts'
import { terminalText } from '../report/escape.ts'
import { outputsOf } from '../report/outputs.ts'
import { CONFIG } from '../setup/init/init-files.ts'
import { messageOf, UserError } from '../system/errors.ts'
import {
  type CommandResult,
  type Context,
  errorResult,
  interruptedResult,
  refuseFromInside,
  refuseTwoFeatures,
} from './command-context.ts'
import { askSettings, chosenScope } from './init-questions.ts'
import {
  type ExistingPlan,
  filesOf,
  isGated,
  openPlace,
  type PlanArguments,
  type PlanDialogue,
  type PlanPlace,
  readExistingPlan,
  sketchOf,
} from './plan-dialogue.ts'
import { isEdited, parsePage } from './plan-draft.ts'
import { chooseName, makeFirstDraft, readMaterial, showMaterial } from './plan-material.ts'
import { reviewPlan } from './plan-review.ts'
import { run } from './run.ts'
import { Cancelled } from './terminal-questions.ts'
import { writeFiles } from './write-files.ts'

/** Exit code: 0 if the plan is written or exists already, 1 if the person left, 130 if interrupted, or that of the run. */
export async function plan(context: Context): Promise<CommandResult> {
  refuseFromInside(context)
  const { start, ...answer } = await planOnly(context)
  return start === undefined ? answer : run(runContext(context, start))
}

/** `start`: the feature whose run the person wants to begin now. */
type PlanResult = CommandResult & { start?: string }

async function planOnly(context: Context): Promise<PlanResult> {
  const typed = argumentsOf(context)
  using place = await openPlace({ ...context, feature: typed.feature }, typed)
  try {
    return await planFeature(place)
  } catch (error) {
    // What sessions used is reported, even if they made no plan.
    const usage = runUsage(place)
    const isInterrupted = error instanceof Cancelled
    if (isInterrupted) place.say(['', 'Interrupted: nothing was written.'])
    const { code, outputs, more } = isInterrupted ? interruptedResult() : errorResult(context, error)
    const withFeature = { ...outputs, feature: typed.feature, costUsd: usage.costUsd }
    return { code, outputs: withFeature, more: { ...more, written: place.written, usage } }
  }
}

async function planFeature(place: PlanPlace): Promise<PlanResult> {
  const { clone, say } = place
  const dialogue = await begin(place)
  const { answered, existing, feature } = dialogue
  const decision = await reviewPlan(dialogue)
  if (decision === 'leave') return resultOf(dialogue, 1)
  const config = answered.config === null ? {} : { [CONFIG]: answered.config }
  const files = decision === 'sketch' ? sketchOf(dialogue) : filesOf(dialogue)
  dialogue.written = await writeFiles(clone.workTree, { ...config, ...files })
  if (dialogue.written.length === 0) say([`${existing.folder} already has this plan: nothing was changed.`])
  else say(dialogue.written.map((path) => `written: ${path}`))
  if (decision === 'start') {
    if (answered.config !== null) await commitConfig(clone.workTree, dialogue.context.env)
    return { ...resultOf(dialogue, 0), start: feature }
  }
  const next = decision === 'sketch' ? [`ralph plan ${feature}`] : await nextCommands(dialogue)
  say(['', 'Next:', ...next.map((line) => `  ${line}`)])
  return resultOf(dialogue, 0)
}

/** Asks what flags and documents leave open, and makes the first draft. */
async function begin(place: PlanPlace): Promise<PlanDialogue> {
  const { ask, say, settings, typed } = place
  const known = typed.feature === null ? null : await readExistingPlan(typed.feature, place)
  const material = await readMaterial(place, known)
  showMaterial(place, material)
  const { documents } = material
  const feature = typed.feature ?? (await chooseName(place, material))
  const existing = await withEditedPage(place, known ?? (await readExistingPlan(feature, place)))
  const scope = documents === null ? null : await chosenScope(ask, settings, documents.prd)
  const answered =
    ask === null || !existing.isNew ? { flags: {}, config: null } : await askSettings(ask, place, documents)
  const background = documents?.context ?? ''
  const draft = { prd: existing.base, context: existing.context, questions: [], brief: '', background }
  const dialogue: PlanDialogue = Object.assign(place, { feature, existing, material, answered, draft })
  await makeFirstDraft(dialogue, scope)
  const branch = `${settings.branchPrefix}${feature}`
  const { branchName } = dialogue.draft.prd
  if (existing.isNew && ![branch, ''].includes(branchName))
    say([
      '',
      `The documents name the branch ${terminalText(branchName)}, so a run works there, not on ${branch}.`,
    ])
  return dialogue
}

/** If prd.md has edits that prd.json lacks, they are taken into the plan, unless the person gives them up. Otherwise they would be lost. */
async function withEditedPage(
  { ask, typed: { from } }: PlanPlace,
  existing: ExistingPlan,
): Promise<ExistingPlan> {
  const { folder, prd, markdown } = existing
  if (prd === null || markdown === null || !isEdited(markdown, prd)) return existing
  const path = `${folder}/prd.md`
  const isNamed = from.some((file) => file.endsWith(path))
  if (isNamed || (await ask?.yes(`${path} was edited and differs from prd.json. Take its text?`, true)))
    return { ...existing, base: parsePage(markdown, prd, path) }
  if (ask !== null) return existing
  const found = 'it was edited and no longer matches prd.json.'
  const fix = `take its text (--from ${path}), or remove it: Ralph writes it again from prd.json`
  throw new UserError({ path, found, expected: '', fix })
}

function argumentsOf(context: Context): PlanArguments {
  const { args, flags, feature } = context
  const [word, ...rest] = args?.words ?? []
  refuseTwoFeatures(context, word)
  if (rest.length > 0) {
    const found = `a feature's name is one word, but there are several: ${[word, ...rest].join(' ')}.`
    const fix = `ralph plan ${word} -- ${rest.join(' ')}`
    throw new UserError({ path: 'ralph plan', found, expected: '', fix })
  }
  const sentence = args?.text.replace(/\s+/g, ' ').trim() ?? ''
  const from: string[] = Array.isArray(flags.from) ? flags.from : []
  const as = kindsOf(Array.isArray(flags.as) ? flags.as : [])
  return {
    feature: word ?? feature,
    sentence,
    from,
    as,
    yes: flags.yes === true,
    replace: flags.replace === true,
  }
}

/** Reads the words of `--as stories A B --as background C`: each file has the use that precedes it. */
function kindsOf(words: readonly string[]): Map<string, RequestedUse> {
  const kinds = new Map<string, RequestedUse>()
  let kind: RequestedUse | null = null
  for (const word of words) {
    if (word === 'stories' || word === 'background') kind = word
    else if (kind !== null) kinds.set(word, kind)
    else break
  }
  if (words.length === 0 || kinds.size > 0) return kinds
  const fix = 'ralph plan --as stories TODO.md --as background docs/prd.md'
  throw new UserError({
    path: '--as',
    found: words.join(' '),
    expected: 'stories or background, and a file',
    fix,
  })
}

/** The context of `ralph run` for the planned feature, without the flags that only a plan takes. */
function runContext(context: Context, feature: string): Context {
  const {
    from: _,
    as: _as,
    yes: _yes,
    replace: _replace,
    ask: _ask,
    stories: _stories,
    epic: _epic,
    ...flags
  } = context.flags
  return { ...context, command: 'run', flags, args: null, feature }
}

/** Commits the configuration, since a run begins only on a clean tree. Uses the person's own git, so that their hooks run. */
async function commitConfig(directory: string, env: Context['env']): Promise<void> {
  const options = { directory, env: gitEnv(env) }
  try {
    await execute(['add', '--', CONFIG], options)
    await execute(
      ['commit', '--quiet', '--message', 'chore: configure ralph', '--only', '--', CONFIG],
      options,
    )
  } catch (error) {
    const found = `git could not commit it: ${oneLine(messageOf(error), 300)}`
    const fix = `the plan is written: commit ${CONFIG} yourself, then ralph run`
    throw new UserError({ path: CONFIG, found, expected: '', fix })
  }
}

/** The commands that a person needs to start the plan's run. */
async function nextCommands(dialogue: PlanDialogue): Promise<string[]> {
  const { clone, existing, feature, local } = dialogue
  const dirt = clone.head === null ? null : await local?.workspace.repository.uncommitted(clone.head)
  // A run begins only on a clean tree. Only the plan itself need not be committed: the run takes it up.
  const isDirty = dirt?.some(({ path }) => !path.startsWith('.ralph/')) ?? true
  return [
    `look at ${existing.folder}/prd.md`,
    ...(isGated(dialogue) ? [] : ['ralph init   # no command checks the stories yet']),
    ...(isDirty ? ['git add -A && git commit   # or stash any other changes'] : []),
    `ralph run ${feature}`,
  ]
}

function resultOf({ draft, feature, material, sessions, written }: PlanDialogue, code: 0 | 1): CommandResult {
  const stories = draft.prd.userStories.map(({ id, title, acceptanceCriteria, dependsOn, passes }) => {
    return { id, title, criteria: acceptanceCriteria.length, dependsOn, imported: passes }
  })
  const usage = runUsage({ sessions })
  const outputs = {
    ...outputsOf(null, null, null),
    feature,
    storiesTotal: stories.length,
    storiesPassed: stories.filter(({ imported }) => imported).length,
    costUsd: usage.costUsd,
  }
  const { sources = [], taken = [], notes = [] } = material.documents ?? {}
  return { code, outputs, more: { stories, sources, taken, notes, written, usage } }
}
