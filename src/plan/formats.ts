// The table of formats. A new format is a file and a line here. The first format that matches a file reads it.

import { isPlanPath } from './document-kinds.ts'
import { agentOs } from './formats/agent-os.ts'
import {
  background,
  findPassages,
  learnings,
  nonTaskDocument,
  planOfProgress,
  prose,
  sourceOfProgress,
} from './formats/background.ts'
import { backlogMd } from './formats/backlog-md.ts'
import { beads } from './formats/beads.ts'
import { bmadSpec } from './formats/bmad-spec.ts'
import { bmadStories } from './formats/bmad-stories.ts'
import { bmadTicket, bmadTicketPlan, bmadTickets } from './formats/bmad-tickets.ts'
import { boxHeadings } from './formats/box-headings.ts'
import { checkList } from './formats/check-list.ts'
import { conductor } from './formats/conductor.ts'
import { featureList } from './formats/feature-list.ts'
import { issues } from './formats/issues.ts'
import { kiro } from './formats/kiro.ts'
import { prdJson, taskList } from './formats/lists.ts'
import { openSpec } from './formats/openspec.ts'
import { otherSettings } from './formats/other-settings.ts'
import { ownPage } from './formats/own-page.ts'
import { specKit } from './formats/spec-kit.ts'
import { sprintTracker } from './formats/sprint-tracker.ts'
import { storyFile } from './formats/story-file.ts'
import { storyHeading } from './formats/story-headings.ts'
import { superpowers } from './formats/superpowers.ts'
import { taskMaster } from './formats/task-master.ts'
import { unsupported } from './formats/unread.ts'
import { findUnparsable, formatPlace, OpenDocument } from './open-document.ts'
import type { DocumentFile, DocumentSet, DocumentStory, Format, ParsedStory, Reading } from './types.ts'
import { isRemovedStory, isUnfilledTemplate, withoutPlaceholders } from './unfilled-templates.ts'

export const formats: readonly Format[] = [
  otherSettings,
  ownPage,
  bmadTickets,
  bmadTicketPlan,
  bmadTicket,
  // Documents that are not task lists are found before any format reads their boxes.
  nonTaskDocument,
  agentOs,
  superpowers,
  unsupported,
  issues,
  beads,
  taskMaster,
  featureList,
  kiro,
  prdJson,
  bmadStories,
  taskList,
  sprintTracker,
  backlogMd,
  specKit,
  openSpec,
  conductor,
  learnings,
  sourceOfProgress,
  bmadSpec,
  storyFile,
  storyHeading,
  boxHeadings,
  checkList,
  background,
  prose,
]

const NOTHING: Reading<never> = {
  root: {},
  stories: [],
  context: [],
  gates: {},
  notes: [],
  mistakes: [],
  choices: [],
  prose: 'none',
  what: null,
  boxes: 0,
  unit: null,
  name: null,
  madeFrom: null,
  isLoose: false,
}

/** A document's content, and the format that read it. */
export type DocumentReading = {
  file: DocumentFile
  path: string
  format: string
  reading: Reading<DocumentStory>
}

/** Reads each document by the first format that matches it. The last format matches every file. */
export function readEach(files: readonly DocumentFile[]): DocumentReading[] {
  const all = files.map((file) => new OpenDocument(file))
  const byPath = new Map(all.map((document) => [document.path, document]))
  // A document that is too costly to parse is not read, not even by the format of another document.
  const faults = new Map(all.map((document) => [document.path, findMistakes(document)]))
  const isReadable = ({ path }: OpenDocument) => faults.get(path)?.length === 0
  const documents: DocumentSet = {
    all: all.filter(isReadable),
    at: (path) => {
      const found = byPath.get(path)
      return found !== undefined && isReadable(found) ? found : null
    },
  }
  return all.map((document) => {
    const mistakes = faults.get(document.path) ?? []
    const { file, path } = document
    if (mistakes.length > 0) return { file, path, format: prose.name, reading: { ...NOTHING, mistakes } }
    return { file, path, ...readDocument(document, documents) }
  })
}

function findMistakes(document: OpenDocument): Reading['mistakes'] {
  const { path, isMarkdown, text } = document
  if (isMarkdown) return findUnparsable(path, text)
  // A broken file at a path where a plan is expected is a mistake.
  return document.isYaml && findDocuments([path]).length > 0 ? document.data.mistakes : []
}

