// What a candidate's session finds of the others below `.git/ralph`, and what is there afterwards.
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { restoreCandidates, withoutOtherCandidates } from '../../../src/app/candidates-out-of-reach.ts'
import type { AgentPort } from '../../../src/engine/model/ports.ts'
import { RESERVED } from '../engine/samples.ts'

type Place = Parameters<typeof restoreCandidates>[0]
type WorkArguments = Parameters<AgentPort['work']>

const FIRST = ['US-001-1-test.log', 'US-001-1.log', 'US-002-1.log', 'dist']
const OWN = ['US-002-1.log']
const CANDIDATE = { ...RESERVED, contest: { stage: 'open' as const, slot: 2, ordinal: 2 } }

function open() {
  const top = mkdtempSync(join(tmpdir(), 'ralph-candidates-'))
  const ralph = join(top, 'git', 'ralph')
  const cache = join(top, 'cache')
  const warnings: string[] = []
  const files = () => readdirSync(ralph, { recursive: true, withFileTypes: true })
  const leaves = () =>
    files()
      .filter((one) => one.isFile() || one.name === 'dist')
      .map(({ name }) => name)
      .filter((name) => name !== 'a.js')
      .sort()
  for (const folder of ['transcripts/1-x', 'logs/1-x', 'aside/gates/dist'])
    mkdirSync(join(ralph, folder), { recursive: true })
  for (const file of [
    'transcripts/1-x/US-001-1.log',
    'transcripts/1-x/US-002-1.log',
    'logs/1-x/US-001-1-test.log',
    'aside/gates/dist/a.js',
  ])
    writeFileSync(join(ralph, file), 'text')
  const clone = { gitDir: join(top, 'git') }
  const workspace = { clone, git: { clone }, snapshot: { whole: false } }
  const place = {
    env: { XDG_CACHE_HOME: cache },
    workspace,
    run: '1-x',
    warn: (text: string) => void warnings.push(text),
  } as unknown as Place
  const session = async (attempt: unknown, act: () => unknown) => {
    const agent = { work: async () => act() } as unknown as AgentPort
    await withoutOtherCandidates(agent, place).work(
      ...([{}, attempt, {}, undefined] as unknown as WorkArguments),
    )
  }
  return { cache, place, warnings, leaves, session, [Symbol.dispose]: () => rmSync(top, { recursive: true }) }
}

test("only a candidate's session is kept from logs of its story and from ignored files", async () => {
  using at = open()
  const seen: string[][] = []
  await at.session(RESERVED, () => seen.push(at.leaves()))
  await at.session(CANDIDATE, () => seen.push(at.leaves()))
  assert.deepEqual(seen, [FIRST, OWN])
  assert.deepEqual(at.leaves(), FIRST)
  assert.deepEqual(readdirSync(join(at.cache, 'ralph')), [])
})

test('the next run puts back what a killed run left outside the checkout', async () => {
  using at = open()
  let begun = () => {}
  const isBegun = new Promise<void>((resolve) => {
    begun = resolve
  })
  // The session never ends, as if its process was killed.
  void at.session(CANDIDATE, () => {
    begun()
    return new Promise(() => {})
  })
  await isBegun
  assert.deepEqual(at.leaves(), OWN)
  await restoreCandidates(at.place)
  assert.deepEqual(at.leaves(), FIRST)
})

test('a cache folder that cannot be written to is a warning, and the session begins', async () => {
  using at = open()
  writeFileSync(at.cache, 'a file')
  let begun = 0
  await at.session(CANDIDATE, () => {
    begun += 1
  })
  assert.equal(begun, 1)
  assert.match(at.warnings.join(), /Ralph could not move the logs and ignored files of candidates .*cache/)
  assert.deepEqual(at.leaves(), FIRST)
})
