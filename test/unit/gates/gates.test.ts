// Gates with real processes: what is kept of their output.

import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createGates, type GatesOptions } from '../../../src/gates/gates.ts'
import { createRedactor } from '../../../src/isolation/redact.ts'
import { gateRun, NO_CODE } from './gate-run.ts'

const SECRET = 'a-known-value-that-nobody-may-see'
const LINE = 'MIIEow+/'.repeat(8)

const GATE = { name: 'test', run: 'true', timeoutMs: 20_000, when: null, advisory: false }
const PLAIN: GatesOptions = {
  gates: [],
  prepare: null,
  lockfileChanged: async () => false,
  ...NO_CODE,
  top: tmpdir(),
  cwd: tmpdir(),
  env: { PATH: process.env.PATH ?? '' },
  redactor: createRedactor([SECRET]),
  logs: null,
  onStart: () => {},
  onEnd: () => {},
}

async function outputOf(script: string, logs: GatesOptions['logs'] = null): Promise<string> {
  const gates = createGates({ ...PLAIN, logs, gates: [{ ...GATE, run: script }] })
  const [result] = await gates.run(gateRun(), new AbortController().signal)
  assert.equal(result?.ok, true)
  return result?.output ?? ''
}

/** The whole output, as it is kept on this machine, and what the state keeps of it. */
async function keptOf(script: string): Promise<{ log: string; output: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'ralph-gates-'))
  try {
    const top = join(folder, '.ralph')
    const output = await outputOf(script, { top, folder: 'logs/1-auth' })
    return { log: await readFile(join(top, 'logs', '1-auth', 'test.log'), 'utf8'), output }
  } finally {
    await rm(folder, { recursive: true })
  }
}

const MEGABYTE = 1024 * 1024

test('the browser check runs after all gates except those with behindPages', async () => {
  const order: string[] = []
  const gates = createGates({
    ...PLAIN,
    gates: [
      { ...GATE, name: 'e2e', behindPages: true },
      { ...GATE, name: 'unit' },
    ],
    onStart: (name) => order.push(name),
    after: async () => {
      order.push('pages')
      return []
    },
  })
  await gates.run(gateRun(), new AbortController().signal)
  assert.deepEqual(order, ['unit', 'pages', 'e2e'])
  const red = createGates({
    ...PLAIN,
    gates: [{ ...GATE, name: 'e2e', behindPages: true }],
    after: async () => [{ name: 'browser', ok: false, advisory: false, ended: 'red', ms: 1, output: '' }],
  })
  const results = await red.run(gateRun(), new AbortController().signal)
  assert.deepEqual(
    results.map(({ name }) => name),
    ['browser'],
  )
})

test('a gate may write to /dev/stderr, and its lines stay in their order', async () => {
  const script = `for i in 1 2 3; do echo "out $i"; echo "err $i" >&2; done; echo last | tee /dev/stderr >/dev/null; echo "$0 $#"`
  const wanted = ['out 1', 'err 1', 'out 2', 'err 2', 'out 3', 'err 3', 'last', 'bash 0', '']
  assert.deepEqual((await outputOf(script)).split('\n'), wanted)
})

test('output of a gate while it is ended is captured', async () => {
  const gates = createGates({
    ...PLAIN,
    gates: [{ ...GATE, run: `trap 'echo bye; exit 3' TERM; echo up; sleep 60 & wait`, timeoutMs: 1500 }],
  })
  const [result] = await gates.run(gateRun(), new AbortController().signal)
  assert.deepEqual([result?.ok, result?.output], [false, 'up\nbye\n'])
})

test('a short output is kept as it is, without secrets', async () => {
  assert.equal(await outputOf(`echo one; echo "two ${SECRET}"`), 'one\ntwo ***\n')
})

test('no part of a secret is shown next to a cut in the output', async () => {
  // Half of a megabyte is kept of each end: the value lies over the end of the first one, and over the beginning of the last.
  for (const shift of [1, 9, 17, 25, 32]) {
    const before = MEGABYTE / 2 - shift
    const { log, output } = await keptOf(
      `head -c ${before} /dev/zero | tr '\\0' .; echo -n ${SECRET}; head -c 400000 /dev/zero | tr '\\0' ,; echo -n ${SECRET}; head -c ${before} /dev/zero | tr '\\0' .`,
    )
    assert.doesNotMatch(log + output, /a-k|known|value|nobody|may|see/)
    assert.ok(Buffer.byteLength(log) < MEGABYTE + 100)
    assert.ok(Buffer.byteLength(output) <= 16 * 1024)
  }
})

test('no line of a private key that is cut in the output is shown', async () => {
  const lines = `for i in $(seq 150); do echo '${LINE}'; done`
  const key = `echo '-----BEGIN RSA PRIVATE KEY-----'; ${lines}; echo '-----END RSA PRIVATE KEY-----'`
  const fill = (bytes: number) => `head -c ${bytes} /dev/zero | tr '\\0' '.'; echo`
  for (const place of [MEGABYTE / 2 - 5000, 2 * MEGABYTE]) {
    const { log, output } = await keptOf(
      `echo first; ${fill(place)}; ${key}; ${fill(MEGABYTE / 2 - 5000)}; echo last`,
    )
    assert.ok(!(log + output).includes('MIIE'))
    assert.match(log, /^first\n[\s\S]*last\n$/)
    assert.match(output, /^first\n[\s\S]*last$/)
  }
})

test('bytes cut from the output are counted', async () => {
  const { log } = await keptOf(`head -c 3000000 /dev/zero | tr '\\0' '.'`)
  const [, bytes = ''] = /\n\.\.\. (\d+) bytes left out \.\.\.\n/.exec(log) ?? []
  assert.equal(Number(bytes), 3_000_000 - MEGABYTE)
  assert.equal(log.match(/left out/g)?.length, 1)
})

test('the state keeps the lines of the failure, wherever they are in the output, and the log keeps all', async () => {
  const noise = (name: string) =>
    `for i in $(seq 3000); do echo "✔ ${name} $i adds up without an error"; done`
  const { log, output } = await keptOf(
    `${noise('one')}; echo 'TypeError: no'; echo '  at a.js:1:2'; ${noise('two')}`,
  )
  assert.match(output, /TypeError: no\n {2}at a\.js:1:2/)
  assert.match(log, /one 2999 [\s\S]*TypeError: no[\s\S]*two 3000 /)
})

test('a progress bar is kept in its last state only', async () => {
  assert.equal(
    await outputOf(`for i in $(seq 9); do printf '\\rloading %s of 9' $i; done; echo; echo ok`),
    'loading 9 of 9\nok\n',
  )
})

test('prepare runs once for the same lockfiles, and again after the dependencies were removed', async () => {
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

test('what a gate printed last is passed on while it runs, without secrets', async () => {
  const shown: string[] = []
  const gates = createGates({
    ...PLAIN,
    gates: [{ ...GATE, run: `echo "first ${SECRET}"` }],
    onOutput: (name, line) => shown.push(`${name}: ${line}`),
  })
  await gates.run(gateRun(), new AbortController().signal)
  assert.equal(shown.length, 1)
  assert.match(shown[0] ?? '', /^test: first /)
  assert.ok(!shown[0]?.includes(SECRET))
})
