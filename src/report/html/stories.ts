// The stories: criteria with what shows them, the last failure, gates with their output, places in files, pictures of pages.
import { typedOn } from '../../loop/command-table.ts'
import type { Screenshot } from '../../model/gate.ts'
import { oneLine } from '../../model/text.ts'
import { bounded } from '../escape.ts'
import { STANDINGS } from '../outcomes.ts'
import { GATES } from '../parts.ts'
import { byUrgency, type StoryView, shownBy } from '../stories.ts'
import type { View } from '../view.ts'
import { costWords, hasCost, humanMs, many } from '../words.ts'
import { commit, folded, html, inHtml, type Markup, nothing, OPEN, table, words } from './markup.ts'

/** How much of a state is shown: stories in full and by a line, UTF-16 units of a text and of an output, bytes of pictures. */
export type Room = { stories: number; lines: number; text: number; output: number; pictures: number }

/** Data URIs of pictures by their blob. */
export type Pictures = ReadonlyMap<string, string>

/** Null as soon as it is longer than `most`. */
export function storyList(view: View, room: Room, pictures: Pictures, most: number): Markup | null {
  const { stories } = view
  if (stories.length === 0) return nothing
  const places = new Map(stories.map((story, at) => [story.id, at]))
  const chosen = new Set(byUrgency(stories).slice(0, room.stories))
  const shown = spent(view, pictures, room.pictures)
  const opened = new Set(stories.filter(({ standing }) => standing === 'blocked').slice(0, 3))
  const all: Markup[] = []
  let length = 0
  for (const [at, story] of stories.entries()) {
    if (!chosen.has(story)) continue
    const made = fullStory(story, at, { view, room, places, shown, isOpen: opened.has(story) })
    length += made.toString().length
    if (length > most) return null
    all.push(made)
  }
  if (chosen.size === stories.length) return html`${all}`
  const lines = stories.flatMap((story, at) => (chosen.has(story) ? [] : [storyLine(story, at)]))
  const left = lines.length - room.lines
  const more = left > 0 ? html`<li>… and ${many(left, 'more story', 'more stories')}</li>` : nothing
  const rest = html`<ul class="lines">${lines.slice(0, room.lines)}${more}</ul>`
  return html`<p class="aside">${chosen.size} of ${stories.length} stories in full: what needs a person, what is in work, what comes next.</p>${all}${folded(`The other ${lines.length} stories`, rest)}`
}

/** Blobs of pictures, each once, those that a person looks for first at the front: how a page is now before how it was. */
export function picturesWanted({ stories }: View): string[] {
  const all = byUrgency(stories).flatMap(({ gates }) => gates.flatMap(({ screenshots = [] }) => screenshots))
  const before = all.flatMap((one) => (one.before === null ? [] : [one.before]))
  return [...new Set([...all.map(({ blob }) => blob), ...before])]
}

/** Those that fit into `most` bytes. */
function spent(view: View, pictures: Pictures, most: number): Pictures {
  let left = most
  return new Map(
    picturesWanted(view).flatMap((blob): [string, string][] => {
      const uri = pictures.get(blob)
      if (uri === undefined || uri.length > left || !/^data:image\/[a-z]+;base64,[\w+/]+=*$/.test(uri))
        return []
      left -= uri.length
      return [[blob, uri]]
    }),
  )
}

function storyLine({ id, title, standing, aside }: StoryView, at: number): Markup {
  return html`<li id="s${at}">${STANDINGS[standing].sign} <b>${words(id, 64)}</b> ${words(title, 120)}${aside === '' ? nothing : html` <small>${words(aside, 120)}</small>`}</li>`
}

type Around = {
  view: View
  room: Room
  places: ReadonlyMap<string, number>
  shown: Pictures
  isOpen: boolean
}

