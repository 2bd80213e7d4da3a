// What a job says, read by the stand-in's runner: no command of an agent, a gate, a file name or a title is obeyed, in
// whatever pieces it comes; and our own annotations still are.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { createLog } from '../../../src/action/runner.ts'
import type { AgentEvent } from '../../../src/engine/model/agent-event.ts'
import type { GateResult } from '../../../src/engine/model/gate.ts'
import { createGates } from '../../../src/gates/gates.ts'
import { createRedactor } from '../../../src/isolation/redact.ts'
import { Live } from '../../../src/report/terminal/live-lines.ts'
import { sanitizeLine } from '../../../src/system/workflow-commands.ts'
import { hostileStrings } from '../../fixtures/hostile-strings.ts'
import { gateRun, NO_CODE } from '../gates/gate-run.ts'
import { heard } from '../heard.ts'
import { limits, midRun } from '../report/samples.ts'

const COMMANDS = [
  ...hostileStrings.filter(({ kind }) => kind === 'runner').map(({ text }) => text),
  '\ufeff::error::x',
  '::error::x\r',
  '\r::error::x',
  '\r\n::error::x\r\n',
  'a\r\r\n::error::x',
  '::error file=src/a.ts,line=1,title=x::y\n##[error]z',
  '{"type":"text","text":"::error::x\\n##[error]x"}\n##[error]x',
  'src/::error::x.ts:1:1: error',
  'src/##[error]x.ts',
  '\u001b[0m::error::x',
  '::\u001b[0merror::x',
  '\u2028##[error]x',
  '%0A::error::x',
]

test('the runner of these tests obeys commands that are not muted', () => {
  const deaf = COMMANDS.filter((text) => heard(text).done.length === 0)
  // Those are none for the runner, or become one only where somebody takes something out of them.
  assert.ok(COMMANDS.length - deaf.length > 30, `${COMMANDS.length - deaf.length}`)
  assert.deepEqual(heard('::error file=a.ts,line=3::b%0Ac').annotations, [
    { level: 'error', message: 'b\nc', properties: { file: 'a.ts', line: '3' } },
  ])
})

test('a command in two writes, cut anywhere, or in single characters is muted', () => {
  for (const prefix of ['', '| ', '::', '##', '#', ' ']) {
    for (const text of COMMANDS) {
      const cuts = Array.from({ length: text.length + 1 }, (_, at) => [text.slice(0, at), text.slice(at)])
      for (const parts of [...cuts, text.split('')]) {
        const { log, text: out } = jobLog()
        for (const part of parts) log.screen.write(prefix + part)
        assert.deepEqual(heard(out()).done, [], JSON.stringify([prefix, parts]))
      }
    }
  }
  for (const text of COMMANDS) assert.deepEqual(heard(sanitizeLine(text)).done, [], text)
})

/** The log of a job, as the action makes it. */
function jobLog(): {
  live: Live
  log: ReturnType<typeof createLog>
  text: () => string
} {
  let out = ''
  const log = createLog(
    (text) => {
      out += text
    },
    (text) => text,
  )
  return {
    live: new Live(log.screen, { limits, agent: 'claude', surface: 'comment' }, true),
    log,
    text: () => out,
  }
}

test('agent text, tools, files, warnings and the result are muted', () => {
  for (const { name, text } of [...hostileStrings, ...COMMANDS.map((one) => ({ name: one, text: one }))]) {
    const { live, log, text: said } = jobLog()
    const events: AgentEvent[] = [
      { kind: 'text', text },
      { kind: 'tool', name: text, target: text },
      { kind: 'tool', name: 'Edit', target: text },
      { kind: 'error', message: text },
    ]
    for (const event of events) live.agent(event)
    live.warn(text)
    live.say(text)
    log.screen.write(`${text}\n`)
    assert.deepEqual(heard(said()).done, [], name)
    const before = said().length
    log.group(text, [text])
    const { done } = heard(said().slice(before))
    // One group of ours, opened and closed; nothing else.
    assert.equal(
      done.filter((one) => one.startsWith('obeyed ::group::') || one === 'obeyed ::endgroup::').length,
      2,
      name,
    )
    assert.equal(done.length, 2, name)
  }
})

test("a gate's commands on both streams, in pieces, are quoted and not obeyed", async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ralph-voice-'))
  try {
    const script = join(folder, 'gate.mjs')
    writeFileSync(
      script,
      `for (const text of ${JSON.stringify(COMMANDS)}) {
  for (const stream of [process.stdout, process.stderr]) {
    const half = Math.ceil(text.length / 2)
    stream.write(text.slice(0, half))
    await new Promise((done) => setTimeout(done, 2))
    stream.write(text.slice(half) + '\\n')
  }
}
process.exitCode = 1
`,
    )
    const { live, text } = jobLog()
    const results: GateResult[] = []
    const gates = createGates({
      gates: [
        { name: 'test', run: `exec "$NODE" "${script}"`, timeoutMs: 60_000, when: null, advisory: false },
      ],
      prepare: null,
      lockfileChanged: async () => false,
      ...NO_CODE,
      top: folder,
      cwd: folder,
      env: { PATH: process.env.PATH ?? '', NODE: process.execPath },
      redactor: createRedactor([]),
      logs: null,
      onStart() {},
      onEnd: (result) => {
        results.push(result)
        live.gate(result)
      },
    })
    await gates.run(gateRun(), new AbortController().signal)
    const [result] = results
    assert.equal(result?.ended, 'exit 1')
    assert.ok((heard(result?.output ?? '').done.length ?? 0) > 30, 'the gate spoke')
    await live.event({ at: 0, kind: 'gated', storyId: 'US-001', commit: 'c', gates: results }, midRun())
    assert.match(text(), /^\[test\] FAILED \(exit 1/m)
    assert.deepEqual(heard(text()).done, [])
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test("Ralph's own annotations take effect, each with its exact text", () => {
  const said = hostileStrings
    .filter(({ text }) => text.trim() !== '' && text.length < 4000)
    .map(({ text }) => text)
  const script = `import * as core from ${JSON.stringify(pathToFileURL(join(import.meta.dirname, '../../../node_modules/@actions/core/lib/core.js')).href)}
import { readFileSync } from 'node:fs'
for (const text of JSON.parse(readFileSync(0, 'utf8'))) {
  core.warning(text)
  core.notice(text)
  core.error(text)
}`
  const ran = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    input: JSON.stringify(said),
    encoding: 'utf8',
    maxBuffer: 1e8,
  })
  assert.equal(ran.status, 0, ran.stderr)
  const { done } = heard(ran.stdout)
  assert.deepEqual(
    done.filter((one) => !['warning', 'notice', 'error'].includes(one) && !one.startsWith('obeyed ::')),
    [],
  )
  // A runner shows ten of a kind; the reader is asked anew for each.
  const lines = ran.stdout.split('\n').filter((line) => line !== '')
  assert.equal(lines.length, said.length * 3)
  lines.forEach((line, at) => {
    const { annotations } = heard(line)
    assert.equal(annotations.length, 1, line)
    assert.equal(annotations[0]?.level, ['warning', 'notice', 'error'][at % 3])
    assert.equal(
      annotations[0]?.message,
      said[Math.floor(at / 3)]?.replace(/[\ud800-\udfff]/gu, '\ufffd'),
      line,
    )
  })
})
