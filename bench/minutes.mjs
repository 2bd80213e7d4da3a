// What a team waits for: a feature of 8 stories on the stand-in for GitHub, three gates of 3, 5 and 10 s, an agent of 20 s, 5 iterations a
// job, 80 ms a request; the bundle of a commit beside this one's, in one run, so that the ratio holds on a busy machine, too.
// Run with Node 24, after `npm run build`: node_modules/.bin/node bench/minutes.mjs [scale of the times, 1] [commit before, 3fa81a20] [peers]
// `peers`: a folder where `npm install ralph-tui bun` was run. ralph-tui runs no gate: the time of its gates, one after the other, is added.
// Prints figures; asserts nothing.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { goodTurn, openSite, ROOT, story } from '../test/e2e/site.ts'
import { requestFigures } from './minutes/requests.mjs'
import { runTui } from './minutes/tui.mjs'

const scale = Number(process.argv[2] ?? '1')
const commit = process.argv[3] ?? '3fa81a20'
const peers = process.argv[4]
const STORIES = 8
const GATES = { lint: 3, types: 5, test: 10 }
const AGENT_SECONDS = 20
const REQUEST_MS = 80

const folder = mkdtempSync(join(tmpdir(), 'ralph-minutes-'))
try {
  const archive = execFileSync(
    'git',
    ['-C', ROOT, 'archive', commit, 'action.yml', 'dist', 'examples', 'package.json'],
    {
      maxBuffer: 1e9,
    },
  )
  execFileSync('tar', ['-x', '-C', folder], { input: archive })
  const before = await measured('before', folder, {})
  const now = await measured('gates-parallel: 3', ROOT, { 'gates-parallel': '3' })
  const sequential = await measured('one gate after the other', ROOT, {})
  const ratio = (one) => (one.seconds / before.seconds).toFixed(2)
  const sleeps = arithmetic(1)
  say('')
  say(`before ${commit}: ${before.seconds.toFixed(1)} s; arithmetic ${sleeps.toFixed(0)} s`)
  say(`gates-parallel: 3: ratio ${ratio(now)}; arithmetic leaves ${(arithmetic(3) / sleeps).toFixed(2)}`)
  say(`gates-parallel: 1: ratio ${ratio(sequential)}`)
  if (peers !== undefined) {
    const { seconds } = await runTui({ peers, folder, stories: STORIES, agentSeconds: scale * AGENT_SECONDS })
    const gated = seconds + scale * STORIES * Object.values(GATES).reduce((sum, one) => sum + one, 0)
    const words = 'with its gates counted in; no baseline, no judge, no request'
    say(
      `ralph-tui: ${seconds.toFixed(1)} s, ${gated.toFixed(1)} s ${words}; ratio ${ratio({ seconds: gated })}`,
    )
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** Seconds that sessions and gates take: a baseline, the stories, the judge; a second look at the last tree only where nothing is taken. */
function arithmetic(parallel) {
  const all = Object.values(GATES)
  const gates = parallel === 1 ? all.reduce((sum, one) => sum + one, 0) : Math.max(...all)
  const looks = STORIES + 1 + (parallel === 1 ? 1 : 0)
  return scale * (looks * gates + (STORIES + 1) * AGENT_SECONDS)
}

async function measured(name, path, inputs) {
  const [log, sessions] = [join(folder, 'gates.log'), join(folder, 'sessions.log')]
  for (const file of [log, sessions]) writeFileSync(file, '')
  const session = `date +%s%3N >>${sessions}; sleep ${AGENT_SECONDS * scale}`
  const files =
    'find . -path ./.git -prune -o -type f -print0 | sort -z | xargs -0 sha1sum | sha1sum | cut -c1-12'
  const gates = Object.entries(GATES).map(
    ([gate, seconds]) => `${gate}: 'echo "${gate} $(${files})" >>${log}; sleep ${seconds * scale}'`,
  )
  const turns = Array.from({ length: STORIES }, (_, at) => [
    `US-00${at + 1}`,
    [{ ...goodTurn(`m${at}`, at), shell: session }],
  ])
  const script = { ...Object.fromEntries(turns), verify: [{ shell: session }] }
  await using site = await openSite({
    stories: turns.map(([id]) => story(id, id)),
    script,
    inputs: { 'iterations-per-job': '5', ...inputs, gates: gates.join('\n') },
    runner: { action: { match: /^ralph\/action@/, path } },
  })
  const never = (request) => {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, REQUEST_MS)
    return request === null
  }
  site.github.fault({ where: never }, 'drop')
  const began = performance.now()
  const { conclusion } = await site.go()
  const seconds = (performance.now() - began) / 1000
  const ran = readFileSync(log, 'utf8').split('\n').filter(Boolean)
  const jobs = site.runner.runs.length
  const twice = ran.length - new Set(ran).size
  say(
    `${name}: ${conclusion}, ${seconds.toFixed(1)} s, ${jobs} jobs, ${ran.length} gates, ${twice} of them a second time on a tree`,
  )
  const starts = readFileSync(sessions, 'utf8').split('\n').filter(Boolean).map(Number)
  for (const line of requestFigures(site, starts)) say(`  ${line}`)
  return { seconds }
}

function say(text) {
  process.stdout.write(`${text}\n`)
}
