// BMAD's files with one story each: spec-*.md of bmad-build, stories/<id>-*.md alongside a stories.yaml, tech-spec-*.md.
import { isObject } from '../../engine/model/json.ts'
import { formatPlace, frontMatterOf, type OpenDocument } from '../open-document.ts'
import { isDone, normalizeId, slugToTitle, withoutEmphasis } from '../story-words.ts'
import { type DocumentSet, type Format, planPaths, type Reading } from '../types.ts'
import { type Box, flattenBoxes, parseBoxes } from './boxes.ts'

const NAME = /^(?:tech-)?spec-.+\.md$/i
const IN_STORIES = /(?:^|\/)stories\/[^/]+-[^/]+\.md$/i

export const bmadSpec: Format = {
  name: 'spec file',
  rank: 'detailed',
  discoveryPath: planPaths(
    '(?:tech-)?spec-[^/]+\\.md',
    '^(?:_bmad-output|docs|specs)/(?:[^/]+/)*stories/[^/]+-[^/]+\\.md$',
  ),
  matches: (document) => document.isMarkdown && isSpec(document),
  read,
}

function isSpec({ name, path, frontFields, frontMatter, text, blocks }: OpenDocument): boolean {
  const isPlaced = NAME.test(name) || IN_STORIES.test(path)
  if (!isPlaced) return false
  const hasParts = blocks.some(
    (block) =>
      block.kind === 'heading' &&
      /^(?:intent|tasks & acceptance|code map|implementation plan)\b/i.test(block.text),
  )
  return (
    hasParts &&
    (typeof frontFields.status === 'string' ||
      (frontMatter.mistakes.length > 0 && /^status:/m.test(frontMatterOf(text))))
  )
}

/** Sections that later sessions and reviews added. */
const recordSections =
  /^(?:spec change log|review triage log|verification|suggested review order|review notes|code review|auto run result)\b/i

function read(document: OpenDocument, documents: DocumentSet): Partial<Reading> {
  const { frontFields, frontMatter, blocks, path, text } = document
  if (frontMatter.mistakes.length > 0) return { mistakes: frontMatter.mistakes }
  const boxes = flattenBoxes(parseBoxes(blocks)).filter(
    ({ headings }) => !headings.some((one) => recordSections.test(withoutEmphasis(one.text))),
  )
  const isCriterion = (box: Box) => /^\**AC[ -]?\d/i.test(box.text)
  const criteria = [
    ...boxes
      .filter(isCriterion)
      .map(({ text: words }) => words.replace(/^\**AC[ -]?\d+\**[ \t]*[:.]?\**[ \t]*/i, '')),
    ...criteriaIn(document),
  ]
  const title =
    typeof frontFields.title === 'string' && frontFields.title.trim() !== ''
      ? frontFields.title
      : document.title || slugToTitle(slugOf(document))
  const id = idOf(document, documents)
  const status = String(frontFields.status)
  const line = 1
  return {
    stories: [
      {
        line,
        raw: {
          ...{ id, title: title.trim(), acceptanceCriteria: [...new Set(criteria)], passes: isDone(status) },
          epicId: /^\d+(?=\.)/.exec(id)?.[0].replace(/^/, 'Epic ') ?? null,
          description: descriptionOf(text),
        },
        place: (key) => formatPlace(path, line, key),
        marks: [
          {
            kind: 'value',
            at: ['status'],
            value:
              /^completed?$/i.test(status) || (NAME.test(document.name) && document.name.startsWith('tech'))
                ? 'Completed'
                : 'done',
          },
        ],
      },
    ],
    notes: [`read as story ${id}.`],
  }
}

function slugOf({ name }: OpenDocument): string {
  return name.replace(/\.md$/i, '')
}

/** The id in stories.yaml, else the id of a tracker, else one made of the file's name. */
function idOf(document: OpenDocument, documents: DocumentSet): string {
  const slug = slugOf(document)
  const list =
    documents.at(document.folder.replace(/stories\/$/, 'stories.yaml')) ??
    documents.at(document.folder.replace(/stories\/$/, 'stories.yml'))
  const { data } = list?.data ?? { data: null }
  const entries: unknown[] = Array.isArray(data?.value) ? data.value : []
  const ids = entries.filter(isObject).map(({ id }) => String(id))
  const listed = ids.filter((id) => slug.startsWith(`${id}-`)).sort((a, b) => b.length - a.length)[0]
  if (listed !== undefined) return listed
  const [, epic, number] = /^(?:spec-)?(\d{1,4})-(\d{1,4}[a-z]?)(?=-)/i.exec(slug) ?? []
  if (epic !== undefined && number !== undefined) return normalizeId(`${epic}-${number}`)
  return slug.replace(/[^\w.-]/g, '-').slice(0, 60)
}

/** Points below a label or heading "acceptance criteria". */
function criteriaIn({ blocks }: OpenDocument): string[] {
  let isBelow = false
  const found: string[] = []
  for (const block of blocks) {
    if (block.kind === 'heading') isBelow = /^acceptance criteria\b/i.test(withoutEmphasis(block.text))
    else if (block.kind === 'words')
      isBelow =
        /\bacceptance criteria\b[^\n]*$/i.test(withoutEmphasis(block.lines.at(-1) ?? '')) ||
        (isBelow && !/^\*\*/.test(block.lines[0] ?? ''))
    else if (block.kind === 'points' && isBelow)
      for (const { text, done, more } of block.points)
        if (done === null || !/^\**AC/i.test(text)) found.push([text, ...more].join(' '))
  }
  return found
}

/** The text of the file, without front matter, comments and sections that later sessions added. */
function descriptionOf(text: string): string {
  const body = text
    .slice(frontMatterOf(text).length)
    .replace(/<!--.*?(?:-->|$)/gs, '')
    .replace(/<\/?frozen-after-approval[^>]*>/g, '')
  const sections = body.split(/^(?=##[ \t])/m)
  const kept = sections.filter((one) => !recordSections.test(one.replace(/^##[ \t]+/, '')))
  return kept
    .join('')
    .replace(/^#[ \t].*\n/, '')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
}
