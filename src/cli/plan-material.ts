// The material of a plan: documents that are named or found, a sentence, or an answer of GitHub or beads. Makes the first draft from it.
import { createHash } from 'node:crypto'
import { isAbsolute, relative, resolve, sep } from 'node:path'
import { readDocumentFiles } from '../app/find-documents.ts'
import { featureNameOf, featureOfFolder } from '../branch/find-features.ts'
import type { Prd, Scope, Story } from '../engine/model/feature.ts'
import { plannedFiles, plannedFrom, withPlannedFrom } from '../engine/prd/plan-file.ts'
import { type DocumentFile, type Documents, mergePlanned, readDocuments } from '../plan/documents.ts'
import { markPlanned } from '../plan/merge-plan.ts'
import { terminalText } from '../report/escape.ts'
import { pluralize } from '../report/figures.ts'
import { UserError } from '../system/errors.ts'
import { readRegularFile } from '../system/files.ts'
import { askName, askSentence } from './init-questions.ts'
import type { ExistingPlan, PlanArguments, PlanDialogue, PlanPlace } from './plan-dialogue.ts'
import { joinContext, nameOfSentence, withinScope, withStoriesAdded } from './plan-draft.ts'
import { checkReady, type Proposed, propose, withAnswers } from './plan-session.ts'
import { answerTo, isAnswer } from './plan-sources.ts'
import { sourceLines, takenLines, wrapHanging } from './plan-view.ts'

/** `sentence` is empty if only documents are given. */
export type Material = { files: readonly DocumentFile[]; documents: Documents | null; sentence: string }

/** The named material; else that of an existing feature; else, for a new feature, the documents that are found. */
export async function readMaterial(place: PlanPlace, existing: ExistingPlan | null): Promise<Material> {
  const { from, as, sentence } = place.typed
  const isNew = existing === null || existing.isNew
  const named = from.length > 0 ? await filesAt(place, from, as) : []
  const isNothing = named.length === 0 && sentence === ''
  const files = isNothing ? await foundFiles(place, as, isNew ? null : existing.base) : named
  const documents = files.length === 0 ? null : read(files, place)
  const isAsked = sentence === '' && isNew && documents === null
  const isPlannedBySession =
    documents === null ? isAsked || sentence !== '' : documents.prd.userStories.length === 0
  // A missing key or program is reported before the person is asked anything.
  if (place.ask !== null && isPlannedBySession) await checkReady(place)
  return { files, documents, sentence: isAsked ? await sentenceOf(place) : sentence }
}

/** `base`: the existing plan, which is made again from its own documents; null for a new plan. */
async function foundFiles(
  place: PlanPlace,
  as: PlanArguments['as'],
  base: Prd | null,
): Promise<DocumentFile[]> {
  const kinds = new Map([...as].map(([typed, kind]) => [insidePath(place, typed) ?? typed, kind]))
  const found = await readDocumentFiles(place.clone, null, kinds)
  const known = base === null ? null : plannedFiles(base)
  const again = await answersTo(place, [...(known?.keys() ?? [])].filter(isAnswer))
  const isKnown = (path: string) => known === null || known.has(path) || kinds.has(path)
  const toRead = found.filter(({ path }) => !isOwnFile(path) && isKnown(path))
  return [...toRead.map((file) => ({ ...file, ...known?.get(file.path) })), ...again]
}

async function answersTo({ clone, context }: PlanPlace, words: readonly string[]): Promise<DocumentFile[]> {
  const { env, directory, warn } = context
  const answers = words.map((one) => answerTo(one, { clone, env, directory, warn }))
  return (await Promise.all(answers)).flatMap((one) => one ?? [])
}

/** Files in a feature's own folder, and plans saved in .git, are not documents to plan from. */
function isOwnFile(path: string): boolean {
  return path.startsWith('.git/') || featureOfFolder(path.split('/').slice(0, 2).join('/')) !== null
}