function readDocument(
  document: OpenDocument,
  documents: DocumentSet,
): { format: string; reading: Reading<DocumentStory> } {
  const { path, file, isMarkdown } = document
  const isBackground = file.as === 'background'
  const matching = isBackground ? background : formats.find((one) => one.matches(document, documents))
  const { read, name: format, rank = 'planned' } = matching ?? prose
  const { stories: allStories = [], ...found } = isBackground
    ? asBackground(document)
    : read(document, documents)
  const isWrittenByPeople = format !== ownPage.name && rank !== 'made'
  // On Ralph's own page, no story counts as removed.
  const isGone = (story: ParsedStory) => format !== ownPage.name && isRemovedStory(story)
  const stories = allStories
    .filter((story) => !isGone(story))
    .map((story) => (isWrittenByPeople ? withShortTitle(story) : story))
  const removedStories = allStories
    .filter(isGone)
    .map(({ line, raw: { id } }) => `${String(id ?? 'a story')} (line ${line})`)
  if (allStories.length === 0 && isMarkdown && file.as === undefined && isUnfilledTemplate(document))
    return {
      format,
      reading: { ...NOTHING, what: 'a template that is not filled in', boxes: found.boxes ?? 0 },
    }
  const { filled, mistakes: unfilled } = isWrittenByPeople
    ? withoutPlaceholders(document, stories)
    : { filled: stories, mistakes: [] }
  const reading = {
    ...NOTHING,
    ...found,
    notes: [
      ...(found.notes ?? []),
      ...(removedStories.length > 0
        ? [`left out, because the document marks them as removed: ${removedStories.join(', ')}.`]
        : []),
      ...frontNotes(document, found.mistakes ?? []),
    ],
    mistakes: [...(found.mistakes ?? []), ...unfilled],
    stories: filled.map(
      (story): DocumentStory => ({
        path,
        format,
        rank,
        urgency: 1,
        blocks: [],
        isNumbered: false,
        isTracked: false,
        isRemoved: false,
        mayLackCriteria: true,
        marks: [],
        place: (key) => formatPlace(path, story.line, key),
        ...story,
      }),
    ),
  }
  // A document that is left out adds nothing to context.md.
  if (!isMarkdown || (reading.prose === 'none' && filled.length === 0)) return { format, reading }
  return {
    format,
    reading: { ...reading, context: [...reading.context, ...findPassages(document, filled.length > 0)] },
  }
}

/** A note if the front matter cannot be read, but its format does not report that as a mistake. The rest of the page is still read. */
function frontNotes(
  { isMarkdown, path, frontMatter }: OpenDocument,
  mistakes: Reading['mistakes'],
): string[] {
  const [first] = isMarkdown && mistakes.length === 0 ? frontMatter.mistakes : []
  if (first === undefined) return []
  const place = first.path.slice(path.length).replace(/^: /, '') || 'line 1'
  return [`Ralph ignores its front matter, which is not valid YAML (${place}): ${first.found}`]
}

/** Shortens a title that is a whole paragraph. The description gets all of the text. */
function withShortTitle(story: ParsedStory): ParsedStory {
  const { title, description } = story.raw
  if (typeof title !== 'string' || title.length <= MAX_TITLE_LENGTH) return story
  const words = typeof description === 'string' && description !== '' ? `\n\n${description}` : ''
  const short = title.slice(0, SHORT_TITLE).replace(/\s+\S*$/, '')
  return { ...story, raw: { ...story.raw, title: `${short} ...`, description: title + words } }
}

/** In characters: the longest title that is kept, and the length that a longer one is cut to. */
const MAX_TITLE_LENGTH = 500
const SHORT_TITLE = 120

function asBackground({ text }: OpenDocument): Partial<Reading> {
  return { prose: text.trim() === '' ? 'none' : 'background', what: 'background, because of --as background' }
}

/** The paths that are documents of a plan by their name or folder, those of the first format first. */
export function findDocuments(paths: readonly string[]): string[] {
  const found = paths.flatMap((path) => {
    const rank = mayBePlan(path) ? formats.findIndex((format) => format.discoveryPath?.test(path)) : -1
    return rank < 0 ? [] : [{ path, rank }]
  })
  const inOrder = found.sort(
    (a, b) => a.rank - b.rank || a.path.localeCompare(b.path, 'en', { numeric: true }),
  )
  const byName = new Set(inOrder.map(({ path }) => path))
  // The plan that a progress file was made from may have any name.
  const plans = new Set([...byName].flatMap((path) => planOfProgress(path) ?? []))
  return [...byName, ...paths.filter((path) => plans.has(path) && !byName.has(path))]
}

/** False for installed, vendored and archived files, and for reports about documents. */
function mayBePlan(path: string): boolean {
  const isRetired = /\.(?:superseded|retired|archived|obsolete|old|bak)\.[a-z]+$/i.test(path)
  const isReport = /[-_]report[^/]*$/i.test(path) && !isPlanPath(path)
  return !isRetired && !isReport && !/(?:^|\/)(?:node_modules|vendor|dist|build|\.git|archived?)\//.test(path)
}
