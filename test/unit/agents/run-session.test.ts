// Sessions with real processes: fake agents on a PATH of their own.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, test } from 'node:test'
import { checkAgent } from '../../../src/agents/agent-ready.ts'
import { transcriptHead } from '../../../src/agents/readable.ts'
import { findAgent } from '../../../src/agents/registry.ts'
import { type AgentRequest, runAgent } from '../../../src/agents/run-session.ts'
import type { AgentEvent } from '../../../src/engine/model/agent-event.ts'
import { createRedactor } from '../../../src/isolation/redact.ts'

let folder = ''
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'agents-'))
})
after(() => rmSync(folder, { recursive: true }))

function vendor(name: string) {
  const found = findAgent(name)
  assert.ok(found)
  return found
}

function program(name: string, script: string): void {
  writeFileSync(join(folder, name), `#!/bin/bash\n${script}\n`)
  chmodSync(join(folder, name), 0o755)
}

function request(more: Partial<AgentRequest> = {}): AgentRequest {
  return {
    vendor: vendor('custom'),
    extraArgs: [],
    prompt: 'the prompt',
    cwd: folder,
    env: { PATH: `${folder}:${process.env.PATH}`, SHLVL: '1' },
    timeoutMs: 10_000,
    captureBytes: 10_000,
    redactor: createRedactor([]),
    ...more,
  }
}

test('a custom agent gets its prompt on stdin and its variables, exits 0, and reports usage in its last line', async () => {
  const events: AgentEvent[] = []
  const usage = '{"usage":{"inputTokens":5,"outputTokens":2,"costUsd":0.25}}'
  const result = await runAgent(
    request({
      commandLine: `cat; echo; echo "mode $RALPH_MODE $1"; echo noise >&2; echo '${usage}'; echo`,
      env: { ...request().env, RALPH_MODE: 'run' },
      extraArgs: ['extra'],
      onEvent: (event) => events.push(event),
      transcriptPath: join(folder, 'deep/er/transcript.log'),
    }),
  )
  assert.equal(result.status, 'finished')
  assert.equal(result.finalText, 'the prompt\nmode run extra')
  assert.equal(result.exitCode, 0)
  assert.equal(result.usage.inputTokens, 5)
  assert.equal(result.usage.costUsd, 0.25)
  assert.equal(result.usage.calls, 1)
  assert.ok(result.usage.agentSeconds > 0 && Math.abs(result.usage.agentSeconds * 1000 - result.ms) < 1)
  assert.ok(result.output.includes('noise'))
  assert.deepEqual(
    events,
    ['the prompt', 'mode run extra'].map((text) => ({ kind: 'text', text })),
  )
  const transcript = readFileSync(join(folder, 'deep/er/transcript.log'), 'utf8')
  for (const line of ['the prompt', 'noise', usage]) assert.ok(transcript.includes(`${line}\n`), line)
})

test('reported and stored session text has no secrets, and paths relative to the repository', async () => {
  const events: AgentEvent[] = []
  const secret = 'hunter2-hunter2'
  const used = { name: 'Write', input: { file_path: `${folder}/src/a.ts` } }
  const content = [
    { type: 'text', text: `the key is ${secret}` },
    { type: 'tool_use', ...used },
    { type: 'tool_use', name: 'Bash', input: { command: `curl -H ${secret} ${folder}/x` } },
  ]
  program('claude', `cat >/dev/null; cat '${folder}/told.json'; exit 1`)
  writeFileSync(join(folder, 'told.json'), `${JSON.stringify({ type: 'assistant', message: { content } })}\n`)
  const transcriptPath = join(folder, 'secret.log')
  await runAgent(
    request({
      vendor: vendor('claude'),
      redactor: createRedactor([secret]),
      onEvent: (event) => events.push(event),
      transcriptPath,
    }),
  )
  assert.deepEqual(
    events.filter((event) => event.kind !== 'usage'),
    [
      { kind: 'text', text: 'the key is ***' },
      { kind: 'tool', name: 'Write', target: 'src/a.ts' },
      { kind: 'tool', name: 'Bash', target: 'curl -H *** x' },
    ],
  )
  assert.ok(!readFileSync(transcriptPath, 'utf8').includes(secret))
})

test('a key that the agent prints over several lines, or cut, is not reported', async () => {
  const secret = 'a-secret-value-that-is-longer-than-others'
  const body = Array.from({ length: 4 }, (_, at) => `${at}`.repeat(64))
  const key = ['-----BEGIN RSA PRIVATE KEY-----', ...body, '-----END RSA PRIVATE KEY-----']
  writeFileSync(join(folder, 'key.txt'), `${key.join('\n')}\nthe end\n`)
  const events: AgentEvent[] = []
  const transcriptPath = join(folder, 'key.log')
  const long = 'x'.repeat(300 - 'the agent command ended with exit code 3: error: '.length - 20)
  const result = await runAgent(
    request({
      commandLine: `head -n 3 key.txt; echo meanwhile >&2; tail -n +4 key.txt; echo "error: ${long} ${secret}" >&2; exit 3`,
      redactor: createRedactor([secret]),
      onEvent: (event) => events.push(event),
      transcriptPath,
    }),
  )
  const told = JSON.stringify(events)
  const transcript = readFileSync(transcriptPath, 'utf8')
  for (const line of body) {
    assert.ok(!told.includes(line))
    assert.ok(!transcript.includes(line))
  }
  assert.ok(
    told.includes('the end') && transcript.includes('meanwhile\n') && transcript.includes('the end\n'),
  )
  assert.ok(!transcript.includes(secret))
  assert.match(result.message, /x \*\*\*/)
  assert.ok(!result.message.includes('a-secret'))
})

