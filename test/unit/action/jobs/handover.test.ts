// What jobs tell each other: whatever a hostile job says is read as something sound, or as nothing.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  type FromGate,
  type FromWork,
  fitGates,
  fitWork,
  nonceOf,
  outputOf,
  readFromClaim,
  readFromGate,
  readFromWork,
  workedIn,
  workerOf,
  workOf,
  writeHandover,
} from '../../../../src/action/jobs/handover.ts'
import { anyText, runs } from '../../runs.ts'

const usage = {
  calls: 1,
  inputTokens: 10,
  outputTokens: 2,
  cachedTokens: 0,
  costUsd: 0.5,
  agentSeconds: 3,
  turns: 2,
}
const session = {
  status: 'finished' as const,
  message: 'done',
  usage,
  resetsAt: null,
  hints: { done: true, notDone: false, stuck: null },
  learnings: ['one'],
  others: [{ agent: 'codex', model: null, usage }],
  detail: 'what a step printed',
  pause: 'step window ends the run',
  circuits: { window: { failures: 2, until: Date.UTC(2026, 0, 31) }, look: { failures: 1, until: null } },
}
const work = {
  nonce: 'n',
  event: { kind: 'worked' as const, storyId: 'US-001', session },
  commit: 'a'.repeat(40),
  sha256: 'b'.repeat(64),
  mistake: null,
} satisfies FromWork
const judged: FromWork = {
  ...work,
  event: { kind: 'verified', verdict: { kind: 'reset', stories: ['US-001'], reason: 'no' }, usage },
}
const planned: FromWork = {
  ...work,
  event: { kind: 'planned', plan: { kind: 'proposed', words: '{"stories":[]}', usage } },
}
const gates = [
  { name: 'test', ok: false, advisory: false, ended: 'exit 1', ms: 12, output: 'red\n' },
  {
    name: 'slow',
    ok: true,
    advisory: false,
    ended: 'exit 0',
    ms: 12,
    output: '',
    tests: { passed: 4, failed: 0, skipped: 1 },
    flaky: true as const,
    remarks: ['flaky: failed (exit 1), then passed at try 2 on the same files'],
    annotations: [{ path: 'src/a.ts', line: 3, message: 'No test ran this line.', level: 'notice' as const }],
  },
]
const gate = {
  nonce: 'n',
  code: 'c'.repeat(64),
  event: {
    kind: 'gated' as const,
    storyId: 'US-001',
    slot: 2,
    gates,
    paths: ['test/a.ts'],
    unproved: true as const,
    unnoticed: [{ path: 'src/a.ts', line: 3, from: '  return a - b', to: '  return a + b' }],
  },
} satisfies FromGate

/** The session, or the gates, of a hand-over as it is read. */
const sessionIn = (event: object) => workedIn(readFromWork(JSON.stringify({ ...work, event })))?.session
const withSession = (more: object) => sessionIn({ ...work.event, session: { ...session, ...more } })
const gatesIn = (more: object) =>
  readFromGate(JSON.stringify({ ...gate, event: { ...gate.event, gates: [{ ...gates[0], ...more }] } }))
    ?.event?.gates

test('a hand-over that was written is read back unchanged', () => {
  const claim = { folder: '.ralph/2026-01-31-a', nonce: 'n', base: 'd'.repeat(40) }
  assert.deepEqual(readFromClaim(writeHandover(claim)), claim)
  for (const one of [work, judged, planned]) assert.deepEqual(readFromWork(writeHandover(one)), one)
  const broken = { storyId: 'US-001', summary: 'gate test failed (exit 1) on the whole' }
  const events: FromGate['event'][] = [
    gate.event,
    { kind: 'baselined', gates },
    { kind: 'join-gated', gates, broken },
    { kind: 'whole-gated', gates },
    { kind: 'verified', gates, verdict: { kind: 'reset', stories: ['US-001'], reason: 'r', gate: 'test' } },
    null,
  ]
  for (const event of events)
    assert.deepEqual(readFromGate(writeHandover({ ...gate, event })), { ...gate, event })
})

