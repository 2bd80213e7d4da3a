// Shell completion, asked for as the shells ask: bash and fish by their own functions, zsh at a terminal.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { commandsOn } from '../../../src/engine/commands/command-table.ts'
import { lacks } from '../../machine/needs.ts'
import { MAIN } from './place.ts'

const FAKES = join(import.meta.dirname, '..', '..', 'fakes')
const NAMES = commandsOn('cli').flatMap(({ name, also }) => (also === null ? [name] : [name, also]))
/** A folder that anybody could have pushed: bash would run what it holds, were it offered as it is. */
const HOSTILE = '.ralph/2026-02-01-$(touch owned)'

async function folderOf(t: TestContext, shell: string): Promise<{ folder: string; script: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'ralph-complete-'))
  t.after(() => rm(folder, { recursive: true }))
  for (const path of ['.ralph/2026-01-31-auth', '.ralph/2026-02-02-billing.v2', '.ralph/archive', HOSTILE])
    await mkdir(join(folder, path), { recursive: true })
  await writeFile(join(folder, 'notes.md'), '')
  const printed = ralph(folder, 'completion', shell)
  assert.equal(printed.status, 0, printed.stderr)
  await writeFile(join(folder, `script.${shell}`), printed.stdout)
  return { folder, script: join(folder, `script.${shell}`) }
}

function ralph(cwd: string, ...args: string[]) {
  return spawnSync(process.execPath, [MAIN, ...args], { cwd, encoding: 'utf8' })
}

function run(cwd: string, program: string, ...args: string[]): string[] {
  const env = { PATH: process.env.PATH ?? '', HOME: cwd }
  const { stdout, stderr, error } = spawnSync(program, args, { cwd, encoding: 'utf8', env, timeout: 30_000 })
  assert.ok(error === undefined, error?.message)
  assert.equal(stderr, '')
  assert.ok(!existsSync(join(cwd, 'owned')))
  return stdout.split('\n').filter(Boolean)
}

/** The line that a person has typed, and what is offered for its last word. */
type Offer = (line: string) => string[]

function holds(offer: Offer): void {
  assert.deepEqual(offer('ralph ').toSorted(), NAMES.toSorted())
  assert.deepEqual(offer('ralph val'), ['validate'])
  assert.deepEqual(offer('ralph run ').toSorted(), ['auth', 'billing.v2'])
  assert.deepEqual(offer('ralph resume a'), ['auth'])
  assert.deepEqual(offer('ralph why '), [])
  assert.deepEqual(offer('ralph run --once --max-cos'), ['--max-cost-usd'])
  assert.deepEqual(offer('ralph retry --max-co'), [])
  assert.deepEqual(offer('ralph run --no-final'), ['--no-final-verification'])
  assert.deepEqual(offer('ralph run --network '), ['open', 'model'].toSorted())
  assert.deepEqual(offer('ralph report --output not'), ['notes.md'])
  assert.deepEqual(offer('ralph completion ').toSorted(), ['bash', 'fish', 'zsh'])
  assert.deepEqual(offer('ralph help mon'), ['monitor'])
}

test('completion for bash', async (t) => {
  const { folder, script } = await folderOf(t, 'bash')
  const ask = `source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _ralph; IFS=$'\\n'; echo "\${COMPREPLY[*]}"`
  holds((line) => run(folder, 'bash', '-c', ask, script, ...line.split(' ')).sort())
})

test('completion for fish', { skip: lacks('fish') }, async (t) => {
  const { folder, script } = await folderOf(t, 'fish')
  const ask = 'source $argv[1]; complete -C $argv[2]'
  holds((line) =>
    run(folder, 'fish', '--no-config', '-c', ask, script, line)
      .map((one) => one.split('\t')[0] ?? '')
      .sort(),
  )
})

test('completion for zsh', { skip: lacks('zsh') }, async (t) => {
  const { folder, script } = await folderOf(t, 'zsh')
  const shown = (line: string) =>
    run(folder, 'zsh', '-f', join(FAKES, 'complete.zsh'), script, line, folder).join('\n')
  assert.match(shown('ralph val'), /ralph validate /)
  assert.match(shown('ralph resume a'), /ralph resume auth /)
  assert.match(shown('ralph run --once --max-cos'), /ralph run --once --max-cost-usd /)
  assert.match(shown('ralph help mon'), /ralph help monitor /)
  assert.match(shown('ralph report --output not'), /ralph report --output notes\.md /)
  const features = shown('ralph run ')
  assert.match(features, /auth +billing\.v2/)
  assert.doesNotMatch(features, /archive|touch/)
  assert.match(shown('ralph run --network '), /model +open/)
  const commands = shown('ralph ')
  for (const name of NAMES) assert.match(commands, new RegExp(`(?:^|\\s)${name}\\s`), name)
})

test('completion for an unknown shell is refused with the nearest one', async (t) => {
  const { folder } = await folderOf(t, 'bash')
  for (const [words, fix] of [
    [['fihs'], 'ralph completion fish'],
    [[], 'ralph completion bash'],
    [['toString'], 'ralph completion bash'],
  ] as const) {
    const { status, stderr, stdout } = ralph(folder, 'completion', ...words)
    assert.equal(status, 64)
    assert.equal(stdout, '')
    assert.ok(stderr.includes(`fix: ${fix}\n`), stderr)
  }
})
