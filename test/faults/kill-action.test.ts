// The kill matrix of the action, on the stand-in for GitHub: main is ended by SIGKILL (the post step follows), or the whole
// machine is lost (nothing follows). The next dispatch goes on, and its main is ended, too, where it then stands: two
// points a trial. Nothing is lost, nothing is there twice.
// RALPH_SOAK=1 takes every moment of every effect of the first job; RALPH_TRIALS=n so many trials for each way to die;
// RALPH_LOG=prefix writes the jobs' logs of a trial that went wrong.
import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { outputsOf, type Site } from '../e2e/site.ts'
import { type FaultySite, type How, hasMet, openPlace, type Place, siteWrong } from './faulty-site.ts'
import { charged, stateOf } from './invariants.ts'
import { failures, type Point, pointsOf, type Row, reaches, sample, table, tryAll } from './points.ts'

const SOAK = process.env.RALPH_SOAK === '1'
const TRIALS = SOAK ? Number.POSITIVE_INFINITY : Number(process.env.RALPH_TRIALS ?? 4)

/** The same chain every time: US-001, US-002 rejected; then, in the next job, US-002 and the verification. */
function open(place: Place, how: How): Promise<FaultySite> {
  return place.open({
    stories: { 'US-001': [], 'US-002': ['US-001'] },
    bad: '[ "$RALPH_STORY_ID/$RALPH_ATTEMPT" = US-002/1 ]',
    inputs: { 'iterations-per-job': '2' },
    met: (run, { runner }) => {
      if (how === 'halt') runner.kill(run.id)
    },
  })
}

async function dispatch(site: Site): Promise<string> {
  await site.runner.dispatch('ralph.yml', { feature: 'sample' }, { actor: 'alice' })
  await site.runner.settled()
  return outputsOf(site.last()).outcome ?? site.last().conclusion ?? 'nothing'
}

/** Everything that is wrong after the run has come to its end. A lost machine takes its temporary files along. */
async function look(site: FaultySite, how: How): Promise<string[]> {
  const wrong = await siteWrong(site, how)
  const state = await stateOf(site.github.bare.path)
  if (state === null) return wrong
  if (charged(state) !== 3) wrong.push(`${charged(state)} iterations were charged, not 3`)
  for (const { id, retries } of state.prd.userStories)
    if (retries !== (id === 'US-002' ? 1 : 0)) wrong.push(`${id} has ${retries} retries`)
  return wrong
}

/** A chain that dies at the point, and once more at an effect of the job that goes on; then it is left alone. */
async function trial(place: Place, how: How, point: Point, again: number, usual: number) {
  await using site = await open(place, how)
  site.plan({
    'main-1': { at: point.effect.name, when: point.when, how },
    'main-2': { at: again, when: again % 2 === 0 ? 'before' : 'after', how },
  })
  const outcomes: string[] = []
  // A person, or the schedule, starts it again; the chain goes on by itself from there.
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
  const log = await readFile(join(site.faults, 'main-2.jsonl'), 'utf8').catch(() => '')
  const second = log.split('\n').find((line) => line.startsWith(`{"n":${again},`)) ?? 'nothing'
  if (wrong.length > 0 && process.env.RALPH_LOG !== undefined)
    await writeFile(
      `${process.env.RALPH_LOG}-${how}-${point.effect.n}-${again}`,
      `${wrong.join('\n')}\n${site.log()}`,
    )
  return { killed: deaths > 0, points: deaths, wrong, repeated, note: `then ${second}` }
}

test('the action, killed before, in and after each of its effects: the next run loses and repeats nothing that landed', async (t) => {
  await using place = await openPlace()
  const site = await open(place, 'kill')
  let usual = 0
  let all: Point[] = []
  {
    await using _closed = site
    assert.equal(await dispatch(site), 'complete', site.log())
    assert.deepEqual(await look(site, 'kill'), [], site.log())
    assert.equal(site.runner.runs.length, 2)
    usual = (await site.sessionLines()).length
    all = await pointsOf(site.faults, 'main-1')
  }
  const rows: Row[] = []
  for (const how of ['kill', 'halt'] as const) {
    const began = Date.now()
    // What leaves the machine comes first.
    const points = sample(SOAK ? all : all.filter(reaches), TRIALS)
    const effects = all.at(-1)?.effect.n ?? 0
    const trials = await tryAll(points, (point, index) => {
      // Spread over the second job, in another order than the first points are in.
      const again = Math.ceil(effects * (((index + 1) * 0.618034) % 1))
      return trial(place, how, point, again, usual)
    })
    const scenario = how === 'kill' ? 'action, main killed' : 'action, machine lost'
    rows.push({ scenario, of: all.length, trials, seconds: (Date.now() - began) / 1000 })
  }
  t.diagnostic(`\n${table(rows)}`)
  assert.equal(rows.map((row) => failures(row.trials)).join(''), '')
  const points = rows.flatMap((row) => row.trials).reduce((sum, one) => sum + one.points, 0)
  assert.ok(points >= 12 || TRIALS < 4, `only ${points} points`)
})
