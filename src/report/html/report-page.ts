// The report of a feature: one HTML file without scripts, which fetches nothing and needs no other file.
import { oneLine } from '../../engine/model/text.ts'
import { VERSION } from '../../engine/model/version.ts'
import { utf8Bytes } from '../../system/excerpt.ts'
import { formatUtc } from '../figures.ts'
import { findingSentences, formatFindingCount } from '../findings.ts'
import { describeLanes } from '../in-work.ts'
import { STORY_STATUSES } from '../outcomes.ts'
import { IN_WORK } from '../parts.ts'
import type { View } from '../view.ts'
import { costTables } from './costs-section.ts'
import {
  collapsible,
  html,
  icon,
  inlineText,
  link,
  type Markup,
  nothing,
  section,
  table,
  toHtml,
  type Value,
} from './markup.ts'
import { dependencyPicture, timelinePicture } from './pictures-section.ts'
import { type Pictures, storyList } from './stories-section.ts'

export { MAX_PICTURES, pictureBlobs } from './stories-section.ts'

import { STYLE, STYLE_HASH } from './style.ts'

/** The largest size of a page, in bytes of UTF-8. */
export const MAX_BYTES = 3_000_000
/** Room for the elements around the stories. */
const FRAME_BYTES = 200
/** The parts of a live page that a file does not have. `nonce` allows its script and style. */
export type Live = { nonce: string; head: Markup; body: Markup }

/**
 * The page, at most MAX_BYTES. The stories get the room that the other sections leave. `pictures`: data URIs by blob; missing ones
 * are left out. `live`: for a page of `ralph serve`, null for a file.
 */
export function renderReport(view: View, pictures: Pictures = new Map(), live: Live | null = null): string {
  const lastSections = [
    refusals(view),
    section('costs', 'Cost', costTables(view)),
    section('graph', 'What depends on what', dependencyPicture(view.stories)),
  ]
  const sizeWithoutStories = utf8Bytes(renderPage(view, nothing, lastSections, live))
  const stories = storyList(view, pictures, MAX_BYTES - sizeWithoutStories - FRAME_BYTES)
  return renderPage(view, stories, lastSections, live)
}

function renderPage(view: View, stories: Markup, lastSections: readonly Markup[], live: Live | null): string {
  const timeline = timelinePicture(view)
  const body = html`<div id="top">${pageHeader(view)}</div>
${live?.body ?? inWork(view)}<div id="report">
${section('stories', 'Stories', stories)}
${section('timeline', 'Iterations', timeline === nothing ? null : html`<div class="picture">${timeline}</div>`)}
${lastSections}
</div>
${live === null ? footer(view) : nothing}`
  return page(`${oneLine(view.feature, 80)}: ${oneLine(view.headline.text, 120)}`, body, live)
}

/** The policy of a page: it may run and fetch nothing; a live page may run its own script and ask its own server. */
export function contentSecurityPolicy(live: Pick<Live, 'nonce'> | null): string {
  const nonce = live === null ? '' : ` 'nonce-${live.nonce}'`
  const scripts = live === null ? '' : `; script-src${nonce}; connect-src 'self'`
  return `default-src 'none'; img-src data:; style-src '${STYLE_HASH}'${nonce}${scripts}; base-uri 'none'; form-action 'none'`
}

