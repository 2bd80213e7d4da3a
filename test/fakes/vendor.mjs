// A claude that works, or a codex that reviews, as their streams look: who it is, what it is told, and which keys it has.
//
//   vendor.mjs <claude | codex> <seen.jsonl> [the vendor's own arguments]
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'

const [who, seen, ...args] = process.argv.slice(2)
if (args.includes('--version')) {
  process.stdout.write(who === 'claude' ? '2.1.0 (a fake)\n' : 'codex-cli 0.169.0\n')
  process.exit(0)
}
const prompt = readFileSync(0, 'utf8')
const { RALPH_MODE: mode, RALPH_STEP: step = '', RALPH_ATTEMPT: attempt = '1' } = process.env
const keys = Object.keys(process.env).filter((name) => /ANTHROPIC|CLAUDE_CODE_OAUTH|OPENAI|CODEX/.test(name))
const model = args[args.findIndex((one) => one === '--model' || one === '-m') + 1]
appendFileSync(seen, `${JSON.stringify({ who, mode, step, keys: keys.sort(), model, prompt })}\n`)

let said = 'All met.\n<ralph>VERIFIED</ralph>'
if (mode === 'run' && who === 'claude') {
  mkdirSync('src', { recursive: true })
  writeFileSync('src/US-001.txt', `good US-001, draft ${attempt}\n`)
  said = 'Did it.\n<ralph>DONE</ralph>'
} else if (mode === 'run') {
  const isFirst = attempt === '1'
  said = isFirst ? 'No.\n<stuck>the draft is too short</stuck>' : 'Mended a word.\n<ralph>DONE</ralph>'
  if (!isFirst) appendFileSync('src/US-001.txt', 'reviewed\n')
}
const print = (...events) => {
  for (const event of events) process.stdout.write(`${JSON.stringify(event)}\n`)
}
if (who === 'claude')
  print({
    type: 'result',
    subtype: 'success',
    is_error: false,
    result: said,
    usage: { input_tokens: 1000, output_tokens: 100 },
    total_cost_usd: 0.02,
  })
else
  print(
    { type: 'thread.started', thread_id: 't' },
    { type: 'turn.started' },
    { type: 'item.completed', item: { id: 'i', type: 'agent_message', text: said } },
    { type: 'turn.completed', usage: { input_tokens: 500, cached_input_tokens: 0, output_tokens: 50 } },
  )
