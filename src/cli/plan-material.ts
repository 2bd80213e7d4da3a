// The material of a plan: documents that are named or found, a sentence, or an answer of GitHub or beads. Makes the first draft from it.
import { createHash } from 'node:crypto'
import { isAbsolute, relative, resolve, sep } from 'node:path'
import { readDocumentFiles } from '../app/find-documents.ts'
import { featureNameOf, featureOfFolder } from '../branch/find-features.ts'
import type { Prd, Scope } from '../engine/model/feature.ts'
import { plannedFiles, plannedFrom, withPlannedFrom } from '../engine/prd/plan-file.ts'
import { type DocumentFile, type Documents, mergePlanned, readDocuments } from '../plan/documents.ts'
import { markPlanned } from '../plan/merge-plan.ts'
import { terminalText } from '../report/escape.ts'
import { pluralize } from '../report/figures.ts'
import { UserError } from '../system/errors.ts'
import { readRegularFile } from '../system/files.ts'
import { askName, askSentence } from './init-questions.ts'
import type { ExistingPlan, PlanArguments, PlanContext } from './plan.ts'
import { withAnswers } from './plan-ask.ts'
import { type Draft, nameOfSentence, withinScope, withStoriesAdded } from './plan-draft.ts'
import type { Proposed, Subject } from './plan-session.ts'
import { answerTo, isAnswer } from './plan-sources.ts'
import { hanging, sourceLines, takenLines } from './plan-view.ts'

/** `sentence` is empty where only documents are given. */
export type Material = { files: readonly DocumentFile[]; documents: Documents | null; sentence: string }

/** The named material; else that of an existing feature; else, for a new feature, the documents that are found. */
export async function readMaterial(
  desk: PlanContext,
  wanted: PlanArguments,
  standing: ExistingPlan | null,
): Promise<Material> {
  const { from, as, sentence } = wanted
  const isNew = standing === null || standing.isNew
  const named = from.length > 0 ? await filesAt(desk, from, as) : []
  const isNothing = named.length === 0 && sentence === ''
  const files = isNothing ? await foundFiles(desk, as, isNew ? null : standing.base) : named
  const documents = files.length === 0 ? null : read(files, desk.clone.branch)
  const isAsked = sentence === '' && isNew && documents === null
  const isPlannedBySession =
    documents === null ? isAsked || sentence !== '' : documents.prd.userStories.length === 0
  // A missing key or program is reported before the person is asked anything.
  if (desk.ask !== null && isPlannedBySession) await desk.planner.ready()
  return { files, documents, sentence: isAsked ? await sentenceOf(desk) : sentence }
}

/** `base`: the existing plan, which is made anew from its own material; null for a new one. */
async function foundFiles(
  desk: PlanContext,
  as: PlanArguments['as'],
  base: Prd | null,
): Promise<DocumentFile[]> {
  const { clone } = desk
  const kinds = new Map([...as].map(([typed, kind]) => [insidePath(desk, typed) ?? typed, kind]))
  const found = await readDocumentFiles(clone, null, kinds)
  const known = base === null ? null : plannedFiles(base)
  const again = await answersTo(desk, [...(known?.keys() ?? [])].filter(isAnswer))
  const isKnown = (path: string) => known === null || known.has(path) || kinds.has(path)
  const wanted = found.filter(({ path }) => !isOurs(path) && isKnown(path))
  return [...wanted.map((file) => ({ ...file, ...known?.get(file.path) })), ...again]
}

async function answersTo({ clone, context }: PlanContext, words: readonly string[]): Promise<DocumentFile[]> {
  const { env, directory, warn } = context
  const answers = words.map((one) => answerTo(one, { clone, env, directory, warn }))
  return (await Promise.all(answers)).flatMap((one) => one ?? [])
}

/** Files in a feature's own folder, and plans that were put aside, are no documents to plan from. */
function isOurs(path: string): boolean {
  return path.startsWith('.git/') || featureOfFolder(path.split('/').slice(0, 2).join('/')) !== null
}

/** The feature's name: the person's, with a default from documents or sentence. */
export async function chooseName(
  { ask, settings }: PlanContext,
  { documents, sentence }: Material,
): Promise<string> {
  const standard =
    documents === null ? nameOfSentence(sentence) : featureNameOf(documents.prd, settings.branchPrefix)
  return ask === null ? standard : askName(ask, standard)
}

