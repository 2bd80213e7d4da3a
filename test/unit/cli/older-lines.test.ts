// Command lines of other Ralphs: done where they mean one thing, else the new line.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { olderLine } from '../../../src/cli/older-lines.ts'
import { openProject } from './init-project.ts'

const isFile = (path: string) => path === 'work.md'
const read = (line: string) => olderLine(line.split(' '), isFile)

test('an older command line with one meaning is run, with a note', () => {
  const rows: [string, string, string][] = [
    ['run auth --config fast', 'run auth --pipeline fast', '--config fast is read as --pipeline fast'],
    [
      'run --config=.ralph/configs/fast.json',
      'run --pipeline fast',
      '--config=.ralph/configs/fast.json is read as --pipeline fast',
    ],
    ['run --calls 50', 'run --calls-per-hour 50', '--calls 50 is read as --calls-per-hour 50'],
    [
      'run --max 20 -- --calls 5',
      'run --max-iterations 20 -- --calls 5',
      '--max 20 is read as --max-iterations 20',
    ],
  ]
  for (const [line, meant, note] of rows)
    assert.deepEqual(read(line), { argv: meant.split(' '), notes: [note] }, line)
})

test('any other older command line is refused with the new one', () => {
  const rows: [string, string][] = [
    ['--calls 50', 'ralph run --calls-per-hour 50'],
    ['--reset-circuit', 'ralph retry US-001 (or ralph retry all), then ralph run'],
    ['--monitor --calls 50', 'ralph run, and ralph monitor in another terminal'],
    ['run --calls many', 'ralph run --calls-per-hour 100'],
    ['run --timeout 20', 'ralph run --iteration-timeout 20m'],
    ['init requirements.md', 'ralph init, then ralph plan --from requirements.md'],
    ['add work.md', 'ralph plan --from work.md'],
    [
      'run --config ../other/x.json',
      'ralph run --pipeline x for a pipeline in .ralph/configs/NAME.json, or --config-file FILE for settings of Ralph',
    ],
  ]
  for (const [line, fix] of rows) {
    const result = read(line)
    assert.ok(result !== null && 'mistake' in result, line)
    assert.equal(result.mistake.fix, fix, line)
  }
})

test('a command line of this Ralph is unchanged', () => {
  for (const line of [
    'run auth --max-iterations 5',
    'add -- work.md',
    'add fix.md.later',
    'init --yes',
    'plan --from work.md',
    'note US-001 -- --calls 5',
    'help',
    '',
  ])
    assert.equal(read(line), null, line)
})

test('an older command line exits 64 with the new one, or runs with a note on stderr', async () => {
  await using at = await openProject()
  const init = at.ralph('init', 'requirements.md')
  assert.equal(init.code, 64)
  assert.match(init.err, /init requirements\.md.*ralph init, then ralph plan --from requirements\.md/s)
  const json = at.ralph('--reset-circuit', '--json')
  assert.equal(json.code, 64)
  assert.match(JSON.parse(json.out).errors[0].fix, /^ralph retry US-001/)
  const run = at.ralph('run', '--max', '3', '--json')
  assert.match(run.err, /--max 3 is read as --max-iterations 3/)
  assert.doesNotMatch(run.out + run.err, /unknown option/)
})
