// Pages that follow runs: what happens now, above the report; and the list of all features that are followed.

import { capitalize, formatCountdown, formatDuration } from '../figures.ts'
import { describeLanes } from '../in-work.ts'
import type { LiveView } from '../live-view.ts'
import { LEVELS } from '../monitor-view.ts'
import { IN_WORK } from '../parts.ts'
import { toPlainText } from '../sentence.ts'
import { formatStatusCounts } from '../stories.ts'
import { html, inlineText, link, Markup, nothing, section, table } from './markup.ts'
import { type Live, page } from './report-page.ts'

/** The live part, between the head of the report and its stories. */
export function renderLivePart(one: LiveView): Markup {
  const { calls, circuit, current, workers, lanes, now } = one
  const bar =
    calls.most === null
      ? nothing
      : html`<meter min="0" max="${calls.most}" high="${Math.ceil(calls.most * 0.9)}" value="${calls.used}"></meter> `
  const several = workers.length > 1 ? `: ${describeLanes(workers, lanes)}` : ''
  const stories = several || (current === null ? '' : `: ${current.id}`)
  const left =
    calls.until === null
      ? nothing
      : html`<span data-until="${calls.until}">${formatCountdown(calls.until, now)}</span>`
  const rows = one.exits.map(
    ({ name, text: how, level }) =>
      html`<li class="${level}"><b>${LEVELS[level]} ${name}</b> ${inlineText(how, 200)}</li>`,
  )
  return html`<div class="now">
${section('now', `Now${stories}`, renderNow(one))}
<section><h2>Limits</h2><p><b>Calls in the last hour</b> ${bar}${calls.text}${left}</p>
<p class="circuit ${circuit.position}"><b>Health</b> ${inlineText(circuit.text, 300)}</p>
${one.outlook === null ? nothing : html`<p><b>Remaining</b> ${inlineText(one.outlook, 500)}</p>`}</section>
<section><h2>End conditions</h2><ul class="exits">${rows}</ul></section>
</div>`
}

function renderNow({ workers, lines, isAtWork, now, url }: LiveView): Markup {
  const lastOutput =
    lines.length === 0 ? nothing : html`<pre class="said">${lines.slice(-30).join('\n')}</pre>`
  const runLink = url === null ? nothing : html`<p>${link('Open the job', url)}</p>`
  if (workers.length === 0)
    return html`<p>${isAtWork ? 'Between two stories.' : 'No run is working on it.'}</p>${runLink}${lastOutput}`
  if (workers.length > 1) return html`${table(IN_WORK, workers)}${runLink}${lastOutput}`
  const rows = workers.map((one) => {
    const before =
      one.before === '' ? nothing : html`<p class="why">Last failure: ${inlineText(one.before, 300)}</p>`
    return html`<p><b>${inlineText(one.title, 300)}</b></p>
<p>${capitalize(one.which)}, ${one.doing}, for ${formatDuration(now - one.startedAt)}</p>
${before}`
  })
  return html`${rows}${runLink}${lastOutput}`
}

/** All features that are followed, each with a link to its page. */
export function renderIndex(views: readonly LiveView[]): Markup {
  const cards = views.map((one) => {
    const { status, bar, counts } = one
    return html`<a class="card top ${status.tone}" href="f/${encodeURIComponent(one.feature)}/">
<b>${status.mark} ${status.title}</b> <span>${inlineText(one.feature, 80)}</span>
<progress max="${Math.max(1, counts.total)}" value="${counts.passed}"></progress>
<small>${inlineText(one.headline.text, 300)}</small><small>${formatStatusCounts(bar)}</small>
${one.isCalling ? html`<em>${inlineText(toPlainText(one.next), 300)}</em>` : nothing}</a>`
  })
  return html`<div class="cards">${cards}</div>`
}

export function indexPage(views: readonly LiveView[], live: Omit<Live, 'body'>, note: string): string {
  return page('Ralph', html`<h1>Ralph</h1>${liveBody(renderIndex(views), note)}`, live)
}

/** The live part of a page, with the note below it. */
export function liveBody(part: Markup, note: string): Markup {
  return html`<div id="live">${part}</div>
<p class="aside"><span id="note">${inlineText(note, 400)}</span> <b id="lost" hidden>ralph serve does not answer. Is it still running?</b></p>
`
}

/** Style and script of a live page; if scripts are off, the page reloads itself every 15 seconds. */
export function liveHead(nonce: string): Markup {
  return html`<noscript><meta http-equiv="refresh" content="15"></noscript>
<style nonce="${nonce}">${new Markup([CSS], [])}</style>
<script type="module" nonce="${nonce}">${new Markup([SCRIPT], [])}</script>
`
}

const CSS = `.now{display:grid;grid-template-columns:minmax(0,2fr) minmax(0,1fr);grid-template-rows:auto 1fr;column-gap:28px}.now section:first-child{grid-row:1/3}.now h2{margin-top:22px}
.said{max-height:320px;min-height:80px}.exits{list-style:none;padding:0;font-size:13.5px}.exits b{display:inline-block;min-width:124px;font-weight:500}.near b{color:var(--wait)}.met b{color:var(--bad)}li.good b{color:var(--good)}
.circuit.open{color:var(--bad)}.circuit.half-open{color:var(--wait)}meter{width:120px;vertical-align:middle}#lost{color:var(--bad)}
.cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(300px,1fr));gap:14px}.card{color:inherit;display:block}.card small,.card em{display:block}.card em{color:var(--wait);font-style:normal;margin-top:6px}.card progress{width:100%}.card span{float:right}
@media(max-width:800px){.now{grid-template-columns:minmax(0,1fr)}.now section:first-child{grid-row:auto}}`

/** Shows the live part that the server sends, and reloads the page if the report has changed; open details stay open. */
const SCRIPT = `
const part = (id) => document.getElementById(id)
const two = (n) => String(Math.floor(n) % 60).padStart(2, '0')
const clock = (s) => (s >= 3600 ? Math.floor(s / 3600) + ':' : '') + two(s / 60) + ':' + two(s)
const tick = () => {
  for (const { dataset, firstChild } of document.querySelectorAll('[data-until]'))
    firstChild.data = clock(Math.max(0, Math.ceil((Number(dataset.until) - Date.now()) / 1000)))
}
const last = () => { const box = document.querySelector('.said'); if (box) box.scrollTop = box.scrollHeight }
setInterval(tick, 1000)
const events = new EventSource('events')
events.onopen = () => { part('lost').hidden = true }
events.onerror = () => { part('lost').hidden = false }
events.addEventListener('live', ({ data }) => {
  const { html, note } = JSON.parse(data)
  part('live').innerHTML = html
  part('note').textContent = note
  last()
})
events.addEventListener('report', () => {
  const open = [...document.querySelectorAll('details[open][id]')].map(({ id }) => id)
  sessionStorage.setItem('open', JSON.stringify(open))
  location.reload()
})
for (const id of JSON.parse(sessionStorage.getItem('open') ?? '[]')) part(id)?.setAttribute('open', '')
last()
`
