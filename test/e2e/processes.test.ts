// How many git processes an iteration takes, counted by a git that comes first on the PATH. A run of more stories is compared with one of
// fewer, so that what is paid once does not count.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { openClone } from '../fakes/clone.ts'
import { CLI } from './laptop.ts'
import { story } from './site.ts'

const GIT = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim()

/** The names of the git commands of a whole run. */
async function commandsOf(count: number, flags: readonly string[]): Promise<string[]> {
  const ids = Array.from({ length: count }, (_, at) => `US-${String(at + 1).padStart(3, '0')}`)
  await using clone = await openClone(CLI, {
    '.ralph/2026-01-31-sample/prd.json': JSON.stringify({
      schemaVersion: 2,
      userStories: ids.map((id) => story(id, `part ${id}`)),
    }),
  })
  await clone.setScript(
    Object.fromEntries(ids.map((id) => [id, [{ files: { [`src/${id}.txt`]: 'good\n' } }]])),
  )
  const log = join(clone.folder, 'git-log')
  const bin = join(clone.folder, 'counting')
  execFileSync('mkdir', [bin])
  writeFileSync(log, '')
  writeFileSync(join(bin, 'git'), `#!/bin/sh\necho "$*" >>'${log}'\nexec '${GIT}' "$@"\n`)
  chmodSync(join(bin, 'git'), 0o755)
  const args = ['run', ...clone.agent, '--isolation', 'same-user', '--no-final-verification']
  const more = ['--gate', 'good=true', '--baseline', 'off', '--max-iterations', '0', ...flags]
  const { ended } = clone.start([...args, ...more], { env: { PATH: `${bin}:${clone.env.PATH}` } })
  const { code, err } = await ended
  assert.equal(code, 0, err)
  return readFileSync(log, 'utf8').split('\n').filter(Boolean)
}

test('an iteration takes at most 9 git processes, however many stories have landed', async (t) => {
  const [few, some, many] = await Promise.all([2, 5, 8].map((count) => commandsOf(count, [])))
  const [first, second] = [few, some, many]
    .map((all) => all?.length ?? 0)
    .flatMap((count, at, all) => {
      const before = all[at - 1]
      return before === undefined ? [] : [(count - before) / 3]
    })
  t.diagnostic(`git processes of an iteration: ${first}, then ${second}`)
  assert.ok((first ?? 99) <= 9, `${first}: ${many?.slice(-30).join('\n')}`)
  assert.equal(second, first)
})

test('an iteration takes at most 18 git processes with three stories at the same time, however many have landed', async (t) => {
  const [few, some, many] = await Promise.all(
    [3, 9, 15].map((count) => commandsOf(count, ['--max-parallel', '3'])),
  )
  const first = ((some?.length ?? 0) - (few?.length ?? 0)) / 6
  const second = ((many?.length ?? 0) - (some?.length ?? 0)) / 6
  t.diagnostic(`git processes of an iteration: ${first}, then ${second}`)
  // Which candidates are rebased on others depends on the machine, and a rebase costs two or three processes. So both halves count
  // together, and growth is what exceeds that: it was 0.7 for each story that had landed, 4 here.
  const listed = `${first}, ${second}: ${many?.slice(-60).join('\n')}`
  assert.ok((first + second) / 2 <= 18, listed)
  assert.ok(second - first <= 3, listed)
})
