// What a plan is made from: documents that are named or found, a sentence, an answer; and the first draft of it.
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { nameOf } from '../git/features.ts'
import type { Prd } from '../model/feature.ts'
import { terminalText } from '../report/escape.ts'
import { many } from '../report/words.ts'
import { UserError } from '../system/errors.ts'
import type { Desk, Wanted } from './plan-desk.ts'
import {
  added,
  type Draft,
  emptyPrd,
  nameOfSentence,
  plannedFrom,
  scoped,
  withPlannedFrom,
} from './plan-draft.ts'
import type { Standing } from './plan-feature.ts'
import { askName, askScope, askSentence } from './plan-interview.ts'
import { type DocumentFile, type Documents, mergePlanned, readDocuments } from './plan-reading.ts'
import { fromMarkdown } from './plan-review.ts'
import { hanging, sourceLines } from './plan-view.ts'

/** `sentence` is empty where documents are all there is. */
export type Material = { documents: Documents | null; sentence: string }

export async function materialOf(desk: Desk, wanted: Wanted): Promise<Material> {
  const files = wanted.from.length > 0 ? await filesAt(desk.context.directory, wanted.from) : []
  if (files.length > 0) return { documents: read(files), sentence: wanted.sentence }
  return { documents: null, sentence: wanted.sentence }
}

/** The feature's name: as it was given, as the person says, or as its documents or its sentence say. */
export async function featureOf(
  { ask, settings }: Desk,
  { feature }: Wanted,
  material: Material,
): Promise<string> {
  if (feature !== null) return feature
  const { documents, sentence } = material
  const standard =
    documents === null ? nameOfSentence(sentence) : nameOf(documents.prd, settings.branchPrefix)
  return ask === null ? standard : askName(ask, standard)
}

export function showMaterial({ say, width, settings }: Desk, { documents }: Material): void {
  if (documents === null) return
  const { sources, prose, notes, gates } = documents
  if (sources.length > 0) say(['Read without an agent:', ...sourceLines(sources, width)])
  if (prose.length > 0)
    say(['Prose, for a session to plan from:', ...prose.map(({ path }) => `  ${terminalText(path)}`)])
  const proposals = Object.entries(gates).map(([name, run]) => `${name}: ${run}`)
  const mentioned =
    proposals.length > 0 && settings.gates.length === 0
      ? [`gates that the documents name, and nothing runs from there: ${proposals.join('; ')}`]
      : []
  const all = [...notes, ...mentioned]
  if (all.length > 0)
    say(['', 'To know:', ...all.flatMap((one) => hanging(`- ${terminalText(one)}`, '  ', width))])
}

/** Documents over what stands, prose and a sentence through a session; without any, what stands. */
export async function firstDraft(
  desk: Desk,
  wanted: Wanted,
  { documents, sentence: given }: Material,
  feature: string,
  standing: Standing,
): Promise<Draft> {
  const base = baseOf(standing)
  let prd = base
  let context = standing.context
  if (documents !== null && documents.prd.userStories.length > 0) {
    const scope = desk.ask === null ? null : await askScope(desk.ask, documents)
    const part = scoped(documents.prd, scope)
    if (part.along.length > 0)
      desk.say([`Others wait for them, so they come along: ${part.along.join(', ')}`])
    prd = prd.userStories.length === 0 ? part.prd : mergePlanned(prd, part.prd).prd
    context ??= documents.context || null
  }
  const prose = await proseOf(desk, wanted, documents, base)
  const isNothing = given === '' && prose.length === 0 && prd.userStories.length === 0
  const sentence = isNothing ? await sentenceOf(desk) : given
  const brief = [...prose.map(({ path, text }) => `# ${path}\n\n${text}`), sentence]
    .filter(Boolean)
    .join('\n\n')
  if (brief === '') return { prd, context, questions: [], brief }
  const proposed = await desk.planner.propose({ feature, folder: standing.folder, prd }, brief)
  const digests = Object.fromEntries(prose.map(({ path, text }) => [path, digestOf(text)]))
  const whole = added(prd, proposed)
  return {
    prd: prose.length === 0 ? whole : withPlannedFrom(whole, digests),
    context: context ?? (proposed.context || null),
    questions: proposed.questions,
    brief,
  }
}

function baseOf({ prd, markdown }: Standing): Prd {
  const nothing = emptyPrd('')
  if (prd !== null) return prd
  return markdown === null ? nothing : fromMarkdown(markdown, nothing)
}

/** Prose that a session is to read: all where nobody wrote stories, else what was named; not what was planned from already. */
async function proseOf(
  { ask, say }: Desk,
  { from }: Wanted,
  documents: Documents | null,
  base: Prd,
): Promise<readonly DocumentFile[]> {
  const known = plannedFrom(base)
  const fresh = documents?.prose.filter(({ path, text }) => known[path] !== digestOf(text)) ?? []
  const old = (documents?.prose.length ?? 0) - fresh.length
  if (old > 0)
    say([`${many(old, 'document')} of prose planned from before and unchanged: no session reads it again.`])
  if (fresh.length === 0 || documents?.prd.userStories.length === 0) return fresh
  const question = `Shall a session plan from the prose, too (${many(fresh.length, 'document')})?`
  const isWanted = ask === null ? from.length > 0 : await ask.yes(question, false)
  return isWanted ? fresh : []
}

async function sentenceOf({ ask }: Desk): Promise<string> {
  if (ask !== null) return askSentence(ask)
  const found = 'no documents, no sentence, and no terminal to ask on'
  const fix =
    'name documents (--from docs), or say what it is: ralph plan auth -- people can sign in with a passkey'
  throw new UserError({ path: 'ralph plan', found, expected: 'something to plan from', fix })
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
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
