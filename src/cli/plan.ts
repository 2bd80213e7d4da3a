// `ralph plan`: documents, a sentence or an interview become the stories of a feature. Changes no code and passes nothing.
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { terminalText } from '../report/escape.ts'
import { EXIT_CODES, outputsOf } from '../report/outputs.ts'
import { UserError } from '../system/errors.ts'
import { MARK_NAME } from '../system/orphans.ts'
import { Cancelled } from './ask.ts'
import type { Answer, Context } from './context.ts'
import { answerOf, nextLines, sketchLines, writtenLines } from './plan-answer.ts'
import { type Desk, openDesk, type Wanted } from './plan-desk.ts'
import { type Draft, draftMistakes } from './plan-draft.ts'
import { filesOf, type Standing, sketchOf, standingOf } from './plan-feature.ts'
import { askSettings, chosenScope } from './plan-interview.ts'
import { firstDraft, materialOf, nameFor, showMaterial } from './plan-material.ts'
import { fromPage, isEdited } from './plan-page.ts'
import { keep, review, show } from './plan-review.ts'
import { changesBy, writeAll } from './plan-write.ts'

/** Gives 0 where the plan is written or stands already, 1 where the person left it, 130 where it was interrupted. */
export async function plan(context: Context): Promise<Answer> {
  refuseFromInside(context)
  const wanted = wantedOf(context)
  using desk = await openDesk({ ...context, feature: wanted.feature }, !wanted.yes)
  try {
    return await planned(desk, { ...wanted, feature: desk.settings.feature })
  } catch (error) {
    if (!(error instanceof Cancelled)) throw error
    desk.say(['', 'Interrupted: nothing was written.'])
    const outputs = { ...outputsOf(null, 'interrupted', null), feature: wanted.feature }
    return { code: EXIT_CODES.interrupted, outputs, more: { written: [] } }
  }
}

async function planned(desk: Desk, wanted: Wanted): Promise<Answer> {
  const { ask, clone, planner } = desk
  const known = wanted.feature === null ? null : await standingOf(wanted.feature, desk)
  const material = await materialOf(desk, wanted, known)
  showMaterial(desk, material)
  const feature = wanted.feature ?? (await nameFor(desk, material))
  const standing = await settled(desk, wanted, known ?? (await standingOf(feature, desk)))
  const read = material.documents?.prd ?? null
  const scope = read === null ? null : await chosenScope(ask, desk.settings, read)
  const chosen =
    ask === null || !standing.isNew
      ? null
      : await askSettings(ask, clone.workTree, desk.context.flags, material, desk.settings)
  planner.choose(chosen?.flags ?? {})
  const draft = await firstDraft(desk, wanted, material, { feature, scope, standing })
  const branch = `${desk.settings.branchPrefix}${feature}`
  if (standing.isNew && ![branch, ''].includes(draft.prd.branchName))
    desk.say([
      '',
      `A run works on ${terminalText(draft.prd.branchName)}, as the documents say, not on ${branch}.`,
    ])
  const reviewed =
    ask === null
      ? await unasked(desk, feature, wanted, standing, draft)
      : await review(desk, ask, feature, standing, draft)
  const { prd } = reviewed.draft
  if (reviewed.kind === 'left') return answerOf(desk, feature, prd, material, { code: 1, written: [] })
  const { folder } = standing
  const isSketch = reviewed.kind === 'sketch'
  const files = isSketch ? sketchOf(folder, reviewed.draft) : filesOf(standing, reviewed.draft)
  const config = chosen?.config == null ? {} : { 'ralph.config.yml': chosen.config }
  const written = await writeAll(clone, { ...config, ...files })
  desk.say(writtenLines(folder, written))
  const isGated = chosen?.config != null || desk.settings.gates.length > 0 || desk.settings.ungated
  desk.say(isSketch ? sketchLines(feature) : await nextLines(desk, feature, { folder, isGated }))
  return answerOf(desk, feature, prd, material, { code: 0, written })
}

/** Words that people wrote into prd.md and not into prd.json would be lost: they are taken, or given up outright. */
async function settled({ ask }: Desk, { from }: Wanted, standing: Standing): Promise<Standing> {
  const { folder, prd, markdown } = standing
  if (prd === null || markdown === null || !isEdited(markdown, prd)) return standing
  const path = `${folder}/prd.md`
  const isNamed = from.some((one) => one.endsWith(path))
  if (isNamed || (await ask?.yes(`${path} says otherwise than prd.json beside it. Take its words?`, true)))
    return { ...standing, base: fromPage(markdown, prd, path) }
  if (ask !== null) return standing
  const fix = `take its words (--from ${path}), or remove it: it is written anew from prd.json`
  throw new UserError({
    path,
    found: 'words that prd.json beside it does not have',
    expected: 'the same in both',
    fix,
  })
}

/** Nobody is asked: with `--yes` a plan without a mistake is taken; without it, only one that changes nothing. */
async function unasked(
  desk: Desk,
  feature: string,
  { yes }: Wanted,
  standing: Standing,
  draft: Draft,
): Promise<{ kind: 'taken'; draft: Draft }> {
  show(desk, standing, draft)
  const mistakes = draftMistakes(draft.prd, `${standing.folder}/prd.json`)
  if (mistakes.length > 0) {
    await keep(desk, feature, draft)
    throw new UserError(mistakes)
  }
  if (yes || (await changesBy(desk.clone, filesOf(standing, draft))).length === 0)
    return { kind: 'taken', draft }
  const found = standing.isNew ? 'no terminal to ask on' : 'a plan of it already, and no terminal to ask on'
  const fix = 'add --yes to take the plan as it is shown'
  throw new UserError({ path: 'ralph plan', found, expected: 'a yes', fix })
}

function refuseFromInside({ env }: Context): void {
  if (env[MARK_NAME] === undefined) return
  const found = 'a command typed by an agent or a gate'
  throw new UserError({ path: 'ralph plan', found, expected: 'a person', fix: 'leave it to people' })
}

function wantedOf({ given, flags, feature, directory }: Context): Wanted {
  const [named, ...rest] = given?.words ?? []
  if (rest.length > 0) {
    const found = [named, ...rest].join(' ')
    const fix = `ralph plan ${named} -- ${rest.join(' ')}`
    throw new UserError({ path: 'ralph plan', found, expected: 'one word, the name of the feature', fix })
  }
  const sentence = given?.text.replace(/\s+/g, ' ').trim() ?? ''
  const from: string[] = Array.isArray(flags.from) ? flags.from : []
  refuseNameBehind(from, directory)
  return { feature: named ?? feature, sentence, from, yes: flags.yes === true }
}

/** Words behind `--from` are all paths. */
function refuseNameBehind(from: readonly string[], directory: string): void {
  const [last = '', ...paths] = from.toReversed()
  if (paths.length === 0 || !/^[\w-]+$/.test(last) || existsSync(resolve(directory, last))) return
  const fix = `a feature is named first: ralph plan ${last} --from ${paths.reverse().join(' ')}`
  throw new UserError({ path: '--from', found: last, expected: 'a file or a folder', fix })
}
