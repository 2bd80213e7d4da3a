// Gates that use what other gates made, where the final verification runs only some of them: real gates, in a room that begins empty.
import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { findBreakingStory, runFinalGates } from '../../../../src/engine/gating/final-gates.ts'
import { addProofs, isRefactoring, runGatesAsItWas } from '../../../../src/engine/gating/further-runs.ts'
import { newGateRun } from '../../../../src/engine/gating/gate-run.ts'
import { withReuseKeys } from '../../../../src/engine/gating/reuse.ts'
import type { Gate } from '../../../../src/engine/model/gate.ts'
import type { CleanRoom, Ports } from '../../../../src/engine/model/ports.ts'
import { emptyRecord, redGate } from '../../../../src/engine/state/state-updates.ts'
import { createGates } from '../../../../src/gates/gates.ts'
import { createRedactor } from '../../../../src/isolation/redact.ts'
import { NO_CODE } from '../../gates/gate-run.ts'
import { gate, limitsWith, MINUTE, NOW, stateOf, stories } from '../samples.ts'

const named = (name: string, run: string, more: Partial<Gate> = {}): Gate => ({
  ...{ name, run, timeoutMs: 20_000, when: null, advisory: false },
  ...more,
})
const BUILD = named('build', 'mkdir out && cp code out/code')
const TEST = named('test', 'grep -q good out/code')

/** What is in the file `code` at each commit. */
const COMMITS = { base: 'good', one: 'bad', head: 'bad', green: 'good' }

/** The story of the commit `one` broke what gates look at. `reused`: gates that were green in a clean room before. */
async function verified(gates: Gate[], commit: keyof typeof COMMITS, reused: readonly string[] = []) {
  const { ports, ran, state, room, dispose } = await scene(gates, commit, reused)
  try {
    const context = { state, limits: limitsWith(), ports, now: NOW + MINUTE }
    const ask = async () => assert.fail('nobody is asked')
    const whole = await runFinalGates(state.prd.userStories, context, ask)
    return { ...whole, ran, context, room }
  } finally {
    await dispose()
  }
}

async function scene(gates: Gate[], commit: keyof typeof COMMITS, reused: readonly string[] = []) {
  const top = await mkdtemp(join(tmpdir(), 'ralph-final-'))
  const ran: string[] = []
  const checkOut = async (at: string) => {
    await rm(top, { recursive: true })
    await mkdir(top)
    await writeFile(join(top, 'code'), COMMITS[at as keyof typeof COMMITS])
  }
  const port = createGates({
    ...NO_CODE,
    ...{ gates, prepare: null, lockfileChanged: async () => false, top, cwd: top },
    ...{ env: { PATH: process.env.PATH ?? '' }, redactor: createRedactor([]), logs: null },
    onStart: (name) => ran.push(name),
    onEnd: () => {},
  })
  const room: CleanRoom = {
    checkOut,
    restore: async () => true,
    ignored: {
      afterPrepare: async () => {},
      forGatesAgain: async () => rm(join(top, 'out'), { recursive: true }),
    },
    gates: port,
    [Symbol.asyncDispose]: async () => {},
  }
  const keys = Object.fromEntries(gates.map(({ name }) => [name, reused.includes(name) ? `key ${name}` : '']))
  const repository = {
    checkOut,
    restore: async () => true,
    ignored: { afterPrepare: async () => {} },
    history: async () => [
      { commit: 'one', storyId: 'US-001', paths: [] },
      { commit, storyId: 'US-002', paths: [] },
    ],
    asItWas: async () => ({ commit: 'green', paths: ['code'] }),
    mutants: async () => [],
  }
  const ports = {
    repository,
    gates: { ...port, keys: async () => keys },
    openCleanRoom: async () => room,
    signal: new AbortController().signal,
  } as unknown as Ports
  const green = withReuseKeys(
    reused.map((name) => gate(true, { name })),
    keys,
    NOW,
  )
  const state = stateOf(stories('US-001', 'US-002'), {
    ...{ green: commit, base: { branch: 'main', sha: 'base' }, baseline: 'green' },
    records: { 'US-001': { ...emptyRecord(), gates: green } },
  })
  return { ports, ran, state, room, dispose: () => rm(top, { recursive: true }) }
}