/** The feature's name: the person's, with a default from documents or sentence. */
export async function chooseName(
  { ask, settings }: PlanPlace,
  { documents, sentence }: Material,
): Promise<string> {
  const standard =
    documents === null
      ? nameOfSentence(sentence)
      : featureNameOf(documents.prd, settings.branchPrefix, documents.name)
  return ask === null ? standard : askName(ask, standard)
}

export function showMaterial({ say, width, settings }: PlanPlace, { files, documents }: Material): void {
  if (documents === null) return
  const { sources, prose, taken, notes, gates } = documents
  if (sources.length > 0) say(['Read without an agent:', ...sourceLines(sources, width)])
  if (prose.length > 0)
    say([
      'Text that a session will plan from:',
      ...prose.map(({ path }) => `  ${terminalText(path)}`),
      ...NO_SESSION.flatMap((line) => wrapHanging(line, '  ', width)),
    ])
  const handed = new Set(prose.map(({ path }) => path))
  const background = taken.filter(({ as, path }) => as === 'background' && !handed.has(path))
  if (background.length > 0) say(['Background, for context.md:', ...takenLines(background, width)])
  if (files.length > 1 || background.length > 0) say(wrapHanging(OTHERWISE, '', width))
  const all = [...notes]
  const proposals = Object.entries(gates).map(([name, run]) => `${name}: ${run}`)
  if (proposals.length > 0 && settings.gates.length === 0)
    all.push(
      `the documents name these gates, but no run uses them until you set them: ${proposals.join('; ')}`,
    )
  if (all.length > 0)
    say(['', 'Notes:', ...all.flatMap((one) => wrapHanging(`- ${terminalText(one)}`, '  ', width))])
}

const OTHERWISE = 'Did Ralph misread one of them? Use --as stories FILE or --as background FILE'

/** The shapes in which stories can be written, so that no paid session is needed. */
const NO_SESSION = [
  'Ralph reads stories in these formats without a session:',
  '- a heading for each, "### US-001: Sign in", with a list of its criteria below',
  '- a check list, "- [ ] Sign in", with the criteria indented below each item',
]

/**
 * Makes the first draft. Stories of documents are merged into the existing plan; prose and a sentence are planned by a session. Without
 * any, the existing plan stays. `scope`: the part of the documents' stories that is planned; null for all of them.
 */
export async function makeFirstDraft(dialogue: PlanDialogue, scope: Scope | null): Promise<void> {
  const { ask, draft, typed } = dialogue
  const { documents, files, sentence } = dialogue.material
  if (documents !== null && documents.prd.userStories.length > 0)
    draft.prd = mergeDocuments(dialogue, documents, scope)
  const prose = await proseOf(dialogue, documents)
  draft.brief = [...prose.map(({ path, text }) => `# ${path}\n\n${text}`), sentence]
    .filter(Boolean)
    .join('\n\n')
  let contextOfSession = ''
  if (draft.brief !== '') {
    if (ask === null && !typed.yes) throw needsYes()
    draft.brief = await withAnswers(dialogue)
    const proposed = await proposeUntilDone(dialogue)
    draft.prd = withStoriesAdded(draft.prd, proposed)
    draft.questions = proposed.questions
    contextOfSession = proposed.context
  } else if (documents !== null && draft.prd.userStories.length === 0) throw nothingToPlan(documents)
  draft.prd = withPlannedFrom(draft.prd, digestsOf(files))
  draft.context = contextWith(dialogue, contextOfSession)
}

/** The stories of the documents, merged into the existing plan. */
function mergeDocuments(dialogue: PlanDialogue, documents: Documents, scope: Scope | null): Prd {
  const { base } = dialogue.existing
  const { prd, along } = withinScope(documents.prd, scope)
  if (along.length > 0)
    dialogue.say([`Also planned, because the chosen stories depend on them: ${along.join(', ')}`])
  const merged = mergeIntoBase(base, prd)
  if (!dialogue.typed.replace) refuseOtherPlan(dialogue, merged, documents)
  return merged
}

