// States as git holds them: today's, those that Ralph 1.0 wrote (test/fixtures/states/1, as it left them), and those that
// nobody here can read.

import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { applyCommand } from '../../../src/engine/commands/apply-commands.ts'
import { estimateSession } from '../../../src/engine/limits.ts'
import { takeOver } from '../../../src/engine/lost-attempts.ts'
import { openAttempt } from '../../../src/engine/model/job.ts'
import type { Plan } from '../../../src/engine/model/plan-state.ts'
import type { State } from '../../../src/engine/model/state.ts'
import { addUsage, emptyUsage } from '../../../src/engine/model/usage.ts'
import { iterationsOf, runUsage, storyUsage } from '../../../src/engine/model/usage-totals.ts'
import { outcomeOf } from '../../../src/engine/next-step.ts'
import { ineffectiveReason } from '../../../src/engine/planning/plan-events.ts'
import { newPlan } from '../../../src/engine/planning/proposed-plan.ts'
import { reduce } from '../../../src/engine/reduce.ts'
import { ownSituation } from '../../../src/engine/situation.ts'
import { emptyRecord } from '../../../src/engine/state-updates.ts'
import { parseState, readState, STATE_FILE, stateFiles } from '../../../src/engine/stored-state.ts'
import { aggregate, featureRun } from '../../../src/report/aggregate.ts'
import { UserError } from '../../../src/system/errors.ts'
import { runs } from '../runs.ts'
import {
  anotherJob,
  entryWith,
  gate,
  HOUR,
  limitsWith,
  NOW,
  runJob,
  session,
  stateOf,
  stories,
} from './samples.ts'

const FOLDER = new URL('../../fixtures/states/1/', import.meta.url)
const old = (name: string) => readFileSync(new URL(`${name}.json`, FOLDER), 'utf8')
const read = (name: string) => parseState(old(name))
const stateText = (state: State) => stateFiles(state).text

function refused(text: string): UserError {
  try {
    parseState(text, 'refs/ralph/x: state.json')
  } catch (error) {
    assert.ok(error instanceof UserError, String(error))
    return error
  }
  throw new Error('it was read')
}

describe('a stored state of version 1', () => {
  for (const file of readdirSync(FOLDER)) {
    test(`${file} is read, and stays the same when read again, and the run goes on`, () => {
      const state = read(file.replace('.json', ''))
      assert.deepEqual(parseState(JSON.stringify(state)), state)
      const before = JSON.parse(old(file.replace('.json', '')))
      const { usage, ...run } = before.prd.run
      assert.deepEqual(state.prd, { ...before.prd, run })
      assert.deepEqual(runUsage(state), usage)
      assert.deepEqual(state.kept, before.kept)
      const costs = (rows: readonly { costUsd: number; tokens: number }[]) =>
        rows.map(({ costUsd, tokens }) => [costUsd, tokens])
      assert.deepEqual(costs(iterationsOf(state)), costs(before.timeline))
      assert.deepEqual(state.lease, before.lease)
      const next = anotherJob(takeOver({ ...state, lease: null }), NOW)
      assert.equal(runJob(next, limitsWith({ maxAttempts: 5 })).outcome, 'complete')
    })
  }

  test('gives an attempt in work back, and charges an estimate', () => {
    const state = read('reserved')
    const attempt = openAttempt(state)
    assert.deepEqual([attempt?.phase, attempt?.base], ['reserved', state.green])
    const taken = takeOver(state)
    assert.equal(openAttempt(taken)?.phase, 'returned')
    const spent = runUsage(taken).costUsd - runUsage(state).costUsd
    assert.ok(spent > 0 && spent === attempt?.reserved.costUsd)
  })

  test('does not charge an attempt again that was given back', () => {
    const state = read('returned')
    assert.equal(openAttempt(state)?.phase, 'returned')
    assert.deepEqual(takeOver(state), state)
  })

  test("keeps a rejected attempt's work, failure and note", () => {
    const { kept, records } = read('rejected')
    assert.ok(kept['US-002']?.tree)
    assert.equal(records['US-002']?.failure?.summary, 'gate test failed (exit 1)')
    assert.equal(records['US-002']?.note, 'gate test failed (exit 1)')
  })

  test('keeps the outcome complete', () => {
    const situation = ownSituation(read('complete'))
    assert.ok(situation.kind === 'ended' && situation.conclusion.outcome === 'complete')
  })

  test('has later fields as not set', () => {
    const bare = JSON.parse(old('claimed'))
    const { agentLimits: _limits, mendedRun: _run, ...control } = bare.control
    bare.control = { ...control, firstNotBefore: NOW + HOUR, fallbackNotBefore: null, lastComment: 7 }
    delete bare.job.gatedTags
    delete bare.job.dispatchAfter
    delete bare.github.unclosed
    const state = parseState(JSON.stringify(bare))
    assert.deepEqual([state.control.agentLimits, state.control.lastComment], [{}, 7])
    assert.deepEqual([state.job.gatedTags, state.job.ending, state.github.unclosed], [null, null, []])
  })
})

