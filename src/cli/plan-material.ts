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
import type { ExistingPlan, PlanArguments, PlanContext } from './plan.ts'
import { withAnswers } from './plan-ask.ts'
import { type Draft, joinContext, nameOfSentence, withinScope, withStoriesAdded } from './plan-draft.ts'
import type { Proposed, Subject } from './plan-session.ts'
import { answerTo, isAnswer } from './plan-sources.ts'
import { sourceLines, takenLines, wrapHanging } from './plan-view.ts'

/** `sentence` is empty where only documents are given. */
export type Material = { files: readonly DocumentFile[]; documents: Documents | null; sentence: string }

/** The named material; else that of an existing feature; else, for a new feature, the documents that are found. */
export async function readMaterial(
  planContext: PlanContext,
  typed: PlanArguments,
  existing: ExistingPlan | null,
): Promise<Material> {
  const { from, as, sentence } = typed
  const isNew = existing === null || existing.isNew
  const named = from.length > 0 ? await filesAt(planContext, from, as) : []
  const isNothing = named.length === 0 && sentence === ''
  const files = isNothing ? await foundFiles(planContext, as, isNew ? null : existing.base) : named
  const documents = files.length === 0 ? null : read(files, planContext)
  const isAsked = sentence === '' && isNew && documents === null
  const isPlannedBySession =
    documents === null ? isAsked || sentence !== '' : documents.prd.userStories.length === 0
  // A missing key or program is reported before the person is asked anything.
  if (planContext.ask !== null && isPlannedBySession) await planContext.planner.checkReady()
  return { files, documents, sentence: isAsked ? await sentenceOf(planContext) : sentence }
}

/** `base`: the existing plan, which is made again from its own documents; null for a new plan. */
async function foundFiles(
  planContext: PlanContext,
  as: PlanArguments['as'],
  base: Prd | null,
): Promise<DocumentFile[]> {
  const { clone } = planContext
  const kinds = new Map([...as].map(([typed, kind]) => [insidePath(planContext, typed) ?? typed, kind]))
  const found = await readDocumentFiles(clone, null, kinds)
  const known = base === null ? null : plannedFiles(base)
  const again = await answersTo(planContext, [...(known?.keys() ?? [])].filter(isAnswer))
  const isKnown = (path: string) => known === null || known.has(path) || kinds.has(path)
  const toRead = found.filter(({ path }) => !isOwnFile(path) && isKnown(path))
  return [...toRead.map((file) => ({ ...file, ...known?.get(file.path) })), ...again]
}

async function answersTo({ clone, context }: PlanContext, words: readonly string[]): Promise<DocumentFile[]> {
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
  { ask, settings }: PlanContext,
  { documents, sentence }: Material,
): Promise<string> {
  const standard =
    documents === null
      ? nameOfSentence(sentence)
      : featureNameOf(documents.prd, settings.branchPrefix, documents.name)
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
    say(['', 'To know:', ...all.flatMap((one) => wrapHanging(`- ${terminalText(one)}`, '  ', width))])
}

const OTHERWISE = 'Did Ralph misread one of them? Use --as stories FILE or --as background FILE'

/** The shapes in which stories can be written, so that no paid session is needed. */
const NO_SESSION = [
  'No session is needed for stories in one of these shapes:',
  '- a heading for each, "### US-001: Sign in", with a list of its criteria below',
  '- a check list, "- [ ] Sign in", with the criteria indented below each',
]

/** The first draft: stories of documents are merged into the existing plan, prose and a sentence are planned by a session. Without any, the existing plan. */
export async function firstDraft(
  planContext: PlanContext,
  typed: PlanArguments,
  { files, documents, sentence }: Material,
  { feature, scope, existing }: { feature: string; scope: Scope | null; existing: ExistingPlan },
): Promise<Draft> {
  const { base } = existing
  let prd = base
  if (documents !== null && documents.prd.userStories.length > 0) {
    const part = withinScope(documents.prd, scope)
    if (part.along.length > 0)
      planContext.say([`Also planned, because they depend on them: ${part.along.join(', ')}`])
    prd = mergeIntoBase(base, part.prd)
    if (!typed.replace) refuseOtherPlan(feature, { before: base, after: prd }, documents, typed.from)
  }
  const background = documents?.context ?? ''
  // People may have written context.md: it is never replaced, and what it lacks is shown.
  const contextWith = (ofSession: string): string | null => {
    const joined = joinContext(background, ofSession)
    if (existing.context === null || joined === null || joined === existing.context)
      return existing.context ?? joined
    const shown = ofSession === '' ? [] : ['The session proposed for it:', ...ofSession.trim().split('\n')]
    planContext.say([
      `${existing.folder}/context.md stays as it is. Remove it if Ralph should write it again.`,
      ...shown,
    ])
    return existing.context
  }
  const prose = await proseOf(planContext, documents, base)
  const brief = [...prose.map(({ path, text }) => `# ${path}\n\n${text}`), sentence]
    .filter(Boolean)
    .join('\n\n')
  const digests = Object.fromEntries(
    files
      .filter(({ path }) => !isOwnFile(path))
      .map(({ path, part, text }) => [part === undefined ? path : `${path}#${part}`, digestOf(text)]),
  )
  if (brief === '' && documents !== null && prd.userStories.length === 0) throw nothingToPlan(documents)
  if (brief === '')
    return { prd: withPlannedFrom(prd, digests), context: contextWith(''), questions: [], brief, background }
  if (planContext.ask === null && !typed.yes) throw needsYes()
  const subject = { feature, folder: existing.folder, prd }
  const fullBrief = await withAnswers(planContext, subject, brief)
  const proposed = await proposeUntilDone(planContext, subject, fullBrief)
  return {
    prd: withPlannedFrom(withStoriesAdded(prd, proposed), digests),
    context: contextWith(proposed.context),
    questions: proposed.questions,
    brief: fullBrief,
    background,
  }
}

