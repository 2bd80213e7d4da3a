// A scripted agent: does what its script says for a story and an attempt. It knows nothing of Ralph but the contract.
// Script: { "US-001": [ { "files": {path: text|null}, "shell": "…", "say": "…", "exit": 0, "hang": true } ] }
// A list in the place of a turn has one for each candidate of the attempt.
import { spawnSync } from 'node:child_process'
import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

const script = JSON.parse(readFileSync(process.argv[2], 'utf8'))
const seen = process.argv[3]
let prompt = ''
process.stdin.setEncoding('utf8')
for await (const chunk of process.stdin) prompt += chunk
const { RALPH_MODE: mode, RALPH_STORY_ID: story = '', RALPH_ATTEMPT: attempt = '1' } = process.env
const key = mode === 'run' ? story : `${mode} ${mode === 'plan' || mode === 'answer' ? story : ''}`.trim()
const number = Number(attempt)
if (seen)
  appendFileSync(
    seen,
    `${JSON.stringify({ mode, story, attempt: Number(attempt), env: Object.keys(process.env).sort(), prompt })}\n`,
  )
const turns = script[key] ?? []
const counted =
  mode !== 'run' && seen
    ? readFileSync(seen, 'utf8')
        .split('\n')
        .filter((line) => line.startsWith(`{"mode":"${mode}","story":"${story}"`)).length
    : number
const found = turns[Math.min(counted, turns.length) - 1] ?? {}
const turn = Array.isArray(found) ? (found[Number(process.env.RALPH_CANDIDATE ?? '1') - 1] ?? {}) : found
for (const [path, text] of Object.entries(turn.files ?? {})) {
  if (text === null) rmSync(path, { recursive: true, force: true })
  else {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
}
if (turn.shell) spawnSync('bash', ['-c', turn.shell], { stdio: 'inherit' })
if (turn.say !== undefined) process.stdout.write(`${turn.say}\n`)
else
  process.stdout.write(
    mode === 'verify' ? 'All met.\n<ralph>VERIFIED</ralph>\n' : 'Did it.\n<ralph>DONE</ralph>\n',
  )
process.stdout.write(
  `${JSON.stringify({ usage: { inputTokens: 1000, outputTokens: 100, costUsd: 0.01 } })}\n`,
)
if (turn.hang) {
  process.stdout.write('hanging\n')
  setInterval(() => {}, 1000)
} else process.exitCode = turn.exit ?? 0
