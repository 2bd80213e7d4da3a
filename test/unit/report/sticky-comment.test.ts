// Comment, summary, pull request and replies: what they must say, and how long they may be.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { commandsOn } from '../../../src/engine/commands/command-table.ts'
import type { Outcome } from '../../../src/engine/model/feature.ts'
import type { State } from '../../../src/engine/model/state.ts'
import { newStory } from '../../../src/engine/prd/schema.ts'
import { fitToLimit } from '../../../src/report/blocks.ts'
import { link } from '../../../src/report/escape.ts'
import { marker } from '../../../src/report/parts.ts'
import { helpReply, unchangedReply } from '../../../src/report/replies.ts'
import { MAX_CHARACTERS, MAX_SUMMARY_BYTES } from '../../../src/report/sticky-comment.ts'
import type { Facts } from '../../../src/report/view.ts'
import { utf8Bytes } from '../../../src/system/excerpt.ts'
import { entryWith } from '../engine/samples.ts'
import {
  dependencyGraph,
  jobSummary,
  progressBar,
  pullRequestBody,
  pullRequestTitle,
  stickyComment,
} from './rendered.ts'
import {
  complete,
  concluded,
  failedGate,
  justStarted,
  large,
  limits,
  midRun,
  NOW,
  pass,
  record,
  reject,
  stuck,
  TEST_OUTPUT,
  unchanged,
} from './samples.ts'
import { assertGraph, assertHarmless, shapeOf } from './structure.ts'

const REPOSITORY = 'https://github.com/acme/shop'
const facts: Facts = {
  repositoryUrl: REPOSITORY,
  runUrl: `${REPOSITORY}/actions/runs/77`,
  limits,
  now: NOW,
  notes: [],
}
const start = (state: State) => stickyComment(state, facts).split('\n').slice(0, 8).join('\n')

test('the cost that belongs to no story is shown with the totals', () => {
  const state = complete()
  const costing = (costUsd: number): State => ({
    ...state,
    sessions: [...state.sessions, entryWith({ kind: 'verify', costUsd })],
  })
  assert.match(jobSummary(costing(0.5), facts), /the final verification: \$0\.50\./)
  assert.doesNotMatch(jobSummary(costing(0), facts), /Not part of a story/)
})

test('the comment begins with marker, headline, bar and what to do next', () => {
  assert.equal(
    start(midRun()),
    `<!-- ralph:sticky:auth -->
### 🔁 3 of 6 stories pass · US-005 is in progress

🟩🟩🟩🟦🟨⬜ **3/6**

**Next:** Nothing to do: Ralph is at work. \`/ralph pause\` pauses it after this iteration, \`/ralph stop\` ends it immediately.

|  | Story | Attempts | Cost | Time | Commit |`,
  )
  assert.equal(
    start(stuck()),
    `<!-- ralph:sticky:auth -->
### 🛑 Stuck: US-003 is blocked · 4 of 6 stories pass

🟩🟩🟩🟩🟥⬜ **4/6**

> [!WARNING]
> **Next:** Give a hint with \`/ralph retry US-003 -- <hint>\`, or leave the story out with \`/ralph skip US-003\`.
`,
  )
  assert.match(
    start(complete()),
    /### ✅ Complete: 6 of 6 stories pass\n\n🟩{6} \*\*6\/6\*\*\n\n> \[!TIP\]\n> \*\*Next:\*\* Review this pull request/u,
  )
})

test('the table has a row for every story, with its commit', () => {
  const comment = stickyComment(midRun(), facts)
  assert.ok(
    comment.includes(
      '| ✅ | **US-001** Customers sign in with e-mail and password | 1 | $0.42 | 2m&nbsp;34s | [`e011c0f`](https://github.com/acme/shop/commit/e011c0ffee0123456789abcdef0123456789abcd) |',
    ),
  )
  assert.ok(
    comment.includes(
      '| 🔁 | **US-003** Five wrong passwords lock the account for a quarter of an hour<br><sub>to be tried again: gate test failed (exit 1)</sub> | 1 | $0.61 |',
    ),
  )
  assert.ok(comment.includes('<sub>waits for US-003</sub>'))
  assert.ok(comment.includes('<sub>in progress now</sub>'))
  const again = midRun().prd.userStories.map((story) => ({ ...story, passes: false }))
  assert.ok(
    !stickyComment({ ...midRun(), prd: { ...midRun().prd, userStories: again } }, facts).includes('/commit/'),
  )
})

