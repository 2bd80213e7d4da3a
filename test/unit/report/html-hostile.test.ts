// Hostile text in every field of the pages, in a real browser: no script runs, no request leaves, nothing is there but ours.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { aggregate, featureRun } from '../../../src/report/aggregate.ts'
import { renderAll } from '../../../src/report/html/all.ts'
import { renderReport } from '../../../src/report/html/report-page.ts'
import { viewOf } from '../../../src/report/view.ts'
import { hostileStrings } from '../../fixtures/hostile-strings.ts'
import { every } from '../runs.ts'
import { Chromium, type Seen, skip } from './chromium.ts'
import { facts, poisoned, poisonedIds, REPOSITORY } from './poison.ts'
import { PIXEL, rich } from './rich.ts'
import { NOW } from './samples.ts'

const TAGS =
  'a article b bdi body br code dd details div dl dt figcaption figure footer g h1 h2 h3 h4 head header html i img li line mark meta nav ol p path pre rect section small span style summary svg table tbody td text th thead title tr tspan ul'
const ATTRIBUTES =
  'alt aria-hidden aria-label charset class content d height href http-equiv id lang loading name open rel role rx scope src title viewBox width x x1 x2 y y1 y2'

function assertOurs({ requests, dialogs, said, dom }: Seen, what: string): void {
  assert.deepEqual({ requests, dialogs, said }, { requests: [], dialogs: [], said: [] }, what)
  const foreign = (found: readonly string[], ours: string) =>
    found.filter((one) => !ours.split(' ').includes(one))
  assert.deepEqual(foreign(dom.tags, TAGS), [], what)
  assert.deepEqual(foreign(dom.attributes, ATTRIBUTES), [], what)
  for (const link of dom.links)
    assert.ok(
      /^#[a-z]+\d*$/.test(link) || link === PIXEL || link.startsWith(`${REPOSITORY}/`),
      `${what}: ${link}`,
    )
  assert.doesNotMatch(dom.text, /[\p{Bidi_Control}\u200b]|(?![\n\t])\p{Cc}/u, what)
}

const pageOf = (text: string, ids: boolean) => {
  const state = rich(ids ? poisonedIds(poisoned(rich(), text), text) : poisoned(rich(), text), text)
  return renderReport(viewOf(state, facts(text)), new Map([['b'.repeat(40), PIXEL]]))
}

const browser = skip ? null : await Chromium.open()
after(() => browser?.[Symbol.asyncDispose]())

async function look(...[html, options]: Parameters<Chromium['look']>): Promise<Seen> {
  assert.ok(browser !== null)
  return browser.look(html, options)
}

test('in chromium: the test of a page sees what an open one does', { skip }, async () => {
  const seen = await look(
    `<p>${'x'}<img src="http://127.0.0.1:9/x.png" onerror="alert(1)"><script>console.log(1)</script></p>`,
  )
  assert.equal(seen.requests.length, 1)
  assert.equal(seen.dialogs.length, 1)
  assert.ok(seen.said.length > 0)
  assert.throws(() => assertOurs({ ...seen, requests: [], dialogs: [], said: [] }, ''), /script/)
})

test('in chromium: the HTML report runs no script and sends no request, for any text', { skip }, async () => {
  for (const [at, { name, text }] of every(9, hostileStrings).entries()) {
    assertOurs(await look(pageOf(text, at % 2 === 0)), name)
    const run = featureRun(poisoned(rich(), text), { feature: text, folder: text, isArchived: true })
    const ledger = [
      {
        version: text,
        agent: text,
        model: text,
        calls: 1,
        tokens: 1,
        costUsd: 1,
        agentSeconds: 1,
      },
    ]
    const all = renderAll(aggregate([{ ...run, ledger }]), {
      now: NOW,
      unread: [text],
      hrefs: new Map([[text, text]]),
    })
    if (at % 10 === 0) assertOurs(await look(all), `all: ${name}`)
  }
})

test("in chromium: the HTML report's policy blocks text that was not escaped", { skip }, async () => {
  let asked = 0
  const server = createServer((_request, response) => {
    asked += 1
    response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const hole = `<img src="http://127.0.0.1:${port}/x.png" onerror="alert(1)"><script>alert(2)</script><h1 style="color:red">`
  const page = pageOf('x', false).replace('<h1>', hole)
  assert.deepEqual((await look(page)).dialogs, [])
  assert.equal(asked, 0)
  assert.equal((await look(page.replace(/<meta http-equiv[^>]*>/, ''))).dialogs.length, 2)
  assert.equal(asked, 1, 'without its policy it does')
  server.close()
})

test('in chromium: the HTML report prints with its folded parts', { skip }, async () => {
  const { pdf } = await look(pageOf('plain', false), { pdf: true })
  assert.ok(pdf.subarray(0, 5).toString() === '%PDF-' && pdf.length > 10_000)
})
