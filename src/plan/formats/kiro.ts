// Kiro and cc-sdd: tasks.md of a spec. A numbered task is a story; its criteria are the sentences of requirements.md that it names.
import { formatCount } from '../../engine/prd/migrate.ts'
import type { OpenDocument } from '../open-document.ts'
import { isNonWorkHeading } from '../sections.ts'
import type { Format, ParsedStory } from '../types.ts'
import { isCheckpoint } from './box-text.ts'
import { type Box, flattenBoxes, parseBoxes } from './boxes.ts'
import { type Sentences, sentencesOf } from './kiro-requirements.ts'
import { epicOf } from './task-list.ts'

// A folder whose name begins with a dot or a low line holds templates.
const FOLDER = /^(?:\.kiro|\.spec-workflow)\/specs\/[^/._][^/]*\/$/

export const kiro: Format = {
  name: 'Kiro',
  rank: 'detailed',
  discoveryPath: /^(?:\.kiro|\.spec-workflow)\/specs\/[^/._][^/]*\/(?:tasks|requirements|bugfix|design)\.md$/,
  matches: (document) => FOLDER.test(document.folder) || (document.isMarkdown && isTasks(document)),
  read(document, documents) {
    const { folder, name, text, blocks } = document
    const unit = { of: 'Kiro spec', name: folder.replace(/\/$/, '') }
    const root = { project: folder.split('/').at(-2) ?? '' }
    if (!document.isMarkdown) return { what: 'the state of a Kiro spec', unit }
    const all = flattenBoxes(parseBoxes(blocks))
    const boxes = all.filter(
      ({ headings }) => !headings.some((heading) => heading.level > 1 && isNonWorkHeading(heading.text)),
    )
    if (!isTasks(document)) {
      const what = `${name.replace(/\.md$/, '')} of a Kiro spec`
      return { prose: text.trim() === '' ? 'none' : 'background', what, unit, boxes: all.length }
    }
    const sentences = sentencesOf(
      ['requirements.md', 'bugfix.md'].flatMap((one) => documents.at(folder + one) ?? []),
    )
    const notes: string[] = []
    const stories = storiesOf(boxes, sentences, notes)
    if (stories.length > 0)
      notes.unshift(`${formatCount(stories.length, 'task')} of the spec read as user stories.`)
    const left = all.length - boxes.length
    if (left > 0) notes.push(`left out: ${formatCount(left, 'box')} for acceptance criteria or final checks.`)
    return { stories, unit, notes, root, boxes: left }
  },
}

function isTasks({ folder, name, blocks }: OpenDocument): boolean {
  return name === 'tasks.md' && parseBoxes(blocks).length > 0 && (FOLDER.test(folder) || isLikeKiro(blocks))
}

// A star after the number marks an optional task, as one after the box does.
const NUMBER = /^(\d{1,3}(?:\.\d{1,3}){0,2})(?:\\?(\*))?[.)]?[ \t]+(\S.*)$/s
const field = /^[_*]{0,3}(requirements?|depends|boundary|validates)[_*]{0,2}:[_* \t]*(.*?)[_* \t]*$/is
/** A field in another language has the same form: `_Requisitos: 1.1_`. */
const foreignField = /^_([\p{L} ]{1,30})[:\uff1a][ \t]*([\d., \t]+)_$/u
const foreignDepends = /^(?:depend|d\u00e9pend|abh\u00e4ng|dipend|\u4f9d\u5b58|\u4f9d\u8d56|\uc758\uc874)/iu

function isLikeKiro(blocks: OpenDocument['blocks']): boolean {
  const boxes = flattenBoxes(parseBoxes(blocks))
  return (
    boxes.some(({ text }) => NUMBER.test(text)) &&
    boxes.some(({ details }) => details.some((one) => /^_requirements?:/i.test(one)))
  )
}

type Numbered = Box & { number: string; title: string; fields: Map<string, string>; words: string[] }