test('a job may say only what it did: no gates by the work job, no session and no approval by the gate job', () => {
  const asWork = (event: unknown) => readFromWork(JSON.stringify({ ...work, event }))
  const asGate = (event: unknown) => readFromGate(JSON.stringify({ ...gate, event }))
  for (const event of [gate.event, { kind: 'whole-gated', gates }, { kind: 'accepted', storyId: 'US-001' }])
    assert.equal(asWork(event), null, JSON.stringify(event))
  const approval = { kind: 'verified', gates, verdict: { kind: 'verified' } }
  for (const event of [work.event, judged.event, planned.event, approval, { kind: 'judged' }])
    assert.equal(asGate(event), null, JSON.stringify(event))
})

test('a hand-over counts only for its own claim and for a worker of that claim', () => {
  const claim = { folder: '.ralph/2026-01-31-a', nonce: 'n', base: 'd'.repeat(40), workers: ['1', '2'] }
  assert.deepEqual(readFromClaim(writeHandover(claim)), claim)
  const of = (worker: string) => writeHandover({ ...work, nonce: nonceOf(claim, worker) })
  const env = { RALPH_FROM_WORK_1: of('1'), RALPH_FROM_WORK_2: of('1'), RALPH_FROM_WORK: of('1') }
  assert.deepEqual(workedIn(workOf(env, claim, '1'))?.session, session)
  assert.equal(workOf(env, claim, '2'), null)
  assert.equal(workOf(env, { ...claim, nonce: 'other' }, '1'), null)
  assert.equal(workOf(env, claim), null)
  assert.deepEqual(['1', null].map(outputOf), ['handover-1', 'handover'])
  assert.equal(workerOf({ RALPH_WORKER: '2' }, claim), '2')
  for (const RALPH_WORKER of ['3', '', '1 '])
    assert.throws(() => workerOf({ RALPH_WORKER }, claim), /RALPH_WORKER.*workers.*separate-parallel/s)
  const { workers: _workers, ...alone } = claim
  assert.equal(workerOf({ RALPH_WORKER: '2' }, alone), null)
})