function fullStory(story: StoryView, at: number, { view, room, places, shown, isOpen }: Around): Markup {
  const { id, title, standing, aside, attempts, usage, ms, description, dependsOn } = story
  const { sign, word } = STANDINGS[standing]
  const figures = [
    attempts > 0 ? many(attempts, 'attempt') : '',
    hasCost(usage) && usage.costUsd > 0 ? costWords(usage) : '',
    ms > 0 ? humanMs(ms) : '',
  ].filter(Boolean)
  const summary = html`<summary><span class="sign" title="${word}">${sign}</span><b class="id">${words(id, 64)}</b> <span class="name">${words(title)}</span> <span class="figures">${figures.join(' · ')} ${commit(story.commit, view.links.repository)}</span>${aside === '' ? nothing : html`<small>${words(aside)}</small>`}</summary>`
  const waits = dependsOn
    .slice(0, 50)
    .map((one) => html`<a href="#s${places.get(one) ?? ''}">${words(one, 64)}</a> `)
  const body = [
    description.trim() === '' ? nothing : html`<p class="prose">${bounded(description, room.text)}</p>`,
    listed('Acceptance criteria', criteria(story, view, room), 50),
    waits.length === 0 ? nothing : html`<p>Depends on ${waits}</p>`,
    failure(story, view, room),
    gateTable(story, room, isOpen),
    listed('Places in the code', placesOf(story, view), 30),
    listed(
      'What a reviewer should see',
      story.remarks.map((one) => words(one, 400)),
      50,
    ),
    pictureList(story, shown),
  ]
  return html`<details class="story s-${standing}" id="s${at}"${isOpen ? OPEN : nothing}>${summary}${body}</details>`
}

/** Items under a heading; nothing without any. */
function listed(title: string, items: readonly Markup[], most: number): Markup {
  if (items.length === 0) return nothing
  const more = items.length > most ? html`<li>… and ${items.length - most} more</li>` : nothing
  return html`<h4>${title}</h4><ol>${items.slice(0, most).map((item) => html`<li>${item}</li>`)}${more}</ol>`
}

function criteria(story: StoryView, { links }: View, room: Room): Markup[] {
  return story.criteria.map((text, at) => {
    const shown = shownBy(story, at + 1, links.blob)
    return html`${words(text, Math.min(room.text, 500))}${shown.map((one) => html`<span class="shown">✔ ${inHtml([one])}</span>`)}`
  })
}

function failure({ id, failure: found, standing }: StoryView, { surface }: View, room: Room): Markup {
  if (found === null) return nothing
  const isGate = found.kind === 'gates'
  const detail =
    isGate || found.detail.trim() === '' ? nothing : html`<pre>${bounded(found.detail, room.output)}</pre>`
  const how = html`<p>Try again with a hint: <code class="type">${typedOn(surface, `retry ${oneLine(id, 64)} -- <hint>`)}</code></p>`
  return html`<h4>Why its last attempt was rejected</h4><p class="why">${words(found.summary, 600)}</p>${detail}${standing === 'blocked' ? how : nothing}`
}

const MOST_GATES = 40

function gateTable({ gates }: StoryView, room: Room, isOpen: boolean): Markup {
  if (gates.length === 0) return nothing
  const shown = gates.slice(0, MOST_GATES)
  const outputs = shown.map(({ name, ok, output, advisory }) => {
    const text = bounded(output.trim(), ok ? Math.floor(room.output / 4) : room.output)
    if (text === '' || room.output < 100) return nothing
    return folded(html`Output of ${words(name, 80)}`, html`<pre>${text}</pre>`, isOpen && !ok && !advisory)
  })
  return html`<h4>Gates of its last attempt</h4>${table(GATES, shown)}${outputs}`
}

function placesOf({ id, gates }: StoryView, { annotations }: View): Markup[] {
  const all = [...(annotations[id] ?? []), ...gates.flatMap((gate) => gate.annotations ?? [])]
  const each = new Map(all.map((one) => [`${one.path}:${one.line}:${one.message}`, one]))
  return [...each.values()].map(
    ({ path, line, message }) => html`<code>${oneLine(path, 200)}:${line}</code> ${words(message, 400)}`,
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
    return uri === undefined
      ? nothing
      : html`<div><span class="aside">${what}</span><img src="${uri}" alt="${oneLine(url, 200)}, ${what}" loading="lazy"></div>`
  }
  const old = image(before === blob ? null : before, 'before')
  const now = image(blob, old === nothing ? 'now' : 'after')
  return html`<figure><figcaption>${words(url, 200)} <small>${words(viewport, 40)}</small></figcaption>${old}${now}</figure>`
}