test("a gate that runs again in the final verification gets files of a gate that it needs, although that one's result was reused", async () => {
  for (const test of [{ ...TEST, needs: ['build'] }, TEST]) {
    const { gates, verdict, ran } = await verified([BUILD, test], 'green', ['build'])
    assert.equal(redGate(gates), undefined)
    assert.equal(verdict, null)
    assert.deepEqual(ran, ['build', 'test'])
    assert.deepEqual(
      gates.map(({ name, asAt }) => [name, asAt]),
      [
        ['build', undefined],
        ['test', undefined],
      ],
    )
  }
})

test('a gate that names all its needs does not make other results run again', async () => {
  const { gates, ran } = await verified([BUILD, named('lint', 'true', { needs: [] })], 'green', ['build'])
  assert.deepEqual(ran, ['lint'])
  assert.deepEqual(
    gates.map(({ name, asAt }) => [name, asAt]),
    [
      ['lint', undefined],
      ['build', 'US-001, 1 min ago'],
    ],
  )
})

test('the story that broke a gate is found when the gate needs files of another gate', async () => {
  for (const test of [{ ...TEST, needs: ['build'] }, TEST]) {
    const { verdict } = await verified([BUILD, test], 'head')
    assert.deepEqual(verdict?.kind === 'reset' && verdict.stories, ['US-001'])
    const { ports, state, dispose } = await scene([BUILD, test], 'head')
    const context = { state, limits: limitsWith(), ports, now: NOW }
    const red = gate(false, { name: 'test' })
    const broke = await findBreakingStory(red, newGateRun(state, { of: 'join' }), [red], context)
    assert.equal(broke?.storyId, 'US-001')
    await dispose()
  }
})

test('the story that broke a gate is found although an earlier gate was red on a commit, too', async () => {
  const before = named('lint', 'grep -q good code || [ -e fixed ]')
  const { ports, state, room, dispose } = await scene([before, BUILD, TEST], 'head')
  await room.checkOut('one')
  const run = newGateRun(state, { of: 'whole', commit: 'one', only: ['test'] })
  const results = await room.gates.run(run, ports.signal)
  assert.equal(results.find(({ name }) => name === 'test')?.ended, 'exit 1')
  await dispose()
})

test('with the checks as they were, a gate runs after its needs, and one that was never green gives no result', async () => {
  const { ports, state, room, ran, dispose } = await scene([BUILD, { ...TEST, needs: ['build'] }], 'green')
  await room.checkOut('green')
  const run = newGateRun(state, { of: 'whole', from: 'base', baseline: { test: { ms: 1 } } })
  await room.gates.run(run, ports.signal)
  const first = [gate(true, { name: 'build' }), gate(true, { name: 'test' })]
  const { results } = await runGatesAsItWas(run, first, { fork: 'green' }, ports, room)
  assert.deepEqual(
    results.map(({ name, ok }) => [name, ok]),
    [['test (checks as they were)', true]],
  )
  assert.deepEqual(ran.slice(2), ['build (checks as they were)', 'test (checks as they were)'])
  await dispose()
})

const COUNTED = named('test', 'echo "# pass $(grep -c good code)"; echo "# fail 0"; grep -q good code')

test('what fails without the product shows that tests need it; if nothing fails, the change is unproved', async () => {
  const rows = [
    ['one', true, { tests: 1 }, false],
    ['base', true, undefined, true],
    [null, true, undefined, true],
    [null, false, undefined, false],
  ] as const
  for (const [commit, changesProduct, proof, unproved] of rows) {
    const { ports, state, room, ran, dispose } = await scene([COUNTED], 'green')
    const repository = { ...ports.repository, withoutProduct: async () => ({ commit, changesProduct }) }
    const restore = (at: string) => room.checkOut(at).then(() => true)
    await room.checkOut('green')
    const run = newGateRun(state, { of: 'story', baseline: { test: { ms: 1 } } })
    const first = await room.gates.run(run, ports.signal)
    const place = { ...room, restore, ignored: { ...room.ignored, forGatesAgain: async () => {} } }
    const found = await addProofs(run, { first, earlier: [], fork: 'base' }, { ...ports, repository }, place)
    assert.deepEqual([found.results[0]?.proof, found.unproved], [proof, unproved], String(commit))
    assert.equal(ran.length, commit === null ? 1 : 2)
    await dispose()
  }
})

