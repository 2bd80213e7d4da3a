// The stories: criteria with their evidence, the last failure, gates with their output, places in the code, screenshots.
import { formatCommandLine } from '../../engine/commands/command-table.ts'
import type { Screenshot } from '../../engine/model/gate.ts'
import { oneLine, truncate } from '../../engine/model/text.ts'
import { excerpt, utf8Bytes } from '../../system/excerpt.ts'
import { CRITERIA, criteriaRows, criteriaTexts } from '../criteria.ts'
import { costOrEmpty, describeAttempts, formatDuration, pluralize } from '../figures.ts'
import { STORY_STATUSES } from '../outcomes.ts'
import { GATES } from '../parts.ts'
import type { Columns } from '../sentence.ts'
import { describeChange, type StoryView } from '../stories.ts'
import type { View } from '../view.ts'
import {
  collapsible,
  commitLink,
  html,
  icon,
  inlineText,
  type Markup,
  nothing,
  OPEN,
  table,
} from './markup.ts'

/** The maximum number of UTF-16 units of a text and of an output: the more stories, the fewer. */
type TextRoom = { text: number; output: number }

/** Data URIs of pictures by blob; together at most `MAX_PICTURES` long. */
export type Pictures = ReadonlyMap<string, string>

/** The length of all pictures together, as data URIs; further ones are not read from the repository. */
export const MAX_PICTURES = 1_600_000
const MAX_IN_FULL = 300
const MAX_LINES = 500
/** The maximum number of bytes of one line. */
const LINE_BYTES = 2000
/** How a story is shown that has more than there is room for. */
const SHORTENED = { room: { text: 200, output: 0 }, pictures: new Map<string, string>() }

/** All stories in at most `bytes`: as many in full as there is room for, those that need attention first; the others as a line. */
export function storyList(view: View, pictures: Pictures, bytes: number): Markup {
  const { stories, ranked } = view
  const places = new Map(stories.map(({ id }, at) => [id, at]))
  const opened = new Set(stories.filter(({ status }) => status === 'blocked').slice(0, 3))
  const pictureBytes = [...pictures.values()].reduce((sum, uri) => sum + uri.length, 0)
  let left = bytes - Math.min(MAX_LINES, stories.length) * LINE_BYTES
  const share = Math.max(0, (left - pictureBytes) / Math.min(stories.length, MAX_IN_FULL))
  const room = { text: Math.min(6000, share / 8), output: Math.min(40_000, share / 4) }
  const full = new Map<StoryView, Markup>()
  for (const story of ranked.slice(0, MAX_IN_FULL)) {
    const context = { view, places, isOpen: opened.has(story) }
    let rendered = fullStory(story, { ...context, room, pictures })
    // Too long: it has many gates, or one picture that many pages show.
    if (utf8Bytes(rendered.toString()) > left) rendered = fullStory(story, { ...context, ...SHORTENED })
    left -= utf8Bytes(rendered.toString())
    if (left < 0) break
    full.set(story, rendered)
  }
  const inOrder = stories.flatMap((story) => full.get(story) ?? [])
  const lines = stories.flatMap((story, at) => (full.has(story) ? [] : [storyLine(story, at)]))
  if (lines.length === 0) return html`${inOrder}`
  const more = lines.length - MAX_LINES
  const last = more > 0 ? html`<li>… and ${pluralize(more, 'more story', 'more stories')}</li>` : nothing
  const rest = html`<ul class="lines">${lines.slice(0, MAX_LINES)}${last}</ul>`
  return html`<p class="aside">${full.size} of ${stories.length} stories in full: what needs attention, what is in progress, what comes next.</p>${inOrder}${collapsible(`The other ${lines.length} stories`, rest)}`
}

/** Blobs of the pictures that the report can show, each once, the most important first: current screenshots before earlier ones. */
export function pictureBlobs({ ranked }: View): string[] {
  const all = ranked.flatMap(({ gates }) => gates.flatMap(({ screenshots = [] }) => screenshots))
  const before = all.flatMap((one) => (one.before === null ? [] : [one.before]))
  return [...new Set([...all.map(({ blob }) => blob), ...before])]
}

function storyLine({ id, title, status, aside }: StoryView, at: number): Markup {
  return html`<li id="s${at}">${icon(STORY_STATUSES[status].sign)} <b>${inlineText(id, 64)}</b> ${inlineText(title, 120)}${aside === '' ? nothing : html` <small>${inlineText(aside, 120)}</small>`}</li>`
}

type StoryContext = {
  view: View
  room: TextRoom
  places: ReadonlyMap<string, number>
  pictures: Pictures
  isOpen: boolean
}

function fullStory(story: StoryView, { view, room, places, pictures, isOpen }: StoryContext): Markup {
  const { id, title, status, aside, attempts, givenBack, usage, ms, description, dependsOn } = story
  const { sign, word } = STORY_STATUSES[status]
  const figures = [
    attempts + givenBack > 0 ? describeAttempts(story) : '',
    describeChange(story.change),
    costOrEmpty(usage),
    ms > 0 ? formatDuration(ms) : '',
  ].filter(Boolean)
  const summary = html`<summary><span class="sign" title="${word}">${icon(sign)}</span><b class="id">${inlineText(id, 64)}</b> <span class="name">${inlineText(title)}</span> <span class="figures">${figures.join(' · ')} ${commitLink(story.commit, view.links.repository)}</span>${aside === '' ? nothing : html`<small>${inlineText(aside)}</small>`}</summary>`
  const dependencies = dependsOn
    .slice(0, 50)
    .map((one) => html`<a href="#s${places.get(one) ?? ''}">${inlineText(one, 64)}</a> `)
  const body = [
    description.trim() === '' ? nothing : html`<p class="prose">${truncate(description, room.text)}</p>`,
    criteria(story, view, room),
    dependencies.length === 0 ? nothing : html`<p>Depends on ${dependencies}</p>`,
    choiceTable(story),
    failure(story, view, room),
    gateTable(story, room, isOpen),
    listed('Places in the code', codePlaces(story, view), 30),
    listed(
      'What a reviewer should see',
      story.remarks.map((one) => inlineText(one, 400)),
      50,
    ),
    pictureList(story, pictures),
  ]
  return html`<details class="story s-${status}" id="s${places.get(id) ?? ''}"${isOpen ? OPEN : nothing}>${summary}${body}</details>`
}