test("copilot's usage is read from its own file", async () => {
  const say = `echo '{"type":"result","exitCode":0}'`
  const usage = (tokens: string) => `{"modelMetrics":{"a":{"usage":${tokens}},"b":{"usage":${tokens}}}}`
  const tmp = join(folder, 'tmp')
  mkdirSync(tmp)
  const session = async (script: string) => {
    program('copilot', `cat >/dev/null; file="\${@: -1}"; ${script}; echo "$file" >file.txt; ${say}`)
    const own = request({ vendor: vendor('copilot') })
    const result = await runAgent({ ...own, env: { ...own.env, TMPDIR: tmp } })
    assert.equal(result.status, 'finished')
    assert.equal(
      dirname(readFileSync(join(folder, 'file.txt'), 'utf8').trim()),
      tmp,
      'it goes with the session',
    )
    const { inputTokens, outputTokens, cachedTokens, calls } = result.usage
    return { inputTokens, outputTokens, cachedTokens, calls }
  }
  const written = usage('{"inputTokens":10,"outputTokens":3,"cacheReadTokens":4}')
  assert.deepEqual(await session(`echo '${written}' >"$file"`), {
    inputTokens: 20,
    outputTokens: 6,
    cachedTokens: 8,
    calls: 1,
  })
  const nothing = { inputTokens: 0, outputTokens: 0, cachedTokens: 0, calls: 1 }
  const bad = [
    'true',
    'echo no >"$file"',
    'mkfifo "$file"',
    'ln -s /dev/zero "$file"',
    `echo '${usage('-1')}' >"$file"`,
    `echo '${usage('{"inputTokens":-1,"outputTokens":"3"}')}' >"$file"`,
  ]
  for (const script of bad) assert.deepEqual(await session(script), nothing, script)
})

test('a custom agent with another exit code has failed, with its stderr as the message', async () => {
  const result = await runAgent(request({ commandLine: 'echo so far; echo "Error: no luck" >&2; exit 3' }))
  assert.equal(result.status, 'failed')
  assert.equal(result.message, 'the agent command ended with exit code 3: Error: no luck')
  assert.equal(result.finalText, 'so far')
  assert.equal(result.exitCode, 3)
})

test("a custom agent's invalid usage line stays text", async () => {
  for (const line of [
    '{"usage":{"inputTokens":-1}}',
    '{"usage":{"costUsd":"1"}}',
    '{"usage":{"costUsd":1e999}}',
    '{"usage":{}}',
    '{"usage":5}',
    'usage',
  ]) {
    const result = await runAgent(request({ commandLine: `echo '${line}'` }))
    assert.equal(result.finalText, line)
    assert.equal(result.usage.costUsd, null)
  }
})

test('a custom agent that only prints text about limits has not reached one', async () => {
  const result = await runAgent(
    request({ commandLine: 'echo "Claude AI usage limit reached|1795239133"; echo 429 >&2' }),
  )
  assert.equal(result.status, 'finished')
  assert.equal(result.resetsAt, null)
})

test('claude gets its arguments and quiet variables, and the key is hidden in its message', async () => {
  program(
    'claude',
    `cat >prompt.txt; env >env.txt; printf '%s\\n' "$@" >args.txt
     echo '{"type":"result","subtype":"success","is_error":true,"api_error_status":401,"result":"bad key secret-value-123"}'; exit 1`,
  )
  const env = { ...request().env, ANTHROPIC_API_KEY: 'secret-value-123' }
  const redactor = createRedactor(['secret-value-123'])
  const result = await runAgent(
    request({ vendor: vendor('claude'), env, model: 'opus', extraArgs: ['--x'], redactor }),
  )
  assert.equal(result.status, 'auth')
  assert.match(result.message, /bad key \*\*\*$/)
  assert.equal(readFileSync(join(folder, 'prompt.txt'), 'utf8'), 'the prompt')
  assert.match(readFileSync(join(folder, 'args.txt'), 'utf8'), /--model\nopus\n--x\n$/)
  const seen = readFileSync(join(folder, 'env.txt'), 'utf8')
  assert.match(seen, /^DISABLE_TELEMETRY=1$/m)
  assert.equal(/^IS_SANDBOX=1$/m.test(seen), process.getuid?.() === 0)
})

