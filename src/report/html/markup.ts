// HTML by construction: every value in a template is text, unless a template made it. Nothing of a state can be markup.
import { oneLine, sanitizeText } from '../../engine/model/text.ts'
import { shortCommit } from '../figures.ts'
import { type Columns, MAX_ID_LENGTH, type Sentence } from '../sentence.ts'
import { iconOf, SIGNS } from './icons.ts'

/** HTML that a template made. It is recognised by its class, so parsed JSON can never pass for it. */
export class Markup {
  readonly #text: string
  constructor(parts: readonly string[], values: readonly Value[]) {
    this.#text = parts
      .map((part, at) => part + (at < values.length ? render(values[at] ?? null) : ''))
      .join('')
  }
  toString(): string {
    return this.#text
  }
}

export type Value = Markup | string | number | null | readonly Value[]

/** A template with values in it: null gives nothing, a list gives its items. Attributes must be quoted, and their names fixed. */
export function html(parts: TemplateStringsArray, ...values: readonly Value[]): Markup {
  return new Markup(parts, values)
}

export const nothing = new Markup([''], [])

function render(value: Value): string {
  if (value === null) return ''
  if (value instanceof Markup) return value.toString()
  if (typeof value === 'number') return String(Math.round(value * 100) / 100)
  return typeof value === 'string' ? escapeHtml(value) : value.map(render).join('')
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '`': '&#96;',
}

/** Escaped for text and for quoted attributes; invisible characters are removed. */
function escapeHtml(text: string): string {
  const plain = /[^\n\t -~]/.test(text) ? sanitizeText(text) : text
  return plain.replace(/[&<>"'`]/g, (mark) => ENTITIES[mark] ?? '')
}

/** One line of a text by people or agents; `bdi` keeps its writing direction from changing the text around it. */
export function inlineText(text: string, max = 300): Markup {
  // Cleaning takes time for each character, so only the part that may be shown is cleaned.
  return html`<bdi>${withIcons(oneLine(text.slice(0, 3 * max), max))}</bdi>`
}

/** A text with icons instead of signs. */
function withIcons(text: string): Value {
  const parts = text.split(SIGNS)
  return parts.length === 1 ? text : parts.map((part, at) => (at % 2 === 0 ? part : icon(part)))
}

/** The icon of a sign; `position`: inside another SVG. */
export function icon(sign: string, position: { x: number; y: number } | null = null): Value {
  const found = iconOf(sign)
  if (found === null) return sign
  const path = html`<path d="${found.path}"/>`
  return position === null
    ? html`<svg class="icon ${found.colour}" role="img" aria-label="${found.label}" viewBox="0 0 16 16">${path}</svg>`
    : html`<svg class="icon" x="${position.x}" y="${position.y}" width="12" height="12" viewBox="0 0 16 16">${path}</svg>`
}

/** A link for an http or https address; for any other, only the label. */
export function link(label: Value, url: string | null): Markup {
  return url !== null && /^https?:\/\/[^\s\p{C}<>"'`\\]+$/iu.test(url)
    ? html`<a href="${url}" rel="noreferrer">${label}</a>`
    : html`${label}`
}

/** A linked short commit id, or nothing if there is none. */
export function commitLink(id: string | null, repository: string): Markup {
  const short = shortCommit(id)
  return short === ''
    ? nothing
    : link(html`<code>${short}</code>`, repository === '' ? null : `${repository}/commit/${id}`)
}

/** A section with a heading; nothing without a body. */
export function section(id: string, title: string, body: Markup | null): Markup {
  return body === null || body === nothing
    ? nothing
    : html`<section id="${id}"><h2>${title}</h2>${body}</section>`
}

/** The attribute of a `details` element that is open. */
export const OPEN = html` open`

export function collapsible(summary: Value, body: Value, isOpen = false): Markup {
  return html`<details${isOpen ? OPEN : nothing}><summary>${summary}</summary>${body}</details>`
}

/** A sentence, with commands in elements that are selected whole by a click. */
export function toHtml(sentence: Sentence): Markup {
  const parts = sentence.map((part): Value => {
    if (typeof part === 'string') return withIcons(part)
    if ('code' in part) return html`<code class="type">${oneLine(part.code, part.most)}</code>`
    if ('text' in part) return inlineText(part.text, part.most ?? 1000)
    if ('link' in part) return link(inlineText(part.link, 100), part.url)
    return 'button' in part
      ? html`<i>${part.button}</i>`
      : html`<b>${inlineText(part.story, MAX_ID_LENGTH)}</b>`
  })
  return html`${parts}`
}

/** A table of items; nothing without items. */
export function table<T>(columns: Columns<T, Markup>, items: readonly T[]): Markup {
  if (items.length === 0) return nothing
  const classes = columns.map(([, kind]) => (kind === 'figure' ? kind : 'text'))
  const head = columns.map(([name], at) => html`<th scope="col" class="${classes[at] ?? ''}">${name}</th>`)
  const rows = items.map((item) => {
    const cells = columns.map(([, , cell], at) => {
      const shown = cell(item)
      const isCell = shown instanceof Markup || typeof shown === 'number'
      return html`<td class="${classes[at] ?? ''}">${isCell ? shown : toHtml([shown])}</td>`
    })
    return html`<tr>${cells}</tr>`
  })
  return html`<div class="wide"><table><thead><tr>${head}</tr></thead><tbody>${rows}</tbody></table></div>`
}
