// All features in one page: a table of runs, and what they used by model and version.
import type { Aggregate, FeatureRun, Total } from '../aggregate.ts'
import {
  costLabel,
  describeTokens,
  formatDuration,
  formatTokens,
  formatUsd,
  formatUtc,
  pluralize,
} from '../figures.ts'
import { OUTCOMES } from '../outcomes.ts'
import { describeResults } from '../run-results.ts'
import type { Columns } from '../sentence.ts'
import { rungTable } from './costs-section.ts'
import { html, icon, inlineText, type Markup, nothing, section, table } from './markup.ts'
import { page } from './report-page.ts'

const MAX_RUNS = 2000

/** `hrefs`: links to pages of single runs, by folder. `unread`: a message for each state that could not be read. */
export function renderAll(
  all: Aggregate,
  {
    now,
    unread,
    hrefs = new Map(),
  }: { now: number; unread: readonly string[]; hrefs?: ReadonlyMap<string, string> },
): string {
  const { runs, total, byModel, byVersion } = all
  const columns = runColumns(hrefs)
  const left = runs.length - MAX_RUNS
  const more = left > 0 ? html`<p class="aside">… and ${pluralize(left, 'older run')}.</p>` : nothing
  const broken = unread.map((why) => html`<li>${icon('⚠')} ${inlineText(why, 600)}</li>`)
  const open = runs.filter(({ outcome, isArchived }) => !isArchived && outcome !== 'complete').length
  const title = `${pluralize(runs.length, 'run')}, ${open} unfinished`
  const body = html`<header class="top ${open === 0 ? 'good' : 'run'}">
<p class="eyebrow">All features</p><h1>${title}</h1>
${broken.length === 0 ? nothing : html`<ul class="needs">${broken}</ul>`}
<dl>${FIGURES.map(([name, of]) => html`<div><dt>${name}</dt><dd>${of(total)}</dd></div>`)}</dl>
</header>
${section('runs', 'Runs', html`${table(columns, runs.slice(0, MAX_RUNS))}${more}`)}
${results(runs)}${totals('Agents and models', byModel)}${rungTable(all)}${totals('Versions of Ralph', byVersion)}
<footer>As of ${formatUtc(now)}. This file holds no script and fetches nothing.</footer>`
  return page(`Ralph: ${title}`, body)
}

function runColumns(hrefs: ReadonlyMap<string, string>): Columns<FeatureRun, Markup> {
  return [
    ['Feature', 'text', (run) => linkedName(run, hrefs.get(run.folder))],
    [
      'Outcome',
      'text',
      ({ outcome }) => (outcome === null ? 'open' : `${OUTCOMES[outcome].mark} ${outcome}`),
    ],
    ['Stories', 'figure', ({ stories: { passed, total } }) => `${passed} of ${total}`],
    ['Jobs', 'figure', ({ jobs }) => jobs],
    ['Cost', 'figure', ({ usage }) => costLabel(usage)],
    ['Tokens', 'figure', ({ usage }) => describeTokens(usage)],
    ['Agent time', 'figure', ({ usage }) => formatDuration(usage.agentSeconds * 1000)],
    [
      'Begun (UTC)',
      'text',
      ({ startedAt }) => (startedAt === null ? '' : formatUtc(Date.parse(startedAt)).replace(' UTC', '')),
    ],
  ]
}

/** The feature's name, linked to its page. Pages that Ralph writes have a simple file name; any other `href` is not linked. */
function linkedName({ feature, folder, isArchived }: FeatureRun, href: string | undefined): Markup {
  const name = html`<b>${inlineText(feature, 80)}</b>`
  const linked =
    href !== undefined && /^[\w.-]+\.html$/.test(href) ? html`<a href="${href}">${name}</a>` : name
  return html`${linked} <small>${inlineText(folder, 120)}${isArchived ? ', archived' : ''}</small>`
}

const FIGURES: readonly (readonly [name: string, of: (total: Total) => string | number])[] = [
  ['Cost', (total) => costLabel(total)],
  ['Tokens', ({ tokens: used }) => formatTokens(used)],
  ['Agent time', ({ agentSeconds }) => formatDuration(agentSeconds * 1000)],
  ['Sessions', ({ calls }) => calls],
]

const TOTALS: Columns<Total> = [
  ['', 'text', ({ name: text }) => ({ text, most: 120 })],
  ...FIGURES.map(([name, of]) => [name, 'figure', of] as const),
]

const RESULTS: Columns<FeatureRun, Markup> = [
  ['Feature', 'text', ({ feature }) => html`${inlineText(feature, 80)}`],
  ['Passed', 'figure', ({ results: { passed } }) => passed],
  ['On the first attempt', 'figure', ({ results: { firstTry } }) => firstTry ?? ''],
  ['Attempts', 'figure', ({ results: { attempts } }) => attempts ?? ''],
  ['Corrections', 'figure', ({ results: { corrections } }) => corrections],
  ['Cost of a story', 'figure', ({ results: { usdPerStory } }) => formatUsd(usdPerStory ?? 0)],
  ['Lines written', 'figure', ({ results: { merged } }) => merged?.written ?? ''],
  ['Still there', 'figure', ({ results: { merged } }) => (merged === null ? 'not merged' : merged.kept)],
]

/** The results of the runs in which a story has passed. */
function results(runs: readonly FeatureRun[]): Markup {
  const sentence = describeResults(runs.map((run) => run.results))
  if (sentence === null) return nothing
  const some = runs.filter((run) => run.results.passed > 0).slice(0, MAX_RUNS)
  return section('results', 'Results', html`<p>${sentence}.</p>${table(RESULTS, some)}`)
}

function totals(title: string, rows: readonly Total[]): Markup {
  return rows.length === 0
    ? nothing
    : section(title.toLowerCase().replace(/\W+/g, '-'), title, table(TOTALS, rows))
}