/** The text of context.md. People may have written it: it is never replaced, and what it lacks is shown. */
function contextWith({ draft, existing, say }: PlanDialogue, ofSession: string): string | null {
  const joined = joinContext(draft.background, ofSession)
  if (existing.context === null || joined === null || joined === existing.context)
    return existing.context ?? joined
  const shown = ofSession === '' ? [] : ['The session proposed for it:', ...ofSession.trim().split('\n')]
  say([`${existing.folder}/context.md stays as it is. To let Ralph write it again, delete it.`, ...shown])
  return existing.context
}

/** The digest of each document, by which a later plan knows what it has read. */
function digestsOf(files: readonly DocumentFile[]): Record<string, string> {
  const documents = files.filter(({ path }) => !isOwnFile(path))
  return Object.fromEntries(
    documents.map(({ path, part, text }) => [part === undefined ? path : `${path}#${part}`, digestOf(text)]),
  )
}

/** Starts a session that plans. If it makes no plan, the person can say more, as often as they like. */
async function proposeUntilDone(dialogue: PlanDialogue): Promise<Proposed> {
  const { ask, draft, say } = dialogue
  for (let brief = draft.brief; ; ) {
    try {
      return await propose(dialogue, brief)
    } catch (error) {
      if (ask === null || !(error instanceof UserError)) throw error
      say(['', error.message, ''])
      const more = await ask.text('What should the session know?', {
        hint: 'it tries again with your answer; press Enter to stop here',
      })
      if (more === '') throw error
      brief = `${brief}\n\n${more}`
    }
  }
}

/** Merges planned stories into the existing ones. Each notes what its document said, so that a later edit of either is known. */
function mergeIntoBase(base: Prd, planned: Prd): Prd {
  if (base.userStories.length > 0) return mergePlanned(base, planned)
  return { ...planned, userStories: planned.userStories.map(markPlanned) }
}

/** Throws UserError if the stories of a plan from other documents would get another text. Ids of two plans are often the same. */
function refuseOtherPlan(
  { existing: { base }, feature, typed: { from } }: PlanDialogue,
  merged: Prd,
  { sources }: Documents,
): void {
  const known = plannedFiles(base)
  const paths = [...new Set(sources.map(({ path }) => path))]
  if (known.size === 0 || paths.some((path) => known.has(path))) return
  const texts = new Map(merged.userStories.map((story) => [story.id, textOf(story)]))
  const changed = base.userStories.filter((story) => texts.get(story.id) !== textOf(story))
  if (changed.length === 0) return
  const ids = changed.slice(0, MAX_IDS).map(({ id }) => id)
  const more = changed.length > ids.length ? ` and ${changed.length - ids.length} more` : ''
  const named = from.map((path) => ` ${path}`).join('')
  throw new UserError({
    path: `feature ${feature}`,
    found: `it was planned from ${[...known.keys()].slice(0, 3).join(', ')}, and ${paths.slice(0, 3).join(', ')} would change its stories ${ids.join(', ')}${more}.`,
    expected: '',
    fix: `choose another name: ralph plan NAME --from${named}; or add --replace to change these stories`,
  })
}

const MAX_IDS = 5

function textOf({ title, description, acceptanceCriteria }: Story): string {
  return JSON.stringify([title, description, acceptanceCriteria])
}

/** The prose that a session reads: all of it if no document has stories, else the named files. Without prose that was planned from before. */
async function proseOf(
  { ask, existing, say }: PlanDialogue,
  documents: Documents | null,
): Promise<readonly DocumentFile[]> {
  const known = plannedFrom(existing.base)
  const unplanned = documents?.prose.filter(({ path, text }) => known[path] !== digestOf(text)) ?? []
  const old = (documents?.prose.length ?? 0) - unplanned.length
  if (old > 0)
    say([
      old === 1
        ? '1 prose document is unchanged since the last plan, so no session reads it again.'
        : `${old} prose documents are unchanged since the last plan, so no session reads them again.`,
    ])
  if (unplanned.length === 0 || documents?.prd.userStories.length === 0) return unplanned
  const question = `Should a session also plan stories from the text of ${pluralize(unplanned.length, 'document')}?`
  // Without a terminal only prose that was named by its own path starts a session alongside the stories, not notes in a named folder.
  if (ask === null) return unplanned.filter(({ isNamed }) => isNamed === true)
  return (await ask.yes(question, false)) ? unplanned : []
}

