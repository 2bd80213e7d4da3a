// What must hold of a feature's branch and state whatever happened to the run: at every moment, and at its end.

import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { openAttempt } from '../../src/engine/model/job.ts'
import type { State } from '../../src/engine/model/state.ts'
import { outputsOf, type Site } from '../e2e/site.ts'
import { grouped } from './points.ts'

const run = promisify(execFile)

export const FOLDER = '.ralph/2026-01-31-sample'
export const STATE_REF = 'refs/ralph/2026-01-31-sample'
const BRANCH = 'refs/heads/ralph/sample'
/** What a repository has once a run is over: its branches, the state, and on GitHub the pull request. */
const KEPT_REFS =
  /^refs\/(?:heads\/(?:main|ralph\/sample)|ralph\/2026-01-31-sample|pull\/\d+\/(?:head|merge))$/

/** An agent that writes one file a story; `bad` is a condition of bash under which it is one that the gates refuse. */
export function agentScript(bad: string): string {
  return `cat >/dev/null
echo "$RALPH_MODE \${RALPH_STORY_ID:-} \${RALPH_ATTEMPT:-}" >>"$1"
if [ "$RALPH_MODE" = answer ]; then printf '%s\\n' '<ralph>ANSWER</ralph>' 'Because.'; exit 0; fi
if [ "$RALPH_MODE" = verify ]; then echo '<ralph>VERIFIED</ralph>'; exit 0; fi
word=good
if ${bad}; then word=bad; fi
mkdir -p src
echo "$word $RALPH_STORY_ID" >"src/$RALPH_STORY_ID.txt"
echo '<ralph>DONE</ralph>'
`
}
/** The gate that refuses what is bad, also what another story left. */
export const GATE = '! grep -rq bad src'

export async function git(directory: string, ...args: string[]): Promise<string> {
  return (await run('git', args, { cwd: directory, maxBuffer: 1 << 26 })).stdout.trim()
}

/** The command lines of processes whose environment names this place. On Linux only. */
export function processesWith(place: string): string[] {
  if (process.platform !== 'linux') return []
  return readdirSync('/proc').flatMap((pid) => {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) return []
    try {
      if (!readFileSync(`/proc/${pid}/environ`, 'utf8').includes(place)) return []
      return [readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')]
    } catch {
      return [] // it has just ended
    }
  })
}

/** Texts of a repository by their names (`branch:path`), null where there is nothing: one process for all. */
export async function textsOf(directory: string, names: readonly string[]): Promise<(string | null)[]> {
  const child = run('git', ['cat-file', '--batch'], {
    cwd: directory,
    maxBuffer: 1 << 26,
    encoding: 'buffer',
  })
  child.child.stdin?.end(names.map((name) => `${name}\n`).join(''))
  const { stdout } = await child
  let at = 0
  return names.map(() => {
    const end = stdout.indexOf('\n', at)
    const [, type, size] = stdout.subarray(at, end).toString().split(' ')
    at = end + 1
    if (type !== 'blob') return null
    const text = stdout.subarray(at, at + Number(size)).toString()
    at += Number(size) + 1
    return text
  })
}

export type Commit = { id: string; story: string; code: string[] }

/** The commits on the branch, oldest first, with their `Ralph-Story` and the files they touched outside of .ralph/. */
async function commitsOf(directory: string): Promise<Commit[]> {
  const format = '--format=%x00%H%x01%(trailers:key=Ralph-Story,valueonly,separator=%x2C)%x01'
  const log = await git(
    directory,
    'log',
    '--reverse',
    '--topo-order',
    '--name-only',
    format,
    `main..${BRANCH}`,
  )
  return log
    .split('\0')
    .filter(Boolean)
    .map((entry) => {
      const [id = '', story = '', paths = ''] = entry.split('\x01')
      const code = paths.split('\n').filter((path) => path !== '' && !path.startsWith('.ralph/'))
      return { id, story, code }
    })
}