test('a hand-over of any result of our own jobs is read back as it was written', () => {
  const text = anyText({ maxLength: 40 })
  const named = fc.string({ minLength: 1, maxLength: 40 })
  const amount = fc.oneof(fc.nat(), fc.double({ min: -0, max: 1e12, noNaN: true }))
  const moment = fc.option(
    fc.oneof(
      fc.constant(8.64e15),
      fc.maxSafeNat().map((at) => at % 8.64e15),
    ),
  )
  const sha256 = fc.stringMatching(/^[0-9a-f]{64}$/)
  const digest = fc.oneof(sha256, fc.stringMatching(/^[0-9a-f]{40}$/))
  const line = fc.oneof(fc.integer({ min: 1, max: 9999 }), fc.constant(Number.MAX_SAFE_INTEGER))
  const some = <T>(one: fc.Arbitrary<T>) => fc.array(one, { maxLength: 3 })
  const counts = { calls: amount, inputTokens: amount, outputTokens: amount, cachedTokens: amount }
  const estimates = { estimatedCostUsd: amount, estimatedTokens: amount, turns: amount }
  const used = fc.record(
    { ...counts, costUsd: amount, agentSeconds: amount, ...estimates },
    { requiredKeys: [...keys(counts), 'costUsd', 'agentSeconds'] },
  )
  const said = {
    status: fc.constantFrom(
      'finished',
      'failed',
      'limit',
      'overloaded',
      'auth',
      'not-started',
      'interrupted',
    ),
    ...{ message: text, usage: used, resetsAt: moment, learnings: some(text) },
    hints: fc.record({ done: fc.boolean(), notDone: fc.boolean(), stuck: fc.option(text) }),
  }
  const circuit = fc.record({ failures: fc.nat(), until: moment })
  const more = {
    ...{ setUp: text, detail: text, pause: text },
    others: some(fc.record({ agent: fc.option(named), model: fc.option(named), usage: used })),
    circuits: fc.dictionary(
      named.filter((name) => name !== '__proto__'),
      circuit,
      { noNullPrototype: true },
    ),
  }
  const evidence = some(fc.record({ storyId: named, criterion: fc.nat(9999), shown: text }))
  const told = (kind: string) => fc.record({ kind: fc.constant(kind), message: text })
  const limited = fc.record({ kind: fc.constant('limit'), notBefore: moment, message: text })
  const verdict = fc.oneof(
    ...[limited, told('refused'), told('none')],
    fc.record({ kind: fc.constant('verified'), evidence }, { requiredKeys: ['kind'] }),
    fc.record({ kind: fc.constant('reset'), stories: some(named), reason: text }),
  )
  const plan = fc.oneof(
    fc.record({ kind: fc.constant('proposed'), words: fc.json() }),
    ...[limited, told('refused'), told('none')],
  )
  const workEvent = fc.oneof(
    fc.record({
      kind: fc.constant('worked'),
      storyId: named,
      session: fc.record({ ...said, ...more }, { requiredKeys: keys(said) }),
    }),
    fc.record({ kind: fc.constant('verified'), verdict, usage: used }),
    fc.record({
      kind: fc.constant('planned'),
      plan: fc.tuple(plan, used).map(([one, usage]) => ({ ...one, usage })),
    }),
  )
  const worked = fc.record({
    nonce: named,
    event: fc.option(workEvent),
    ...{ commit: fc.option(digest), sha256: fc.option(sha256), mistake: fc.option(named) },
  })
  const result = {
    name: fc.stringMatching(/^(?:service )?\w{1,64}$/),
    ...{ ok: fc.boolean(), advisory: fc.constant(false), ended: text, ms: amount, output: text },
  }
  const level = fc.constantFrom('failure', 'warning', 'notice')
  const shot = fc.record({
    url: fc.webUrl(),
    viewport: fc.constant('1280x800'),
    ...{ blob: digest, bytes: fc.nat(), before: fc.option(digest) },
  })
  const seen = {
    tests: fc.record({ passed: fc.nat(), failed: fc.nat(), skipped: fc.nat() }),
    flaky: fc.constant(true),
    remarks: some(text),
    annotations: some(fc.record({ path: named, line, message: text, level })),
    screenshots: some(shot),
  }
  const ran = some(fc.record({ ...result, ...seen }, { requiredKeys: keys(result) }))
  const gated = fc.record(
    {
      ...{ nonce: named, code: fc.option(sha256) },
      event: fc.option(
        fc.oneof(
          fc.record({ kind: fc.constantFrom('baselined', 'whole-gated'), gates: ran }),
          fc.record({ kind: fc.constant('gated'), storyId: named, gates: ran }),
        ),
      ),
      pictures: fc.dictionary(digest, fc.base64String(), { noNullPrototype: true }),
    },
    { requiredKeys: ['nonce', 'code', 'event'] },
  )
  const isRead = (read: (text: string) => unknown) => (value: object) => {
    const written = JSON.stringify(value)
    assert.deepEqual(read(written), JSON.parse(written))
  }
  fc.assert(fc.property(worked, isRead(readFromWork)), runs(300))
  fc.assert(fc.property(gated, isRead(readFromGate)), runs(300))
})

function keys<T extends object>(shape: T) {
  return Object.keys(shape) as (keyof T)[]
}

