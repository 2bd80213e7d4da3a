// The report as a page: what stands where, what is escaped, and how large it gets.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { emptyUsage } from '../../../src/engine/model/usage.ts'
import { newStory } from '../../../src/engine/prd/schema.ts'
import { aggregate, featureRun } from '../../../src/report/aggregate.ts'
import { storyCheck } from '../../../src/report/check-runs.ts'
import { costsOf } from '../../../src/report/costs.ts'
import { renderAll } from '../../../src/report/html/all.ts'
import { html, link, type Value } from '../../../src/report/html/markup.ts'
import { timelinePicture } from '../../../src/report/html/pictures-section.ts'
import { MAX_BYTES, pictureBlobs, renderReport } from '../../../src/report/html/report-page.ts'
import { RESULTS } from '../../../src/report/outcomes.ts'
import { stickyComment } from '../../../src/report/sticky-comment.ts'
import { type Facts, viewOf } from '../../../src/report/view.ts'
import { entryWith } from '../engine/samples.ts'
import { REPOSITORY } from './poison.ts'
import { PIXEL, rich } from './rich.ts'
import {
  chosenAmongThree,
  complete,
  justStarted,
  large,
  limits,
  midRun,
  NOW,
  record,
  stuck,
} from './samples.ts'

const facts: Facts = {
  repositoryUrl: REPOSITORY,
  runUrl: `${REPOSITORY}/actions/runs/77`,
  limits,
  now: NOW,
  notes: [],
}
const bytes = (text: string) => Buffer.byteLength(text)
/** The text of a part of the page, without its marks. */
const plain = (page: string) =>
  page
    .replace(/<style>[\s\S]*?<\/style>/, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')

test("the HTML report's policy names the style by its hash, and allows nothing else", () => {
  const page = renderReport(viewOf(stuck(), facts))
  const style = /<style>([\s\S]*?)<\/style>/.exec(page)?.[1] ?? ''
  const hash = createHash('sha256').update(style).digest('base64')
  assert.ok(
    page.includes(`default-src &#39;none&#39;; img-src data:; style-src &#39;sha256-${hash}&#39;`),
    hash,
  )
  assert.doesNotMatch(page, /<script|\sstyle=|\son\w+=|url\(|@import/)
})

test('several candidates of a story are shown with the chosen one, the reason and each cost, in the comment, too', () => {
  const view = viewOf(chosenAmongThree(), facts)
  const aside = 'by candidate 3 of 3: the smallest change that passed its gates; the others cost $0.70'
  assert.equal(view.stories.find(({ id }) => id === 'US-002')?.aside, aside)
  const page = plain(renderReport(view))
  assert.ok(page.includes(aside))
  assert.match(page, /Candidate 3 was chosen: the smallest change that passed its gates \./)
  for (const row of [
    '1 green, 140 lines, 2 remarks $0.30',
    '2 gate test failed (exit 1) $0.40',
    '3 green, 38 lines $0.50 chosen',
  ])
    assert.ok(page.includes(row), row)
  assert.ok(
    stickyComment(view).includes(
      'by candidate 3 of 3: the smallest change that passed its gates; the others cost',
    ),
  )
  assert.match(storyCheck(view, 'US-002').title, /^Passed on the first attempt by candidate 3 of 3: /)
})

test('every value in an HTML template is text, and only templates make markup', () => {
  const forged: Value = JSON.parse('["<b>", {"text":"<b>"}]')
  assert.equal(String(html`${'<b a="1" b=\'2\'>`&'}`), '&lt;b a=&quot;1&quot; b=&#39;2&#39;&gt;&#96;&amp;')
  assert.throws(() => String(html`${forged}`), /map is not a function/)
  assert.equal(
    String(html`<i>${html`<b>${'<'}</b>`}${null}${[1, ' ', 0.125]}</i>`),
    '<i><b>&lt;</b>1 0.13</i>',
  )
  for (const url of [
    'javascript:alert(1)',
    'data:text/html,x',
    'https://a.test/" x="',
    "http://a.test/'",
    'file:///etc/passwd',
    '',
  ])
    assert.equal(String(link('x', url)), 'x', url)
  assert.equal(
    String(link('x', 'https://a.test/?a=1&b=2')),
    '<a href="https://a.test/?a=1&amp;b=2" rel="noreferrer">x</a>',
  )
})

test('the HTML report of a stuck run begins with the problem and what to do', () => {
  const page = plain(renderReport(viewOf(rich(), { ...facts, notes: ['The network refused: a.test (3)'] })))
  assert.match(
    page,
    /Stuck: US-003 is blocked · 4 of 6 stories pass 2 findings to look at .* 4 passed 1 blocked 1 waiting Next: Give a hint with \/ralph retry US-003 -- &lt;hint&gt;/,
  )
  assert.match(page, /is blocked after 3 attempts: gate test failed \(exit 1\)/)
  assert.match(page, /Rejected attempts \$1\.83 3 attempts/)
  assert.match(page, /13 passed, 1 failed, 2 skipped/)
  assert.match(page, /200 !== 429/)
  assert.match(page, /Changes that Ralph refused .*US-003/)
  assert.match(page, /flaky/)
  assert.match(
    page,
    /Acceptance criteria Criterion Level Shown by Detail It does\. cited said/,
    'what shows a criterion stands with it',
  )
  const cli = plain(renderReport(viewOf(rich(), { ...facts, surface: 'cli' })))
  assert.match(cli, /ralph retry US-003 -- &lt;hint&gt;/)
  assert.doesNotMatch(cli, /\/ralph/)
})

test('the HTML report of a run in work says so, with its time', () => {
  const page = plain(renderReport(viewOf(midRun(), { ...facts, now: NOW + 3_600_000 })))
  assert.match(
    page,
    /This run is still in progress\. As of 2026-01-10 14:05 UTC \(page written 2026-01-10 15:05 UTC\)/,
  )
  const left = viewOf(midRun(), facts, { kind: 'ready', step: null })
  for (const view of [viewOf(complete(), facts), left])
    assert.doesNotMatch(plain(renderReport(view)), /still in progress/)
})

test('every symbol in the chart of iterations has a legend', () => {
  const [, legend = ''] = timelinePicture(viewOf(midRun(), facts)).toString().split('class="legend"')
  for (const { mark } of Object.values(RESULTS)) assert.ok(legend.includes(mark), mark)
})

test('the HTML report of a run without work has no empty table and chart', () => {
  const page = renderReport(viewOf(justStarted(), facts))
  assert.doesNotMatch(page, /<table|class="timeline"|id="costs"|NaN|undefined|null/)
  const none = { ...justStarted(), prd: { ...justStarted().prd, userStories: [] } }
  assert.doesNotMatch(renderReport(viewOf(none, facts)), /NaN|undefined/)
})

test('screenshots are shown before and after, without missing ones', () => {
  const view = viewOf(rich(), facts)
  assert.deepEqual(pictureBlobs(view), ['b'.repeat(40), 'c'.repeat(40)])
  const both = renderReport(
    view,
    new Map([
      ['b'.repeat(40), PIXEL],
      ['c'.repeat(40), `${PIXEL.slice(0, -4)}AA==`],
    ]),
  )
  assert.match(plain(both), /before after/)
  assert.ok(both.includes(`<img src="${PIXEL}"`))
  assert.doesNotMatch(renderReport(view), /<img/)
  const forged = new Map([
    ['b'.repeat(40), 'https://a.test/x.png'],
    ['c'.repeat(40), 'data:text/html;base64,AA=='],
  ])
  assert.doesNotMatch(renderReport(view, forged), /<img/)
})

test('the cost of rejected attempts is shown in dollars, else in tokens', () => {
  const { stories, timeline, usage, costs } = viewOf(stuck(), facts)
  assert.deepEqual(costs.rejected, { cost: '$1.83', count: '3 attempts' })
  const unpaid = timeline.map((entry) => ({ ...entry, costUsd: 0 }))
  assert.equal(costsOf(stories, unpaid, usage).rejected?.cost, '187k tokens')
  assert.equal(costsOf(stories, [], usage).rejected, null)
})

test('usage without a story is shown, so that the figures add up', () => {
  const state = complete()
  const told = (costUsd: number) => {
    const sessions = [...state.sessions, entryWith({ kind: 'verify', costUsd })]
    return plain(renderReport(viewOf({ ...state, sessions }, facts)))
  }
  assert.match(told(0.5), /Not in the table by story: verification and plans \(\$0\.50\)\./)
  assert.doesNotMatch(told(1e-12), /Not part of a story/)
})

test('costs in JSON have no rounding errors of sums', () => {
  const { prd } = complete()
  const usage = { ...emptyUsage(), calls: 1, costUsd: 0.1 + 0.02 + 1e-17, estimatedCostUsd: 0.1 + 0.2 }
  const run = featureRun(
    { prd: { ...prd, run: { ...prd.run, usage } } },
    { feature: 'a', folder: 'a', isArchived: false },
  )
  const [first] = aggregate([run]).runs
  assert.deepEqual([first?.usage.costUsd, first?.usage.estimatedCostUsd], [0.12, 0.3])
})

test('a rejected attempt is marked although the next one begins where it ends', () => {
  const picture = timelinePicture(viewOf(stuck(), facts)).toString()
  assert.ok(picture.includes('✘'))
  for (const lane of picture.split('<tspan').slice(1))
    assert.ok(lane.lastIndexOf('<rect') < lane.indexOf('class="sign"'), 'no bar covers a mark')
})

test('a long pause is labelled in the timeline where it ends, also within a job', () => {
  const view = viewOf(stuck(), facts)
  const late = view.timeline.map((entry, at) => ({
    ...entry,
    job: 1,
    at: entry.at + (at > 2 ? 2_400_000 : 0),
  }))
  assert.match(timelinePicture({ ...view, timeline: late }).toString(), /class="tick"[^>]*>after 4\dm/)
})

test('the HTML report of 100 stories stays below 3 MB: outputs get shorter first, then screenshots fewer', () => {
  const state = large(100)
  const output = 'a line of output that says <something> & more\n'.repeat(1400)
  const blob = (at: number) => at.toString(16).padStart(40, '0')
  const uri = `data:image/webp;base64,${'A'.repeat(80_000)}`
  const pictures = new Map(Array.from({ length: 19 }, (_, at) => [blob(at), uri]))
  const records = Object.fromEntries(
    state.prd.userStories.map(({ id }, at) => {
      const shot = {
        url: '/',
        viewport: '1280x800',
        blob: blob(2 * at),
        bytes: 60_000,
        before: blob(2 * at + 1),
      }
      const gate = {
        name: 'test',
        ok: false,
        advisory: false,
        ended: 'exit 1',
        ms: 1,
        output,
        screenshots: [shot],
      }
      return [
        id,
        record({
          attempts: 3,
          gates: [gate, { ...gate, screenshots: [] }],
          failure: { kind: 'gates', summary: 'x', detail: '' },
        }),
      ]
    }),
  )
  const page = renderReport(viewOf({ ...state, records }, facts), pictures)
  assert.ok(bytes(page) <= MAX_BYTES, String(bytes(page)))
  assert.ok(page.split(uri).length - 1 >= 19, 'pictures stay')
  assert.match(page, /<pre>[^<]*\[\.\.\.\]/)
  for (const { id } of state.prd.userStories) assert.ok(page.includes(`<bdi>${id}</bdi>`), id)
})

test('pages that look the same hide no story: one without room for screenshots is shown without them', () => {
  const state = stuck()
  const [first, second] = state.prd.userStories.map(({ id }) => id)
  const shot = { url: '/', viewport: '1280x800', blob: 'a'.repeat(40), bytes: 1, before: null }
  const gate = { name: 'browser', ok: false, advisory: false, ended: 'exit 1', ms: 1, output: 'said' }
  const one = record({ attempts: 1, gates: [{ ...gate, screenshots: Array(20).fill(shot) }] })
  const records = { ...state.records, [`${first}`]: one, [`${second}`]: one }
  const pictures = new Map([[shot.blob, `data:image/webp;base64,${'A'.repeat(400_000)}`]])
  const page = renderReport(viewOf({ ...state, records }, facts), pictures)
  assert.ok(bytes(page) <= MAX_BYTES)
  assert.equal(page.split('<details class="story').length - 1, state.prd.userStories.length)
})

test("a gate's remark is shown once, with the gate's name", () => {
  const state = stuck()
  const gate = { name: 'coverage', ok: true, advisory: false, ended: 'exit 0', ms: 1, output: '' }
  const id = state.prd.userStories[0]?.id ?? ''
  const records = { [id]: record({ gates: [{ ...gate, remarks: ['slower than before'] }] }) }
  const page = plain(renderReport(viewOf({ ...state, records }, facts)))
  assert.equal(page.split('slower than before').length, 2)
  assert.match(page, /What a reviewer should see gate coverage: slower than before/)
})

test('10,000 stories with every field give a report of limited size', () => {
  const state = large(200)
  const long = 'ü<"&'.repeat(20_000)
  const userStories = Array.from({ length: 10_000 }, (_, at) =>
    newStory({
      id: `US-${at + 1}`,
      title: long,
      description: long,
      acceptanceCriteria: Array(50).fill(long),
      notes: long,
      dependsOn: at === 0 ? [] : [`US-${at}`],
    }),
  )
  const gate = { name: long, ok: false, advisory: false, ended: long, ms: 1, output: long, remarks: [long] }
  const records = Object.fromEntries(
    userStories.slice(0, 400).map(({ id }) => [
      id,
      record({
        attempts: 1,
        gates: [gate],
        remarks: [long],
        failure: { kind: 'guard', summary: long, detail: long },
      }),
    ]),
  )
  const guidance = Object.fromEntries(userStories.map(({ id }) => [id, Array<string>(20).fill(long)]))
  const prd = { ...state.prd, description: long, userStories }
  const control = { ...state.control, guidance }
  const page = renderReport(viewOf({ ...state, prd, control, records }, facts))
  assert.ok(bytes(page) <= MAX_BYTES, String(bytes(page)))
  assert.match(plain(page), /of 10000 stories in full/)
})

test('the report of all features has totals by model and version, and usage without an agent as unknown', () => {
  const entry = entryWith({ model: 'opus', calls: 2, inputTokens: 1000, costUsd: 1.5, agentSeconds: 60 })
  const lost = entryWith({ agent: null, version: '', costUsd: 0.25 })
  const sessions = [entry, { ...entry, model: null, costUsd: 0.5 }, lost]
  const archived = complete().prd
  const usage = { ...emptyUsage(), calls: 3, costUsd: 4 }
  const runs = [
    featureRun({ ...stuck(), sessions }, { feature: 'auth', folder: '2026-01-10-auth', isArchived: false }),
    featureRun(
      { prd: { ...archived, run: { ...archived.run, usage } } },
      { feature: 'pay', folder: '2026-01-02-pay', isArchived: true },
    ),
  ]
  const all = aggregate(runs)
  assert.deepEqual(
    all.byModel.map(({ name, costUsd }) => [name, costUsd]),
    [
      ['not known', 4.25],
      ['claude opus', 1.5],
      ['claude', 0.5],
    ],
  )
  assert.deepEqual(
    all.byVersion.map(({ name }) => name),
    ['not known', '1.0.0'],
  )
  assert.equal(all.total.costUsd, Number(runs.reduce((sum, { usage }) => sum + usage.costUsd, 0).toFixed(6)))
  const hrefs = new Map([
    ['2026-01-10-auth', '2026-01-10-auth.html'],
    ['2026-01-02-pay', 'javascript:x'],
  ])
  const page = renderAll(all, { now: NOW, unread: ['state.json: found 3'], hrefs })
  assert.match(
    plain(page),
    /2 runs, 1 unfinished .*state\.json: found 3.*auth .*2026-01-10-auth.*open 4 of 6 1 /,
  )
  assert.match(page, /href="2026-01-10-auth\.html"/)
  assert.doesNotMatch(page, /javascript/)
})

test('costs that belong to no attempt are shown below the costs by job', () => {
  const state = stuck()
  const sessions = [...state.sessions, entryWith({ kind: 'verify', costUsd: 0.75 })]
  const page = plain(renderReport(viewOf({ ...state, sessions }, facts)))
  assert.match(page, /By job .* Not in the table by attempt: verification and plans \(\$0\.75\)\./)
})

test('symbols of a report are pictures, and need no emoji font', () => {
  for (const state of [stuck(), midRun(), complete(), justStarted()]) {
    const page = renderReport(viewOf(state, facts)).replace(/<pre>[^<]*<\/pre>/g, '')
    assert.match(page, /<svg class="icon [a-z]+" role="img" aria-label="[a-z ]+"/)
    assert.doesNotMatch(page, /\p{Emoji_Presentation}|\ufe0f/u)
  }
})