test('mistakes in the new code are tried until a test fails with one; those before it are not reported', async () => {
  const mistake = (to: string) => ({ path: 'code', line: 1, from: 'good', to })
  const rows = [
    // The code is good in `base` and `green`, so no test fails there.
    { mutants: ['base', 'green'], unnoticed: ['base', 'green'], runs: 4 },
    { mutants: ['base', 'one', 'green'], unnoticed: [], runs: 4 },
    { mutants: ['one', 'base'], unnoticed: [], runs: 3 },
    { mutants: [], unnoticed: [], runs: 2 },
  ]
  for (const { mutants, unnoticed, runs } of rows) {
    const { ports, state, room, ran, dispose } = await scene([COUNTED], 'green')
    const repository = {
      ...ports.repository,
      withoutProduct: async () => ({ commit: 'one', changesProduct: true }),
      mutants: async () => mutants.map(mistake),
      withMutant: async (_: string, { to }: { to: string }) => to,
    }
    await room.checkOut('green')
    const run = newGateRun(state, { of: 'story', baseline: { test: { ms: 1 } } })
    const first = await room.gates.run(run, ports.signal)
    const restored: string[] = []
    const restore = (at: string) => room.checkOut(at).then(() => restored.push(at) > 0)
    const place = { ...room, restore, ignored: { ...room.ignored, forGatesAgain: async () => {} } }
    const found = await addProofs(run, { first, earlier: [], fork: 'base' }, { ...ports, repository }, place)
    assert.deepEqual([found.unproved, found.unnoticed], [false, unnoticed.map(mistake)])
    assert.equal(ran.length, runs)
    assert.equal(restored.at(-1), run.commit, 'the tree of the change is back')
    await dispose()
  }
})

test('no mistakes are tried if the gates count no tests, or need more than a minute', async () => {
  for (const [tests, ms] of [
    [undefined, 1],
    [{ passed: 1, failed: 0, skipped: 0 }, 60_001],
  ] as const) {
    const { ports, state, room, dispose } = await scene([COUNTED], 'green')
    const repository = {
      ...ports.repository,
      withoutProduct: async () => ({ commit: 'one', changesProduct: true }),
      mutants: async () => assert.fail('none is tried'),
    }
    const run = newGateRun(state, { of: 'story', baseline: { test: { ms: 1 } } })
    const first = [gate(true, { name: 'test', ms, ...(tests === undefined ? {} : { tests }) })]
    const restore = (at: string) => room.checkOut(at).then(() => true)
    const place = { ...room, restore, ignored: { ...room.ignored, forGatesAgain: async () => {} } }
    const found = await addProofs(run, { first, earlier: [], fork: 'base' }, { ...ports, repository }, place)
    assert.deepEqual(found.unnoticed, [])
    await dispose()
  }
})

test('a change is not called unproved if its gates could not run without it', async () => {
  const { ports, state, room, dispose } = await scene([COUNTED], 'green')
  const repository = {
    ...ports.repository,
    withoutProduct: async () => ({ commit: 'one', changesProduct: true }),
  }
  const failed = { ...gate(false, { name: 'prepare' }), advisory: false }
  const gates = { ...room.gates, prepare: async () => failed }
  await room.checkOut('green')
  const run = newGateRun(state, { of: 'story', baseline: { test: { ms: 1 } } })
  const first = await room.gates.run(run, ports.signal)
  const place = { ...room, gates, ignored: { ...room.ignored, forGatesAgain: async () => {} } }
  const found = await addProofs(run, { first, earlier: [], fork: 'base' }, { ...ports, repository }, place)
  assert.deepEqual([found.results[0]?.proof, found.unproved], [undefined, false])
  await dispose()
})

test('a gate that was red at the base shows that its tests need the change, without a further run', async () => {
  const { ports, state, room, dispose } = await scene([COUNTED], 'green')
  const repository = {
    ...ports.repository,
    withoutProduct: async () => ({ commit: null, changesProduct: true }),
  }
  const red = { test: { ms: 1, red: true as const, tests: { passed: 1, failed: 2, skipped: 0 } } }
  const run = newGateRun(state, { of: 'story', baseline: red })
  const first = [gate(true, { name: 'test', tests: { passed: 3, failed: 0, skipped: 0 } })]
  const found = await addProofs(run, { first, earlier: [], fork: 'base' }, { ...ports, repository }, room)
  assert.deepEqual([found.results[0]?.proof, found.unproved], [{ tests: 2 }, false])
  await dispose()
})

test('a story that asks for the same behavior needs no test that fails without it', () => {
  const [story] = stories('US-001')
  assert.ok(story !== undefined)
  assert.equal(isRefactoring({ ...story, tags: ['Refactoring'] }), true)
  assert.equal(isRefactoring({ ...story, acceptanceCriteria: ['There is no change in behavior'] }), true)
  assert.equal(isRefactoring({ ...story, acceptanceCriteria: ['Rename sum to add'] }), true)
  assert.equal(isRefactoring(story), false)
})