/** A whole page. Only a live page has a script. */
export function page(title: string, body: Markup, live: Pick<Live, 'nonce' | 'head'> | null = null): string {
  const policy = contentSecurityPolicy(live)
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
<style>${STYLE}</style>
${live?.head ?? nothing}</head>
<body>
${body}
</body>
</html>
`.toString()
}

function pageHeader(view: View): Markup {
  const { headline, project, feature, folder, error, links, pullUrl } = view
  const pages: [string, string | null][] = [
    ['Pull request', pullUrl],
    ['This job', links.run],
    ['Changes', links.compare],
  ]
  const nav = pages.map(([name, url]) => (url === null ? nothing : link(name, url)))
  const output =
    error === null ? nothing : collapsible('Output', html`<pre>${error.slice(0, 20_000)}</pre>`, true)
  return html`<header class="top ${view.status.tone}">
<p class="eyebrow"><b>${inlineText(feature, 80)}</b>${project === '' ? nothing : html` · ${inlineText(project, 80)}`} · <code>${oneLine(view.branch, 200)}</code></p>
<h1>${icon(headline.sign)} ${inlineText(headline.text, 400)}</h1>
${findingsBox(view)}${progressBar(view)}
<p class="next"><b>Next:</b> ${toHtml(view.next)}</p>
${needsList(view)}${output}${figureList(view)}
</header>
<nav>${nav}<a href="#stories">Stories</a><a href="#timeline">Iterations</a><a href="#costs">Cost</a></nav>
${view.description.trim() === '' ? nothing : html`<p class="prose">${view.description.slice(0, 4000)}</p>`}
<p class="aside">${describeAge(view)} The state is in <code>${oneLine(folder, 200)}</code>.</p>`
}

function describeAge({ chainGoesOn, asOf, now }: View): string {
  const stale = now - asOf > 60_000 ? ` (page written ${formatUtc(now)})` : ''
  const when = `As of ${formatUtc(asOf)}${stale}.`
  return chainGoesOn ? `This run is still in progress. ${when}` : when
}

function progressBar({ bar, stories, counts: { passed, total } }: View): Markup {
  if (total === 0) return nothing
  let before = 0
  const parts = bar.map(([status, count]) => {
    const x = (before / stories.length) * 100
    const width = (count / stories.length) * 100
    before += count
    return html`<rect class="s-${status}" x="${x}%" width="${width}%" height="14"><title>${count} ${STORY_STATUSES[status].word}</title></rect>`
  })
  return html`<svg class="progress" role="img" aria-label="${passed} of ${total === 1 ? '1 story passes' : `${total} stories pass`}" width="100%" height="14">${parts}</svg>`
}

function findingsBox({ findings }: View): Markup {
  if (findings.total === 0) return nothing
  const more = findings.more === 0 ? nothing : html`<li>and ${findings.more} more</li>`
  const items = findingSentences(findings).map((sentence) => html`<li>${toHtml(sentence)}</li>`)
  return html`<div class="findings"><b>${formatFindingCount(findings.total)}</b> to look at before you merge (<a href="#stories">with each story below</a>)<ul>${items}${more}</ul></div>`
}

/** Why the run is blocked, and what people have to know. */
function needsList({ blocked, notes }: View): Markup {
  const items = [...blocked, ...notes].map((sentence) => html`<li>${toHtml(sentence)}</li>`)
  return items.length === 0 ? nothing : html`<ul class="needs">${items}</ul>`
}

function figureList({ figures, costs: { rejected } }: View): Markup {
  const rows: [string, Value][] = [
    ...figures,
    [
      'Rejected attempts',
      rejected === null ? 'none' : html`${rejected.cost} <small>${rejected.count}</small>`,
    ],
  ]
  return html`<dl>${rows.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`
}

/** The stories in work, for a run that works on several at a time. */
function inWork({ workers, lanes }: View): Markup {
  if (lanes === null || workers.length === 0) return nothing
  return section('now', `Now: ${describeLanes(workers, lanes)}`, table(IN_WORK, workers))
}

/** Attempts that were rejected because the guard refused a change. */
function refusals({ timeline }: View): Markup {
  const refused = timeline.filter(({ kind }) => kind === 'guard').slice(-50)
  if (refused.length === 0) return nothing
  const items = refused.map(
    ({ storyId, attempt, summary }) =>
      html`<li><b>${inlineText(storyId, 64)}</b>, attempt ${attempt}: ${inlineText(summary, 400)}</li>`,
  )
  return section('refused', 'Changes that Ralph refused', html`<ul>${items}</ul>`)
}

function footer({ now }: View): Markup {
  return html`<footer>Made by Ralph ${VERSION} at ${formatUtc(now)}. This file holds no script and fetches nothing.</footer>`
}