test('the comment shows cost, time, limits and the worst case', () => {
  const comment = stickyComment(midRun(), facts)
  assert.ok(comment.includes('| $2.18 of $20.00 | 222k | 12m 20s | 4 of 50 | 1 of 35 |'))
  assert.ok(comment.includes('**Remaining:** '))
  assert.ok(!stickyComment(complete(), facts).includes('Remaining'))
  const state = { ...midRun(), sessions: midRun().sessions.map((one) => ({ ...one, costUsd: 0 })) }
  assert.ok(stickyComment(state, facts).includes('not reported'))
})

test('the last failure is folded with its output, and removed when the story passes', () => {
  const comment = stickyComment(stuck(), facts)
  assert.ok(comment.includes('<details><summary>Last failure: US-003, gate test failed (exit 1)</summary>'))
  assert.ok(comment.includes(`\`\`\`text\n${TEST_OUTPUT.trim()}\n\`\`\``))
  assert.ok(!stickyComment(pass(midRun(), 'US-003', 2), facts).includes('Last failure'))
  assert.ok(!stickyComment(complete(), facts).includes('Last failure'))
})

test('the dependency graph is drawn only when there are dependencies', () => {
  const graph = dependencyGraph(midRun())
  assert.ok(graph !== null)
  assertGraph(graph.split('\n').slice(1, -1))
  assert.ok(graph.includes('  s0["✅ US#45;001<br/>') || graph.includes('  s0["✅ US-001<br/>'))
  assert.ok(
    graph.includes(':::working') && graph.includes('  s1 --> s5') && graph.includes('classDef rejected'),
  )
  assert.equal(dependencyGraph(large(61)), null)
  assert.ok(dependencyGraph(large(60)) !== null)
  const all = (at: number) =>
    large(60)
      .prd.userStories.slice(0, at)
      .map(({ id }) => id)
  const dense = large(60).prd.userStories.map((story, at) => ({ ...story, dependsOn: all(at) }))
  assert.equal(dependencyGraph({ ...large(60), prd: { ...large(60).prd, userStories: dense } }), null)
  const flat = midRun().prd.userStories.map((story) => ({ ...story, dependsOn: [] }))
  assert.equal(dependencyGraph({ ...midRun(), prd: { ...midRun().prd, userStories: flat } }), null)
  assert.ok(
    !stickyComment({ ...midRun(), prd: { ...midRun().prd, userStories: flat } }, facts).includes('mermaid'),
  )
})

test('of many stories the relevant ones are shown, the rest folded, and those left out counted', () => {
  const comment = stickyComment(large(60), facts)
  const folded = comment.indexOf('<details><summary>All 60 stories</summary>')
  assert.ok(folded > 0)
  const seen = comment.slice(0, folded)
  for (const id of ['US-020', 'US-021', 'US-026', 'US-031']) assert.ok(seen.includes(`**${id}**`), id)
  assert.ok(!seen.includes('**US-001**') && comment.slice(folded).includes('**US-001**'))
  const huge = stickyComment(large(500), facts)
  const left = /… and (\d+) lines more/.exec(huge)
  assert.ok(left !== null)
  const listed = huge.slice(huge.indexOf('All 500 stories')).match(/^\| \S+ \| \*\*US-/gm)?.length
  assert.equal(Number(left[1]) + (listed ?? 0), 500)
})

