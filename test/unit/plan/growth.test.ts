// Documents are hostile: none may cost a reader minutes. Four times the text never costs ten times the time.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { readDocuments } from '../../../src/plan/documents.ts'
import { PAGE_MARK, undoDisarm } from '../../../src/plan/render-prd-md.ts'
import type { DocumentFile } from '../../../src/plan/types.ts'
import { assertGrowth } from '../growth.ts'
import { every } from '../runs.ts'

type Make = (words: string) => string
const story = '## US-1: a\n\n- [ ] b\n'

/** Every part of a document that an expression is laid on; a line end in what repeats would make it another part. */
const places: Record<string, [path: string, make: Make]> = {
  'the title': ['docs/prd.md', (x) => `# a${x}\n\n${story}`],
  'a heading': ['docs/prd.md', (x) => `# a\n\n## US-1${x}\n\n- [ ] b`],
  'a paragraph': ['docs/prd.md', (x) => `${story}\n${x}`],
  'a field': ['docs/prd.md', (x) => `${story}\n**Depends on:** US-2${x}`],
  'a box': ['docs/fix_plan.md', (x) => `- [ ]${x}`],
  'an id in a box': ['docs/fix_plan.md', (x) => `- [ ] US-1:${x}`],
  'a point': ['docs/prd.md', (x) => `${story}\n- **${x}`],
  'a status as a heading': [
    'docs/stories/1.1.md',
    (x) => `# Story 1.1: a\n\n## Status:${x}\n\n## Story\n\nb`,
  ],
  'a status': ['docs/stories/1.1.md', (x) => `# Story 1.1: a\n\nStatus:${x}\n\n## Story\n\nb`],
  'a page of our own': [
    '.ralph/2026-01-31-a/prd.md',
    (x) => `# a\n\n${PAGE_MARK}\n\n## US-1:${x}\n\n- [ ] b`,
  ],
  background: ['docs/architecture.md', (x) => `# a\n\n${x}\n\n## ${x}\n\n- ${x}`],
  'the goal of a sprint': [
    'docs/sprint-status.yaml',
    (x) => `sprints:\n- status: active\n  goal: ${JSON.stringify(x)}\n  stories: [{ id: US-1, title: a }]\n`,
  ],
  'an issue': [
    'issues.json',
    (x) => JSON.stringify([{ number: 1, title: x, body: `${x}\nblocked by ${x}`, labels: [] }]),
  ],
  'a setting': ['.ralphrc', (x) => `A=${x}\nexport ${x}`],
  'a prd.json': [
    'prd.json',
    (x) => JSON.stringify({ userStories: [{ id: 'US-1', title: x, dependsOn: [x] }] }),
  ],
}

/** What repeats, and what ends it. */
const repeated = [' ', '\t', '.', '-', '*', '`', '#', '[', ', '].flatMap((unit) =>
  ['b', '\u2028b'].map((tail): [string, string] => [unit, tail]),
)

describe('documents with long repetitions are read in linear time', () => {
  for (const [at, [name, [path, make]]] of Object.entries(places).entries())
    test(name, () => {
      for (const [unit, tail] of every(3, repeated, at))
        assertQuick(
          (size) => {
            readDocuments([{ path, text: make(`${unit.repeat(size / unit.length)}${tail}`) }])
          },
          JSON.stringify([unit, tail]),
        )
    })

  test('a fence that was made inert is restored in linear time', () =>
    assertQuick((size) => undoDisarm(`${'`'.repeat(size)}\u2028`), 'backticks'))
})

/** Short ones too: what is cut to a bound costs no more beyond it. */
function assertQuick(work: (size: number) => unknown, name: string): void {
  for (const size of [500, 10_000]) {
    const start = process.cpuUsage()
    work(4 * size)
    const { user } = process.cpuUsage(start)
    // The smallest times grow by what the machine does beside.
    if (user > 100_000) assertGrowth(work, size, `${name}, ${size}`)
  }
}

test('too many stories under one title are refused before they are compared', () => {
  const boxes = (size: number) => ({ path: 'docs/fix_plan.md', text: '- [ ] a\n'.repeat(size) })
  const read = (...files: DocumentFile[]) => {
    const result = readDocuments(files)
    assert.ok(!result.ok)
    return result.mistakes.map(({ found }) => found)
  }
  assert.deepEqual(read(boxes(2_001)), ['2001 stories in total'])
  const six = Array.from({ length: 6 }, (_, at) => ({ ...boxes(2_000), path: `docs/${at}_PROGRESS.md` }))
  assert.deepEqual(read(...six), ['12000 stories in total'])
  assertGrowth((size) => read(boxes(size)), 2_500)
})

test('a prd.json with escaped titles is read in linear time', () => {
  const stories = (size: number) =>
    Array.from({ length: size }, (_, at) => ({
      id: `US-${at}`,
      title: `\u00e9 ${at}`,
      acceptanceCriteria: ['a'],
    }))
  const text = (size: number) =>
    JSON.stringify({ userStories: stories(size) }).replaceAll('\u00e9', '\\u00e9')
  assertGrowth((size) => readDocuments([{ path: 'prd.json', text: text(size) }]), 2_500)
})
