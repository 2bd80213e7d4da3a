// Ralph puts a mistake into the new code: tests that only call it pass, and are named; tests that compare its results fail, as they should.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { place as openPlace } from './laptop.ts'
import { openSite, outputsOf, story, type Turn } from './site.ts'

const PRD = '.ralph/2026-01-31-sample/prd.json'
const SUM = 'export const sum = (a, b) => a + b\n'
const MINUS = 'export const minus = (a, b) => a - b\n'
const testOf = (name: string, assertion: string) => `import assert from 'node:assert/strict'
import test from 'node:test'
import * as math from '../src/math.mjs'

test('${name}', () => {
  ${assertion}
})
`
const BASE = { 'src/math.mjs': SUM, 'test/sum.test.mjs': testOf('sum', 'assert.equal(math.sum(2, 3), 5)') }
const turn = (assertion: string): Turn => ({
  files: { 'src/math.mjs': SUM + MINUS, 'test/minus.test.mjs': testOf('minus', assertion) },
})
const CALLS = turn('math.minus(5, 3)')
const COMPARES = turn('assert.equal(math.minus(5, 3), 2)')
const FOUND =
  /no test fails if Ralph puts a mistake into the new code: src\/math\.mjs:2, `…\(a, b\) => a \+ b` instead of `…\(a, b\) => a - b` \(and with 1 more\)/

/** A run of one story; each run of the gate adds a line to `runs`. */
async function runWith(script: readonly Turn[], flags: readonly string[]) {
  await using at = await openPlace(
    {
      ...BASE,
      [PRD]: JSON.stringify({ schemaVersion: 2, userStories: [story('US-001', 'minus')] }),
      'ralph.config.json': JSON.stringify({ gates: { test: 'echo x >>../runs; node --test' } }),
    },
    { 'US-001': [...script] },
  )
  const ended = await at.ralph(['run', '--no-final-verification', ...flags])
  const { out: status } = await at.ralph(['status'])
  const runs = (await readFile(join(at.folder, 'runs'), 'utf8')).trim().split('\n').length
  return { ...ended, status, runs, prompts: await at.prompts(), left: at.git('status', '--porcelain') }
}

test('a test that compares nothing: the story passes with a finding, and the branch has no mistake', async () => {
  const { code, out, status, left } = await runWith([CALLS], [])
  assert.equal(code, 0, out)
  assert.match(out, /\[test \(with a mistake\)\] also passes/)
  assert.match(status, FOUND)
  assert.equal(left, '')
})

test('a test that compares the result notices the first mistake: one more run of the gate, and no finding', async () => {
  const [compared, without] = [
    await runWith([COMPARES], []),
    await runWith([COMPARES], ['--needs-proof', 'off']),
  ]
  assert.equal(compared.code, 0, compared.out)
  assert.match(compared.out, /\[test \(with a mistake\)\] fails, as it should/)
  assert.doesNotMatch(compared.status, /^ *!/m)
  assert.equal(compared.runs, without.runs + 2, 'without the change, and with a mistake')
})

test('needs-proof: require rejects the attempt, and the next session gets the mistakes', async () => {
  const { code, out, prompts, status } = await runWith([CALLS, COMPARES], ['--needs-proof', 'require'])
  assert.equal(code, 0, out)
  assert.equal(prompts.length, 2)
  assert.match(prompts[1] ?? '', FOUND)
  assert.match(prompts[1] ?? '', /Write tests that compare the results of the new code/)
  assert.doesNotMatch(status, /^ *!/m)
})

test('at separate-job the gate job finds it, and the landing job reports it', async () => {
  await using site = await openSite({
    separate: true,
    stories: [story('US-001', 'minus')],
    files: BASE,
    script: { 'US-001': [CALLS] },
    inputs: { gates: 'test: node --test', 'final-verification': 'false' },
  })
  const run = await site.go()
  assert.equal(outputsOf(run).outcome, 'complete', site.log())
  assert.match(JSON.stringify((await site.state()).records), FOUND)
})