test('a hand-over of arbitrary JSON is read with valid numbers and limited texts and lists', () => {
  const odd = fc.oneof(
    fc.jsonValue(),
    fc.constantFrom(Number.MAX_VALUE, -1, 1e300, '__proto__', { __proto__: null }),
  )
  const twisted = fc
    .dictionary(fc.constantFrom(...Object.keys({ ...work, ...gate })), odd)
    .map((more) => ({ ...work, ...more }))
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.json(),
        twisted.map((one) => JSON.stringify(one)),
      ),
      (text) => {
        for (const read of [readFromWork(text), readFromGate(text), readFromClaim(text)]) {
          if (read === null) continue
          assert.ok(JSON.stringify(read).length < 1_000_000)
          const event = 'event' in read ? read.event : null
          if (event?.kind === 'worked')
            for (const value of Object.values(event.session.usage))
              assert.ok(Number(value) >= 0 && Number(value) <= 1e12)
          if ('commit' in read && read.commit !== null) assert.match(read.commit, /^[0-9a-f]{40,64}$/)
        }
      },
    ),
    runs(50),
  )
})

test('a hand-over with impossible usage or circuits is invalid', () => {
  for (const value of [-1, Number.NaN, 1e13, '5', null, undefined]) {
    assert.equal(withSession({ usage: { ...usage, costUsd: value } }), undefined, String(value))
  }
  for (const circuits of [null, 7, { a: { failures: -1, until: 5 } }, { a: { failures: 1, until: 1e300 } }]) {
    assert.equal(withSession({ circuits }), undefined, JSON.stringify(circuits))
  }
})

test("which gates are advisory is read from the settings, not from the gate job's hand-over", () => {
  assert.equal(gatesIn({ advisory: true })?.[0]?.advisory, false)
})

test('a gate with an impossible duration makes the hand-over invalid, and its name is one short line', () => {
  const event = { ...gate.event, gates: [{ ...gates[0], ms: 77 }] }
  const read = (one: string) =>
    readFromGate(JSON.stringify({ ...gate, event }).replace('77', one))?.event?.gates
  for (const ms of ['1e308', '1e999', '-1', '"x"', 'null']) assert.equal(read(ms), undefined, ms)
  assert.equal(read('12.5')?.[0]?.ms, 12.5)
  const named = (name: string) => gatesIn({ name })?.[0]?.name ?? ''
  const long = `service ${'a'.repeat(64)}`
  assert.equal(named(long), long)
  assert.equal(named('\u001b[31mtest\u001b[0m\n'), 'test')
  assert.ok(named(`\u001b]0;${'x'.repeat(50_000)}`).length <= 80)
})

test('dates in a hand-over are validated, and its co-authors are few with short names', () => {
  const until = Date.UTC(2026, 0, 1)
  const read = withSession
  const others = Array.from({ length: 50 }, (_, at) => ({ agent: null, model: `m${at}`, usage }))
  assert.equal(read({ resetsAt: 1e300 }), undefined)
  assert.equal(read({ resetsAt: until })?.resetsAt, until)
  assert.deepEqual(
    read({ others })?.others?.map(({ model }) => model),
    Array.from({ length: 10 }, (_, at) => `m${at}`),
  )
  const long = [{ agent: 'a'.repeat(2000), model: 'm'.repeat(2000), usage }]
  const [short] = read({ others: long })?.others ?? []
  assert.deepEqual([short?.agent?.length, short?.model?.length], [100, 100])
})

test('texts and lists of a hand-over are limited', () => {
  const read = withSession({
    message: 'x'.repeat(9000),
    learnings: Array.from({ length: 500 }, (_, at) => `l${at}`),
  })
  assert.deepEqual([read?.message.length, read?.learnings.length], [2000, 200])
})

test('evidence is shortened, then dropped, to fit into one output variable', () => {
  const shownBy = (many: number, shown: string): FromWork => ({
    ...work,
    event: {
      kind: 'verified',
      verdict: {
        kind: 'verified',
        evidence: Array.from({ length: many }, (_, at) => ({
          storyId: `US-${at}`,
          criterion: 1,
          shown: `src/a.test.ts:${at} ${shown}`,
        })),
      },
      usage,
    },
  })
  const kept = (given: FromWork) => {
    const text = writeHandover(fitWork(given))
    assert.ok(Buffer.byteLength(text) <= 96 * 1024)
    const event = readFromWork(text)?.event
    const verdict = event?.kind === 'verified' ? event.verdict : null
    return verdict?.kind === 'verified' ? (verdict.evidence ?? []) : []
  }
  const few = shownBy(3, 'y'.repeat(250))
  assert.deepEqual(fitWork(few), few)
  assert.equal(kept(shownBy(400, 'é'.repeat(280))).length, 400)
  const many = kept(shownBy(5000, '\u0001'.repeat(280)))
  assert.ok(many.length > 100 && many[100]?.storyId === 'US-100', String(many.length))
  assert.deepEqual(fitWork(work), work)
})

