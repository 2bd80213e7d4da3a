// Every report with hostile text in every field: same blocks as with plain text, nothing hidden, nothing active.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Event } from '../../../src/engine/model/event.ts'
import { openAttempt } from '../../../src/engine/model/job.ts'
import type { State } from '../../../src/engine/model/state.ts'
import { progressEntry, progressHeader } from '../../../src/engine/state/story-notes.ts'
import { type Check, commitStatusOf } from '../../../src/report/check-runs.ts'
import { headerOf } from '../../../src/report/header.ts'
import { agentLines } from '../../../src/report/log/log-agent.ts'
import { eventLines } from '../../../src/report/log/log-events.ts'
import { gateLines } from '../../../src/report/log/log-gates.ts'
import { warningLine } from '../../../src/report/log/log-line.ts'
import { stepLines, waitLine } from '../../../src/report/log/log-steps.ts'
import { marker } from '../../../src/report/parts.ts'
import { helpReply, statusReply, unchangedReply } from '../../../src/report/replies.ts'
import {
  earlierStackBlock,
  type LayerView,
  layerBody,
  layerName,
  layerTitle,
  ownStackBlock,
} from '../../../src/report/stack-text.ts'
import { MAX_CHARACTERS } from '../../../src/report/sticky-comment.ts'
import { banner, plainBanner, resultBox } from '../../../src/report/terminal/panels.ts'
import { formatLines, type Look } from '../../../src/report/terminal/terminal-line.ts'
import { textWidth } from '../../../src/report/terminal/width.ts'
import { viewOf } from '../../../src/report/view.ts'
import { built, reservedIn } from '../engine/samples.ts'
import { every } from '../runs.ts'
import { facts, poisoned, poisonedIds, REPOSITORY, states } from './poison.ts'
import {
  jobSummary,
  pullRequestBody,
  pullRequestTitle,
  rollupCheck,
  stickyComment,
  storyCheck,
} from './rendered.ts'
import { limits, midRun, NOW, stuck, usage } from './samples.ts'
import { assertHarmless, assertVisible, corpus, tripped } from './structure.ts'

const hostile = corpus()
const some = tripped()
const LINKS = [`${REPOSITORY}/`]

const poisonings: Record<string, (state: State, text: string) => State> = {
  fields: poisoned,
  ids: poisonedIds,
}

/** These show every field, half of the strings each; the others show fewer, and are shown fewer strings: each costs milliseconds. */
const whole = ['fields stuck', 'fields error', 'ids stuck', 'ids error']

for (const [poisoning, poison] of Object.entries(poisonings)) {
  for (const [name, state] of Object.entries(states)) {
    const half = whole.indexOf(`${poisoning} ${name}`)
    const strings = half === -1 ? every(4, some) : every(2, hostile, half)

    test(`comment, summary and pull request escape ${name}, hostile ${poisoning}`, () => {
      const plain = poison(state, 'x')
      const sizes = (shape: { headings: number; tasks: number; tables: number[] }) => [
        shape.headings,
        shape.tasks,
        shape.tables,
      ]
      const shapes = (given: State, text: string) => {
        const what = `${name} with ${JSON.stringify(text.slice(0, 60))}`
        const comment = stickyComment(given, facts(text))
        const body = pullRequestBody(given, facts(text))
        const { url = null } = given.lease ?? {}
        const status = statusReply(given, facts(text), { kind: 'working', url })
        assert.ok(comment.length <= MAX_CHARACTERS && body.length <= MAX_CHARACTERS, what)
        assert.ok(comment.startsWith('<!-- ralph:sticky:auth -->\n'), what)
        return [
          sizes(assertHarmless(comment, marker('sticky', 'auth'), LINKS, `comment: ${what}`)),
          sizes(assertHarmless(body, marker('pull', 'auth'), LINKS, `body: ${what}`)),
          sizes(assertHarmless(status, marker('status', 'auth'), LINKS, `status: ${what}`)),
          sizes(assertHarmless(jobSummary(given, facts(text)), null, LINKS, `summary: ${what}`)),
        ]
      }
      const expected = shapes(plain, 'x')
      for (const text of strings)
        assert.deepEqual(shapes(poison(state, text), text), expected, JSON.stringify(text))
    })

    test(`checks escape ${name}, hostile ${poisoning}`, () => {
      for (const text of strings) {
        const given = poison(state, text)
        for (const check of [
          rollupCheck(given, facts(text)),
          ...given.prd.userStories.map((story) => storyCheck(given, story.id, facts(text))),
          storyCheck(given, text, facts(text)),
        ]) {
          assertCheck(check, JSON.stringify(text.slice(0, 60)))
        }
      }
    })
  }
}