test('texts of any size stay within their limit', () => {
  const title = '<|`*_@#&'.repeat(200)
  for (const count of [1, 25, 26, 500, 3000]) {
    const base = large(Math.min(count, 500))
    const userStories = Array.from({ length: count }, (_, at) =>
      newStory({
        id: `US-${at}`,
        title,
        notes: title,
        dependsOn: at === 0 ? [] : [`US-${at - 1}`],
        blocked: at % 2 === 1,
      }),
    )
    const records = Object.fromEntries(
      userStories.map(({ id }) => [
        id,
        record({
          failure: { kind: 'gates', summary: title, detail: '日'.repeat(100_000) },
          gates: Array.from({ length: 60 }, () =>
            failedGate(title, '日本語 `````` <!-- ralph:sticky:auth -->\n'.repeat(5000)),
          ),
          remarks: Array.from({ length: 500 }, () => title),
        }),
      ]),
    )
    const timeline = Array.from({ length: 200 }, (_, at) => ({
      iteration: at,
      storyId: 'US-0',
      attempt: 1,
      result: 'rejected' as const,
      summary: title,
      ms: 1,
      costUsd: 1,
      tokens: 1200,
      at: NOW,
      job: 1,
    }))
    const state = concluded(
      { ...base, prd: { ...base.prd, description: title, userStories }, records, timeline },
      'error',
      title,
    )
    const noisy = { ...facts, notes: Array.from({ length: 100 }, () => title) }
    const comment = stickyComment(state, noisy)
    assert.ok(comment.length <= MAX_CHARACTERS, `${count}: ${comment.length}`)
    assertHarmless(comment, marker('sticky', 'auth'), [`${REPOSITORY}/`], String(count))
    assert.ok(comment.includes('<sub>Updated 2026-01-10'), 'the comment has its end')
    const body = pullRequestBody(state, noisy)
    assert.ok(body.includes('#### How to steer'), 'the pull request has its end')
    const tasks = shapeOf(body).tasks
    const missing = Number(/… and (\d+) lines? more/.exec(body)?.[1] ?? 0)
    assert.equal(tasks + missing, count)
    assert.ok(body.length <= MAX_CHARACTERS, `${count}: ${body.length}`)
    assertHarmless(body, marker('pull', 'auth'), [`${REPOSITORY}/`], String(count))
    const summary = jobSummary(state, noisy)
    assert.ok(utf8Bytes(summary) <= MAX_SUMMARY_BYTES, `${count}: ${utf8Bytes(summary)}`)
    assertHarmless(summary, null, [`${REPOSITORY}/`], String(count))
  }
})

test('fitToLimit gives less room until the text fits', () => {
  assert.equal(
    fitToLimit(
      (room) => 'x'.repeat(room * 3),
      100,
      (text) => text.length,
    ).length <= 100,
    true,
  )
  assert.equal(
    fitToLimit(
      (room) => 'x'.repeat(room),
      100,
      (text) => text.length,
    ).length,
    100,
  )
})

test('the bar has a cell for every kind of story, however few', () => {
  assert.equal(progressBar(justStarted()), '⬜⬜⬜⬜⬜⬜ **0/6**')
  for (const count of [21, 60, 500]) {
    const cells = [...progressBar(large(count)).replace(/ .*/, '')]
    assert.ok(cells.length >= 20 && cells.length <= 24, String(cells.length))
    for (const cell of ['🟩', '🟦', '🟥', '⬜']) assert.ok(cells.includes(cell), `${count} ${cell}`)
  }
})

test('an outcome that waits for a person is highlighted, others are not', () => {
  const framed: [Outcome, string | null][] = [
    ['complete', 'TIP'],
    ['stuck', 'WARNING'],
    ['error', 'WARNING'],
    ['max-iterations', 'IMPORTANT'],
    ['budget', 'IMPORTANT'],
    ['interrupted', 'IMPORTANT'],
    ['continued', null],
  ]
  for (const [outcome, alert] of framed) {
    const text = stickyComment(concluded(midRun(), outcome, 'x'), {
      ...facts,
      limits: { ...limits, redispatch: false },
    })
    assert.equal(/> \[!(\w+)\]/.exec(text)?.[1] ?? null, alert, outcome)
    assert.equal(text.match(/\*\*Next:\*\*/g)?.length, 1)
  }
})

