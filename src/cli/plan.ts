// `ralph plan`: documents, a sentence or an interview become the stories of a feature. Changes no code and passes nothing.
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { nameOf } from '../git/features.ts'
import { openClone } from '../git/git.ts'
import type { Prd } from '../model/feature.ts'
import { outputsOf } from '../report/outputs.ts'
import { many } from '../report/words.ts'
import { UserError } from '../system/errors.ts'
import { MARK_NAME } from '../system/orphans.ts'
import { type Answer, type Context, settingsOf, tell } from './context.ts'
import { openLocal } from './local.ts'
import { filesOf, type Standing, standingOf } from './plan-feature.ts'
import { type DocumentFile, type Documents, mergePlanned, readDocuments } from './plan-reading.ts'
import { differenceLines, sourceLines, storyLines } from './plan-view.ts'
import { finishWriting, writeAll } from './plan-write.ts'

/** Gives 0 where the plan is written or says what stands there already, 1 where it was left, 130 where it was interrupted. */
export async function plan(context: Context): Promise<Answer> {
  refuseFromInside(context)
  const wanted = wantedOf(context)
  const { settings, notes } = await settingsOf({ ...context, feature: wanted.feature })
  const stream = context.json ? process.stderr : process.stdout
  const say = (lines: readonly string[]) => tell(stream, lines.join('\n'))
  const width = stream.isTTY ? Math.min(100, stream.columns) : null
  const warn = (text: string) => tell(process.stderr, `warning: ${text}`)
  for (const note of notes) warn(note)
  const clone = await openClone(context.directory, context.env)
  using local = clone.head === null ? null : await openLocal(context, settings, { warn })
  await finishWriting(clone)
  const documents = read(await filesAt(context.directory, wanted.from))
  for (const note of documents.notes) warn(note)
  const name = settings.feature ?? nameOf(documents.prd, settings.branchPrefix)
  const standing = await standingOf(name, clone, local, new Date().toISOString().slice(0, 10))
  const before = standing.prd
  const planned = before === null ? documents.prd : mergePlanned(before, documents.prd).prd
  say(['Read without an agent:', ...sourceLines(documents.sources, width), ''])
  say([
    `${many(planned.userStories.length, 'story', 'stories')}, in order:`,
    ...storyLines(planned, [], width),
    '',
  ])
  const difference = before === null ? [] : differenceLines(before, planned, width)
  if (difference.length > 0) say([`${standing.folder} stands there; the plan changes:`, ...difference, ''])
  const files = filesOf(standing.folder, planned, documents.context)
  if (!wanted.yes) throw unasked(name, standing)
  const written = await writeAll(clone, files)
  if (written.length === 0) say([`${standing.folder} says all of it already: nothing was changed.`])
  else say(written.map((path) => `written: ${path}`))
  say(['', 'Next:', `  look at ${standing.folder}/prd.md`, `  ralph run ${name}`])
  return answerOf(name, planned, { sources: documents.sources, notes: documents.notes, written })
}

function answerOf(feature: string, prd: Prd, more: Record<string, unknown>): Answer {
  const stories = prd.userStories.map(({ id, title, acceptanceCriteria, dependsOn, passes }) => ({
    id,
    title,
    criteria: acceptanceCriteria.length,
    dependsOn,
    passes,
  }))
  const passed = stories.filter(({ passes }) => passes).length
  const outputs = {
    ...outputsOf(null, null, null),
    feature,
    storiesTotal: stories.length,
    storiesPassed: passed,
  }
  return { code: 0, outputs, more: { stories, ...more } }
}

function unasked(name: string, { prd }: Standing): UserError {
  const found =
    prd === null ? 'no terminal to ask on' : `a plan of ${name} already, and no terminal to ask on`
  const fix = 'add --yes to take the plan as it is shown'
  return new UserError({ path: 'ralph plan', found, expected: 'a yes', fix })
}

function refuseFromInside({ env }: Context): void {
  if (env[MARK_NAME] === undefined) return
  const found = 'a command typed by an agent or a gate'
  throw new UserError({ path: 'ralph plan', found, expected: 'a person', fix: 'leave it to people' })
}

type Wanted = { feature: string | null; sentence: string; from: readonly string[]; yes: boolean }

function wantedOf({ given, flags, feature }: Context): Wanted {
  const [named, ...rest] = given?.words ?? []
  const sentence = given?.text.replace(/\s+/g, ' ').trim() ?? ''
  if (rest.length > 0) {
    const found = [named, ...rest].join(' ')
    const fix = `ralph plan ${named} -- "${rest.join(' ')}"`
    throw new UserError({ path: 'ralph plan', found, expected: 'one word, the feature', fix })
  }
  const from = Array.isArray(flags.from) ? flags.from : []
  return { feature: named ?? feature, sentence, from, yes: flags.yes === true }
}

async function filesAt(directory: string, paths: readonly string[]): Promise<DocumentFile[]> {
  return Promise.all(
    paths.map(async (path) => ({ path, text: await readFile(resolve(directory, path), 'utf8') })),
  )
}

function read(files: readonly DocumentFile[]): Documents {
  const result = readDocuments(files)
  if (!result.ok) throw new UserError(result.mistakes)
  return result.documents
}
