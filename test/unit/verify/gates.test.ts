// Gates with real processes: what is kept of their output.

import assert from 'node:assert/strict'
import { tmpdir } from 'node:os'
import { test } from 'node:test'
import { createRedactor } from '../../../src/system/redact.ts'
import { createGates, type GatesOptions } from '../../../src/verify/gates.ts'

const SECRET = 'a-known-value-that-nobody-may-see'
const LINE = 'MIIEow+/'.repeat(8)

const GATE = { name: 'test', run: 'true', timeoutMs: 20_000, when: null, advisory: false }
const PLAIN: GatesOptions = {
  gates: [],
  prepare: null,
  lockfileChanged: async () => false,
  cwd: tmpdir(),
  env: { PATH: process.env.PATH ?? '' },
  redactor: createRedactor([SECRET]),
  logs: null,
  onStart: () => {},
  onEnd: () => {},
}

async function outputOf(script: string): Promise<string> {
  const gates = createGates({ ...PLAIN, gates: [{ ...GATE, run: script }] })
  const [result] = await gates.run(null, new AbortController().signal)
  assert.equal(result?.ok, true)
  return result?.output ?? ''
}

test('a gate may write to /dev/stderr, and its lines stay in their order', async () => {
  const script = `for i in 1 2 3; do echo "out $i"; echo "err $i" >&2; done; echo last | tee /dev/stderr >/dev/null; echo "$0 $#"`
  const wanted = ['out 1', 'err 1', 'out 2', 'err 2', 'out 3', 'err 3', 'last', 'bash 0', '']
  assert.deepEqual((await outputOf(script)).split('\n'), wanted)
})

test('what a gate says while it is ended is heard', async () => {
  const gates = createGates({
    ...PLAIN,
    gates: [{ ...GATE, run: `trap 'echo bye; exit 3' TERM; echo up; sleep 60 & wait`, timeoutMs: 1500 }],
  })
  const [result] = await gates.run(null, new AbortController().signal)
  assert.deepEqual([result?.ok, result?.output], [false, 'up\nbye\n'])
})

test('a short output is kept as it is, without secrets', async () => {
  assert.equal(await outputOf(`echo one; echo "two ${SECRET}"`), 'one\ntwo ***\n')
})

test('no part of a secret stands beside the cut, wherever the cut is', async () => {
  // The kept parts are 8 KB each: the value lies over the end of the first one, and over the beginning of the last.
  for (const shift of [1, 9, 17, 25, 32]) {
    const before = 8 * 1024 - shift
    const output = await outputOf(
      `head -c ${before} /dev/zero | tr '\\0' .; echo -n ${SECRET}; head -c 200000 /dev/zero | tr '\\0' ,; echo -n ${SECRET}; head -c ${before} /dev/zero | tr '\\0' .`,
    )
    assert.doesNotMatch(output, /a-k|known|value|nobody|may|see/)
    assert.ok(Buffer.byteLength(output) < 17_000)
  }
})

test('of a private key that lies over the cut no line is left', async () => {
  const lines = `for i in $(seq 150); do echo '${LINE}'; done`
  const key = `echo '-----BEGIN RSA PRIVATE KEY-----'; ${lines}; echo '-----END RSA PRIVATE KEY-----'`
  const fill = `head -c 100000 /dev/zero | tr '\\0' '.'`
  const output = await outputOf(`echo first; ${fill}; echo; ${key}; echo last`)
  assert.ok(!output.includes('MIIE'))
  assert.match(output, /^first\n/)
  assert.match(output, /last\n$/)
})

test('what is left out is counted', async () => {
  const output = await outputOf(`head -c 1000000 /dev/zero | tr '\\0' '.'`)
  const [, bytes = ''] = /\n\.\.\. (\d+) bytes left out \.\.\.\n/.exec(output) ?? []
  assert.equal(Number(bytes), 1_000_000 - 16 * 1024)
  assert.equal(output.match(/left out/g)?.length, 1)
})

test('prepare runs once for the same lockfiles, and once more after what it made was given up', async () => {
  const ran: string[] = []
  const gates = createGates({
    ...PLAIN,
    prepare: 'true',
    lockfileChanged: async (from, to) => from !== to,
    onStart: (name) => ran.push(name),
  })
  const { signal } = new AbortController()
  assert.equal((await gates.prepare('a', signal))?.ok, true)
  assert.equal(await gates.prepare('a', signal), null)
  assert.equal((await gates.prepare('b', signal))?.ok, true)
  await gates.renew()
  assert.equal((await gates.prepare('b', signal))?.ok, true)
  assert.equal(await gates.prepare('b', signal), null)
  assert.deepEqual(ran, ['prepare', 'prepare', 'prepare'])
})
