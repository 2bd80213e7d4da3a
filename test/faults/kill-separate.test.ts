// The kill matrix of the four jobs of separate-job, on the stand-in for GitHub: the main process of one of them is ended by SIGKILL, or its
// machine is lost. People start the run again until it is complete. Nothing is lost, nothing is there twice, nothing is left.
// RALPH_TRIALS=n takes so many trials for each job and way to die.
import assert from 'node:assert/strict'
import test from 'node:test'
import { outputsOf, type Site } from '../e2e/site.ts'
import { type FaultySite, type How, hasMet, openPlace, type Place, siteWrong } from './faulty-site.ts'
import { stateOf } from './invariants.ts'
import { failures, type Point, pointsOf, type Row, reaches, sample, table, tryAll } from './points.ts'

const TRIALS = process.env.RALPH_SOAK === '1' ? 12 : Number(process.env.RALPH_TRIALS ?? 1)
/** The main processes of the first run, in the order of its jobs. */
const JOBS = { claim: 'main-1', work: 'main-2', gate: 'main-3', land: 'main-4' }

function open(place: Place, how: How): Promise<FaultySite> {
  return place.open({
    stories: { 'US-001': [], 'US-002': ['US-001'] },
    bad: '[ "$RALPH_STORY_ID/$RALPH_ATTEMPT" = US-002/1 ]',
    inputs: { 'final-verification': 'false' },
    separate: true,
    met: (run, { runner }) => {
      if (how === 'halt') runner.kill(run.id)
    },
  })
}

async function dispatch(site: Site): Promise<string> {
  await site.go()
  return (
    (await stateOf(site.github.bare.path))?.prd.run.outcome ?? outputsOf(site.last()).outcome ?? 'nothing'
  )
}

async function look(site: FaultySite, how: How): Promise<string[]> {
  const wrong = await siteWrong(site, how)
  const state = await stateOf(site.github.bare.path)
  for (const { id, retries, blocked } of state?.prd.userStories ?? []) {
    if (retries !== (id === 'US-002' ? 1 : 0)) wrong.push(`${id} has ${retries} retries`)
    if (blocked) wrong.push(`${id} is blocked`)
  }
  return wrong
}

/** A run whose job dies at the point. Without a job that continues, a person starts it again. */
async function trial(place: Place, how: How, point: Point, usual: number) {
  await using site = await open(place, how)
  site.plan({ [point.process]: { at: point.effect.name, when: point.when, how } })
  const outcomes: string[] = []
  while (outcomes.length < 5 && outcomes.at(-1) !== 'complete') outcomes.push(await dispatch(site))
  const deaths = site.runner.runs.filter(hasMet).length
  const sessions = await site.sessionLines()
  const repeated = sessions.length - usual
  const wrong = await look(site, how).catch((error: Error) => [
    `cannot be looked at: ${error.message.split('\n')[0]}`,
  ])
  if (deaths === 0) wrong.push('not ended there')
  if (repeated > deaths) wrong.push(`${repeated} sessions more than undisturbed: ${sessions.join(', ')}`)
  if (outcomes.at(-1) !== 'complete') wrong.push(`the dispatches end with ${outcomes.join(', ')}`)
  return { killed: deaths > 0, points: deaths, wrong, repeated, note: point.process }
}

test('each of the four jobs, killed in its effects: the run loses and repeats nothing that landed', async (t) => {
  await using place = await openPlace()
  const site = await open(place, 'kill')
  let usual = 0
  const points = new Map<string, Point[]>()
  {
    await using _closed = site
    assert.equal(await dispatch(site), 'complete', site.log())
    assert.deepEqual(await look(site, 'kill'), [], site.log())
    usual = (await site.sessionLines()).length
    for (const [job, process] of Object.entries(JOBS)) points.set(job, await pointsOf(site.faults, process))
  }
  const rows: Row[] = []
  for (const how of ['kill', 'halt'] as const)
    for (const [job, all] of points) {
      const began = Date.now()
      const some = sample(all.filter(reaches), TRIALS)
      const trials = await tryAll(some, (point) => trial(place, how, point, usual))
      const scenario = `${job}, ${how === 'kill' ? 'main killed' : 'machine lost'}`
      rows.push({ scenario, of: all.length, trials, seconds: (Date.now() - began) / 1000 })
    }
  t.diagnostic(`\n${table(rows)}`)
  assert.equal(rows.map((row) => failures(row.trials)).join(''), '')
})