test('only http and https addresses become links', () => {
  assert.equal(link('x', 'https://a.test/b'), '[x](https://a.test/b)')
  assert.equal(link('x', 'https://a.test/(b)|c'), '[x](https://a.test/%28b%29%7Cc)')
  for (const url of [
    'javascript:alert(1)',
    'https://a.test/ b',
    'ftp://a.test',
    '//a.test',
    '',
    null,
    'https://a.test/<b>',
  ]) {
    assert.equal(link('x', url), 'x')
  }
})

test('the summary has every iteration', () => {
  const summary = jobSummary(stuck(), facts)
  assert.ok(summary.startsWith('## 🛑 Stuck: US-003 is blocked'))
  assert.ok(
    summary.includes(
      '| 4 | US-003 | 1 | ❌&nbsp;rejected | gate test failed (exit 1) | $0.61 | 62k | 3m&nbsp;41s | 1 | 2026-01-10&nbsp;13:25 |',
    ),
  )
  assert.equal(summary.match(/^\| \d+ \| US-/gm)?.length, 7)
  assert.ok(!summary.includes('<!--'))
})

test('notes are shown in the comment', () => {
  const told = stickyComment(midRun(), { ...facts, notes: ['Actions may not open pull requests here: <b>'] })
  assert.ok(told.includes('- ℹ️ Actions may not open pull requests here: &#60;b&#62;'))
})

test('an error with output shows it folded', () => {
  const ended = concluded(midRun(), 'error', 'prepare failed (exit 1)')
  const state = {
    ...ended,
    job: {
      ...ended.job,
      halted: {
        kind: 'error' as const,
        summary: 'prepare failed',
        fix: 'see its output:\nnpm ERR! no lockfile',
      },
    },
  }
  const comment = stickyComment(state, facts)
  assert.ok(comment.includes('**Next:** See its output; then continue with `/ralph run`.'))
  assert.ok(
    comment.includes(
      '<details><summary>Output</summary>\n\n```text\nsee its output:\nnpm ERR! no lockfile\n```',
    ),
  )
})

test('the pull request has title, list and what was verified', () => {
  assert.equal(pullRequestTitle(midRun()), 'auth: Customers sign in to the shop')
  assert.equal(
    pullRequestTitle({ ...midRun(), prd: { ...midRun().prd, description: '' } }),
    'auth: 6 user stories',
  )
  assert.equal(pullRequestTitle(midRun()), pullRequestTitle(complete()))
  const body = pullRequestBody(midRun(), facts)
  assert.ok(body.startsWith('<!-- ralph:pull:auth -->\n'))
  assert.ok(body.includes('- [x] **US-001** Customers sign in with e-mail and password\n'))
  assert.ok(body.includes('- [ ] **US-003** Five wrong passwords'))
  assert.ok(body.includes('exited 0 on exactly the code that was committed for it: `typecheck`, `test`.'))
  assert.ok(body.includes('has not run yet'))
  // One for each story that was judged: what shows its criteria.
  assert.equal(shapeOf(body).tables.length, 3)
})

test('comment, summary and pull request mark a story that passed without a change', () => {
  const state = unchanged(unchanged(complete(), 'US-001'), 'US-004')
  for (const text of [stickyComment(state, facts), jobSummary(state, facts)])
    assert.equal(text.split("<sub>without a change, on a judge's word</sub>").length - 1, 2)
  const body = pullRequestBody(state, facts)
  assert.ok(body.includes("sign in with e-mail and password (without a change, on a judge's word)\n"))
  assert.equal(body.split("(without a change, on a judge's word)").length - 1, 2)
  for (const text of [stickyComment(complete(), facts), pullRequestBody(complete(), facts)])
    assert.ok(!text.includes('without a change'))
  // What came with prd.json says nothing of this run.
  const imported = state.prd.userStories.map((story) => ({
    ...story,
    lastResult: story.lastResult === null ? null : { ...story.lastResult, imported: true },
  }))
  const brought = { ...state, prd: { ...state.prd, userStories: imported } }
  assert.ok(!stickyComment(brought, facts).includes('without a change'))
})