export function showMaterial({ say, width, settings }: PlanContext, { files, documents }: Material): void {
  if (documents === null) return
  const { sources, prose, taken, notes, gates } = documents
  if (sources.length > 0) say(['Read without an agent:', ...sourceLines(sources, width)])
  if (prose.length > 0)
    say([
      'Prose, for a session to plan from:',
      ...prose.map(({ path }) => `  ${terminalText(path)}`),
      ...NO_SESSION.flatMap((line) => hanging(line, '  ', width)),
    ])
  const handed = new Set(prose.map(({ path }) => path))
  const background = taken.filter(({ as, path }) => as === 'background' && !handed.has(path))
  if (background.length > 0) say(['Background, for context.md:', ...takenLines(background, width)])
  if (files.length > 1 || background.length > 0) say(hanging(OTHERWISE, '', width))
  const all = [...notes]
  const proposals = Object.entries(gates).map(([name, run]) => `${name}: ${run}`)
  if (proposals.length > 0 && settings.gates.length === 0)
    all.push(`gates that the documents name; nothing runs from there: ${proposals.join('; ')}`)
  if (all.length > 0)
    say(['', 'To know:', ...all.flatMap((one) => hanging(`- ${terminalText(one)}`, '  ', width))])
}

const OTHERWISE = 'Is one of them something else? --as stories FILE, --as background FILE'

/** The shapes in which stories can be written, so that no paid session is needed. */
const NO_SESSION = [
  'No session is needed for stories in one of these shapes:',
  '- a heading for each, "### US-001: Sign in", with a list of its criteria below',
  '- a check list, "- [ ] Sign in", with the criteria indented below each',
]

/** The first draft: stories of documents are merged into the existing plan, prose and a sentence are planned by a session. Without any, the existing plan. */
export async function firstDraft(
  desk: PlanContext,
  wanted: PlanArguments,
  { files, documents, sentence }: Material,
  { feature, scope, standing }: { feature: string; scope: Scope | null; standing: ExistingPlan },
): Promise<Draft> {
  const { base } = standing
  let prd = base
  let context = standing.context
  if (documents !== null && documents.prd.userStories.length > 0) {
    const part = withinScope(documents.prd, scope)
    if (part.along.length > 0)
      desk.say([`Others wait for them, so they come along: ${part.along.join(', ')}`])
    prd = overBase(base, part.prd)
  }
  const told = documents?.context ?? ''
  if (context === null) context = told || null
  else if (told !== '' && told !== context)
    desk.say([`${standing.folder}/context.md stays as it stands: remove it to have it written anew.`])
  const prose = await proseOf(desk, documents, base)
  const brief = [...prose.map(({ path, text }) => `# ${path}\n\n${text}`), sentence]
    .filter(Boolean)
    .join('\n\n')
  const digests = Object.fromEntries(
    files
      .filter(({ path }) => !isOurs(path))
      .map(({ path, part, text }) => [part === undefined ? path : `${path}#${part}`, digestOf(text)]),
  )
  if (brief === '' && documents !== null && prd.userStories.length === 0) throw nothingToPlan(documents)
  if (brief === '') return { prd: withPlannedFrom(prd, digests), context, questions: [], brief }
  if (desk.ask === null && !wanted.yes) throw unpaid()
  const subject = { feature, folder: standing.folder, prd }
  const asked = await withAnswers(desk, subject, brief)
  const proposed = await proposedBy(desk, subject, asked)
  return {
    prd: withPlannedFrom(withStoriesAdded(prd, proposed), digests),
    context: context ?? (proposed.context || null),
    questions: proposed.questions,
    brief: asked,
  }
}

/** Where the sessions make no plan, the person can add to the sentence, as often as they like. */
async function proposedBy(
  { ask, planner, say }: PlanContext,
  subject: Subject,
  brief: string,
): Promise<Proposed> {
  for (let words = brief; ; ) {
    try {
      return await planner.propose(subject, words)
    } catch (error) {
      if (ask === null || !(error instanceof UserError)) throw error
      say(['', error.message, ''])
      const more = await ask.text('What else is wanted?', { hint: 'a session tries again; Enter leaves it' })
      if (more === '') throw error
      words = `${words}\n\n${more}`
    }
  }
}