describe('a stored state of version 2, with sums of usage', () => {
  const folder = new URL('../../fixtures/states/2/', import.meta.url)
  const fixture = (name: string) => readFileSync(new URL(name, folder), 'utf8')
  /** What adding up in another order makes of the last digits says nothing. */
  const rounded = (value: unknown) => {
    const digits = (_key: string, part: unknown) =>
      typeof part === 'number' ? Math.round(part * 1e8) / 1e8 : part
    return JSON.parse(JSON.stringify(value, digits))
  }
  const totalsOf = (state: State) => {
    const where = { feature: 'a', folder: 'f', isArchived: false }
    const { total, byModel, byVersion } = aggregate([featureRun(state, where)])
    return {
      run: runUsage(state),
      stories: Object.fromEntries(Object.keys(state.records).map((id) => [id, storyUsage(state, id)])),
      timeline: iterationsOf(state).map((one) => {
        const { storyId, iteration, result, costUsd, estimatedCostUsd, tokens, agentMs } = one
        return { storyId, iteration, result, costUsd, estimatedCostUsd, tokens, agentMs }
      }),
      ...{ total, byModel, byVersion },
      estimate: estimateSession(state, limitsWith({ maxCostUsd: 500, maxTokens: 1e9 })),
    }
  }

  for (const file of readdirSync(folder).filter((name) => !name.includes('totals')))
    test(`${file} keeps every total that its own version computed, also when read again`, () => {
      const state = parseState(fixture(file))
      const expected = rounded(JSON.parse(fixture(file.replace('.json', '.totals.json'))))
      assert.deepEqual(rounded(totalsOf(state)), expected)
      const again = parseState(stateText(state))
      assert.deepEqual(again, state)
      assert.deepEqual(rounded(totalsOf(again)), expected)
    })

  test('goes on with an attempt in work', () => {
    for (const name of ['reserved.json', 'worked.json']) {
      const next = anotherJob(takeOver({ ...parseState(fixture(name)), lease: null }), NOW)
      assert.equal(runJob(next, limitsWith({ maxAttempts: 5 })).outcome, 'complete')
    }
  })

  test('keeps the sums of run and stories, whether they add up or not', () => {
    const amount = fc.integer({ min: 0, max: 50_000 }).map((cents) => cents / 100)
    const usage = fc.record({
      ...{
        calls: fc.nat(9),
        inputTokens: fc.nat(9000),
        outputTokens: fc.nat(900),
        cachedTokens: fc.nat(900),
      },
      ...{ costUsd: amount, agentSeconds: amount },
    })
    const storyId = fc.constantFrom('US-001', 'US-002', 'US-gone')
    const row = fc.record({
      ...{
        iteration: fc.nat(9),
        storyId,
        attempt: fc.constant(1),
        result: fc.constantFrom('passed', 'returned'),
      },
      ...{ summary: fc.constant(''), ms: fc.nat(9000), at: fc.integer({ min: NOW, max: NOW + 9999 }) },
      ...{ job: fc.constant(1), costUsd: amount, tokens: fc.nat(9000), agentMs: fc.nat(9000) },
    })
    const ledgerRow = fc.record({
      ...{ version: fc.constantFrom('1.0.0', '1.1.0'), agent: fc.constantFrom('claude', 'codex') },
      ...{ model: fc.constantFrom(null, 'opus'), calls: fc.nat(9), tokens: fc.nat(9000) },
      ...{ costUsd: amount, agentSeconds: amount },
    })
    const { sessions: _none, ...bare } = stateOf(stories('US-001', 'US-002'))
    fc.assert(
      fc.property(
        ...([
          usage,
          usage,
          usage,
          fc.array(row, { maxLength: 5 }),
          fc.array(ledgerRow, { maxLength: 4 }),
        ] as const),
        (one, two, beside, timeline, ledger) => {
          const all = addUsage(addUsage(one, two), beside)
          const records = {
            'US-001': { ...emptyRecord(), usage: one },
            'US-002': { ...emptyRecord(), usage: two },
          }
          const prd = { ...bare.prd, run: { ...bare.prd.run, usage: all } }
          const found = parseState(JSON.stringify({ ...bare, version: 2, prd, records, timeline, ledger }))
          assert.deepEqual(rounded(runUsage(found)), rounded(all))
          assert.deepEqual(rounded(storyUsage(found, 'US-001')), rounded(one))
          assert.deepEqual(rounded(storyUsage(found, 'US-002')), rounded(two))
        },
      ),
      runs(200),
    )
  })
})

