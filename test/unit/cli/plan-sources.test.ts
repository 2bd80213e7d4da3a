// beads is asked by its own program; where it is not there, it is said what helps.
import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { answerTo, isAnswer } from '../../../src/cli/plan-sources.ts'
import { openClone } from '../../../src/git/git.ts'
import { gitEnv } from '../../../src/git/git-process.ts'
import { place } from '../git/place.ts'

test("plan --from beads reads bd's output, and reports a bd that fails or is missing", async () => {
  using repository = await place('sha1', 'true')
  const clone = await openClone(repository.top, gitEnv({ PATH: process.env.PATH ?? '' }))
  const folder = mkdtempSync(join(tmpdir(), 'ralph-bd-'))
  try {
    const ask = (env: Record<string, string>) =>
      answerTo('beads', { clone, env, directory: folder, warn: () => {} })
    await assert.rejects(ask({ PATH: folder }), /bd, the program of beads, is not on your PATH/)
    mkdirSync(join(repository.top, '.beads'))
    const issue = { id: 'bd-1', title: 'Show a map', status: 'open' }
    writeFileSync(join(repository.top, '.beads/issues.jsonl'), `${JSON.stringify(issue)}\n{"id": \n`)
    const said: string[] = []
    const snapshot = await answerTo('beads', {
      ...{ clone, env: { PATH: folder }, directory: folder },
      warn: (text) => said.push(text),
    })
    assert.deepEqual(JSON.parse(snapshot?.text ?? ''), [issue])
    assert.match(said.join('\n'), /issues\.jsonl is a snapshot of beads.*1 of 2 lines are not JSON/s)
    const program = (text: string) => {
      writeFileSync(join(folder, 'bd'), `#!/bin/sh\n${text}\n`)
      chmodSync(join(folder, 'bd'), 0o755)
    }
    program('test "$*" = "list --all --limit 0 --json" && echo "[]"')
    assert.deepEqual(await ask({ PATH: `${folder}:/usr/bin:/bin` }), {
      path: 'beads',
      text: '[]\n',
      isNamed: true,
    })
    program('echo "no database here" >&2; exit 1')
    await assert.rejects(ask({ PATH: `${folder}:/usr/bin:/bin` }), /no database here/)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('beads and issues are recognised as sources that are not files', () => {
  assert.deepEqual(['beads', 'issues', 'issues:milestone=3', 'issues.json', 'docs/issues'].map(isAnswer), [
    true,
    true,
    true,
    false,
    false,
  ])
})
