// What a session used, as it stands beside the clone: an agent may have written it.

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { usageNotes, withLostUsage, withUsageNotes } from '../../../src/app/usage-notes.ts'
import { takeOver } from '../../../src/engine/attempts/lost-attempts.ts'
import type { Limits } from '../../../src/engine/model/limit-types.ts'
import type { AgentPort } from '../../../src/engine/model/ports.ts'
import type { State } from '../../../src/engine/model/state.ts'
import { emptyUsage, subtractUsage } from '../../../src/engine/model/usage.ts'
import { runUsage } from '../../../src/engine/model/usage-totals.ts'
import { reduce } from '../../../src/engine/reduce.ts'
import type { Git } from '../../../src/git/git.ts'
import { entryWith, limitsWith, NOW, reservedIn, stateOf, stories } from '../engine/samples.ts'

const reserved = reduce(
  stateOf(stories('US-001')),
  { kind: 'reserved', storyId: 'US-001', at: NOW },
  limitsWith(),
)
const { nonce, folder } = reserved
const usage = { ...emptyUsage(), calls: 1, costUsd: 0.5 }
const note = { nonce, kind: 'run', storyId: 'US-001', startedAt: NOW, usage }

/** Writes a note as an agent could. */
async function noted(own: string, text: string, name = 'note'): Promise<string> {
  const place = join(own, `usage-${folder.split('/')[1]}`)
  await mkdir(place, { recursive: true })
  await writeFile(join(place, name), text)
  return join(place, name)
}

async function phaseWith(text: string, bytes?: number) {
  const own = await mkdtemp(join(tmpdir(), 'ralph-note-'))
  try {
    const file = await noted(own, text)
    if (bytes !== undefined) await truncate(file, bytes)
    const state = withLostUsage({ own } as unknown as Git, reserved)
    return [state.attempts['US-001']?.phase, runUsage(state).costUsd]
  } finally {
    await rm(own, { recursive: true })
  }
}

test('a saved usage of a lost session counts for its attempt only', async () => {
  const untouched = ['reserved', 0]
  assert.deepEqual(await phaseWith(JSON.stringify(note)), ['worked', 0.5])
  assert.deepEqual(await phaseWith(JSON.stringify({ ...note, nonce: 'another run' })), untouched)
  assert.deepEqual(await phaseWith(JSON.stringify({ ...note, startedAt: NOW - 1 })), untouched)
  assert.deepEqual(await phaseWith(JSON.stringify({ ...note, storyId: '__proto__' })), untouched)
})

test('a session lost during work is charged its saved usage, and at least what others used', async () => {
  const seen = { ...usage, inputTokens: 900, outputTokens: 100, costUsd: 0.004 }
  const lost = async (changes: Partial<State>, limits: Partial<Limits>) => {
    const state = stateOf(stories('US-001'), changes)
    const begun = reduce(state, { kind: 'reserved', storyId: 'US-001', at: NOW }, limitsWith(limits))
    const own = await mkdtemp(join(tmpdir(), 'ralph-note-'))
    try {
      const bounds = {
        timeoutMs: 1,
        budget: { costUsd: null, tokens: null },
        reserved: { costUsd: null, tokens: null },
      }
      const git = { own } as unknown as Git
      const dies: AgentPort['work'] = async (_state, _attempt, { onUsed }) => {
        onUsed?.(seen)
        throw new Error('killed')
      }
      const agent = withUsageNotes({ work: dies } as unknown as AgentPort, git)
      const { signal } = new AbortController()
      await assert.rejects(agent.work(begun, reservedIn(begun), { ...bounds, conflict: null }, signal))
      const left = subtractUsage(runUsage(takeOver(withLostUsage(git, begun))), runUsage(begun))
      const { costUsd, inputTokens, outputTokens, estimatedCostUsd } = left
      return [costUsd, inputTokens + outputTokens, estimatedCostUsd]
    } finally {
      await rm(own, { recursive: true })
    }
  }
  const limits = { maxCostUsd: 10, maxTokens: 1_000_000, maxIterations: 50 }
  assert.deepEqual(await lost({}, limits), [0.004, 1000, 0.004], 'not the share of the limit: $0.20')
  assert.deepEqual(
    await lost({ sessions: [entryWith({ costUsd: 0.03, inputTokens: 5000 })] }, limits),
    [0.03, 5000, 0.03],
  )
  assert.deepEqual(
    await lost({ sessions: [entryWith({ costUsd: 0.001, inputTokens: 10 })] }, limits),
    [0.004, 1000, 0.004],
  )
  assert.deepEqual(await lost({}, {}), [0.004, 1000, 0.004], 'also where nothing is limited')
})

test('an invalid usage file of a lost session is ignored', async () => {
  for (const text of [
    ...['', 'null', '[]', '{', '['.repeat(200_000)],
    JSON.stringify({ ...note, usage: { ...usage, costUsd: -1 } }),
    JSON.stringify(note).replace('0.5', '1e999'),
  ])
    assert.deepEqual(await phaseWith(text), ['reserved', 0], text.slice(0, 60))
  // No text of JavaScript is as long.
  assert.deepEqual(await phaseWith('', 600 * 1024 * 1024), ['reserved', 0], 'endless')
})