test('remarks and annotations of a gate are limited in number and validated', () => {
  const place = { path: 'a', line: 1, message: 'm', level: 'notice' }
  const read = gatesIn
  const more = {
    remarks: Array.from({ length: 40 }, () => 'r'.repeat(3000)),
    annotations: Array.from({ length: 90 }, () => place),
  }
  const [told] = read(more) ?? []
  assert.deepEqual([told?.remarks?.length, told?.remarks?.[0]?.length], [20, 2000])
  assert.equal(told?.annotations?.length, 50)
  for (const odd of [
    { annotations: [{ ...place, line: 0 }] },
    { annotations: [{ ...place, level: 'odd' }] },
    { remarks: [7] },
    { tests: { passed: -1, failed: 0, skipped: 0 } },
    { flaky: 'yes' },
  ])
    assert.equal(read(odd), undefined, JSON.stringify(odd))
})

test('gate results fit into one output variable, with the end of each output', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(60_000), fc.constantFrom('x', '\u0000', '💥', '"\\', 'é')), { maxLength: 40 }),
      (outputs) => {
        const gates = outputs.map(([length, unit], index) => ({
          name: `g${index}`,
          ok: true,
          advisory: false,
          ended: 'exit 0',
          ms: 1,
          output: `${unit.repeat(length)}END`,
          remarks: Array.from({ length: length % 30 }, () => unit.repeat(290)),
          annotations: Array.from({ length: length % 70 }, (_, at) => ({
            ...{ path: 'src/a.ts', line: at + 1, level: 'notice' as const },
            message: unit.repeat(590),
          })),
        }))
        const failing = Array.from({ length: 100 }, () => 'x'.repeat(290))
        const base = Object.fromEntries(
          gates.map(({ name, ms }) => [name, { ms, red: true as const, failing }]),
        )
        const gated = fitGates({
          nonce: 'n',
          code: null,
          event: { kind: 'gated', storyId: 'US-001', gates, base },
        })
        assert.ok(Buffer.byteLength(writeHandover(gated)) <= 96 * 1024)
        assert.equal(readFromGate(writeHandover(gated))?.event?.kind, 'gated')
        const fitted = fitGates({ nonce: 'n', code: null, event: { kind: 'baselined', gates } })
        assert.ok(Buffer.byteLength(writeHandover(fitted)) <= 96 * 1024)
        for (const one of fitted.event?.gates ?? []) assert.match(one.output, /END$/)
        assert.equal(readFromGate(writeHandover(fitted))?.event?.gates.length, gates.length)
      },
    ),
    runs(15),
  )
})

test('what gates did on the base is handed over, without what Ralph concludes from several runs', () => {
  const first = { ms: 4, red: true as const, tests: { passed: 1, failed: 1, skipped: 0 }, failing: ['one'] }
  const own = { atFork: true, fixed: ['one'], alone: true, needIgnored: 3 }
  const said = (base: unknown) =>
    readFromGate(
      JSON.stringify({
        nonce: 'n',
        code: null,
        event: { kind: 'gated', storyId: 'US-001', gates: [], base },
      }),
    )?.event
  const event = said({ test: { ...first, ...own } })
  assert.deepEqual(event?.kind === 'gated' ? event.base : null, { test: first })
  for (const wrong of [{ test: { ms: -1 } }, { test: {} }, [first], { test: { ms: 1, failing: [7] } }])
    assert.equal(said(wrong), undefined)
})
