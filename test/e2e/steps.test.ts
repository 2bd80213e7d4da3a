// The documented example of docs/steps.md with the bundle: claude works, a formatter runs, codex reviews, each with its own key.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import test from 'node:test'
import { type Place, place } from './laptop.ts'
import { ROOT, story } from './site.ts'

const CLI = join(ROOT, 'dist', 'cli', 'main.js')
const VENDOR = join(ROOT, 'test', 'fakes', 'vendor.mjs')
const PRD = '.ralph/2026-01-31-sample/prd.json'
const CONFIG = `
agent: claude
model: fast
gates: { test: "grep -q good src/US-001.txt" }
steps:
  - { name: implement, type: agent }
  - { name: format, type: command, config: { command: "tr a-z A-Z < src/US-001.txt > src/upper.txt; env | grep -cE 'ANTHROPIC|OPENAI|CODEX' > src/keys.txt || true" } }
  - name: review
    type: agent
    timeout: 10m
    config: { agent: codex, model: deep, prompt: "Review {{storyId}} as a colleague would." }
  - { name: commit, type: git-commit }
  - { name: tell, type: command, config: { command: "echo told > src/told.txt" } }
`

async function ralph(at: Place, args: readonly string[]) {
  const bin = join(at.folder, 'bin')
  const seen = join(at.folder, 'vendors.jsonl')
  await mkdir(bin, { recursive: true })
  for (const who of ['claude', 'codex']) {
    const path = join(bin, who)
    await writeFile(path, `#!/bin/sh\nexec '${process.execPath}' '${VENDOR}' ${who} '${seen}' "$@"\n`)
    await chmod(path, 0o755)
  }
  const env = {
    PATH: `${bin}:${process.env.PATH ?? ''}`,
    HOME: at.folder,
    // Beside a gateway's address, and beside a token, nobody is asked whether the key is good.
    ANTHROPIC_API_KEY: 'sk-ant-of-claude-0123456789',
    ANTHROPIC_BASE_URL: 'http://127.0.0.1:9',
    OPENAI_API_KEY: 'sk-of-codex-0123456789',
    CODEX_ACCESS_TOKEN: 'token-of-codex-0123456789',
  }
  const child = spawn(process.execPath, [CLI, ...args], { cwd: at.repository, env })
  child.stdin.end()
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { code: child.exitCode, out: `${out}${err}` }
}

test('steps: claude implements, codex refuses, then fixes, each in a fresh session with its own key, and the gates decide', async () => {
  const prd = { schemaVersion: 2, userStories: [story('US-001', 'one')] }
  await using at = await place({ [PRD]: JSON.stringify(prd), 'ralph.config.yml': CONFIG })
  const line =
    'default: implement (claude) > format (command) > review (codex, deep) > git-commit (guard, gates, commit) > tell (command)'
  assert.ok((await ralph(at, ['validate'])).out.includes(`steps: ${line}`))
  assert.ok((await ralph(at, ['run', '--dry-run'])).out.includes(`Steps: ${line}`))
  const { code, out } = await ralph(at, ['run', '--baseline', 'off'])
  assert.equal(code, 0, out)
  for (const said of [
    '[step] 1 of 3: implement (agent)',
    '[step] 2 of 3: format (command)',
    '[step] 3 of 3: review (codex)',
    '[codex] Mended a word.',
  ])
    assert.ok(out.includes(said), out)

  const lines = (await readFile(join(at.folder, 'vendors.jsonl'), 'utf8')).trim().split('\n')
  const sessions: {
    who: string
    mode: string
    step: string
    keys: string[]
    model: string
    prompt: string
  }[] = lines.map((one) => JSON.parse(one))
  assert.deepEqual(
    sessions.map(({ who, mode, step, model }) => [who, mode, step, model]),
    [
      ['claude', 'run', 'implement', 'fast'],
      ['codex', 'run', 'review', 'deep'],
      ['claude', 'run', 'implement', 'fast'],
      ['codex', 'run', 'review', 'deep'],
      ['claude', 'verify', '', 'fast'],
    ],
  )
  const [first, review, second] = sessions
  assert.ok(
    first?.keys.every((name) => /ANTHROPIC|CLAUDE/.test(name)),
    String(first?.keys),
  )
  assert.ok(
    review?.keys.every((name) => /OPENAI|CODEX/.test(name)),
    String(review?.keys),
  )
  assert.match(review?.prompt ?? '', /Review US-001 as a colleague would\.[\s\S]*- one works/)
  assert.match(second?.prompt ?? '', /step review: the draft is too short/)

  const show = (path: string) => at.git('show', `ralph/sample:${path}`)
  assert.equal(show('src/US-001.txt'), 'good US-001, draft 2\nreviewed')
  assert.equal(show('src/upper.txt'), 'GOOD US-001, DRAFT 2')
  assert.equal(show('src/keys.txt'), '0')
  assert.throws(() => show('src/told.txt'))
  const { run } = JSON.parse(show(PRD))
  assert.deepEqual([run.usage.calls, run.iterations], [5, 2])
  assert.equal(run.usage.inputTokens, 3 * 1000 + 2 * 500)
  const kept = await readdir(join(at.repository, '.git', 'ralph', 'transcripts'), { recursive: true })
  assert.ok(
    kept.some((path) => path.endsWith('US-001-1-review.log')),
    kept.join(),
  )
})
