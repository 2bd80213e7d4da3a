// A wave whose machines are lost at random: that of one job, or all of them, at a request of theirs that is under way; again and again
// until the feature is complete. RALPH_TRIALS=n chains (3); RALPH_SEED=n repeats one; RALPH_LOG=prefix writes the logs of one that went wrong.
import assert from 'node:assert/strict'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import fc from 'fast-check'
import { openSite, outputsOf, type Site, story } from '../e2e/site.ts'
import { sharedFolder } from '../fakes/shared.ts'
import { agentScript, alwaysWrong, charged, endWrong, GATE, githubWrong, stateOf } from './invariants.ts'

const TRIALS = Number(process.env.RALPH_TRIALS ?? (process.env.RALPH_SOAK === '1' ? 200 : 3))
const SEED = Number(process.env.RALPH_SEED ?? 20261126)
const IDS = ['US-001', 'US-002', 'US-003', 'US-004', 'US-005']
/** Deaths of one chain at most: then it is left alone. */
const MOST = 3

/** `after`: requests of jobs until the next one; `all`: every machine of the run. */
const deaths = fc.array(fc.record({ after: fc.integer({ min: 1, max: 120 }), all: fc.boolean() }), {
  minLength: 1,
  maxLength: MOST,
})

test('machines of a wave are lost at random: no story is lost, and none lands twice', async (t) => {
  const told: string[] = []
  let [killings, machines, again] = [0, 0, 0]
  for (const [at, plan] of fc.sample(deaths, { numRuns: TRIALS, seed: SEED }).entries()) {
    const { wrong, killed, lost, repeated, log } = await trial(plan)
    killings += killed.length
    machines += lost
    again += repeated
    const line = `chain ${at}: ${killed.join(', ') || 'no death'}; ${repeated} sessions repeated`
    t.diagnostic(line)
    if (wrong.length === 0) continue
    told.push(`${line}\n${wrong.join('\n')}`)
    if (process.env.RALPH_LOG !== undefined) await writeFile(`${process.env.RALPH_LOG}-${at}`, log)
  }
  t.diagnostic(`${TRIALS} chains, ${killings} deaths, ${machines} machines lost, ${again} sessions repeated`)
  assert.deepEqual(told, [])
})

async function trial(plan: readonly { after: number; all: boolean }[]) {
  await using place = await ownFolder()
  const { folder } = place
  const [agent, sessions] = [join(folder, 'agent.sh'), join(folder, 'sessions')]
  await writeFile(agent, agentScript('[ "$RALPH_STORY_ID/$RALPH_ATTEMPT" = US-002/1 ]'))
  await writeFile(sessions, '')
  await using site = await openSite({
    parallel: true,
    stories: IDS.map((id) => story(id, `part ${id}`)),
    script: {},
    inputs: {
      'max-parallel': '4',
      // Losses in a row that block a story, and end the run as stuck, are not what is looked at here: a chain has fewer.
      'max-interruptions': String(MOST + 1),
      'agent-command': `bash "${agent}" "${sessions}"`,
      gates: `good: '${GATE}'`,
    },
    github: { requestsPerHour: 1_000_000 },
  })
  const killed = die(site, plan)
  const outcomes: string[] = []
  while (outcomes.length < 2 * MOST + 2 && outcomes.at(-1) !== 'complete') {
    await site.runner.dispatch('ralph.yml', { feature: 'sample' }, { actor: 'alice' })
    await site.runner.settled()
    outcomes.push(outputsOf(site.last()).outcome ?? site.last().conclusion ?? 'nothing')
  }
  const bare = site.github.bare.path
  const found = [...(await alwaysWrong(bare)), ...(await endWrong(bare)), ...(await githubWrong(site))]
  // The number of an iteration is a label there: those of several workers land in another order.
  const wrong = found.filter((line) => !line.startsWith('progress.txt has'))
  if (outcomes.at(-1) !== 'complete') wrong.push(`the dispatches end with ${outcomes.join(', ')}`)
  const state = await stateOf(bare)
  if (state !== null && charged(state) !== IDS.length + 1)
    wrong.push(`${charged(state)} iterations were charged, not ${IDS.length + 1}`)
  const lines = (await readFile(sessions, 'utf8')).split('\n').filter(Boolean)
  const repeated = lines.length - (IDS.length + 2)
  const lost = killed.reduce((sum, { machines }) => sum + machines, 0)
  if (repeated > lost)
    wrong.push(`${repeated} sessions more than undisturbed, and ${lost} machines were lost`)
  return { wrong, killed: killed.map(({ what }) => what), lost, repeated, log: site.log() }
}

/** Gone when the chain is. */
async function ownFolder() {
  const folder = await sharedFolder('ralph-kill-wave-')
  return { folder, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) }
}

/** Counts requests of jobs; at the planned ones their machines are lost, while the request is under way. */
function die(site: Site, plan: readonly { after: number; all: boolean }[]) {
  const killed: { what: string; machines: number }[] = []
  const left = [...plan]
  let seen = 0
  site.github.fault(
    {
      where: ({ job }) => {
        const [next] = left
        if (job === null || next === undefined) return false
        seen += 1
        if (seen < next.after) return false
        const run = site.runner.runs.find(({ id }) => id === job.runId)
        const working = run?.jobs.filter(({ status }) => status === 'in_progress') ?? []
        const one = working.find(({ id }) => id === job.jobId)
        if (run === undefined || one === undefined) return false
        left.shift()
        seen = 0
        const what = next.all ? `all of ${working.map(({ name }) => name).join(' and ')}` : one.name
        killed.push({ what, machines: next.all ? working.length : 1 })
        setImmediate(() => site.runner.kill(run.id, next.all ? undefined : one.name))
        return false
      },
    },
    'drop',
  )
  return killed
}
