// Services with real processes: they come, they fall, they leave, and nothing of them is left.
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer as createHttpServer } from 'node:http'
import { connect, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { haltOnPortConflict } from '../../../src/engine/gating/gate-memory.ts'
import type { Gate, GateResult } from '../../../src/engine/model/gate.ts'
import type { GateRun } from '../../../src/engine/model/ports.ts'
import type { Ready, Service } from '../../../src/engine/model/service.ts'
import { createGates, type GatesOptions } from '../../../src/gates/gates.ts'
import { asCommand, createReadyCheck } from '../../../src/gates/service-ready.ts'
import { createServices } from '../../../src/gates/services.ts'
import { createRedactor } from '../../../src/isolation/redact.ts'
import { excerpt } from '../../../src/system/excerpt.ts'
import { endOrphansOfRun, newMark } from '../../../src/system/process.ts'
import { stateOf, stories } from '../engine/samples.ts'
import { gateRun, NO_CODE } from './gate-run.ts'

const SECRET = 'a-known-value-that-nobody-may-see'
const GATE = { timeoutMs: 20_000, when: null, advisory: false }
const NODE = process.execPath
const { signal: NEVER } = new AbortController()

/** A web server at $PORT, on $HOST where that is given. It says where it listens, and `/die` ends it. */
const WEB = `require('http').createServer((q, s) => {
  if (q.url === '/die') { console.error('Error: asked for a page that it cannot bear'); process.exit(7) }
  s.end(process.env.WORD ?? 'hello')
}).listen(process.env.PORT, process.env.HOST, () => console.log('listening at ' + process.env.PORT))`

type Made = { services: Partial<Service>[]; gates?: Record<string, string>; more?: Partial<GatesOptions> }

/** Gates beside services, in a folder of their own; what they leave is found by their mark. */
async function made(
  t: TestContext,
  { services: given, gates: commands = { test: 'true' }, more = {} }: Made,
) {
  const cwd = await mkdtemp(join(tmpdir(), 'ralph-services-'))
  await writeFile(join(cwd, 'web.cjs'), WEB)
  const mark = newMark()
  const env = { PATH: process.env.PATH ?? '', NODE }
  const redactor = createRedactor([SECRET])
  const started: string[] = []
  const shared = {
    cwd,
    redactor,
    mark,
    as: null,
    logs: { top: join(cwd, '.ralph'), folder: 'logs' },
    onStart: (name: string) => void started.push(name),
    onEnd: () => {},
  }
  const services = given.map((one): Service => ({ ...SERVICE, ...one }))
  const envOf = ({ environment }: Service) => ({ ...env, ...environment })
  const gates = createGates({
    ...shared,
    ...NO_CODE,
    top: cwd,
    gates: Object.entries(commands).map(([name, run]): Gate => ({ ...GATE, name, run })),
    prepare: null,
    lockfileChanged: async () => false,
    env,
    services: async () => createServices({ ...shared, services, envOf }),
    ...more,
  })
  t.after(async () => {
    await gates[Symbol.asyncDispose]?.()
    const left = marked(mark)
    await endOrphansOfRun(mark)
    await rm(cwd, { recursive: true })
    assert.deepEqual(left, [])
  })
  const run = (asked: Partial<GateRun> = {}, signal = NEVER) => gates.run(gateRun(asked), signal)
  return { run, cwd, mark, started, gates }
}

const SERVICE: Service = {
  name: 'web',
  start: '"$NODE" web.cjs',
  ready: { kind: 'log', parts: ['listening'] },
  readyTimeoutMs: 20_000,
  restartBeforeVerify: true,
  when: null,
  inherit: [],
  environment: {},
  logs: [],
}

/** A server at a port that nobody else has. */
async function web(
  more: Partial<Service> = {},
): Promise<Partial<Service> & { port: number; environment: { PORT: string } }> {
  const port = await freePort()
  const environment = { PORT: String(port), ...more.environment }
  return { ready: { kind: 'port', host: 'localhost', port }, ...more, port, environment }
}

async function freePort(): Promise<number> {
  await using server = await listening({ port: 0 })
  return server.port
}

async function listening(where: { port: number; host?: string }) {
  const server: Server = createServer((socket) => void socket.destroy()).listen(where)
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  return { port, [Symbol.asyncDispose]: async () => void (await new Promise((done) => server.close(done))) }
}

/** The command lines of those that carry the mark of a run. */
function marked(mark: string): string[] {
  const isOurs = (pid: string) => {
    try {
      return readFileSync(`/proc/${pid}/environ`, 'latin1').includes(`RALPH_PROCESS_MARK=${mark}`)
    } catch {
      return false
    }
  }
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && isOurs(name))
  return pids.map((pid) => readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' '))
}