export async function stateOf(directory: string): Promise<State | null> {
  const [text] = await textsOf(directory, [`${STATE_REF}:.ralph-state/state.json`])
  return text == null ? null : JSON.parse(text)
}

/** Attempts that were charged, as the timeline has them. */
export function charged(state: State): number {
  return state.timeline.filter((one) => ['passed', 'rejected'].includes(one.result)).length
}

/**
 * Everything that is wrong with branch and state, whatever the moment: no story is committed twice, or with other code
 * than its own, none has passed without its code on the branch, and the counters agree.
 */
export async function alwaysWrong(directory: string, byPeople: RegExp | null = null): Promise<string[]> {
  const wrong: string[] = []
  const check = (ok: boolean, what: string) => {
    if (!ok) wrong.push(what)
  }
  const state = await stateOf(directory)
  if (state === null) return wrong
  // Until the first publish there is no branch.
  const hasBranch = (await git(directory, 'for-each-ref', BRANCH)) !== ''
  check(hasBranch || state.published === null, 'the branch is gone')
  const commits = hasBranch ? await commitsOf(directory) : []
  const ours = commits.filter((one) => one.story !== '')
  for (const [story, same] of grouped(ours, (one) => one.story))
    check(same.length === 1, `${story} was committed ${same.length} times`)
  const atCommits = await textsOf(
    directory,
    ours.map(({ id, story }) => `${id}:src/${story}.txt`),
  )
  ours.forEach(({ story }, index) => {
    const text = atCommits[index]?.trim()
    check(text === `good ${story}`, `the commit of ${story} holds the code ${text}`)
  })
  for (const { story, code } of commits) {
    const other = code.filter((path) => path !== `src/${story}.txt` && byPeople?.test(path) !== true)
    check(other.length === 0, `the commit of ${story || 'no story'} holds ${other.join()}`)
  }
  const [prd, ...heads] = await textsOf(directory, [
    `${BRANCH}:${FOLDER}/prd.json`,
    ...state.prd.userStories.flatMap(({ id }) => [`${state.green}:src/${id}.txt`, `${BRANCH}:src/${id}.txt`]),
  ])
  const shown: State['prd'] | null = prd == null ? null : JSON.parse(prd)
  state.prd.userStories.forEach(({ id, passes }, index) => {
    const [green, head] = [heads[2 * index]?.trim(), heads[2 * index + 1]?.trim()]
    check(!passes || green === `good ${id}`, `${id} has passed, and the code is ${green}`)
    const isShown = shown?.userStories.find((one) => one.id === id)?.passes === true
    check(
      !isShown || head === `good ${id}`,
      `${id} has passed in prd.json, and the code on the branch is ${head}`,
    )
    check(head === undefined || head === `good ${id}`, `the code of ${id} on the branch is ${head}`)
  })
  const { iterations } = state.prd.run
  const whole = state.timeline.length < 200
  check(
    !whole || iterations === charged(state),
    `${iterations} iterations, and ${charged(state)} in the timeline`,
  )
  const begun = Object.values(state.records).reduce((sum, record) => sum + record.attempts, 0)
  const ended =
    state.timeline.filter((one) => one.result !== 'reset').length + (openAttempt(state) === null ? 0 : 1)
  check(!whole || begun === ended, `${begun} attempts were reserved, and ${ended} have ended or are in work`)
  return wrong
}