test('a stored state of this version is read as written, at every step of a job', () => {
  const limits = limitsWith({ finalVerification: true })
  let red = true
  runJob(stateOf(stories('US-001', 'US-002')), limits, (step, state) => {
    assert.deepEqual(parseState(stateText(state)), state, step.kind)
    assert.deepEqual(JSON.parse(stateText(state)), JSON.parse(JSON.stringify(state)))
    if (step.kind === 'agent') return { kind: 'worked', session: session({ learnings: ['a'] }) }
    if (step.kind !== 'gates' || !red) return null
    red = false
    return { kind: 'gated', commit: step.attempt.candidate.commit, gates: [gate(false)] }
  })
})

test('NaN and infinite numbers are stored as the nearest finite number, in any field', () => {
  const [story] = stories('US-001')
  assert.ok(story !== undefined)
  const annotations = [
    { path: 'a', line: Number.NaN, message: '', level: 'notice' as const },
    { path: 'a', line: -Infinity, message: '', level: 'notice' as const },
  ]
  const gates = [gate(false, { ms: Infinity, annotations })]
  const state = stateOf([{ ...story, retries: Number.NaN }], {
    records: { 'US-001': { ...emptyRecord(), gates, ms: Infinity } },
    baselineGates: { test: { ms: Infinity } },
    sessions: [entryWith({ costUsd: Infinity })],
  })
  const read = parseState(stateText(state))
  const most = Number.MAX_SAFE_INTEGER
  const record = read.records['US-001']
  assert.deepEqual([record?.ms, record?.gates[0]?.ms, read.baselineGates?.test?.ms], [most, most, most])
  assert.deepEqual(
    record?.gates[0]?.annotations?.map(({ line }) => line),
    [0, -most],
  )
  assert.deepEqual([read.prd.userStories[0]?.retries, runUsage(read).costUsd], [0, most])
})

describe('a state that cannot be read', () => {
  const today: State = stateOf(stories('US-001'))

  test('of a newer version: the error names it and what to do', () => {
    const { message } = refused(JSON.stringify({ ...today, version: 99, job: null }))
    assert.match(
      message,
      /^refs\/ralph\/x: state\.json: version: found 99, expected 6 or less\n {2}fix: .*update/,
    )
  })

  for (const [name, text, place] of [
    ['no JSON', '{"version":', /^refs\/ralph\/x: state\.json: found /],
    ['no object', '[]', /found an empty list, expected object/],
    ['a field of another kind', JSON.stringify({ ...today, green: 7 }), /: green: found 7, expected string/],
    ['a field that is missing', JSON.stringify({ ...today, job: {} }), /: job\.startedAt: found nothing/],
    [
      'an attempt in a phase that there is not',
      JSON.stringify({ ...today, attempts: { a: { phase: 'x' } } }),
      /: attempts\.a/,
    ],
    ['an old one that never was one', '{"version":1,"job":3}', /found/],
  ] as const)
    test(`${name}: the error names where, and how to go on`, () => {
      const { message } = refused(text)
      assert.match(message, place)
      assert.match(message, /\n {2}fix: somebody else wrote it/)
    })
})

describe('a state with more stories than one file holds', () => {
  const ids = Array.from({ length: 1200 }, (_, index) => `US-${index}`)
  const many = stateOf(stories(...ids))
  const filesOf = (state: State) => {
    const { text, lists: beside } = stateFiles(state)
    const files = [...beside].map(([name, file]): [string, string] => [`.ralph-state/${name}`, file.text])
    return new Map([[STATE_FILE, text], ...files])
  }
  const readFrom = (files: ReadonlyMap<string, string>) =>
    readState(async (file) => files.get(file) ?? null, 'state.json')

  test('stores them in further files, one per line, and reads them back', async () => {
    const files = filesOf(many)
    assert.deepEqual(
      [...files.values()].slice(1).map((text) => JSON.parse(text).length),
      [500, 500, 200],
    )
    assert.equal(files.get('.ralph-state/stories-3.json')?.split('\n').length, 200)
    assert.equal(JSON.parse(files.get(STATE_FILE) ?? '').version, 5, 'no version before can read it')
    assert.deepEqual(await readFrom(files), many)
  })

  test('stores them in the state itself up to that number', async () => {
    const few = stateOf(stories(...ids.slice(0, 500)))
    assert.deepEqual([...filesOf(few).keys()], [STATE_FILE])
    assert.deepEqual(parseState(stateText(few)), few)
  })

  test('does not rewrite files without a changed story', () => {
    const before = [...stateFiles(many).lists.values()]
    const userStories = many.prd.userStories.map((one, at) => (at === 700 ? { ...one, passes: true } : one))
    const after = [...stateFiles({ ...many, prd: { ...many.prd, userStories } }).lists.values()]
    assert.deepEqual(
      after.map((file, at) => file === before[at]),
      [true, false, true],
    )
    const fewer = [
      ...stateFiles({
        ...many,
        prd: { ...many.prd, userStories: userStories.slice(0, 1100) },
      }).lists.values(),
    ]
    assert.deepEqual(
      fewer.map((file, at) => file === after[at]),
      [true, true, false],
    )
  })

  test('with a missing or invalid file: the error names it, and how to go on', async () => {
    const files = filesOf(many)
    const without = new Map([...files].filter(([name]) => !name.includes('stories-2')))
    await assert.rejects(
      readFrom(without),
      /found no stories-2\.json beside it[\s\S]*fix: somebody else wrote it/,
    )
    assert.throws(() => parseState(stateText(many)), /found no stories-1\.json beside it/)
    await assert.rejects(
      readFrom(new Map(files).set('.ralph-state/stories-2.json', '[{}]')),
      /prd\.userStories\.500/,
    )
    await assert.rejects(readFrom(new Map(files).set('.ralph-state/stories-2.json', '[')), /stories-2\.json/)
    const endless = stateText(many).replace('"storyFiles":3', '"storyFiles":1e9')
    await assert.rejects(readFrom(new Map([[STATE_FILE, endless]])), UserError)
  })
})