async function answers(port: number): Promise<boolean> {
  const socket = connect({ port, host: '127.0.0.1' })
  return new Promise((resolve) => {
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}

test('gates reach a service by its URL, and it ends with them', async (t) => {
  const one = await web({ environment: { WORD: 'from the service' } })
  const url = `http://localhost:${one.port}/`
  const { run } = await made(t, {
    services: [{ ...one, ready: { kind: 'url', url } }],
    gates: { test: `"$NODE" -e 'fetch("${url}").then((r) => r.text()).then(console.log)'` },
  })
  for (const _ of [1, 2]) {
    const results = await run()
    assert.deepEqual(
      results.map(({ name, ok, output }) => [name, ok, output]),
      [['test', true, 'from the service\n']],
    )
    assert.equal(await answers(one.port), false)
  }
})

test('a service that listens on the IPv6 loopback only is ready, too', async (t) => {
  const one = await web({ environment: { HOST: '::1' } })
  const url = `http://localhost:${one.port}/`
  const byUrl = await made(t, { services: [{ ...one, ready: { kind: 'url', url } }] })
  assert.deepEqual(
    (await byUrl.run()).map(({ ok }) => ok),
    [true],
  )
  const byPort = await made(t, { services: [one] })
  assert.deepEqual(
    (await byPort.run()).map(({ ok }) => ok),
    [true],
  )
})

test('a service that never becomes ready is a red result with the end of its log, and no gate runs', async (t) => {
  const ready = { kind: 'port', host: 'localhost', port: await freePort() } as const
  const { run, cwd } = await made(t, {
    services: [
      { start: `echo "key ${SECRET}"; echo waiting for something; sleep 60`, ready, readyTimeoutMs: 1000 },
    ],
  })
  const results = await run({ what: 'US-001-1' })
  const wanted = { name: 'service web', ok: false, advisory: false }
  assert.deepEqual(
    results.map(({ ms: _, ...one }) => one),
    [
      {
        ...wanted,
        ended: `is not ready after 1 s: port ${ready.port}: no program listens there`,
        output: 'key ***\nwaiting for something\n',
      },
    ],
  )
  const log = await readFile(join(cwd, '.ralph/logs/US-001-1-service-web.log'), 'utf8')
  assert.equal(log, 'key ***\nwaiting for something\n')
})

test('a service that ends before it is ready is reported at once', async (t) => {
  const one = await web({ start: 'echo Error: no such table; exit 3' })
  const { run } = await made(t, { services: [one] })
  const began = performance.now()
  const [result, ...others] = await run()
  assert.deepEqual(
    [result?.ended, result?.output, others],
    ['ended (exit 3) before it was ready', 'Error: no such table\n', []],
  )
  assert.ok(performance.now() - began < 10_000)
})

test('a service that ends during gates is a red result, and named in the output of the failed gate', async (t) => {
  const one = await web()
  const get = (path: string) =>
    `"$NODE" -e 'fetch("http://localhost:${one.port}${path}").catch(() => process.exit(1))'`
  const { run } = await made(t, {
    services: [one],
    gates: { first: get('/'), test: get('/die'), last: 'true' },
  })
  const results = await run()
  assert.deepEqual(
    results.map(({ name, ok, ended }) => [name, ok, ended]),
    [
      ['first', true, 'exit 0'],
      ['test', false, 'exit 1'],
      ['service web', false, 'ended (exit 7) while gate test ran'],
    ],
  )
  assert.match(
    results[1]?.output ?? '',
    /^service web ended \(exit 7\) while gate test ran[\s\S]*Error: asked for a page that it cannot bear/,
  )
  assert.equal(results[2]?.output, 'Its last lines are in the output of gate test.\n', 'once is enough')
})

const ANSWERS_500 = `require('http').createServer((q, s) => {
  if (q.url !== '/boom') return void s.end()
  for (let at = 1; at <= 30; at++) console.error('    at frame ' + at)
  console.error('TypeError: no database for ${SECRET}')
  s.writeHead(500).end('{}')
}).listen(process.env.PORT, () => console.log('listening at ' + process.env.PORT))
process.on('SIGTERM', () => { console.log('ended politely'); process.exit() })`

test('a service that answers 500 has its log beside those of gates, and its last lines after the output of the red gate', async (t) => {
  const one = await web({ start: '"$NODE" fails.cjs' })
  const get = (path: string) => `fetch("http://localhost:${one.port}${path}").then((r) => r.status)`
  const { run, cwd } = await made(t, {
    services: [one],
    gates: {
      first: `"$NODE" -e '${get('/')}'`,
      test: `seq 30000 | sed 's/^/noise /'; "$NODE" -e '${get('/boom')}.then((s) => { console.log("FAIL cart: expected 200, got " + s); process.exit(1) })'`,
    },
  })
  await writeFile(join(cwd, 'fails.cjs'), ANSWERS_500)
  const { output = '', ended } = (await run({ what: 'US-001-1' }))[1] ?? {}
  assert.equal(ended, 'exit 1')
  assert.ok(Buffer.byteLength(output) <= 16 * 1024)
  const [own = '', said = ''] = output.split('\n\nLast lines of service web:\n')
  assert.match(own, /FAIL cart: expected 200, got 500$/)
  const lines = said.trimEnd().split('\n')
  assert.deepEqual(
    [lines.length, lines[0], lines.at(-1)],
    [15, '    at frame 17', 'TypeError: no database for ***'],
  )
  const inPrompt = excerpt(output, 1500)
  assert.match(inPrompt, /FAIL cart: expected 200, got 500[\s\S]*TypeError: no database/)
  const log = await readFile(join(cwd, '.ralph/logs/US-001-1-service-web.log'), 'utf8')
  assert.match(
    log,
    /^listening at \d+\n {4}at frame 1\n[\s\S]*TypeError: no database for \*\*\*\nended politely\n$/,
  )
})

test('a red browser check shows the last lines of services, too', async (t) => {
  const one = await web({ start: '"$NODE" fails.cjs' })
  const red = {
    name: 'browser',
    ok: false,
    advisory: false,
    ended: 'faults on 1 of 1 page',
    ms: 1,
    output: '500\n',
  }
  const boom = () => fetch(`http://localhost:${one.port}/boom`)
  const after = async () => [await boom().then(() => red)]
  const { run, cwd } = await made(t, { services: [one], gates: { test: 'true' }, more: { after } })
  await writeFile(join(cwd, 'fails.cjs'), ANSWERS_500)
  const output = (await run())[1]?.output ?? ''
  assert.match(
    output,
    /^500\n\nLast lines of service web:\n {4}at frame 17\n[\s\S]*no database for \*\*\*\n$/,
  )
})

test('a green gate shows no lines of services', async (t) => {
  const one = await web({ restartBeforeVerify: false })
  const { run, cwd } = await made(t, { services: [one], gates: { ok: 'echo fine' } })
  assert.deepEqual(
    (await run({ what: 'US-001-1' })).map(({ output }) => output),
    ['fine\n'],
  )
  const log = await readFile(join(cwd, '.ralph/logs/US-001-1-service-web.log'), 'utf8')
  assert.equal(log, `listening at ${one.port}\n`, 'of one that stays, too')
})

test('a service that ends at the very end of a red gate is reported, one that still runs is not', async (t) => {
  const one = await web()
  const { run } = await made(t, {
    services: [one],
    gates: {
      test: `exec 3<>/dev/tcp/localhost/${one.port}; printf 'GET /die HTTP/1.0\\r\\n\\r\\n' >&3; read -r _ <&3`,
    },
  })
  assert.deepEqual(
    (await run()).map(({ ended }) => ended),
    ['exit 1', 'ended (exit 7) while gate test ran'],
  )
  const stands = await made(t, { services: [await web()], gates: { test: 'false' } })
  assert.deepEqual(
    (await stands.run()).map(({ ended }) => ended),
    ['exit 1'],
  )
})

test('a run that is cancelled while it waits for a service ends at once', async (t) => {
  const port = await freePort()
  const start = `"$NODE" -e 'require("net").createServer(() => {}).listen(${port})'`
  const stop = new AbortController()
  const ready = { kind: 'url', url: `http://localhost:${port}/` } as const
  const { run, mark } = await made(t, { services: [{ start, ready, readyTimeoutMs: 60_000 }] })
  const coming = run({}, stop.signal)
  while (!(await answers(port))) await new Promise((resolve) => setTimeout(resolve, 10))
  const began = performance.now()
  stop.abort()
  assert.deepEqual([await coming, marked(mark)], [[], []])
  assert.ok(performance.now() - began < 5000)
})

test('a service that ends while every gate is green is red, and no further gate runs', async (t) => {
  const one = await web()
  const die = `"$NODE" -e 'fetch("http://localhost:${one.port}/die").catch(() => {})'`
  const { run } = await made(t, { services: [one], gates: { test: `${die}; sleep 1`, last: 'true' } })
  assert.deepEqual(
    (await run()).map(({ name, ok }) => [name, ok]),
    [
      ['test', true],
      ['service web', false],
    ],
  )
})

test('a service whose command starts a daemon and exits runs beside the gates, and is ended with them', async (t) => {
  const one = await web({ start: 'setsid "$NODE" web.cjs >web.log 2>&1 </dev/null & disown; exit 0' })
  const { run, mark } = await made(t, { services: [one], gates: { test: `sleep 0.2` } })
  assert.deepEqual(
    (await run()).map(({ ok }) => ok),
    [true],
  )
  assert.equal(await answers(one.port), false)
  assert.deepEqual(marked(mark), [])
})

test('a daemon that no longer answers is red, with its log', async (t) => {
  const one = await web({
    start: 'setsid "$NODE" web.cjs >web.log 2>&1 </dev/null & disown',
    logs: ['web.log'],
  })
  const die = `"$NODE" -e 'fetch("http://localhost:${one.port}/die").catch(() => {})'`
  const { run } = await made(t, { services: [one], gates: { test: die } })
  const [gate, service] = await run()
  assert.deepEqual(
    [gate?.ok, service?.name, service?.ended],
    [true, 'service web', 'no longer answers: no program listens there'],
  )
  assert.match(service?.output ?? '', /Error: asked for a page that it cannot bear/)
})

test('a port that an earlier service took is reported as a fault of the code, not of the machine', async (t) => {
  const api = await web({ name: 'api' })
  const wrong = { name: 'web', environment: api.environment }
  const { run } = await made(t, { services: [wrong, api] })
  const [result] = await run()
  assert.match(result?.ended ?? '', /^cannot start: port \d+ has answered since an earlier service came up/)
  const state = stateOf(stories('US-001'))
  assert.equal(haltOnPortConflict(state, [result as GateResult]), null)
})

for (const host of ['127.0.0.1', '::1'])
  test(`a port in use on ${host} is reported before the service starts, with the program that has it`, async (t) => {
    await using other = await listening({ port: 0, host })
    const { run, cwd } = await made(t, {
      services: [
        { start: 'touch started; sleep 60', ready: { kind: 'url', url: `http://localhost:${other.port}/x` } },
      ],
    })
    const [result, ...others] = await run()
    assert.equal(others.length, 0)
    assert.match(
      result?.ended ?? '',
      new RegExp(
        `^cannot start: http://localhost:${other.port}/x already answers: .*\\(process ${process.pid}\\)$`,
      ),
    )
    assert.equal(existsSync(join(cwd, 'started')), false)
  })

test('a ready command that succeeds before the start is reported', async (t) => {
  const { run } = await made(t, { services: [{ ready: { kind: 'command', run: 'true' } }] })
  assert.deepEqual(
    (await run()).map(({ ended }) => ended),
    ['cannot start: `true` already succeeds before the service is started, so another program answers it'],
  )
})

test('a service is ready when its command succeeds', async (t) => {
  const { run } = await made(t, {
    services: [{ start: 'sleep 0.3; touch up; sleep 60', ready: { kind: 'command', run: 'test -e up' } }],
    gates: { test: 'test -e up' },
  })
  assert.deepEqual(
    (await run()).map(({ ok }) => ok),
    [true],
  )
})

test('a ready command that never succeeds shows its last line', async (t) => {
  const { run } = await made(t, {
    services: [
      {
        start: 'sleep 60',
        ready: { kind: 'command', run: 'echo no response; exit 2' },
        readyTimeoutMs: 1000,
      },
    ],
  })
  const wanted = 'is not ready after 1 s: echo no response; exit 2: exit 2: no response'
  assert.deepEqual(
    (await run()).map(({ ended }) => ended),
    [wanted],
  )
})

test('a URL and a port are checked the same way from inside a network namespace', async (t) => {
  const one = createHttpServer((request, response) => {
    response.statusCode = request.url === '/up?a=b%20c' ? 302 : 404
    response.end()
  }).listen(0, '127.0.0.1')
  t.after(() => void one.close())
  await once(one, 'listening')
  const { port } = one.address() as { port: number }
  const isReadyInside = async (ready: Ready) => {
    const inside = asCommand(ready)
    const child = spawn('bash', ['-c', inside.kind === 'command' ? inside.run : 'false'], { stdio: 'ignore' })
    return (await once(child, 'exit'))[0] === 0
  }
  const asked = async (ready: Ready) =>
    (await createReadyCheck(ready, async () => null)?.(5000, NEVER)) === null
  const free = await freePort()
  const cases: [Ready, boolean][] = [
    [{ kind: 'port', host: 'localhost', port }, true],
    [{ kind: 'port', host: 'localhost', port: free }, false],
    [{ kind: 'url', url: `http://localhost:${port}/up?a=b%20c` }, true],
    [{ kind: 'url', url: `http://127.0.0.1:${port}/down` }, false],
  ]
  for (const [ready, wanted] of cases) {
    assert.equal(await asked(ready), wanted)
    assert.equal(await isReadyInside(ready), wanted)
  }
})

test('the second service starts when the first is ready, and can reach it', async (t) => {
  const first = await web({ name: 'db' })
  const second: Partial<Service> = {
    name: 'api',
    start: `"$NODE" -e 'fetch("http://localhost:${first.port}").then(() => { console.log("found it"); setTimeout(() => {}, 60000) })'`,
    ready: { kind: 'log', parts: ['found', 'it'] },
  }
  const { run, started } = await made(t, { services: [first, second] })
  assert.deepEqual(
    (await run()).map(({ ok }) => ok),
    [true],
  )
  assert.deepEqual(started, ['service db', 'service api', 'test'])
})

test('a service with tags runs for those stories and for the final verification', async (t) => {
  const { run, started } = await made(t, { services: [{ ...(await web()), when: ['ui'] }] })
  for (const tags of [[], ['api'], ['ui'], null]) await run({ tags })
  assert.deepEqual(started, ['test', 'test', 'service web', 'test', 'service web', 'test'])
})

test('a service with restartBeforeVerify false keeps running until the job ends or the home is renewed', async (t) => {
  const one = await web({ restartBeforeVerify: false })
  const { run, started, gates, mark } = await made(t, { services: [one] })
  await run()
  await run()
  assert.equal(await answers(one.port), true)
  await gates.renew()
  assert.equal(await answers(one.port), false)
  await run()
  assert.deepEqual(started, ['service web', 'test', 'test', 'service web', 'test'])
  await gates[Symbol.asyncDispose]?.()
  assert.deepEqual([await answers(one.port), marked(mark)], [false, []])
})

test('a kept service that ended is started again for the next gates', async (t) => {
  const one = await web({ restartBeforeVerify: false })
  const die = `test -e once || { touch once; "$NODE" -e 'fetch("http://localhost:${one.port}/die").catch(() => {})'; }; sleep 0.5`
  const { run } = await made(t, { services: [one], gates: { test: die } })
  assert.deepEqual(
    (await run()).map(({ name }) => name),
    ['test', 'service web'],
  )
  assert.deepEqual(
    (await run()).map(({ name }) => name),
    ['test'],
  )
})

test('a service without a start command must only answer', async (t) => {
  await using other = await listening({ port: 0 })
  const ready = { kind: 'port', host: 'localhost', port: other.port } as const
  const { run } = await made(t, { services: [{ start: null, ready }] })
  assert.deepEqual(
    (await run()).map(({ ok }) => ok),
    [true],
  )
  await other[Symbol.asyncDispose]()
  const gone = await made(t, { services: [{ start: null, ready, readyTimeoutMs: 1000 }] })
  assert.deepEqual(
    (await gone.run()).map(({ name, ok }) => [name, ok]),
    [['service web', false]],
  )
})

test('a service without a start command is checked again after the gates, also after green ones', async (t) => {
  await using other = await listening({ port: 0 })
  const ready = { kind: 'port', host: 'localhost', port: other.port } as const
  const { run } = await made(t, {
    services: [{ start: null, ready }],
    more: { onEnd: () => void other[Symbol.asyncDispose]() },
  })
  assert.deepEqual(
    (await run()).map(({ name, ok, ended }) => [name, ok, ended]),
    [
      ['test', true, 'exit 0'],
      ['service web', false, 'no longer answers: no program listens there'],
    ],
  )
})

test('a run that is cancelled while a service starts, or during a gate, leaves no process', async (t) => {
  const stop = new AbortController()
  const slow = await made(t, { services: [{ start: 'sleep 60', ready: { kind: 'log', parts: ['never'] } }] })
  const coming = slow.run({}, stop.signal)
  while (marked(slow.mark).length === 0) await new Promise((resolve) => setTimeout(resolve, 10))
  stop.abort()
  assert.deepEqual([await coming, marked(slow.mark)], [[], []])

  const later = new AbortController()
  const up = await made(t, { services: [await web()], gates: { test: 'echo up; sleep 60' } })
  const gated = up.run({}, later.signal)
  while (!up.started.includes('test')) await new Promise((resolve) => setTimeout(resolve, 10))
  later.abort()
  assert.deepEqual(
    (await gated).map(({ ended }) => ended),
    ['cancelled'],
  )
  assert.deepEqual(marked(up.mark), [])
})

test('a service that prints 100 MB does not take memory for it, and the end of its log is kept', async (t) => {
  const { run, cwd } = await made(t, {
    services: [
      {
        start: `head -c 100000000 /dev/zero | tr '\\0' '.' | fold -w 200; echo; echo listening; echo last words; exit 9`,
      },
    ],
    gates: { test: 'sleep 1' },
  })
  const before = process.memoryUsage().rss
  const result = (await run({ what: 'big' })).at(-1)
  assert.ok(process.memoryUsage().rss - before < 150_000_000)
  assert.ok(Buffer.byteLength(result?.output ?? '') <= 8 * 1024)
  assert.match(result?.output ?? '', /last words\n?$/)
  assert.ok((await readFile(join(cwd, '.ralph/logs/big-service-web.log'))).length < 1_100_000)
})

test('services of a killed run are found by their marker', async () => {
  const mark = newMark()
  const port = await freePort()
  const script = `
    const { createServices } = await import(${JSON.stringify(join(import.meta.dirname, '../../../src/gates/services.ts'))})
    const { openScratch } = await import(${JSON.stringify(join(import.meta.dirname, '../../../src/isolation/scratch.ts'))})
    const { createRedactor } = await import(${JSON.stringify(join(import.meta.dirname, '../../../src/isolation/redact.ts'))})
    const service = { name: 'web', start: 'setsid sleep 300 & sleep 300', ready: { kind: 'log', parts: [] }, readyTimeoutMs: 300, restartBeforeVerify: true, when: null, inherit: [], environment: {}, logs: [] }
    const services = createServices({ services: [{ ...service, start: "exec 4<> <(:); setsid bash -c 'echo up; read -t 300 -u 4' & read -t 300 -u 4", ready: { kind: 'log', parts: ['up'] }, readyTimeoutMs: 20000 }], cwd: '/', envOf: () => ({ PATH: process.env.PATH }), redactor: createRedactor([]), mark: '${mark}', as: null, logs: null, onStart() {}, onEnd() {} })
    await services.beside({ of: 'whole', tags: null, stories: [], what: '', commit: '', from: '', baseline: {} }, new AbortController().signal, await openScratch(null, { mark: '${mark}' }), async () => process.kill(process.pid, 'SIGKILL'))`
  try {
    execFileSync(NODE, ['--input-type=module', '-e', script], {
      stdio: 'inherit',
      env: { ...process.env, PORT: String(port) },
    })
  } catch {}
  assert.ok(marked(mark).length >= 2)
  assert.ok((await endOrphansOfRun(mark)) >= 2)
  assert.deepEqual(marked(mark), [])
})