function assertCheck(check: Check, what: string): void {
  assertHarmless(check.summary, null, LINKS, `${check.name} summary: ${what}`)
  assertHarmless(check.text, null, LINKS, `${check.name} text: ${what}`)
  for (const line of [check.name, check.title, commitStatusOf(check).description]) assertVisible(line, what)
  assert.ok(check.title.length <= 255 && check.title !== '', what)
  assert.ok(commitStatusOf(check).description.length <= 140, what)
  assert.ok(Buffer.byteLength(check.summary) <= 65_535 && Buffer.byteLength(check.text) <= 65_535, what)
  for (const { path, message } of check.annotations) {
    assert.ok(!path.startsWith('/') && !path.includes('\n') && message !== '', what)
    assertVisible(message.replaceAll('\t', ''), what)
    assert.ok(message.length <= 4000, what)
  }
}

test('title and replies escape hostile text', () => {
  for (const text of hostile) {
    const title = pullRequestTitle(poisoned(midRun(), text))
    assertVisible(title, title)
    assert.doesNotMatch(
      title,
      /\[(?:skip|no)[ -]|\[[\w-]+[ -]skip\]/i,
      'a squash merge makes it the subject of a commit',
    )
    assert.ok(title.length <= 200 && title.startsWith('auth: ') && title.length > 'auth: '.length, title)
    assertHarmless(unchangedReply(text, text), null, [], text)
    assert.match(marker('sticky', text), /^<!-- ralph:sticky:[\w.+-]* -->$/)
    assert.match(marker('pull', text), /^<!-- ralph:pull:[\w.+-]* -->$/)
  }
  assertHarmless(helpReply(), null, [], 'help')
})

test('the texts of a stack escape hostile epics and stories', () => {
  // References to pull requests are Ralph's own, so this view has none.
  const viewWith = (text: string): LayerView => ({
    ...{ feature: 'auth', branchPart: 'E1', id: text, name: text, top: null },
    stories: [{ id: text, title: text }],
    entries: [
      { id: text, name: `${text}2`, number: null, isCurrent: true },
      { id: text, name: text, number: null, isCurrent: false },
    ],
  })
  // Their own lists may begin blocks.
  const withoutItems = (body: string) => body.replace(/^(?:- |\d\. )/gm, '')
  for (const text of hostile) {
    const view = viewWith(text)
    const what = JSON.stringify(text.slice(0, 60))
    const list = ownStackBlock(view.entries, null, 10_000)
    for (const [body, first] of [
      [layerBody(view), marker('pull', layerName(view))],
      [list.split('\n').slice(1, -1).join('\n'), null],
    ] as const)
      assertHarmless(withoutItems(body), first, LINKS, what)
    assert.equal(layerBody(view).split('\n').length, layerBody(viewWith('x')).split('\n').length, what)
    assertVisible(layerTitle(view), what)
    assert.equal(earlierStackBlock(`${text}\n${list}\nmore`, 10_000), list, what)
  }
})

test('no text forges an entry of progress.txt', () => {
  for (const text of hostile) {
    const entry = progressEntry({
      iteration: 3,
      storyId: text,
      title: text,
      status: 'FAILED',
      completedAt: text,
      learning: text,
      next: text,
    })
    const lines = (progressHeader({ project: text }, text, text) + entry).split('\n')
    const starts = lines.map(
      (line) => /^(?:# |## Iteration 3 - |\*\*[A-Z][a-z ]+:\*\* |---$|$)/.exec(line)?.[0],
    )
    const fields = ['**Status:** ', '**Completed:** ', '**Learning:** ', '**Note for next:** ']
    assert.deepEqual(starts, [
      '# ',
      '# ',
      '# ',
      '# ',
      '',
      '---',
      '',
      '## Iteration 3 - ',
      ...fields,
      '',
      '---',
      '',
    ])
    assert.equal(lines.filter((line) => line.startsWith('**Status:**')).join(), '**Status:** FAILED')
  }
})

const looks: Record<string, Look> = {
  terminal: { width: 80, colour: true, plain: false },
  narrow: { width: 30, colour: false, plain: false },
  pipe: { width: Number.POSITIVE_INFINITY, colour: false, plain: true },
}

for (const [name, look] of Object.entries(looks)) {
  test(`terminal lines escape ${name}`, () => {
    for (const text of every(look.colour ? 1 : 3, hostile)) {
      const said = everythingSaid(text, look).flatMap((part) => part.split('\n'))
      for (const line of said) {
        // biome-ignore lint/suspicious/noControlCharactersInRegex: our own colours
        const bare = look.colour ? line.replace(/\u001b\[[\d;]+m/g, '') : line
        assertVisible(bare, `${name} with ${JSON.stringify(text.slice(0, 60))}`)
        assert.ok(!bare.trim().startsWith('::') && !bare.includes('##['), bare)
        if (!look.plain) assert.ok(textWidth(bare) <= look.width, `${textWidth(bare)} columns: ${bare}`)
      }
    }
  })
}

function everythingSaid(text: string, look: Look): string[] {
  const named = { limits, agent: text, surface: 'cli' as const }
  const working = poisoned(midRun(), text)
  const ended = poisoned(stuck(), text)
  const attempt = openAttempt(working)
  assert.ok(attempt !== null)
  const gates = [{ name: text, ok: false, advisory: false, ended: text, ms: 1, output: text }]
  const session = {
    status: 'failed',
    message: text,
    usage: usage(1, 1),
    resetsAt: null,
    hints: {},
    learnings: [text],
  }
  const events = [
    { kind: 'baselined', gates },
    { kind: 'joined', green: text, people: null },
    { kind: 'join-failed', summary: text },
    { kind: 'push-refused', summary: text },
    { kind: 'worked', session },
    { kind: 'guarded', candidate: built(text, false, [text]) },
    { kind: 'gated', commit: text, gates },
    { kind: 'judged', verdict: { kind: 'reset', stories: [text], reason: text }, usage: usage(0, 0) },
    { kind: 'verified', gates, verdict: { kind: 'none', message: text }, usage: usage(0, 0) },
    { kind: 'accepted', commit: text },
    { kind: 'rejected', kept: null },
    { kind: 'returned', kept: null },
    { kind: 'dispatch-failed', summary: text },
    { kind: 'failed', summary: text, fix: text },
  ].map((event) => ({ at: NOW, ...event }) as Event)
  const conclusion = { outcome: 'stuck' as const, reason: text, until: null }
  const header = headerOf(working, limits)
  const box = viewOf(ended, { limits, now: NOW, surface: 'cli' }, { kind: 'ended', conclusion })
  const lines = [
    ...events.flatMap((event) => eventLines(event, event.kind === 'rejected' ? ended : working, named)),
    ...gates.flatMap(gateLines),
    ...stepLines({ kind: 'agent', attempt: reservedIn(working) }, working, named),
    ...stepLines({ kind: 'join', theirs: text }, working, named),
    ...stepLines({ kind: 'baseline' }, working, named),
    ...agentLines({ kind: 'text', text }, named),
    ...agentLines({ kind: 'tool', name: text, target: text }, named),
    warningLine(text),
    waitLine(NOW, text),
  ]
  return [
    ...formatLines(lines, look),
    look.plain ? plainBanner(header) : banner(header, look),
    resultBox(box, [[text, text]], look),
  ]
}