function storiesOf(boxes: readonly Box[], sentences: Sentences, notes: string[]): ParsedStory[] {
  const all = boxes.map(numbered)
  const optional = all.filter(({ isOptional }) => isOptional)
  const checkpoints = all.filter((task) => !task.isOptional && isCheckpoint(task.title))
  const required = all.filter((task) => !task.isOptional && !checkpoints.includes(task))
  const numbers = required.map(({ number }) => number).filter((one) => one !== '')
  // A task with its own text is work, and so is one whose parts are all optional.
  const isGroup = ({ number, words }: Numbered) =>
    number !== '' && words.length === 0 && numbers.some((one) => one.startsWith(`${number}.`))
  // A box without a number is a step of the numbered box around it.
  const steps = new Set(
    all
      .filter(({ number }) => number !== '')
      .flatMap(({ inside }) =>
        flattenBoxes(inside)
          .filter(({ text }) => !NUMBER.test(text.replace(/^\*\*(?=\d)/, '')))
          .map(({ line }) => line),
      ),
  )
  const leaves = required.filter((task) => !isGroup(task) && !steps.has(task.line))
  if (optional.length > 0)
    notes.push(
      `left out: ${formatCount(optional.length, 'optional task')} (${optional
        .map(({ number, line }) => number || `line ${line}`)
        .slice(0, 10)
        .join(', ')}).`,
    )
  if (checkpoints.length > 0)
    notes.push(
      `left out: ${formatCount(checkpoints.length, 'checkpoint')} (${checkpoints
        .map(({ number, line }) => number || `line ${line}`)
        .slice(0, 10)
        .join(', ')}), at which a person checks the work.`,
    )
  const unknown = new Set<string>()
  const ids = new Set(leaves.map(({ number }) => number))
  const stories = leaves.map((task) => {
    const { line, number, title, done, fields, words, inside } = task
    const named =
      (fields.get('requirement') ?? fields.get('validates') ?? '').match(/\d{1,3}(?:\.\d{1,3})?/g) ?? []
    const requiredSentences = named.flatMap((name) => {
      const own = sentences.has(name)
        ? [name]
        : [...sentences.keys()].filter((key) => key.startsWith(`${name}.`) && !name.includes('.'))
      if (own.length === 0 && sentences.size > 0) unknown.add(name)
      return own.map((key) => sentences.get(key) ?? '')
    })
    const below = flattenBoxes(inside).map(({ text }) => text)
    const needs = fields.get('depends')?.match(/\d{1,3}(?:\.\d{1,3}){0,2}/g) ?? []
    const group = /^\d+(?=\.)/.exec(number)?.[0]
    const groupBox = group === undefined ? undefined : required.find((one) => one.number === group)
    const siblings = groupBox === undefined ? [] : leaves.filter((one) => one.number.startsWith(`${group}.`))
    const isGroupDone = groupBox !== undefined && isGroup(groupBox)
    return {
      line,
      raw: {
        id: number || undefined,
        title,
        epicId: groupBox === undefined ? epicOf(task.headings) : `${group}. ${groupBox.title}`.slice(0, 60),
        description: [...words, ...(requiredSentences.length > 0 ? below : []), ...boundaryOf(fields)]
          .map((one) => `- ${one}`)
          .join('\n'),
        acceptanceCriteria:
          requiredSentences.length > 0 ? [...new Set(requiredSentences)] : [...words, ...below],
        dependsOn: needs
          .flatMap((one) => (ids.has(one) ? [one] : [...ids].filter((id) => id.startsWith(`${one}.`))))
          .filter((one) => one !== number),
        passes: done,
      },
      marks: [
        { kind: 'box' as const, line },
        ...(isGroupDone
          ? [{ kind: 'box' as const, line: groupBox.line, whenAll: siblings.map((one) => one.line) }]
          : []),
      ],
    }
  })
  if (unknown.size > 0)
    notes.push(
      `no document next to this one has these requirements: ${[...unknown].slice(0, 10).join(', ')}.`,
    )
  return stories
}

/** The part of the code that the task may change. */
function boundaryOf(fields: ReadonlyMap<string, string>): string[] {
  const boundary = fields.get('boundary')
  return boundary === undefined ? [] : [`Boundary: ${boundary}`]
}

function fieldIn(detail: string): { name: string; value: string } | null {
  const [, name, value = ''] = field.exec(detail) ?? []
  if (name !== undefined) return { name: name.toLowerCase().replace(/^requirements$/, 'requirement'), value }
  const [, foreign, numbers = ''] = foreignField.exec(detail) ?? []
  if (foreign === undefined) return null
  return { name: foreignDepends.test(foreign) ? 'depends' : 'requirement', value: numbers }
}

function numbered(box: Box): Numbered {
  const text = box.text.replace(/^\*\*(?=\d)/, '')
  const isBold = text !== box.text
  const [, number = '', star, title = box.text] = NUMBER.exec(text) ?? []
  const fields = new Map<string, string>()
  const words: string[] = []
  for (const detail of box.details.flatMap((one) => one.split(/(?<=_)[ \t]+(?=_[A-Z])/))) {
    const found = fieldIn(detail.slice(0, 500))
    if (found === null) words.push(detail)
    else fields.set(found.name, found.value)
  }
  return {
    ...box,
    isOptional: box.isOptional || star !== undefined,
    number,
    title: (isBold ? title.replace('**', '') : title).replace(/^\(P\)[ \t]*|[ \t]*\(P\)$/g, '').trim(),
    fields,
    words: words.filter((one) => one !== ''),
  }
}