/** Stories with the fields of the documents noted, so that the next read can tell an edit of the documents from one of the plan. */
function overBase(base: Prd, planned: Prd): Prd {
  if (base.userStories.length > 0) return mergePlanned(base, planned)
  return { ...planned, userStories: planned.userStories.map(markPlanned) }
}

/** The prose that a session reads: all of it where no document has stories, else the named files. Without prose that was planned from before. */
async function proseOf(
  { ask, say }: PlanContext,
  documents: Documents | null,
  base: Prd,
): Promise<readonly DocumentFile[]> {
  const known = plannedFrom(base)
  const fresh = documents?.prose.filter(({ path, text }) => known[path] !== digestOf(text)) ?? []
  const old = (documents?.prose.length ?? 0) - fresh.length
  if (old > 0)
    say([
      `${pluralize(old, 'document')} of prose planned from before and unchanged: no session reads it again.`,
    ])
  if (fresh.length === 0 || documents?.prd.userStories.length === 0) return fresh
  const question = `Shall a session plan from the prose, too (${pluralize(fresh.length, 'document')})?`
  // Without a terminal only prose files that are named themselves start a session beside the stories, not notes in a named folder.
  if (ask === null) return fresh.filter(({ isNamed }) => isNamed === true)
  return (await ask.yes(question, false)) ? fresh : []
}

async function sentenceOf({ ask }: PlanContext): Promise<string> {
  if (ask !== null) return askSentence(ask)
  const found = 'no documents, no sentence, and no terminal to ask on'
  const fix =
    'name documents (--from docs), or say what it is: ralph plan auth -- people can sign in with a passkey'
  throw new UserError({ path: 'ralph plan', found, expected: 'something to plan from', fix })
}

/** Documents of which none holds a story, nor words that a session may plan from. */
function nothingToPlan({ taken }: Documents): UserError {
  const shown = taken.slice(0, 5).map(({ path, what }) => `${path} (${what})`)
  const more = taken.length > shown.length ? ` and ${taken.length - shown.length} more` : ''
  return new UserError({
    path: 'ralph plan',
    found: `no story in ${shown.join(', ')}${more}`,
    expected: 'something to plan from',
    fix: 'name other documents (--from FILE), say what one of these is (--as stories FILE), or what is wanted: ralph plan auth -- people can sign in',
  })
}

/** The error for a session that would cost money, where no person can agree to it and take its plan. */
function unpaid(): UserError {
  const found = 'a session to be started, and no terminal to ask on'
  const fix = 'add --yes to start it, and to take what it plans'
  return new UserError({ path: 'ralph plan', found, expected: 'a yes', fix })
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}

/** The path relative to the repository, of a path relative to the working directory; null for one outside of the repository. */
function insidePath({ clone, context: { directory } }: PlanContext, typed: string): string | null {
  const path = relative(clone.workTree, resolve(directory, typed))
  return path.split(sep)[0] === '..' || isAbsolute(path) ? null : path.split(sep).join('/') || '.'
}

/** Reads the wanted files, also those outside of the repository, and asks GitHub or beads for words that name no file. */
async function filesAt(
  desk: PlanContext,
  paths: readonly string[],
  as: PlanArguments['as'],
): Promise<DocumentFile[]> {
  const { clone, context } = desk
  const inside: string[] = []
  const others: DocumentFile[] = []
  for (const typed of paths) {
    const path = insidePath(desk, typed)
    const [answer] = isAnswer(typed) ? await answersTo(desk, [typed]) : []
    if (answer !== undefined) others.push(answer)
    else if (path !== null) inside.push(path)
    else {
      const bytes = await readRegularFile(resolve(context.directory, typed))
      const fix = 'name a file, or a folder of this repository'
      if (bytes === null) throw new UserError({ path: '--from', found: typed, expected: 'a document', fix })
      const kind = as.get(typed)
      others.push({
        ...{ path: typed, text: bytes.toString('utf8'), isNamed: true },
        ...(kind === undefined ? {} : { as: kind }),
      })
    }
  }
  const kinds = new Map(
    [...as].flatMap(([typed, kind]) => {
      const path = insidePath(desk, typed)
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

function read(files: readonly DocumentFile[], branch: string | null): Documents {
  const result = readDocuments(files, { branch })
  if (!result.ok) throw new UserError(result.mistakes)
  return result.documents
}
