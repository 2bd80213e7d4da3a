// Which places a story's check shows: of what its gates printed and wrote, in files that are there.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { annotationsByStory } from '../../../src/app/finding-places.ts'
import type { Annotation, GateResult } from '../../../src/engine/model/gate.ts'
import type { State } from '../../../src/engine/model/state.ts'
import type { Git } from '../../../src/git/git.ts'
import { stuck } from '../report/samples.ts'

const place = (path: string, line: number): Annotation => ({ path, line, message: 'no', level: 'notice' })

/** Answers by the first words of a command. */
function gitWith(answers: Record<string, string[]>): Git {
  const run = async (args: readonly string[]) => {
    const found = Object.entries(answers).find(([words]) => args.join(' ').startsWith(words))
    return { stdout: (found?.[1] ?? []).map((one) => `${one}\0`).join(''), stderr: '', code: 0 }
  }
  return { run } as unknown as Git
}

function stateWith(id: string, gates: Partial<GateResult>[], more: Partial<State> = {}): State {
  const state = stuck()
  const record = state.records[id]
  assert.ok(record !== undefined)
  const full = gates.map((gate) => ({ ...record.gates[0], annotations: [], ...gate }) as GateResult)
  return { ...state, green: 'green', records: { [id]: { ...record, gates: full } }, ...more }
}

const FILES = ['src/a.ts', 'src/b.ts']

test('places to look at in rejected work come from reports and red output, with the changed files first', async () => {
  const state = stateWith(
    'US-003',
    [
      {
        ok: false,
        output: 'src/a.ts:3:1: error: no\nsrc/b.ts:4:1: error: no\n',
        annotations: [place('src/a.ts', 9)],
      },
      { ok: false, advisory: true, output: 'src/a.ts:5:1: error: advice\n' },
    ],
    { kept: { 'US-003': { base: 'base', tree: 'tree', dropped: [] } } },
  )
  const git = gitWith({
    'ls-tree -r -z --name-only tree': FILES,
    'diff-tree -r -z --name-only --no-renames base tree': ['src/b.ts'],
  })
  const found = (await annotationsByStory(git, state))['US-003'] ?? []
  assert.deepEqual(
    found.map(({ path, line }) => `${path}:${line}`),
    ['src/b.ts:4', 'src/a.ts:9', 'src/a.ts:3'],
  )
})

test('places to look at in passed work come from reports, without files that later stories changed or that are gone', async () => {
  const annotations = [place('src/a.ts', 9), place('src/b.ts', 2), place('gone.ts', 1)]
  const state = stateWith('US-001', [{ ok: true, output: 'src/a.ts:3:1: error: no\n', annotations }])
  const commit = state.records['US-001']?.commit
  const git = gitWith({
    'ls-tree': FILES,
    [`diff-tree -r -z --name-only --no-renames ${commit} green`]: ['src/b.ts'],
  })
  assert.deepEqual(await annotationsByStory(git, state), { 'US-001': [place('src/a.ts', 9)] })
})