test('a wrapper command goes before the agent, with arguments of its own', async () => {
  program('wrap', 'echo "wrapped $1 $2"; shift 2; exec "$@"')
  const result = await runAgent(
    request({ wrapper: 'wrap "a b" c\n', commandLine: 'echo "agent $1"; cat', extraArgs: ['x y'] }),
  )
  assert.equal(result.finalText, 'wrapped a b c\nagent x y\nthe prompt')
})

test('a prompt of 3 MB arrives whole, and an agent that does not read it is not an error', async () => {
  const prompt = 'p'.repeat(3_000_000)
  assert.equal((await runAgent(request({ prompt, commandLine: 'wc -c' }))).finalText.trim(), '3000000')
  assert.equal((await runAgent(request({ prompt, commandLine: 'exec <&-; echo ok' }))).finalText, 'ok')
})

test('a session cancelled before its start has used nothing', async () => {
  const result = await runAgent(request({ commandLine: 'echo x', signal: AbortSignal.abort() }))
  assert.equal(result.status, 'aborted')
  assert.equal(result.usage.calls, 0)
})

test('sessions end by time-outs and cancellation with their own status', async () => {
  const started = (stop: AbortController) => (event: AgentEvent) => event.kind === 'text' && stop.abort()
  const stop = new AbortController()
  const commandLine = 'echo started; sleep 60'
  const aborted = await runAgent(request({ commandLine, signal: stop.signal, onEvent: started(stop) }))
  assert.equal(aborted.status, 'aborted')
  assert.equal(aborted.exitCode, null)
  assert.equal((await runAgent(request({ commandLine, idleTimeoutMs: 100 }))).status, 'idle')
  assert.equal((await runAgent(request({ commandLine, timeoutMs: 100 }))).status, 'timeout')
})

test('a missing program is an error with how to install it, and no usage', async () => {
  const result = await runAgent(request({ vendor: vendor('codex') }))
  assert.equal(result.status, 'not-started')
  assert.equal(result.message, 'codex is not on your PATH. Install it: npm install -g @openai/codex')
  assert.equal(result.usage.calls, 0)
  assert.equal(result.usage.agentSeconds, 0)
  // A folder that only another user may look into: what is missing is refused, not absent.
  const closed = join(folder, 'closed')
  mkdirSync(closed, { mode: 0 })
  const { env } = request()
  const behind = { vendor: vendor('codex'), env: { ...env, PATH: `${closed}:${env.PATH}` } }
  assert.equal((await runAgent(request(behind))).message, result.message)
})

test('a transcript that cannot be written is reported, and the session goes on', async () => {
  const events: AgentEvent[] = []
  const transcriptPath = '/dev/null/transcript'
  const result = await runAgent(
    request({ commandLine: 'echo hi', transcriptPath, onEvent: (event) => events.push(event) }),
  )
  assert.equal(result.status, 'finished')
  assert.equal(events.filter((event) => event.kind === 'error').length, 1)
})

test('availability of an agent: its version, missing, or broken', async () => {
  program('gemini', 'echo "gemini 0.61.0 (node)"')
  program('amp', 'echo "Error: native binary not installed" >&2; exit 1')
  const { env } = request()
  assert.deepEqual(await checkAgent(vendor('gemini'), env), { ok: true, version: '0.61.0' })
  const missing = await checkAgent(vendor('codex'), env)
  assert.deepEqual(missing, {
    ok: false,
    isSlow: false,
    reason: 'codex is not on your PATH',
    fix: `set agent-version, so that Ralph installs it, or install it yourself: ${vendor('codex').install}`,
  })
  const broken = await checkAgent(vendor('amp'), env)
  assert.ok(!broken.ok && /exit code 1: Error: native binary not installed/.test(broken.reason))
  assert.equal((await checkAgent(vendor('gemini'), { PATH: '' })).ok, false)
  // A file that is not executable, or a folder of that name, is no program.
  writeFileSync(join(folder, 'opencode'), '')
  assert.equal((await checkAgent(vendor('opencode'), { PATH: folder })).ok, false)
})

test('a flood of very short lines takes no more memory than the part of them that is kept', () => {
  const [file, flood] = [join(folder, 'flood.log'), join(import.meta.dirname, '../../fakes/flood.mjs')]
  // New objects may take little room, so that what grows is what is held on to.
  const grown = execFileSync(process.execPath, ['--max-semi-space-size=8', flood, file], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH },
  })
  assert.equal(statSync(file).size, 6_000_000 + transcriptHead('custom').length + 1)
  assert.ok(Number(grown) < 90, `${grown} MB`)
})

test('an agent that is slow to print its version is not reported as missing', async () => {
  program('copilot', 'sleep 0.3; echo 1.0.102')
  const { env } = request()
  assert.deepEqual(await checkAgent(vendor('copilot'), env), { ok: true, version: '1.0.102' })
  program('copilot', 'exec sleep 60')
  const slow = await checkAgent(vendor('copilot'), env, { timeoutMs: 100 })
  assert.ok(!slow.ok && slow.isSlow)
  assert.match(slow.reason, /^copilot is installed, but did not print its version within 0\.1 seconds$/)
  assert.doesNotMatch(slow.fix, /install/)
})
