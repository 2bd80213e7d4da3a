// docs/how-to/other-agents.md: each recipe works as it stands there. aider is the real one; crush, goose and kiro cannot be installed
// from a package registry, so a program that knows only their documented options takes their place.

import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import test from 'node:test'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import { openBench, toolCache } from './drive.ts'
import type { Turn } from './model.ts'

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
const FAKE = join(ROOT, 'test', 'fakes', 'documented-agent.mjs')
const AIDER = '0.86.2'
const STORY = { title: 'Say hello', description: 'hello.txt holds the word hello.' }
const EDIT = 'hello.txt\n```\n<<<<<<< SEARCH\n=======\nhello\n>>>>>>> REPLACE\n```'
const WORK: Turn = { say: `I write it.\n\n${EDIT}\n\n<ralph>DONE</ralph>` }
const VERIFIED: Turn = {
  say: '<ralph>EVIDENCE:US-001#1 hello.txt:1 says hello</ralph>\n<ralph>VERIFIED</ralph>',
}
const JUDGE = { when: '<ralph>VERIFIED</ralph>', turns: [VERIFIED] }

type Recipe = { agent: string; 'agent-command': string; 'agent-args'?: string; 'agent-env': string }

/** The settings below a heading of the page. */
async function recipeOf(name: string): Promise<Recipe> {
  const page = await readFile(join(ROOT, 'docs', 'how-to', 'other-agents.md'), 'utf8')
  const [, yaml = ''] = new RegExp(`^## ${name}\n.*?^\`\`\`yaml\n(.*?)^\`\`\``, 'ms').exec(page) ?? []
  return parse(yaml)
}

/** The settings as flags of `ralph run`, and its outcome on a story. */
async function play(name: string, bin: string, env: Readonly<Record<string, string>>) {
  const recipe = await recipeOf(name)
  assert.equal(recipe.agent, 'custom')
  const bench = await openBench({
    cli: {
      ...{ name: 'custom', version: '', slow: false, limit: null, tellsReset: false, givesUp: true },
      ...{ reports: 'cost', countsAsItGoes: false },
      // The page says to ignore them.
      home: { '.gitignore': '.aider*\n' },
      args: () => (recipe['agent-args'] ?? '').split('\n').filter(Boolean),
      env: (url) => ({ ...env, OPENAI_API_BASE: `${url}/v1` }),
    },
    story: STORY,
    script: () => ({ isToolless: true, sessions: [JUDGE, { when: '', turns: [WORK] }] }),
    flags: [
      ...['--agent-command', recipe['agent-command'], '--weakened-tests', 'off'],
      ...`${recipe['agent-env']}\nOPENAI_API_BASE`
        .split('\n')
        .filter(Boolean)
        .flatMap((one) => ['--agent-env', one]),
    ],
    env: { PATH: `${bin}${delimiter}${process.env.PATH}` },
  })
  try {
    const outcome = await bench.run()
    assert.equal(outcome.exit, 0, outcome.log)
    assert.equal(outcome.said.outcome, 'complete', outcome.log)
    assert.equal(await bench.git('show', 'ralph/sample:hello.txt'), 'hello')
    assert.match(outcome.log, /^\[verify\] VERIFIED: (?!.*without citing evidence)/m)
    return { ...outcome, files: await bench.git('ls-tree', '-r', '--name-only', 'ralph/sample') }
  } finally {
    await bench[Symbol.asyncDispose]()
  }
}

/** Installs aider once for each machine; null, or why it cannot be had. */
function installAider(): { bin: string } | { why: string } {
  const folder = join(toolCache(), `aider-${AIDER}`)
  const bin = join(folder, 'bin')
  if (existsSync(join(folder, 'whole'))) return { bin }
  const options = { encoding: 'utf8', timeout: 10 * 60_000 } as const
  for (const [file, args] of [
    ['python3', ['-m', 'venv', folder]],
    [join(bin, 'pip'), ['install', '--quiet', `aider-chat==${AIDER}`]],
  ] as const) {
    const { status, stderr, error } = spawnSync(file, args, options)
    if (status !== 0) return { why: `aider cannot be installed: ${error?.message ?? stderr.slice(-500)}` }
  }
  execFileSync('touch', [join(folder, 'whole')])
  return { bin }
}

test('aider works by its recipe, and its cost is known', { timeout: 15 * 60_000 }, async (t) => {
  const installed = installAider()
  if ('why' in installed) return t.skip(installed.why)
  const { prd, files } = await play('aider', installed.bin, { OPENAI_API_KEY: 'not-a-key' })
  assert.ok((prd.run.usage?.costUsd ?? 0) > 0)
  assert.equal(prd.run.usage?.estimatedCostUsd, undefined)
  assert.deepEqual(
    files.split('\n').filter((path) => !/^(?:\.ralph\/|README\.md$|\.gitignore$)/.test(path)),
    ['hello.txt'],
  )
})

for (const [name, program, key] of [
  ['crush', 'crush', 'ANTHROPIC_API_KEY'],
  ['goose', 'goose', 'ANTHROPIC_API_KEY'],
  ['kiro', 'kiro-cli', 'KIRO_API_KEY'],
] as const)
  test(`${name} works by its recipe, as far as its documentation goes`, async () => {
    const folder = await realpath(await mkdtemp(join(tmpdir(), 'ralph-recipe-')))
    try {
      await mkdir(join(folder, 'bin'))
      const file = join(folder, 'bin', program)
      await writeFile(file, `#!/bin/bash\nexec "${process.execPath}" "${FAKE}" ${name} "$@"\n`)
      await chmod(file, 0o755)
      await play(name, join(folder, 'bin'), { [key]: 'not-a-key' })
    } finally {
      await rm(folder, { recursive: true })
    }
  })

test('the program in the place of an agent refuses an option that the documentation does not have, and a missing key', () => {
  const run = (args: readonly string[], env: Readonly<Record<string, string>>) =>
    spawnSync(process.execPath, [FAKE, ...args], { encoding: 'utf8', input: 'work', env })
  assert.match(run(['crush', 'run', '--no-such'], { ANTHROPIC_API_KEY: 'k' }).stderr, /Unknown option/)
  assert.match(run(['kiro', 'chat', '--no-interactive', 'work'], {}).stderr, /KIRO_API_KEY is not set/)
  assert.match(run(['goose', 'session'], { ANTHROPIC_API_KEY: 'k' }).stderr, /unknown command session/)
})
