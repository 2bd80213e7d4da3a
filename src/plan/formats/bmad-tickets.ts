// The ticket tree of BMAD 7: tickets.toml lists the tickets of an epic in their order, `<type>-<slug>.md` has a ticket's criteria, and
// `<type>-<slug>-plan.md` its status.
import { isObject } from '../../engine/model/json.ts'
import { formatCount, isGiven, type Raw } from '../../engine/prd/migrate.ts'
import type { OpenDocument } from '../open-document.ts'
import type { DocumentSet, Format, ParsedStory, Reading, Unit } from '../types.ts'
import { nameEntries } from './left-out.ts'
import { storyFields } from './story-section.ts'

const FOLDERS = '^_bmad-output/(?:[^/]+/)*(?:(?:initiative|epic)-[^/]+|backlog)/'
const LEAF = /^(?:story|spike|bug)-.+\.md$/i
const PLAN = /^(?:story|spike|bug)-.+-plan\.md$/i

/** The tickets of a folder. */
export const bmadTickets: Format = {
  name: 'tickets.toml',
  discoveryPath: new RegExp(`${FOLDERS}tickets\\.toml$`),
  matches: ({ name, fields }) => name === 'tickets.toml' && (isList(fields.entry) || isList(fields.epic)),
  read: readList,
}

/** The status of a ticket, as the build writes it. */
export const bmadTicketPlan: Format = {
  name: 'plan of a ticket',
  rank: 'listed',
  discoveryPath: new RegExp(`${FOLDERS}(?:story|spike|bug)-[^/]+-plan\\.md$`),
  matches: ({ name, frontFields }) => PLAN.test(name) && isGiven(frontFields.ticket),
  read(document, documents) {
    const id = idIn(document, document.frontFields.ticket, documents)
    const { status, title } = document.frontFields
    if (isDropped(document))
      return { what: 'the plan of a ticket that was dropped', unit: unitOf(document, documents) }
    const story: ParsedStory = {
      line: 1,
      raw: { id, title: isGiven(title) ? title : undefined, passes: status === 'done' },
      urgency: urgencyIn(document, id, documents),
      isTracked: true,
      marks: typeof status === 'string' ? [{ kind: 'value', at: ['status'], value: 'done' }] : [],
    }
    return {
      stories: [story],
      notes: [`read as the status of ticket ${id}.`],
      unit: unitOf(document, documents),
    }
  },
}

/** A ticket's own file. */
export const bmadTicket: Format = {
  name: 'ticket',
  rank: 'detailed',
  discoveryPath: new RegExp(`${FOLDERS}(?:story|spike|bug)-[^/]+\\.md$`),
  matches: ({ name, frontFields }) =>
    LEAF.test(name) && isGiven(frontFields.id) && /^(?:story|spike|bug)$/.test(String(frontFields.type)),
  read(document, documents) {
    const { frontFields, blocks, title } = document
    const unit = unitOf(document, documents)
    const id = idIn(document, frontFields.id, documents)
    if (
      frontFields.status === 'dropped' ||
      documents.all.some((one) => isPlanOf(one, document) && isDropped(one))
    )
      return { what: 'a ticket that was dropped', unit }
    const story = storyFields(
      blocks.filter((block) => block.kind !== 'heading' || block.level > 1),
      id,
    )
    const named = typeof frontFields.title === 'string' ? frontFields.title : title
    const dependsOn = needsOf(document, frontFields.after, documents)
    const passes = frontFields.tracker_status === 'done' || frontFields.status === 'done'
    const raw = {
      id,
      ...story.raw,
      title: named,
      epicId: epicOf(document, documents)?.title ?? null,
      dependsOn,
      passes,
    }
    const urgency = urgencyIn(document, id, documents)
    return { stories: [{ line: 1, raw, urgency }], notes: [`read as ticket ${id}.`], unit }
  },
}

