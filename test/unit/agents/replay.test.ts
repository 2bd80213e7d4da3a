// Every recording once more, as a program: a stand-in of the real one's name that prints it and ends as it ended.

import assert from 'node:assert/strict'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { findAgent } from '../../../src/agents/registry.ts'
import { runAgent } from '../../../src/agents/run-session.ts'
import { createRedactor } from '../../../src/isolation/redact.ts'
import type { Exit } from '../../../src/system/process.ts'

type Case = { cli: string; case: string; exit: Exit; status: string; resetsAt?: number }

const FIXTURES = join(import.meta.dirname, '../../fixtures/agents')
const cases: Case[] = JSON.parse(readFileSync(join(FIXTURES, 'cases.json'), 'utf8'))
/** Long enough for a stand-in to print what it has; only those that hang take as long. */
const IDLE_MS = 2000

let folder = ''
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'replay-'))
})
after(() => rmSync(folder, { recursive: true }))

function sayEnd(exit: Exit): string {
  if (exit.kind === 'exit') return `exit ${exit.code}`
  return exit.kind === 'signal' ? `kill -${exit.signal.replace('SIG', '')} $$` : 'exec sleep 600'
}

/**
 * Prints stdout, waits until it was read (the transcript has its lines), then prints stderr: the two are pipes of their
 * own, and their order would be a matter of luck.
 */
function standIn(one: Case, bin: string, transcript: string): void {
  const stream = (name: string) => {
    const file = join(FIXTURES, one.cli, `${one.case}.${name}`)
    return existsSync(file) ? file : '/dev/null'
  }
  const script = `#!/bin/bash
cat >/dev/null
cat '${stream('stdout')}'
if [ -s '${stream('stderr')}' ]; then
  wanted=$(wc -l <'${stream('stdout')}')
  until [ "$(wc -l <'${transcript}')" -ge "$wanted" ]; do read -r -t 0.01 <> <(:) ; done
fi
cat '${stream('stderr')}' >&2
${sayEnd(one.exit)}
`
  const file = join(bin, findAgent(one.cli)?.program ?? '')
  writeFileSync(file, script)
  chmodSync(file, 0o755)
}

async function replay(one: Case): Promise<void> {
  const vendor = findAgent(one.cli)
  assert.ok(vendor)
  const bin = join(folder, one.cli, one.case)
  mkdirSync(bin, { recursive: true })
  const transcriptPath = join(bin, 'transcript.log')
  standIn(one, bin, transcriptPath)
  const result = await runAgent({
    vendor,
    extraArgs: [],
    prompt: 'a prompt',
    cwd: bin,
    env: { PATH: `${bin}:${process.env.PATH}` },
    timeoutMs: 60_000,
    idleTimeoutMs: IDLE_MS,
    captureBytes: 1000,
    redactor: createRedactor([]),
    transcriptPath,
  })
  const name = `${one.cli} ${one.case}: ${result.message}`
  // Those that were ended from outside hang here until the idle time-out.
  assert.equal(result.status, one.status === 'timeout' ? 'idle' : one.status, name)
  assert.equal(result.exitCode, one.exit.kind === 'exit' ? one.exit.code : null, name)
  assert.equal(result.usage.calls, one.status === 'not-started' ? 0 : 1, name)
  // codex says the end of a limit by the clock alone: of today, whatever day that is.
  if (one.cli !== 'codex') assert.equal(result.resetsAt, one.resetsAt ?? null, name)
}

test("every recording, replayed by a program of the agent's name, gives the outcome of its table", async () => {
  // Two could not be started: they have nothing to print.
  const queue = cases.filter((one) => one.exit.kind !== 'not-started')
  assert.equal(queue.length, cases.length - 2)
  const worker = async () => {
    for (let one = queue.shift(); one !== undefined; one = queue.shift()) await replay(one)
  }
  await Promise.all(Array.from({ length: 6 }, worker))
  assert.equal(queue.length, 0)
})
