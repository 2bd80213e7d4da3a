// `ralph doctor` on a real repository: every check has its say, nothing is changed, and the exit code tells.
import assert from 'node:assert/strict'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { GATE, openPlace } from './place.ts'

const STORY = { id: 'US-001' }

type Found = { name: string; state: string; found: string; expected: string; fix: string }

const byName = (line: Record<string, unknown>): Map<string, Found> => {
  const findings = line.findings as Found[]
  return new Map(findings.map((one) => [one.name, one]))
}

test('a repository that is fine: exit 0, one line of JSON, nothing changed', async () => {
  await using place = await openPlace([STORY])
  const [refs, status] = [place.refs(), place.git('status', '--porcelain')]
  const ended = await place.ralph('doctor', 'sample', '--json', ...place.agent, ...GATE)
  assert.equal(ended.code, 0, ended.err)
  assert.equal(ended.out.trim().split('\n').length, 1)
  const found = byName(JSON.parse(ended.out))
  assert.match(found.get('gate good')?.found ?? '', /^green on main \([0-9a-f]{7}\) in [\d.]+s$/)
  assert.match(found.get('identity')?.found ?? '', /Ann <ann@example.com>/)
  assert.match(found.get('stories')?.found ?? '', /sample: 1 story, 1 to be worked on/)
  assert.deepEqual([place.refs(), place.git('status', '--porcelain')], [refs, status])
})

test('every check runs although others fail, and every fault has its mend', async () => {
  await using place = await openPlace([STORY], {
    'ralph.config.yml': 'maxAttempts: many\n',
    '.ralph/prompts/run.md': '{{storyId}} {{acceptanceCriteria}} {{gatse}}\n',
  })
  const gates = ['--gate', 'red=echo "FAIL: one"; touch written; exit 3', '--gate', 'green=true']
  const ended = await place.ralph('doctor', '--json', '--agent', 'amp', ...gates)
  assert.equal(ended.code, 1, ended.err)
  const found = byName(JSON.parse(ended.out))
  assert.equal(found.get('configuration')?.state, 'fault')
  assert.match(found.get('configuration')?.found ?? '', /maxAttempts/)
  assert.deepEqual(
    [found.get('agent')?.state, found.get('agent')?.found],
    ['fault', 'amp is not on the PATH'],
  )
  assert.match(found.get('prompts')?.found ?? '', /^\.ralph\/prompts\/run\.md:1: "\{\{gatse\}\}"$/)
  assert.match(found.get('gate red')?.found ?? '', /^exit 3 on main .*: FAIL: one$/)
  assert.equal(found.get('gate green')?.state, 'ok', 'a gate behind one that fails is run, too')
  for (const { name, state, expected, fix } of found.values())
    if (state !== 'ok') assert.ok(fix !== '' && (state === 'unknown' || expected !== ''), name)
  assert.equal(place.git('status', '--porcelain'), '', 'what a gate wrote is thrown away')
})

test('uncommitted work is a fault, and is left alone: no gate runs over it', async () => {
  await using place = await openPlace([STORY])
  await place.write({ 'src/mine.txt': 'mine\n' })
  const ended = await place.ralph('doctor', '--json', ...place.agent, ...GATE)
  assert.equal(ended.code, 1)
  const found = byName(JSON.parse(ended.out))
  assert.match(found.get('work tree')?.found ?? '', /src\/mine\.txt/)
  assert.equal(found.get('gates')?.state, 'unknown')
  assert.equal(place.git('status', '--porcelain'), '?? src/mine.txt')
})

test('a folder that is no repository: its mend, and the checks that need none', async () => {
  await using place = await openPlace([STORY])
  const bare = join(place.folder, 'empty')
  await mkdir(bare)
  const ended = await place.ralph('doctor', '-C', bare, '--json', ...place.agent, ...GATE)
  assert.equal(ended.code, 1)
  const found = byName(JSON.parse(ended.out))
  assert.match(found.get('checkout')?.fix ?? '', /git init/)
  assert.equal(found.get('node')?.state, 'ok')
  assert.equal(found.get('gates')?.found, 'not looked at: there is no checkout')
})

test('bad input is bad input: a flag, and a feature that nobody has', async () => {
  await using place = await openPlace([STORY])
  for (const wrong of [['--max-attempts', 'x'], ['smaple'], ['--base-branch', 'none']]) {
    const ended = await place.ralph('doctor', '--no-gates', '--json', ...place.agent, ...wrong)
    assert.equal(ended.code, 64, wrong.join(' '))
    const errors = JSON.parse(ended.out).errors as { fix: string }[]
    assert.ok(errors.length > 0 && errors.every(({ fix }) => fix !== ''), wrong.join(' '))
  }
})

test('no key is ever shown', async () => {
  await using place = await openPlace([STORY])
  const bin = join(place.folder, 'bin')
  await mkdir(bin)
  await writeFile(join(bin, 'amp'), '#!/bin/sh\necho "0.9.1 (of $AMP_API_KEY)"\n')
  await chmod(join(bin, 'amp'), 0o755)
  place.env.PATH = `${bin}:${place.env.PATH}`
  place.env.AMP_API_KEY = 'sgamp_canary_0123456789'
  const ended = await place.ralph('doctor', '--json', '--agent', 'amp', '--gate', 'red=echo bad; exit 1')
  const found = byName(JSON.parse(ended.out))
  assert.equal(found.get('agent')?.found, 'amp 0.9.1')
  assert.equal(found.get('key')?.found, 'AMP_API_KEY is set')
  assert.ok(!`${ended.out}${ended.err}`.includes('canary'))
})