describe('a plan that waits for approval', () => {
  const plan: Plan = {
    ...newPlan(''),
    phase: 'approved',
    digest: '1a2b3c4d',
    shownAt: 5,
    context: 'Mind it.',
  }
  const waiting = stateOf(stories('US-001'), { plan })

  for (const phase of ['proposed', 'approved'] as const)
    test(`in ${phase}: versions that do not know context.md cannot start it`, () => {
      const state = { ...waiting, plan: { ...plan, phase } }
      assert.equal(JSON.parse(stateText(state)).version, 5)
      assert.deepEqual(parseState(stateText(state)), state)
    })

  test('also with stories in files of their own', async () => {
    const many = {
      ...waiting,
      prd: { ...waiting.prd, userStories: stories(...Array.from({ length: 1200 }, (_, at) => `US-${at}`)) },
    }
    const { text, lists: beside } = stateFiles(many)
    const read = async (file: string) =>
      file === STATE_FILE ? text : (beside.get(file.replace('.ralph-state/', ''))?.text ?? null)
    assert.deepEqual(await readState(read, 'state.json'), many)
  })

  test('that an older version showed is shown again for another approval, with the reason', () => {
    const prd = { ...waiting.prd, run: { ...waiting.prd.run, usage: emptyUsage() } }
    for (const phase of ['proposed', 'approved'] as const) {
      const read = parseState(JSON.stringify({ ...waiting, version: 3, prd, plan: { ...plan, phase } }))
      assert.deepEqual(
        [read.plan?.phase, read.plan?.digest, read.plan?.shownAt, read.plan?.context],
        ['proposed', '', null, 'Mind it.'],
      )
      const conclusion = outcomeOf({ ...read, published: 'x' }, limitsWith(), NOW)
      assert.deepEqual(
        [conclusion?.outcome, conclusion?.reason],
        ['paused', 'the plan waits to be approved again: an approval now covers context.md, too'],
      )
      const typed = { kind: 'approve' as const, story: null, digest: '1a2b3c4d', id: 1, by: 'a', at: NOW }
      assert.match(ineffectiveReason(read, typed) ?? '', /covers context\.md/)
      assert.equal(applyCommand(read, typed).plan?.phase, 'proposed')
    }
  })
})

test('10,000 stories are read in little more time than JSON takes', () => {
  const ids = Array.from({ length: 10_000 }, (_, index) => `US-${index}`)
  const ran = runJob(stateOf(stories(...ids)), limitsWith({ maxIterations: 2 }))
  const text = JSON.stringify(ran.state)
  const time = (act: () => unknown) => {
    const begin = performance.now()
    act()
    return performance.now() - begin
  }
  parseState(text)
  const plain = time(() => JSON.parse(text))
  const checked = time(() => parseState(text))
  assert.ok(checked < plain * 10 + 100, `${checked} ms against ${plain} ms`)
})

test('a state with several candidates for a story is stored in format 6, others in format 5', () => {
  const limits = limitsWith({ candidates: { run: 2, byTag: [], fromAttempt: 1 } })
  const start = stateOf(stories('US-001'))
  const state = reduce(start, { kind: 'reserved', storyId: 'US-001', at: NOW }, limits)
  assert.equal(JSON.parse(stateText(start)).version, 5)
  assert.equal(JSON.parse(stateText(state)).version, 6)
  assert.deepEqual(parseState(stateText(state)), state)
})
