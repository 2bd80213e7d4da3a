// `ralph run` while a vendor is at its limit: it waits, hears people, can be left, and tries again when a person says so.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { openAttempt } from '../../src/engine/model/job.ts'
import type { State } from '../../src/engine/model/state.ts'
import { openClone, type Started } from '../fakes/clone.ts'
import { CLI } from './laptop.ts'
import { ROOT, story } from './site.ts'

const RECORDED = join(ROOT, 'test', 'fixtures', 'agents', 'claude')
const FOLDER = '.ralph/2026-01-31-sample'
const RUN = ['run', '--gate', 'good=true', '--no-final-verification']
const HOUR = 3_600_000

/** Claude Code as it was recorded: at its limit for two hours while the file `limited` is there, else a good session. */
const CLAUDE = `#!/usr/bin/env bash
here=$(dirname "$0")
if [ "$1" = --version ]; then echo '2.1.197 (Claude Code)'; exit; fi
cat >/dev/null
echo begun >>"$here/seen"
if [ -e "$here/limited" ]; then cat "$here/limited"; exit 1; fi
echo good >one.txt
cat "${RECORDED}/happy-stream.stdout"
`

type Waiting = Started & { says(what: RegExp): Promise<void> }

async function place() {
  const userStories = [story('US-001', 'one')]
  const prd = { [`${FOLDER}/prd.json`]: JSON.stringify({ schemaVersion: 2, userStories }) }
  const clone = await openClone(CLI, prd)
  const { folder, git } = clone
  const bin = join(folder, 'bin')
  clone.env.PATH = `${bin}:${clone.env.PATH}`
  await mkdir(bin)
  await writeFile(join(bin, 'claude'), CLAUDE, { mode: 0o755 })

  function start(args: readonly string[]): Waiting {
    const child = clone.start(args)
    let out = ''
    child.stdout?.on('data', (text) => {
      out += text
    })
    async function says(what: RegExp): Promise<void> {
      while (!what.test(out)) {
        const over = await Promise.race([once(child.stdout ?? child, 'data').then(() => null), child.ended])
        assert.ok(over === null || what.test(out), `${out}\n${over?.err}`)
      }
    }
    return Object.assign(child, { says })
  }

  return {
    git,
    start,
    run: (...args: string[]) => start([...RUN, ...args]).ended,
    async limit() {
      const recorded = await readFile(join(RECORDED, 'limit429-oauth.stdout'), 'utf8')
      const resetsAt = Math.ceil((Date.now() + 2 * HOUR) / 1000)
      await writeFile(join(bin, 'limited'), recorded.replace(/"resetsAt":\d+/g, `"resetsAt":${resetsAt}`))
      return resetsAt * 1000
    },
    answersAgain: () => rm(join(bin, 'limited')),
    sessions: async () => (await readFile(join(bin, 'seen'), 'utf8')).trim().split('\n').length,
    state: (): State => JSON.parse(git('show', 'refs/ralph/2026-01-31-sample:.ralph-state/state.json')),
    [Symbol.asyncDispose]: () => clone[Symbol.asyncDispose](),
  }
}

test("a vendor's usage limit is waited for, Ctrl+C saves, and the next run tries at once", async () => {
  await using at = await place()
  const until = await at.limit()
  const child = at.start(RUN)
  await child.says(/waiting until/)
  assert.ok((at.state().lease?.expiresAt ?? 0) > Date.now(), 'the feature is held while it waits')
  child.kill('SIGINT')
  const left = await child.ended
  assert.equal(left.code, 130, left.err)
  assert.equal(left.out.match(/waiting until/g)?.length, 1, left.out)
  assert.match(left.out, /\] waiting until 20\d\d-\d\d-\d\d \d\d:\d\d UTC: the agent's limit\n/)
  assert.match(left.out, /\] waited \d/)
  const state = at.state()
  assert.deepEqual([state.lease, openAttempt(state), state.prd.run.iterations], [null, null, 0])
  assert.deepEqual(state.control.agentLimits, { claude: until })

  await at.answersAgain()
  const again = await at.run()
  assert.equal(again.code, 0, again.out + again.err)
  assert.equal(await at.sessions(), 2)
})

test('--no-wait ends with exit 4 and the time of the reset; each run tries once; another agent is not delayed', async () => {
  await using at = await place()
  const until = new Date(await at.limit()).toISOString()
  for (const times of [1, 2, 3, 4]) {
    const ended = await at.run('--no-wait')
    assert.equal(ended.code, 4, ended.out + ended.err)
    assert.equal(await at.sessions(), times)
    assert.ok(ended.out.includes(`PAUSED: waiting for the agent's limit until ${until}`), ended.out)
    assert.match(ended.out, /^Next: ralph run tries again at once, and waits if the limit still holds\.$/m)
  }
  const prd = JSON.parse(at.git('show', `ralph/sample:${FOLDER}/prd.json`))
  assert.equal(new Date(prd.run.control.notBefore).toISOString(), until)

  const json = await at.run('--no-wait', '--json')
  assert.equal(json.code, 4)
  assert.equal(json.out.trim().split('\n').length, 1)
  assert.equal(JSON.parse(json.out).outcome, 'paused')

  const command = 'cat >/dev/null; echo good >one.txt'
  const other = await at.run('--agent', 'custom', '--agent-command', command)
  assert.equal(other.code, 0, other.out + other.err)
})

test('a wait longer than the deadline ends a local run as it ends a job', async () => {
  await using at = await place()
  await at.limit()
  const ended = await at.run('--job-deadline', '1h')
  assert.equal(ended.code, 4, ended.out + ended.err)
  assert.match(ended.out, /PAUSED: waiting for the agent's limit/)
})

test('a command typed during a wait takes effect at once', async () => {
  await using at = await place()
  await at.limit()
  const child = at.start(RUN)
  await child.says(/waiting until/)
  assert.equal((await at.start(['pause']).ended).code, 0)
  const paused = await child.ended
  assert.equal(paused.code, 4, paused.err)
  assert.match(paused.out, /PAUSED: paused by you/)
})