/** Starts a session that plans. If it makes no plan, the person can say more, as often as they like. */
async function proposeUntilDone(
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
      const more = await ask.text('What else is wanted?', {
        hint: 'a session tries again; press Enter to leave it',
      })
      if (more === '') throw error
      words = `${words}\n\n${more}`
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
  feature: string,
  { before, after }: { before: Prd; after: Prd },
  { sources }: Documents,
  from: readonly string[],
): void {
  const known = plannedFiles(before)
  const paths = [...new Set(sources.map(({ path }) => path))]
  if (known.size === 0 || paths.some((path) => known.has(path))) return
  const texts = new Map(after.userStories.map((story) => [story.id, textOf(story)]))
  const changed = before.userStories.filter((story) => texts.get(story.id) !== textOf(story))
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

/** The prose that a session reads: all of it where no document has stories, else the named files. Without prose that was planned from before. */
async function proseOf(
  { ask, say }: PlanContext,
  documents: Documents | null,
  base: Prd,
): Promise<readonly DocumentFile[]> {
  const known = plannedFrom(base)
  const unplanned = documents?.prose.filter(({ path, text }) => known[path] !== digestOf(text)) ?? []
  const old = (documents?.prose.length ?? 0) - unplanned.length
  if (old > 0)
    say([
      `${pluralize(old, 'document')} of prose planned from before and unchanged: no session reads it again.`,
    ])
  if (unplanned.length === 0 || documents?.prd.userStories.length === 0) return unplanned
  const question = `Should a session also plan from the prose (${pluralize(unplanned.length, 'document')})?`
  // Without a terminal only prose that was named by its own path starts a session alongside the stories, not notes in a named folder.
  if (ask === null) return unplanned.filter(({ isNamed }) => isNamed === true)
  return (await ask.yes(question, false)) ? unplanned : []
}

async function sentenceOf({ ask }: PlanContext): Promise<string> {
  if (ask !== null) return askSentence(ask)
  const found = 'there is nothing to plan from: no document, no sentence, and no terminal to ask on.'
  const fix =
    'name documents (--from docs), or say what it is: ralph plan auth -- people can sign in with a passkey'
  throw new UserError({ path: 'ralph plan', found, expected: '', fix })
}

/** The error where no document holds a story, or prose that a session could plan from. */
function nothingToPlan({ taken }: Documents): UserError {
  const listed = taken.slice(0, 5).map(({ path, what }) => `${path} (${what})`)
  const more = taken.length > listed.length ? ` and ${taken.length - listed.length} more` : ''
  return new UserError({
    path: 'ralph plan',
    found: `there is no story in ${listed.join(', ')}${more}.`,
    expected: '',
    fix: 'name other documents (--from FILE), say what one of these is (--as stories FILE), or what you want: ralph plan auth -- people can sign in',
  })
}

/** The error for a session that would cost money, when no person can agree to it and take its plan. */
function needsYes(): UserError {
  const found = 'planning needs a paid session, and there is no terminal to ask on.'
  const fix = 'add --yes to start it, and to take what it plans'
  return new UserError({ path: 'ralph plan', found, expected: '', fix })
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}

/** Makes a path that was typed in the current folder relative to the repository; null for one outside of the repository. */
function insidePath({ clone, context: { directory } }: PlanContext, typed: string): string | null {
  const path = relative(clone.workTree, resolve(directory, typed))
  return path.split(sep)[0] === '..' || isAbsolute(path) ? null : path.split(sep).join('/') || '.'
}

/** Reads the files that were typed, also those outside of the repository; `issues:` and `beads` are read from GitHub or beads. */
async function filesAt(
  planContext: PlanContext,
  paths: readonly string[],
  as: PlanArguments['as'],
): Promise<DocumentFile[]> {
  const { clone, context } = planContext
  const inside: string[] = []
  const others: DocumentFile[] = []
  for (const typed of paths) {
    const path = insidePath(planContext, typed)
    const [answer] = isAnswer(typed) ? await answersTo(planContext, [typed]) : []
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
      const path = insidePath(planContext, typed)
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

function read(files: readonly DocumentFile[], { ask, clone: { branch }, settings }: PlanContext): Documents {
  const isChosen = settings.stories.length > 0 || settings.epic !== null
  // On a terminal the person is asked for the part.
  const result = readDocuments(files, { branch, isPart: isChosen || ask !== null })
  if (!result.ok) throw new UserError(result.mistakes)
  return result.documents
}