async function sentenceOf({ ask }: PlanPlace): Promise<string> {
  if (ask !== null) return askSentence(ask)
  const found =
    'there is nothing to plan from: no document, no sentence, and no terminal in which Ralph could ask.'
  const fix =
    'name documents (--from docs), or say what you want: ralph plan auth -- people can sign in with a passkey'
  throw new UserError({ path: 'ralph plan', found, expected: '', fix })
}

/** The error if no document holds a story, or prose that a session could plan from. */
function nothingToPlan({ taken }: Documents): UserError {
  const listed = taken.slice(0, 5).map(({ path, what }) => `${path} (${what})`)
  const more = taken.length > listed.length ? ` and ${taken.length - listed.length} more` : ''
  return new UserError({
    path: 'ralph plan',
    found: `there is no story in ${listed.join(', ')}${more}.`,
    expected: '',
    fix: 'name other documents (--from FILE), say which file has stories (--as stories FILE), or say what you want: ralph plan auth -- people can sign in',
  })
}

/** The error for a session that would cost money, when no person can agree to it and take its plan. */
function needsYes(): UserError {
  const found =
    'planning needs a paid session, and Ralph cannot ask for permission, because there is no terminal.'
  const fix = 'add --yes to start it, and to accept what it plans'
  return new UserError({ path: 'ralph plan', found, expected: '', fix })
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}

/** Makes a path that was typed in the current folder relative to the repository; null for one outside of the repository. */
function insidePath({ clone, context: { directory } }: PlanPlace, typed: string): string | null {
  const path = relative(clone.workTree, resolve(directory, typed))
  return path.split(sep)[0] === '..' || isAbsolute(path) ? null : path.split(sep).join('/') || '.'
}

/** Reads the files that were typed, also those outside of the repository; `issues:` and `beads` are read from GitHub or beads. */
async function filesAt(
  place: PlanPlace,
  paths: readonly string[],
  as: PlanArguments['as'],
): Promise<DocumentFile[]> {
  const { clone, context } = place
  const inside: string[] = []
  const others: DocumentFile[] = []
  for (const typed of paths) {
    const path = insidePath(place, typed)
    const [answer] = isAnswer(typed) ? await answersTo(place, [typed]) : []
    if (answer !== undefined) others.push(answer)
    else if (path !== null) inside.push(path)
    else {
      const bytes = await readRegularFile(resolve(context.directory, typed))
      const fix = 'name a file, or a folder of this repository'
      if (bytes === null) {
        const found = `there is no document ${typed}.`
        throw new UserError({ path: '--from', found, expected: '', fix })
      }
      const kind = as.get(typed)
      others.push({
        ...{ path: typed, text: bytes.toString('utf8'), isNamed: true },
        ...(kind === undefined ? {} : { as: kind }),
      })
    }
  }
  const kinds = new Map(
    [...as].flatMap(([typed, kind]) => {
      const path = insidePath(place, typed)
      return path === null ? [] : [[path, kind] as const]
    }),
  )
  return [
    ...(inside.length > 0 || kinds.size > 0
      ? await readDocumentFiles(clone, inside, kinds, (text) => context.warn(terminalText(text, 500)))
      : []),
    ...others,
  ]
}

function read(files: readonly DocumentFile[], { ask, clone: { branch }, settings }: PlanPlace): Documents {
  const isChosen = settings.stories.length > 0 || settings.epic !== null
  // On a terminal the person is asked for the part.
  const result = readDocuments(files, { branch, isPart: isChosen || ask !== null })
  if (!result.ok) throw new UserError(result.mistakes)
  return result.documents
}