test('the pull request claims a final verification, gates and passed stories only where they are known', () => {
  const claim = (state: State, changes: Partial<typeof limits> = {}) =>
    pullRequestBody(state, { ...facts, limits: { ...limits, ...changes } })
  assert.ok(claim(justStarted()).includes('No story has passed in this run yet.'))
  assert.ok(claim(complete()).includes('The final verification passed'))
  const unverified = {
    ...complete(),
    verification: { approved: false, asked: false, sessions: 3, message: '' },
  }
  assert.ok(claim(unverified).includes('has not approved'))
  assert.ok(claim(unverified, { finalVerification: false }).includes('is switched off'))
  const ungated = Object.fromEntries(
    Object.entries(complete().records).map(([id, one]) => [id, { ...one, gates: [] }]),
  )
  assert.ok(claim({ ...complete(), records: ungated }).includes('There is no record of a gate run'))
  const imported = complete().prd.userStories.map((story) => ({
    ...story,
    lastResult: story.lastResult === null ? null : { ...story.lastResult, imported: true },
  }))
  const taken = claim({ ...complete(), prd: { ...complete().prd, userStories: imported } })
  assert.ok(
    taken.split('(had passed before Ralph began; no gate has checked it)').length - 1 === 6 &&
      taken.includes('No story has passed in this run yet.'),
  )
  const remarked = {
    ...complete().records,
    'US-002': record({ ...complete().records['US-002'], remarks: ['3 tests were skipped'] }),
  }
  assert.match(
    claim({ ...complete(), records: remarked }),
    /US-002\*\* .*\(its check has remarks to look at\)\n/,
  )
})

test('replies to comments', () => {
  const help = helpReply()
  for (const { example, meaning } of commandsOn('comment'))
    assert.ok(help.includes(`| \`${example}\` | ${meaning} |`), example)
  assert.equal(
    unchangedReply('there is no command rety', '/ralph retry'),
    '😕 There is no command rety. Try `/ralph retry`. Nothing was changed.\n',
  )
})

test('no text can end a marker early', () => {
  assert.equal(marker('sticky', 'a --> b\n<'), '<!-- ralph:sticky:a-----b-- -->')
  assert.equal(marker('sticky', 'auth.v2_x-1'), '<!-- ralph:sticky:auth.v2_x-1 -->')
})

test('the same state gives the same text', () => {
  for (const state of [midRun(), reject(stuck(), 'US-006')]) {
    assert.equal(stickyComment(state, facts), stickyComment(structuredClone(state), facts))
  }
})

test('the pull request names the documents that were marked, in one line, and AGENTS.md not among them', () => {
  const documents = ['AGENTS.md', ...Array.from({ length: 12 }, (_, at) => `docs/${at}.md`)]
  const body = pullRequestBody({ ...complete(), documents }, facts)
  assert.match(
    body,
    /^Ralph ticked off the stories that passed, in `docs\/0\.md`, .*`docs\/9\.md` and 2 more\. .* `write-back: off`\./m,
  )
  const without = pullRequestBody({ ...complete(), documents: ['agents.md'] }, facts)
  assert.doesNotMatch(without, /Your documents/)
})

test('the pull request names the stories that could not be marked, in one line', () => {
  const unmarked = Array.from({ length: 12 }, (_, at) => `US-${at}`)
  const line = /^Your documents have changed, so Ralph could not find `US-0`, .*`US-9` and 2 more there /m
  assert.match(pullRequestBody({ ...complete(), unmarked }, facts), line)
  assert.match(pullRequestBody({ ...complete(), documents: ['a.md'], unmarked }, facts), line)
  assert.doesNotMatch(pullRequestBody({ ...complete(), documents: ['a.md'] }, facts), /not marked/)
})

test('the pull request of a complete run does not say how to steer it', () => {
  assert.match(pullRequestBody(midRun(), facts), /#### How to steer/)
  assert.doesNotMatch(pullRequestBody(complete(), facts), /How to steer|\/ralph pause/)
})
