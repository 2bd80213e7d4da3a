// BMAD's files with one piece of work each: spec-*.md of bmad-build, stories/<id>-*.md beside a stories.yaml, tech-spec-*.md.
import { isRaw } from '../../engine/prd/migrate.ts'
import { frontOf, type Opened, place } from '../open-document.ts'
import { isDone, numbered, plain, titleOfSlug } from '../story-words.ts'
import { type Beside, type Format, planAt, type Reading } from '../types.ts'
import { type Box, boxesOf, flat } from './boxes.ts'

const NAME = /^(?:tech-)?spec-.+\.md$/i
const IN_STORIES = /(?:^|\/)stories\/[^/]+-[^/]+\.md$/i

export const bmadSpec: Format = {
  name: 'spec file',
  rank: 'detailed',
  found: planAt(
    '(?:tech-)?spec-[^/]+\\.md',
    '^(?:_bmad-output|docs|specs)/(?:[^/]+/)*stories/[^/]+-[^/]+\\.md$',
  ),
  reads: (document) => document.isMarkdown && isSpec(document),
  read,
}

function isSpec({ name, path, head, front, text, blocks }: Opened): boolean {
  const isPlaced = NAME.test(name) || IN_STORIES.test(path)
  if (!isPlaced) return false
  const hasParts = blocks.some(
    (block) =>
      block.kind === 'heading' &&
      /^(?:intent|tasks & acceptance|code map|implementation plan)\b/i.test(block.text),
  )
  return (
    hasParts &&
    (typeof head.status === 'string' || (front.mistakes.length > 0 && /^status:/m.test(frontOf(text))))
  )
}

/** What later sessions and reviews wrote, and what tells how it was looked at. */
const left =
  /^(?:spec change log|review triage log|verification|suggested review order|review notes|code review|auto run result)\b/i

function read(document: Opened, beside: Beside): Partial<Reading> {
  const { head, front, blocks, path, text } = document
  if (front.mistakes.length > 0) return { mistakes: front.mistakes }
  const boxes = flat(boxesOf(blocks)).filter(
    ({ headings }) => !headings.some((one) => left.test(plain(one.text))),
  )
  const isCriterion = (box: Box) => /^\**AC[ -]?\d/i.test(box.text)
  const criteria = [
    ...boxes
      .filter(isCriterion)
      .map(({ text: words }) => words.replace(/^\**AC[ -]?\d+\**[ \t]*[:.]?\**[ \t]*/i, '')),
    ...criteriaIn(document),
  ]
  const title =
    typeof head.title === 'string' && head.title.trim() !== ''
      ? head.title
      : document.title || titleOfSlug(slugOf(document))
  const id = idOf(document, beside)
  const status = String(head.status)
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
        place: (key) => place(path, line, key),
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
    notes: [`story ${id}.`],
  }
}

function slugOf({ name }: Opened): string {
  return name.replace(/\.md$/i, '')
}

/** As the tracker or the list beside it calls the story; else by the name of the file. */
function idOf(document: Opened, beside: Beside): string {
  const slug = slugOf(document)
  const list =
    beside.at(document.folder.replace(/stories\/$/, 'stories.yaml')) ??
    beside.at(document.folder.replace(/stories\/$/, 'stories.yml'))
  const { data } = list?.data ?? { data: null }
  const entries: unknown[] = Array.isArray(data?.value) ? data.value : []
  const ids = entries.filter(isRaw).map(({ id }) => String(id))
  const listed = ids.filter((id) => slug.startsWith(`${id}-`)).sort((a, b) => b.length - a.length)[0]
  if (listed !== undefined) return listed
  const [, epic, number] = /^(?:spec-)?(\d{1,4})-(\d{1,4}[a-z]?)(?=-)/i.exec(slug) ?? []
  if (epic !== undefined && number !== undefined) return numbered(`${epic}-${number}`)
  return slug.replace(/[^\w.-]/g, '-').slice(0, 60)
}

/** Points below a label or heading for acceptance criteria. */
function criteriaIn({ blocks }: Opened): string[] {
  let isBelow = false
  const found: string[] = []
  for (const block of blocks) {
    if (block.kind === 'heading') isBelow = /^acceptance criteria\b/i.test(plain(block.text))
    else if (block.kind === 'words')
      isBelow =
        /\bacceptance criteria\b[^\n]*$/i.test(plain(block.lines.at(-1) ?? '')) ||
        (isBelow && !/^\*\*/.test(block.lines[0] ?? ''))
    else if (block.kind === 'points' && isBelow)
      for (const { text, done, more } of block.points)
        if (done === null || !/^\**AC/i.test(text)) found.push([text, ...more].join(' '))
  }
  return found
}

/** The words of the file, without front matter, comments and what later sessions added. */
function descriptionOf(text: string): string {
  const body = text
    .slice(frontOf(text).length)
    .replace(/<!--.*?(?:-->|$)/gs, '')
    .replace(/<\/?frozen-after-approval[^>]*>/g, '')
  const sections = body.split(/^(?=##[ \t])/m)
  const kept = sections.filter((one) => !left.test(one.replace(/^##[ \t]+/, '')))
  return kept
    .join('')
    .replace(/^#[ \t].*\n/, '')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
}
