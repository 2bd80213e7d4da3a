// 64 stories on the stand-in for GitHub: a wave of 16 workers, each a process of its own, beside one worker that takes one story after
// the other. An agent of 20 s, gates of 1 s. The one worker works 8 stories, and its time is taken times 8: all stories are alike.
// Run with Node 24, after `npm run build`: node_modules/.bin/node bench/wave.mjs [scale of the times, 1] [workers, 16] [stories, 64]
// Prints figures; asserts nothing.
import { goodTurn, openSite, story } from '../test/e2e/site.ts'

const scale = Number(process.argv[2] ?? '1')
const workers = Number(process.argv[3] ?? '16')
const stories = Number(process.argv[4] ?? '64')
const FEW = 8

say(`node ${process.version}, ${stories} stories, ${workers} workers, times by ${scale}`)
const few = await measured(1, FEW)
const wave = await measured(workers, stories)
const ratio = ((few * stories) / FEW / wave).toFixed(2)
say(`${workers} workers: ${ratio} times one, whose ${FEW} stories are taken times ${stories / FEW}`)

/** Seconds from the dispatch to the outcome, all jobs of it. */
async function measured(count, size) {
  const ids = Array.from({ length: size }, (_, at) => `US-${String(at + 1).padStart(3, '0')}`)
  const turn = (at) => ({ ...goodTurn(`m${at}`, at), shell: `sleep ${20 * scale}` })
  await using site = await openSite({
    ...(count > 1 ? { parallel: true } : {}),
    stories: ids.map((id) => story(id, id)),
    script: Object.fromEntries(ids.map((id, at) => [id, [turn(at)]])),
    inputs: {
      ...(count > 1 ? { 'max-parallel': `${count}` } : {}),
      'iterations-per-job': `${size}`,
      'max-iterations': `${2 * size}`,
      'final-verification': 'false',
      baseline: 'off',
      gates: `good: 'sleep ${scale}'`,
    },
  })
  const began = performance.now()
  const { conclusion } = await site.go()
  const seconds = (performance.now() - began) / 1000
  const { length: jobs } = site.runner.runs.flatMap((run) => run.jobs)
  say(
    `${count === 1 ? 'one worker' : `${count} workers`}, ${size} stories: ${conclusion}, ${seconds.toFixed(1)} s, ${jobs} jobs`,
  )
  return seconds
}

function say(text) {
  process.stdout.write(`${text}\n`)
}
