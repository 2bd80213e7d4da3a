// A project of each earlier design, with its settings, from `ralph init` by `plan` and `run` to its outcome: as written down before.
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { parse } from 'yaml'
import type { Prd } from '../../src/engine/model/feature.ts'
import { expectedOf, holds, pairsOf, storyDifferences } from '../samples/judge.ts'
import { fileDifferences, type Outcome, textsOf } from '../samples/marks.ts'
import { type Place, place } from './laptop.ts'

/** Beside `expected.yaml`; patterns as there. */
type Design = {
  why: string
  /** `config`: keys of the ralph.config.yml that is written; left out: none is. */
  init: { config?: Record<string, unknown>; says?: string[] }
  plan: { says: string[] }
  /** The commands behind the plan; left out: a run that completes. */
  run?: { args: string[]; code: number; says?: string[] }[]
  /** What the first session of a story, by its title, is told. */
  prompts: Record<string, string[]>
  marks: Outcome['marks']
}

const SAMPLES = join(import.meta.dirname, '..', 'samples')
const RUN: NonNullable<Design['run']> = [{ args: ['run', 'sample'], code: 0, says: ['COMPLETE'] }]
const PIN = 'd'.repeat(40)

function assertSays(text: string, patterns: readonly string[] = []): void {
  for (const pattern of patterns) assert.ok(holds(text, pattern), `without ${pattern}:\n${text}`)
}

async function ralph(at: Place, args: readonly string[], code: number, says?: readonly string[]) {
  const ended = await at.ralph(args)
  assert.equal(ended.code, code, `${args}: ${ended.out}${ended.err}`)
  assertSays(`${ended.out}${ended.err}`, says)
  return ended
}

function commit(at: Place, message: string): void {
  at.git('add', '-A', '-f')
  at.git('commit', '-q', '--allow-empty', '-m', message)
}

for (const name of readdirSync(SAMPLES).filter((one) => existsSync(join(SAMPLES, one, 'design.yaml')))) {
  const design: Design = parse(readFileSync(join(SAMPLES, name, 'design.yaml'), 'utf8'))
  test(`${name}, from init to its outcome: ${design.why}`, async () => {
    const { stories: expected = [], from = [] } = expectedOf(name)
    const [project, settings] = ['project', 'settings'].map((one) => textsOf(join(SAMPLES, name, one)))
    const before = new Map([...(project ?? []), ...(settings ?? [])])
    await using at = await place({ 'src/base.txt': 'base\n', ...Object.fromEntries(before) })

    const { init, plan, run = RUN, prompts, marks } = design
    await ralph(at, ['init', '--yes', '--no-try', '--pin', PIN], 0, init.says)
    const config = existsSync(join(at.repository, 'ralph.config.yml'))
      ? parse(await at.read('ralph.config.yml'))
      : null
    const keys = Object.keys(init.config ?? {})
    const written = config === null ? undefined : Object.fromEntries(keys.map((key) => [key, config[key]]))
    assert.deepEqual(written, init.config)
    commit(at, 'init')

    const named = from.flatMap((path) => ['--from', path])
    const planned = await ralph(at, ['plan', 'sample', ...named, '--yes', '--json'], 0, plan.says)
    assert.deepEqual(await at.prompts().catch(() => []), [], 'no session is paid for')
    const paths: string[] = JSON.parse(planned.out).written
    const path = paths.find((one) => one.endsWith('prd.json')) ?? ''
    const { userStories, branchName }: Prd = JSON.parse(await at.read(path))
    assert.deepEqual(storyDifferences(expected, userStories), [])
    commit(at, 'plan')

    const open = userStories.filter(({ passes }) => !passes)
    const turn = (id: string) => [{ files: { [`src/${id}.txt`]: 'good\n' } }]
    await at.setScript(Object.fromEntries(open.map(({ id }) => [id, turn(id)])))
    for (const { args, code, says } of run) await ralph(at, args, code, says)
    const sessions = await at.called()
    const pairs = pairsOf(expected, userStories)
    for (const [title, patterns] of Object.entries(prompts)) {
      const id = pairs.get(expected.find((one) => one.title === title) ?? { title })?.id
      assertSays(sessions.find(({ story }) => story === id)?.prompt ?? `no session of ${title}`, patterns)
    }

    const branch = branchName || 'ralph/sample'
    const shown = (file: string) => at.git('show', `${branch}:${file}`)
    const trimmed = ([file, text]: [string, string]): [string, string] => [file, text.trimEnd()]
    const after = new Map([...before.keys()].map((file) => [file, shown(file)]))
    assert.deepEqual(fileDifferences(new Map([...before].map(trimmed)), after, marks), [])
    const result: Prd = JSON.parse(shown(path))
    assert.deepEqual(
      result.userStories.map(({ passes }) => passes),
      userStories.map(() => true),
    )
  })
}