/** Items under a heading; nothing without any. */
function listed(title: string, items: readonly Markup[], most: number): Markup {
  if (items.length === 0) return nothing
  const more = items.length > most ? html`<li>… and ${items.length - most} more</li>` : nothing
  return html`<h4>${title}</h4><ol>${items.slice(0, most).map((item) => html`<li>${item}</li>`)}${more}</ol>`
}

/** A list, or a table with what shows each criterion once the story was judged. */
function criteria(story: StoryView, { links }: View, room: TextRoom): Markup {
  const rows = criteriaRows(story, links.blob)
  if (rows.length > 0)
    return html`<h4>Acceptance criteria</h4>${table(CRITERIA, rows.slice(0, MAX_CRITERIA))}`
  const items = criteriaTexts(story).map((text) => html`${inlineText(text, Math.min(room.text, 500))}`)
  return listed('Acceptance criteria', items, MAX_CRITERIA)
}

const MAX_CRITERIA = 50

function failure({ id, failure: found, status }: StoryView, { surface }: View, room: TextRoom): Markup {
  if (found === null) return nothing
  // The output of gates is shown with the gates.
  const detail = excerpt(found.detail.trim(), room.output)
  const how = html`<p>Try again with a hint: <code class="type">${formatCommandLine(surface, `retry ${oneLine(id, 64)} -- <hint>`)}</code></p>`
  return html`<h4>Why its last attempt was rejected</h4><p class="why">${inlineText(found.summary, 600)}</p>${detail === '' ? nothing : html`<pre>${detail}</pre>`}${status === 'blocked' ? how : nothing}`
}

type CandidateView = NonNullable<StoryView['choice']>['candidates'][number]

const CANDIDATES: Columns<CandidateView, Markup> = [
  ['Candidate', 'figure', ({ slot }) => slot],
  ['Result', 'text', ({ result }) => ({ text: result, most: 300 })],
  ['Cost', 'figure', ({ cost }) => cost],
  ['', 'text', ({ isChosen }) => (isChosen ? 'chosen' : '')],
]

function choiceTable({ choice }: StoryView): Markup {
  if (choice === null) return nothing
  const { slot, why, candidates } = choice
  return html`<h4>Candidates</h4><p>Candidate ${slot} was chosen: ${inlineText(why, 200)}.</p>${table(CANDIDATES, candidates)}`
}

const MAX_GATES = 40

function gateTable({ gates }: StoryView, room: TextRoom, isOpen: boolean): Markup {
  if (gates.length === 0) return nothing
  const shown = gates.slice(0, MAX_GATES)
  const outputs = shown.map(({ name, ok, output, advisory }) => {
    const text = excerpt(output.trim(), ok ? Math.floor(room.output / 4) : room.output)
    if (text === '' || room.output < 100) return nothing
    return collapsible(
      html`Output of ${inlineText(name, 80)}`,
      html`<pre>${text}</pre>`,
      isOpen && !ok && !advisory,
    )
  })
  return html`<h4>Gates of its last attempt</h4>${table(GATES, shown)}${outputs}`
}

function codePlaces({ id, gates }: StoryView, { annotations }: View): Markup[] {
  const all = [...(annotations[id] ?? []), ...gates.flatMap((gate) => gate.annotations ?? [])]
  const each = new Map(all.map((one) => [`${one.path}:${one.line}:${one.message}`, one]))
  return [...each.values()].map(
    ({ path, line, message }) => html`<code>${oneLine(path, 200)}:${line}</code> ${inlineText(message, 400)}`,
  )
}

function pictureList({ gates }: StoryView, shown: Pictures): Markup {
  const all = gates.flatMap(({ screenshots = [] }) => screenshots).filter(({ blob }) => shown.has(blob))
  return all.length === 0
    ? nothing
    : html`<h4>Pages</h4><div class="pages">${all.map((one) => picture(one, shown))}</div>`
}

function picture({ url, viewport, blob, before }: Screenshot, shown: Pictures): Markup {
  const image = (of: string | null, what: string) => {
    const uri = of === null ? undefined : shown.get(of)
    return uri === undefined || !/^data:image\/[a-z]+;base64,[\w+/]+=*$/.test(uri)
      ? nothing
      : html`<div><span class="aside">${what}</span><img src="${uri}" alt="${oneLine(url, 200)}, ${what}" loading="lazy"></div>`
  }
  const old = image(before === blob ? null : before, 'before')
  const now = image(blob, old === nothing ? 'now' : 'after')
  return html`<figure><figcaption>${inlineText(url, 200)} <small>${inlineText(viewport, 40)}</small></figcaption>${old}${now}</figure>`
}
