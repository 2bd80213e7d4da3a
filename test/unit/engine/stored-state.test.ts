// States as git holds them, and files that are no state that this version can read.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Plan } from '../../../src/engine/model/plan-state.ts'
import type { State } from '../../../src/engine/model/state.ts'
import { runUsage } from '../../../src/engine/model/usage-totals.ts'
import { newPlan } from '../../../src/engine/planning/proposed-plan.ts'
import { emptyRecord } from '../../../src/engine/state/state-updates.ts'
import { parseState, readState, STATE_FILE, stateFiles } from '../../../src/engine/stored-state.ts'
import { UserError } from '../../../src/system/errors.ts'
import { entryWith, gate, limitsWith, runJob, session, stateOf, stories } from './samples.ts'

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
      /^refs\/ralph\/x: state\.json: version: found 99, expected 1 or less\n {2}fix: .*Update/,
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
  ] as const)
    test(`${name}: the error names where, and how to go on`, () => {
      const { message } = refused(text)
      assert.match(message, place)
      assert.match(message, /\n {2}fix: another program wrote it/)
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
    assert.equal(JSON.parse(files.get(STATE_FILE) ?? '').version, 1)
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
      /found no stories-2\.json alongside it[\s\S]*fix: another program wrote it/,
    )
    assert.throws(() => parseState(stateText(many)), /found no stories-1\.json alongside it/)
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
    test(`in ${phase} is read as written`, () => {
      const state = { ...waiting, plan: { ...plan, phase } }
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
