// The live parts of a page: nothing of a state is markup, and the page runs only its own script.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  indexPage,
  liveBody,
  liveHead,
  renderIndex,
  renderLivePart,
} from '../../../src/report/html/live-page.ts'
import { nothing } from '../../../src/report/html/markup.ts'
import { contentSecurityPolicy, renderReport } from '../../../src/report/html/report-page.ts'
import { liveViewOf } from '../../../src/report/live-view.ts'
import { viewOf } from '../../../src/report/view.ts'
import { hostileStrings } from '../../fixtures/hostile-strings.ts'
import { poisoned } from './poison.ts'
import { limits, midRun, NOW } from './samples.ts'
import { watched } from './watched.ts'

const tags = (text: string) =>
  (text.match(/<\/?[a-z][\w-]*/g) ?? []).filter((tag) => !/<\/?(?:li|bdi)$/.test(tag))

test('the live page has the same elements for any state', () => {
  const shown = (text: string) => {
    const state = text === '' ? midRun() : poisoned(midRun(), text)
    const one = liveViewOf(watched(state, { lines: [`x${text}`], place: `x${text}` }), NOW)
    return [
      renderLivePart(one).toString(),
      renderIndex([one]).toString(),
      liveBody(nothing, `x${text}`).toString(),
    ]
  }
  const plain = shown('words').map(tags)
  for (const { name, text } of hostileStrings) {
    const found = shown(text)
    for (const page of found) assert.doesNotMatch(page, /[^\P{Cc}\n\t]|[\u202a-\u202e\u2066-\u2069]/u, name)
    if (text.trim() !== '') assert.deepEqual(found.map(tags).map(kinds), plain.map(kinds), name)
  }
})

const kinds = (all: readonly string[]) => [...new Set(all)].sort()

test('a report file runs no script, and a live page only its own, by a nonce', () => {
  const state = midRun()
  const facts = { repositoryUrl: '', runUrl: null, limits, now: NOW, notes: [] }
  const view = viewOf(state, { ...facts, surface: 'cli' })
  const live = {
    nonce: 'bm9uY2U=',
    head: liveHead('bm9uY2U='),
    body: liveBody(renderLivePart(liveViewOf(watched(state), NOW)), ''),
  }
  const page = renderReport(view, new Map(), live)
  assert.ok(page.includes('script-src &#39;nonce-bm9uY2U=&#39;; connect-src &#39;self&#39;'))
  assert.equal(page.match(/<script/g)?.length, 1)
  assert.doesNotMatch(renderReport(view), /<script|script-src/)
  assert.match(contentSecurityPolicy(null), /^default-src 'none'; img-src data:; style-src 'sha256-/)
  assert.equal(indexPage([], live, '').match(/<script/g)?.length, 1)
})
