// The model itself: a program of its own, four wire formats, turns by tool results, refusals.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { callOf, type Script, startModel, tokensOf } from './model.ts'

const SCRIPT: Script = {
  cwd: '/repo',
  sessions: [
    { when: 'JUDGE', turns: [{ say: 'fine' }] },
    { when: '', turns: [{ say: 'first', wishes: [{ shell: 'ls' }] }, { say: 'last' }] },
  ],
}

async function post(url: string, path: string, body: unknown): Promise<{ status: number; text: string }> {
  const response = await fetch(`${url}${path}`, { method: 'POST', body: JSON.stringify(body) })
  return { status: response.status, text: await response.text() }
}

/** The objects behind `data:`. */
function events(text: string): Record<string, unknown>[] {
  return [...text.matchAll(/^data: (\{.*\})$/gm)].map(([, json]) => JSON.parse(json ?? ''))
}

const BASH = { name: 'Bash', input_schema: { type: 'object', properties: { command: {} } } }
const FUNCTION = { type: 'function', name: 'exec_command', parameters: { properties: { cmd: {} } } }

test('the stand-in model starts as a program, prints its address, and records every request', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'model-'))
  const file = join(folder, 'script.json')
  writeFileSync(file, JSON.stringify(SCRIPT))
  const child = spawn(process.execPath, [join(import.meta.dirname, 'model.ts'), file], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
    const url = String((await lines.next()).value)
    assert.match(url, /^http:\/\/127\.0\.0\.1:\d+$/)
    const answer = await post(url, '/v1/messages', { tools: [BASH], messages: [] })
    assert.equal(JSON.parse(answer.text).content[0].text, 'first')
    assert.deepEqual(JSON.parse(String((await lines.next()).value)), {
      path: '/v1/messages',
      key: '',
      bytes: JSON.stringify({ tools: [BASH], messages: [] }).length,
      turn: 0,
      status: 200,
    })
  } finally {
    child.kill()
    await once(child, 'close')
    rmSync(folder, { recursive: true })
  }
})

test('the stand-in model answers each wire format with turns by tool results, calls of offered tools, and token counts', async () => {
  await using model = await startModel(SCRIPT)
  const tokens = tokensOf(0)

  const claude = await post(model.url, '/v1/messages?beta=true', {
    stream: true,
    tools: [BASH],
    messages: [],
  })
  const [start, ...rest] = events(claude.text)
  assert.equal(start?.type, 'message_start')
  assert.equal(rest.at(-1)?.type, 'message_stop')
  assert.ok(claude.text.includes(`"input_tokens":${tokens.input}`))
  assert.ok(claude.text.includes('{\\"command\\":\\"ls\\"'))

  const codex = await post(model.url, '/v1/responses', { stream: true, tools: [FUNCTION], input: [] })
  const completed = events(codex.text).at(-1)
  assert.equal(completed?.type, 'response.completed')
  assert.ok(codex.text.includes(`"input_tokens":${tokens.input + tokens.cached}`))
  assert.ok(codex.text.includes('"name":"exec_command"'))
  const input = [{ type: 'function_call_output', call_id: 'x', output: '' }]
  const after = await post(model.url, '/v1/responses', { tools: [FUNCTION], input })
  assert.ok(after.text.includes('"text":"last"') && !after.text.includes('function_call'))

  const tools = [{ type: 'function', function: { name: 'bash', parameters: {} } }]
  const opencode = await post(model.url, '/v1/chat/completions', { stream: true, tools, messages: [] })
  assert.match(opencode.text, /data: \[DONE\]\n\n$/)
  assert.deepEqual(events(opencode.text).at(-1)?.choices, [])
  const answered = await post(model.url, '/v1/chat/completions', { tools, messages: [{ role: 'tool' }] })
  assert.equal(JSON.parse(answered.text).choices[0].message.content, 'last')

  const declared = [{ functionDeclarations: [{ name: 'run_shell_command' }] }]
  const gemini = await post(model.url, '/v1beta/models/g:streamGenerateContent?alt=sse', { tools: declared })
  assert.ok(gemini.text.includes('"functionCall":{"name":"run_shell_command","args":{"command":"ls"}}'))
  assert.deepEqual(
    model.requests.map(({ turn }) => turn),
    [0, 0, 1, 0, 1, 0],
  )
})

test('the stand-in model plays the first session whose text is in the request; a request without tools is a side request', async () => {
  await using model = await startModel(SCRIPT)
  const judged = await post(model.url, '/v1/messages', { tools: [BASH], system: 'you JUDGE', messages: [] })
  assert.equal(JSON.parse(judged.text).content[0].text, 'fine')
  const title = await post(model.url, '/v1/messages', { messages: [] })
  assert.equal(JSON.parse(title.text).content[0].text, 'A title')
  assert.equal((await model.when((seen) => seen.turn === null)).status, 200)
})

test('the stand-in model refuses as often as scripted, with headers, or leaves the request open', async () => {
  const failure = { status: 429, times: 1, headers: { 'retry-after': '7' } }
  await using model = await startModel({ ...SCRIPT, failure })
  const ask = () =>
    fetch(`${model.url}/v1/messages`, { method: 'POST', body: JSON.stringify({ tools: [BASH] }) })
  const refused = await ask()
  assert.equal(refused.status, 429)
  assert.equal(refused.headers.get('retry-after'), '7')
  assert.match(await refused.text(), /"type":"rate_limit_error"/)
  assert.equal((await ask()).status, 200)

  await using silent = await startModel({ ...SCRIPT, failure: { hang: true } })
  const stop = new AbortController()
  const body = JSON.stringify({ tools: [BASH] })
  const hanging = fetch(`${silent.url}/v1/messages`, { method: 'POST', body, signal: stop.signal })
  assert.equal((await silent.when((seen) => seen.turn === 0)).status, 0)
  stop.abort()
  await assert.rejects(hanging, { name: 'AbortError' })
})

test("the stand-in model turns a scripted action into the agent's own tool call, or into text when it has none", () => {
  const tool = (name: string, freeform = false, properties: string[] = []) => [{ name, freeform, properties }]
  const write = { write: 'a/b.txt', content: "it's\n" }
  assert.deepEqual(callOf(write, tool('Write'), '/repo'), {
    kind: 'call',
    name: 'Write',
    input: { file_path: '/repo/a/b.txt', content: "it's\n" },
  })
  const patch = "*** Begin Patch\n*** Add File: a/b.txt\n+it's\n*** End Patch"
  assert.deepEqual(callOf(write, tool('apply_patch', true), '/repo'), {
    kind: 'freeform',
    name: 'apply_patch',
    input: patch,
  })
  assert.deepEqual(callOf(write, tool('apply_patch', false, ['patchText']), '/repo'), {
    kind: 'call',
    name: 'apply_patch',
    input: { patchText: patch },
  })
  const shell = callOf(write, tool('exec_command'), '/repo')
  assert.ok(
    shell.kind === 'call' && String(shell.input.cmd).includes(`printf %s 'it'\\''s\n' > '/repo/a/b.txt'`),
  )
  const script = callOf({ shell: 'ls' }, tool('exec', true), '/repo')
  assert.ok(script.kind === 'freeform' && script.input.includes('tools.exec_command({"cmd":"ls"})'))
  assert.match(JSON.stringify(callOf({ shell: 'ls' }, tool('Other'), '/repo')), /There is no tool/)
})
