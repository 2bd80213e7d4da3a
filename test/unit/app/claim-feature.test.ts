// A claim that another job's last push comes between: the state is read anew, and the run that a person asked for is not lost.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { type ClaimRequest, type ClaimTools, claim, FeatureHeld } from '../../../src/app/claim-feature.ts'
import type { Repository } from '../../../src/branch/repository.ts'
import { createStore } from '../../../src/branch/store.ts'
import { LeaseLost } from '../../../src/engine/model/ports.ts'
import type { Lease, State } from '../../../src/engine/model/state.ts'
import { takeSnapshot } from '../../../src/git/clone.ts'
import { InitialRefs } from '../../../src/git/remote.ts'
import { stateOf, stories } from '../engine/samples.ts'
import { place } from '../git/place.ts'

const leaseOf = (holder: string): Lease => ({
  ...{ holder, nonce: holder, expiresAt: 0, runId: null, runAttempt: null, url: null },
  ...{ host: 'h', pid: 1, startTime: '', mark: 'm' },
})

/** Two clones of a remote: a job that holds the lease, and one that a person has started. */
async function twoJobs() {
  const [holder, starter] = [await place(), await place()]
  const remote = { url: join(holder.folder, 'remote.git'), env: {} }
  holder.shell('git init -q --bare ../remote.git && git push -q ../remote.git main')
  starter.shell(`git fetch -q ${remote.url} main && git reset -q --hard FETCH_HEAD`)
  const storeOf = async ({ git }: typeof holder, objects: typeof holder.objects) =>
    createStore(git, objects, {
      namespace: 'refs/ralph',
      remote,
      publishRemote: null,
      leaseMs: 60_000,
      snapshot: await takeSnapshot(git, true),
      initialRefs: new InitialRefs(['refs/ralph/*']),
    })
  const first = await storeOf(holder, holder.objects)
  const held = stateOf(stories('US-001'), { green: holder.base, lease: leaseOf('theirs') })
  await first.save(held)
  const { git, objects } = starter
  const tools: ClaimTools = {
    git,
    objects,
    store: await storeOf(starter, objects),
    repository: {} as Repository,
  }
  return {
    held,
    save: (state: State) => first.save(state),
    claim: (alive: ClaimRequest['isAlive']) =>
      claim(tools, {
        feature: held.feature,
        branchPrefix: 'ralph/',
        base: { branch: 'main', sha: holder.base },
        workTree: null,
        generation: null,
        lease: leaseOf('ours'),
        isAlive: alive,
        endOrphansOf: async () => {},
        job: held.job,
        chosen: {},
        scope: { stories: [], epic: null },
        today: '2026-01-31',
        prepareState: async (state) => state,
        firstComment: async () => 0,
      }),
    [Symbol.dispose]() {
      starter[Symbol.dispose]()
      holder[Symbol.dispose]()
    },
  }
}

test("a job whose lease holder ends meanwhile claims the holder's last state", async () => {
  using jobs = await twoJobs()
  const { state } = await jobs.claim(async () => {
    await jobs.save({ ...jobs.held, lease: null, generation: 7 })
    return false
  })
  assert.equal(state.generation, 7)
  assert.equal(state.lease?.holder, 'ours')
})

test('a lease that a third job takes meanwhile stays with that job', async () => {
  using jobs = await twoJobs()
  const isTheirs = ({ holder }: Lease) => holder === 'theirs'
  const asked = jobs.claim(async (found) => {
    if (isTheirs(found)) await jobs.save({ ...jobs.held, lease: leaseOf('third') })
    return !isTheirs(found)
  })
  await assert.rejects(asked, FeatureHeld)
})

test('a claim whose push is rejected twice is given up', async () => {
  using jobs = await twoJobs()
  let count = 0
  const asked = jobs.claim(async () => {
    await jobs.save({ ...jobs.held, generation: ++count })
    return false
  })
  await assert.rejects(asked, LeaseLost)
  assert.equal(count, 2)
})