/** The same when the run has come to its end: the repository is sound, every story has passed, nothing is left behind. */
export async function endWrong(
  directory: string,
  { anyOrder = false }: { anyOrder?: boolean } = {},
): Promise<string[]> {
  const wrong = await alwaysWrong(directory, /^people\//)
  const check = (ok: boolean, what: string) => {
    if (!ok) wrong.push(what)
  }
  const fsck = await run('git', ['fsck', '--no-dangling', '--no-progress'], { cwd: directory }).catch(
    (error: { stdout: string; stderr: string }) => error,
  )
  const said = `${fsck.stdout}${fsck.stderr}`.replace(/^notice: .*\n?/gm, '').trim()
  check(said === '', `git fsck: ${said.replace(/[0-9a-f]{40}/g, '<oid>')}`)
  const refs = (await git(directory, 'for-each-ref', '--format=%(refname)')).split('\n')
  const others = refs.filter((ref) => !KEPT_REFS.test(ref))
  check(others.length === 0, `refs are left: ${others.join(', ')}`)
  const state = await stateOf(directory)
  if (state === null) return [...wrong, 'there is no state']
  check(state.lease === null, 'the lease is held')
  check(openAttempt(state) === null, 'an attempt is open')
  check(!state.control.continuePending, 'a dispatch is promised still')
  check(Object.keys(state.kept).length === 0, 'work is kept although every story passed')
  check(state.green === (await git(directory, 'rev-parse', BRANCH)), 'the branch is not at the state')
  const [prdText, progress] = await textsOf(
    directory,
    ['prd.json', 'progress.txt'].map((name) => `${BRANCH}:${FOLDER}/${name}`),
  )
  const prd: State['prd'] = JSON.parse(prdText ?? '')
  const { iterations } = state.prd.run
  check(prd.run.outcome === 'complete', `prd.json says ${prd.run.outcome}`)
  check(prd.run.iterations === iterations, `prd.json counts ${prd.run.iterations} iterations`)
  const commits = await commitsOf(directory)
  for (const { id, passes, blocked, lastResult } of prd.userStories) {
    const commit = commits.find((one) => one.story === id)?.id
    check(commit !== undefined, `there is no commit of ${id}`)
    check(passes && !blocked, `${id} has not passed in prd.json`)
    check(lastResult?.commit === commit, `prd.json names another commit of ${id} than has its trailer`)
  }
  const entries: readonly string[] = progress?.match(/^## Iteration \d+/gm) ?? []
  const numbers = Array.from({ length: iterations }, (_one, index) => `## Iteration ${index + 1}`)
  const found = anyOrder ? numbers.filter((one) => entries.includes(one)) : entries
  check(
    found.join() === numbers.join() && entries.length === numbers.length,
    `progress.txt has ${entries.join(', ')}`,
  )
  return wrong
}

/** What is wrong on GitHub at the end: one pull request, one summary, one check of a name on a commit, none of it open. */
export async function githubWrong(site: Site): Promise<string[]> {
  const { github } = site
  const wrong: string[] = []
  const check = (ok: boolean, what: string) => {
    if (!ok) wrong.push(what)
  }
  check(github.violations.length === 0, `violations: ${github.violations.join('; ')}`)
  const pulls = await github.pulls()
  check(pulls.length === 1, `${pulls.length} pull requests`)
  for (const pull of pulls) {
    check(!pull.draft, 'the pull request is a draft still')
    const summaries = github.comments(pull.number).filter((one) => one.body.startsWith('<!-- ralph'))
    check(summaries.length === 1, `${summaries.length} summaries on the pull request`)
    check(/(\d+) of \1\b/.test(summaries[0]?.body ?? ''), 'the summary does not say that all passed')
  }
  const checks = [...github.world.checks.values()].filter((one) => !one.ofJob)
  for (const [key, same] of grouped(checks, (one) => `${one.name} on ${one.sha}`))
    check(
      same.length === 1,
      `the check ${key.replace(/ on .*/, '')} was posted ${same.length} times on a commit`,
    )
  const running = checks.filter((one) => one.status !== 'completed')
  check(running.length === 0, `checks open at the end: ${running.map((one) => one.name).join(', ')}`)
  const head = (await github.head('ralph/sample')) ?? ''
  const onHead = github.checksOf(head).map((one) => `${one.name}: ${one.conclusion}`)
  check(onHead.includes('ralph: success'), `the head has the checks ${onHead.join(', ')}`)
  const working = site.runner.runs.filter(
    (one) => one.inputs.generation && Number(outputsOf(one).iterations) > 0,
  )
  for (const [generation, same] of grouped(working, (one) => String(one.inputs.generation)))
    check(same.length === 1, `${same.length} jobs of generation ${generation} did work`)
  return wrong
}
