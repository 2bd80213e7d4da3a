// A project of each earlier design and of each format, with its settings, from `ralph init` by `plan` and `run` to its outcome: as
// written down before.
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { chmod } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { parse } from 'yaml'
import type { Prd } from '../../src/engine/model/feature.ts'
import { expectedOf, holds, inOrder, pairsOf, storyDifferences } from '../samples/judge.ts'
import { COMMIT, fileDifferences, type Outcome, textsOf } from '../samples/marks.ts'
import { type Place, place } from './laptop.ts'
import { ROOT, type Script } from './site.ts'

/** Beside `expected.yaml`; patterns as there. */
type WholeRun = {
  why: string
  /** Rows of the table in docs/documents.md that it shows. */
  rows?: string[]
  /** `config`: keys of the ralph.config.yml that is written; left out: none is. All left out: the gate of `TESTED`. */
  init?: { config?: Record<string, unknown>; says?: string[] }
  plan: { says: string[] }
  /** Titles of the stories that a session plans from prose; left out: no session is asked. */
  proposes?: string[]
  /** The commands behind the plan; left out: a run that completes. */
  run?: { args: string[]; code: number; says?: string[] }[]
  /** What the first session of a story, by its title, is told. */
  prompts: Record<string, string[]>
  marks: Outcome['marks']
}

const SAMPLES = join(import.meta.dirname, '..', 'samples')
const TESTED = { Makefile: 'test:\n\t@true\n' }
const INIT: NonNullable<WholeRun['init']> = { config: { gates: { test: 'make test' } } }
const RUN: NonNullable<WholeRun['run']> = [{ args: ['run', 'sample'], code: 0, says: ['COMPLETE'] }]
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

/** A program `bd` on the path that answers what a sample holds, where it holds one. */
async function withBeads(at: Place, answer: string): Promise<void> {
  if (!existsSync(answer)) return
  const lines = ['#!/bin/sh', 'test "$*" = "list --all --limit 0 --json" || exit 2', `exec cat '${answer}'`]
  await at.write({ '../bin/bd': `${lines.join('\n')}\n` })
  await chmod(join(at.folder, 'bin', 'bd'), 0o755)
  at.env.PATH = `${join(at.folder, 'bin')}:${at.env.PATH}`
}

function proposal(titles: readonly string[]): Script {
  const stories = titles.map((title, at) => ({ id: `US-${at}`, title, acceptanceCriteria: [title] }))
  const plan = { project: 'Sample', description: 'Sample.', context: '', questions: [], stories }
  return { plan: [{ say: `\`\`\`json\n${JSON.stringify(plan)}\n\`\`\`` }] }
}

const wholeRuns = readdirSync(SAMPLES).flatMap((name) => {
  const file = join(SAMPLES, name, 'whole-run.yaml')
  return existsSync(file) ? [{ name, whole: parse(readFileSync(file, 'utf8')) as WholeRun }] : []
})

for (const { name, whole } of wholeRuns) {
  const { why, init = INIT, plan, proposes, run = RUN, prompts, marks } = whole
  test(`${name}, from init to its outcome: ${why}`, async () => {
    const { stories: expected = proposes?.map((title) => ({ title })) ?? [], from = [] } = expectedOf(name)
    const folders = ['project', 'settings'].map((one) => join(SAMPLES, name, one))
    const own = new Map(folders.filter(existsSync).flatMap((folder) => [...textsOf(folder)]))
    const before = existsSync(folders[1] ?? '') ? own : new Map([...Object.entries(TESTED), ...own])
    await using at = await place({ 'src/base.txt': 'base\n', ...Object.fromEntries(before) })
    await withBeads(at, join(SAMPLES, name, 'bd.json'))

    await ralph(at, ['init', '--yes', '--no-try', '--pin', PIN], 0, init.says)
    const config = existsSync(join(at.repository, 'ralph.config.yml'))
      ? parse(await at.read('ralph.config.yml'))
      : null
    const keys = Object.keys(init.config ?? {})
    const written = config === null ? undefined : Object.fromEntries(keys.map((key) => [key, config[key]]))
    assert.deepEqual(written, init.config)
    commit(at, 'init')

    if (proposes !== undefined) await at.setScript(proposal(proposes))
    const named = from.flatMap((path) => ['--from', path])
    const planned = await ralph(at, ['plan', 'sample', ...named, '--yes', '--json'], 0, plan.says)
    assert.equal((await at.called()).length, proposes === undefined ? 0 : 1, 'sessions that are paid for')
    const paths: string[] = JSON.parse(planned.out).written
    const path = paths.find((one) => one.endsWith('prd.json')) ?? ''
    const { userStories, branchName }: Prd = JSON.parse(await at.read(path))
    assert.deepEqual(storyDifferences(expected, inOrder(userStories)), [])
    commit(at, 'plan')

    const open = userStories.filter(({ passes }) => !passes)
    const turn = (id: string) => [{ files: { [`src/${id}.txt`]: 'good\n' } }]
    await at.setScript(Object.fromEntries(open.map(({ id }) => [id, turn(id)])))
    let said = ''
    for (const { args, code, says } of run) said = (await ralph(at, args, code, says)).err
    assert.doesNotMatch(said, /could not tick off|did not update/)
    const sessions = await at.called()
    const pairs = pairsOf(expected, userStories)
    for (const [title, patterns] of Object.entries(prompts)) {
      const id = pairs.get(expected.find((one) => one.title === title) ?? { title })?.id
      assertSays(sessions.find(({ story }) => story === id)?.prompt ?? `no session of ${title}`, patterns)
    }

    const branch = branchName || 'ralph/sample'
    const shown = (file: string) => at.git('show', `${branch}:${file}`)
    const result: Prd = JSON.parse(shown(path))
    assert.deepEqual(
      result.userStories.map(({ passes }) => passes),
      userStories.map(() => true),
    )
    const passed = result.userStories.filter(({ id }) => open.some((one) => one.id === id))
    const commits = passed.flatMap(({ lastResult }) => lastResult?.commit ?? [])
    const plain = (text: string) =>
      commits.reduce((left, one) => left.replaceAll(one.slice(0, 7), COMMIT.slice(0, 7)), text)
    const after = new Map([...before.keys()].map((file) => [file, plain(shown(file))]))
    const trimmed = ([file, text]: [string, string]): [string, string] => [file, text.trimEnd()]
    assert.deepEqual(fileDifferences(new Map([...before].map(trimmed)), after, marks), [])
  })
}

/** Rows whose documents are tried elsewhere: a plan's own page, and what is not read. */
const ELSEWHERE = ['prd.md', 'not read']

test('every format of docs/documents.md has a run from init to its outcome', () => {
  const table = readFileSync(join(ROOT, 'docs', 'documents.md'), 'utf8')
  const documented = [...table.matchAll(/^\| `([^`]+)` \|/gm)].map(([, row = '']) => row)
  const shown = new Set(wholeRuns.flatMap(({ whole }) => whole.rows ?? []))
  assert.deepEqual(
    documented.filter((row) => !ELSEWHERE.includes(row) && !shown.has(row)),
    [],
  )
  assert.deepEqual(
    [...shown].filter((row) => !documented.includes(row)),
    [],
  )
})