test("a lost judge's session is charged once", async () => {
  const own = await mkdtemp(join(tmpdir(), 'ralph-note-'))
  const git = { own } as unknown as Git
  const costOf = async (one: object) => {
    await noted(own, JSON.stringify({ kind: 'judge', storyId: 'US-001', startedAt: NOW, ...one }))
    const first = withLostUsage(git, reserved)
    return [runUsage(first).costUsd, runUsage(withLostUsage(git, first)).costUsd]
  }
  try {
    assert.deepEqual(await costOf({ nonce, calls: 0, usage }), [0.5, 0.5])
    assert.deepEqual(
      await costOf({ nonce, kind: 'verify', storyId: null, startedAt: null, calls: 0, usage }),
      [0.5, 0.5],
    )
    assert.deepEqual(await costOf({ nonce, calls: -1, usage }), [0, 0], 'the state has it already')
    assert.deepEqual(await costOf({ nonce: 'another run', calls: 0, usage }), [0, 0])
  } finally {
    await rm(own, { recursive: true })
  }
})

test('sessions side by side have a note each, and none is lost when the run is killed', async () => {
  const own = await mkdtemp(join(tmpdir(), 'ralph-note-'))
  try {
    const git = { own } as unknown as Git
    const limits = limitsWith({ maxParallel: 3 })
    const ids = ['US-001', 'US-002', 'US-003']
    const begun = ids.reduce(
      (state, storyId, at) => reduce(state, { kind: 'reserved', storyId, at: NOW + at }, limits),
      stateOf(stories(...ids)),
    )
    const bounds = {
      timeoutMs: 1,
      budget: { costUsd: null, tokens: null },
      reserved: { costUsd: null, tokens: null },
    }
    const { signal } = new AbortController()
    const spends: AgentPort['work'] = async (_state, { storyId }, { onUsed }) => {
      onUsed?.({ ...usage, costUsd: storyId === 'US-003' ? 4 : 1 })
      throw new Error('killed')
    }
    for (const attempt of Object.values(begun.attempts)) {
      assert.ok(attempt.phase === 'reserved')
      // Each lane has an agent of its own.
      const agent = withUsageNotes({ work: spends } as unknown as AgentPort, git)
      await assert.rejects(agent.work(begun, attempt, { ...bounds, conflict: null }, signal))
    }
    const left = takeOver(withLostUsage(git, begun))
    assert.deepEqual([runUsage(left).costUsd, runUsage(left).calls], [6, 3])
  } finally {
    await rm(own, { recursive: true })
  }
})

test('judges of an attempt that the state lacks are all charged, and their notes go with the attempt', async () => {
  const own = await mkdtemp(join(tmpdir(), 'ralph-note-'))
  try {
    const git = { own } as unknown as Git
    const bounds = {
      timeoutMs: 1,
      budget: { costUsd: null, tokens: null },
      reserved: { costUsd: 1, tokens: null },
    }
    const { signal } = new AbortController()
    const judge: AgentPort['judge'] = async () => ({ verdict: { kind: 'verified' }, usage })
    const agent = withUsageNotes({ judge } as unknown as AgentPort, git)
    const task = { stories: ['US-001'], gates: [] }
    await agent.judge(reserved, task, bounds, signal)
    const [attempt = assert.fail()] = Object.values(reserved.attempts)
    const once = {
      ...reserved,
      sessions: [entryWith({ kind: 'judge', attempt: attempt.startedAt, calls: 1, costUsd: 0.5 })],
    }
    await agent.judge(once, task, bounds, signal)
    assert.equal(runUsage(withLostUsage(git, reserved)).costUsd, 1, 'neither was saved')
    assert.equal(runUsage(withLostUsage(git, once)).costUsd, 1, 'the second was not saved')
    const rejected = { kind: 'rejected' as const, storyId: 'US-001', kept: null, at: NOW }
    await usageNotes(git).event?.(rejected, reserved)
    assert.equal(runUsage(withLostUsage(git, reserved)).costUsd, 0)
  } finally {
    await rm(own, { recursive: true })
  }
})

test('once no attempt is in work, no note is left, also of an attempt whose end a killed run saved', async () => {
  const own = await mkdtemp(join(tmpdir(), 'ralph-note-'))
  try {
    const observer = usageNotes({ own } as unknown as Git)
    const rejected = { kind: 'rejected' as const, storyId: 'US-001', kept: null, at: NOW }
    const left = await noted(own, JSON.stringify({ ...note, storyId: 'US-009' }))
    await observer.event?.(rejected, reserved)
    assert.ok(existsSync(left), 'other attempts are in work')
    await observer.event?.(rejected, { ...reserved, attempts: {} })
    assert.ok(!existsSync(left))
  } finally {
    await rm(own, { recursive: true })
  }
})