function readList(document: OpenDocument, documents: DocumentSet): Partial<Reading> {
  const { fields } = document
  const unit = unitOf(document, documents)
  if (!isList(fields.entry)) return { what: 'the epics of an initiative', prose: 'none', unit }
  const entries = fields.entry.filter(isObject)
  const plans = documents.all.filter(({ folder, name }) => folder === document.folder && PLAN.test(name))
  const isLeft = (entry: Raw) =>
    plans.some((plan) => isDropped(plan) && isTicket(plan, entry.id, document, documents))
  const left = entries.filter(isLeft)
  const stories = entries
    .filter((entry) => !isLeft(entry))
    .map((entry): ParsedStory => {
      const { id, title, description, verify, after } = entry
      const raw = {
        id: idIn(document, id, documents),
        title,
        description: isGiven(description) ? String(description) : '',
        acceptanceCriteria: typeof verify === 'string' && verify.trim() !== '' ? [verify] : [],
        dependsOn: needsOf(document, after, documents),
        epicId: epicOf(document, documents)?.title ?? null,
      }
      return { line: 1, raw, urgency: urgencyIn(document, raw.id, documents) }
    })
  const notes: string[] = []
  if (stories.length > 0) notes.push(`${formatCount(stories.length, 'ticket')} read as user stories.`)
  if (left.length > 0) notes.push(`left out, because they were dropped: ${nameEntries(left)}.`)
  const people = entries.filter((entry) => entry.hitl === true && !isLeft(entry))
  if (people.length > 0) notes.push(`marked for a person (hitl): ${nameEntries(people)}.`)
  return { stories, notes, unit }
}

function isList(value: unknown): value is unknown[] {
  return Array.isArray(value)
}

function isDropped({ frontFields: { status } }: OpenDocument): boolean {
  return status === 'dropped'
}

function isPlanOf(plan: OpenDocument, leaf: OpenDocument): boolean {
  return plan.path === leaf.path.replace(/\.md$/i, '-plan.md')
}

function isTicket(plan: OpenDocument, id: unknown, list: OpenDocument, documents: DocumentSet): boolean {
  return idIn(plan, plan.frontFields.ticket, documents) === idIn(list, id, documents)
}

type Epic = { id: string; title: string }

/** The epic of a document's folder, by the list of the folder above; null without one. */
function epicOf({ folder }: OpenDocument, documents: DocumentSet): Epic | null {
  const [, above = '', slug = ''] = /^(.*\/)?([^/]+)\/$/.exec(folder) ?? []
  return epicsIn(documents.at(`${above}tickets.toml`)).find((epic) => epic.slug === slug) ?? null
}

function epicsIn(list: OpenDocument | null): (Epic & { slug: string })[] {
  const epics = list?.fields.epic
  return (isList(epics) ? epics.filter(isObject) : []).map(({ id, slug, title }) => ({
    id: String(id),
    slug: String(slug),
    title: String(title ?? slug),
  }))
}

/** `2` of the first epic is `1.2`; what names an epic already stays. */
function idIn(document: OpenDocument, id: unknown, documents: DocumentSet): string {
  const text = String(id)
  const epic = epicOf(document, documents)
  return epic === null || text.includes('.') ? text : `${epic.id}.${text}`
}

/** The place of a ticket in the order of its epic's list, and of the epic in that of the initiative. A ticket without an entry is last. */
function urgencyIn(document: OpenDocument, id: string, documents: DocumentSet): number {
  const above = documents.at(`${document.folder.replace(/[^/]+\/$/, '')}tickets.toml`)
  const epic = epicsIn(above).findIndex(({ slug }) => document.folder.endsWith(`/${slug}/`))
  const entries = documents.at(`${document.folder}tickets.toml`)?.fields.entry
  const list = isList(entries) ? entries.filter(isObject) : []
  const at = list.findIndex((entry) => idIn(document, entry.id, documents) === id)
  return Math.max(epic, 0) + (at < 0 ? MAX_ENTRIES - 1 : Math.min(at, MAX_ENTRIES - 2)) / MAX_ENTRIES
}

const MAX_ENTRIES = 10_000

/** A number is a ticket next to it, `1.2` one of another epic, and `epic-map` every ticket of that epic. */
function needsOf(document: OpenDocument, after: unknown, documents: DocumentSet): string[] {
  return (isList(after) ? after : []).flatMap((need) => {
    if (typeof need !== 'string' || !need.startsWith('epic-')) return [idIn(document, need, documents)]
    const list = documents.at(`${document.folder.replace(/[^/]+\/$/, '')}${need}/tickets.toml`)
    const entries = list?.fields.entry
    if (list === null || !isList(entries)) return []
    return entries.filter(isObject).map(({ id }) => idIn(list, id, documents))
  })
}

/** An initiative is a feature, or an epic without one. */
function unitOf({ folder }: OpenDocument, documents: DocumentSet): Unit | null {
  const [initiative] = /^.*?\/?initiative-[^/]+\//.exec(folder) ?? []
  const above = folder.replace(/[^/]+\/$/, '')
  const name = initiative ?? (epicsIn(documents.at(`${above}tickets.toml`)).length > 0 ? above : folder)
  return { of: initiative === undefined ? 'epic' : 'initiative', name: name.replace(/\/$/, '') }
}
