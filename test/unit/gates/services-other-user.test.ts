// Services as another user, where the gates run: beside them, ended with them, and nobody is left. Real users and PostgreSQL.
import '../../fakes/disk.ts'
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Service } from '../../../src/engine/model/service.ts'
import { createGates } from '../../../src/gates/gates.ts'
import { createServices } from '../../../src/gates/services.ts'
import { findAccount } from '../../../src/isolation/other-user/account.ts'
import { asUserCommand, launchCommand } from '../../../src/isolation/other-user/machine-view.ts'
import { type OtherUser, openOtherUser } from '../../../src/isolation/other-user.ts'
import { createRedactor } from '../../../src/isolation/redact.ts'
import { newMark } from '../../../src/system/process.ts'
import { lacks } from '../../machine/needs.ts'
import { gateRun, NO_CODE } from './gate-run.ts'

const options = { skip: lacks('root'), timeout: 120_000 }
const withPostgres = { ...options, skip: lacks('root', 'postgres') }

const SERVICE: Service = {
  name: 'one',
  start: null,
  ready: { kind: 'log', parts: ['listening'] },
  readyTimeoutMs: 60_000,
  restartBeforeVerify: true,
  when: null,
  inherit: [],
  environment: {},
  logs: [],
}

async function openPlace(
  services: Partial<Service>[],
  commands: Record<string, string>,
  { timeoutMs = 60_000, isNarrow = true } = {},
) {
  const folder = await mkdtemp(join(tmpdir(), 'ralph-other-services-'))
  const [tree, temp] = [join(folder, 'tree'), join(folder, 'temp')]
  await chmod(folder, 0o755)
  await mkdir(temp)
  execFileSync('git', ['init', '-q', tree])
  await writeFile(join(tree, 'a.txt'), 'a\n')
  const env = { PATH: process.env.PATH, HOME: '/root', RUNNER_TEMP: temp }
  const user = await openOtherUser({
    env,
    workTree: tree,
    gitDir: join(tree, '.git'),
    key: folder,
    report: () => {},
  })
  const as = isNarrow ? user : inTheOpen(user)
  const gateEnv = { PATH: process.env.PATH ?? '', SHLVL: '1' }
  const heard = { logs: null, onStart: () => {}, onEnd: () => {} }
  const shared = { ...heard, cwd: tree, redactor: createRedactor([]), mark: newMark(), as }
  const gates = createGates({
    ...shared,
    ...NO_CODE,
    top: tree,
    gates: Object.entries(commands).map(([name, run]) => ({
      name,
      run,
      timeoutMs,
      when: null,
      advisory: false,
    })),
    prepare: null,
    lockfileChanged: async () => false,
    env: gateEnv,
    services: async () =>
      createServices({
        ...shared,
        services: services.map((one) => ({ ...SERVICE, ...one })),
        envOf: ({ environment }) => ({ ...gateEnv, ...environment }),
      }),
  })
  return {
    as,
    run: () => gates.run(gateRun(), new AbortController().signal),
    async [Symbol.asyncDispose]() {
      await as.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** As in a container without namespaces: its programs see those of all, and nothing ends with the first of them. */
function inTheOpen(user: OtherUser): OtherUser {
  const account = findAccount(user.name)
  if (account === null) throw new Error('no such user')
  const command: OtherUser['command'] = (file, args) =>
    user.root(...asUserCommand(account), ...launchCommand(file, args))
  return { ...user, isNarrow: false, command }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0)
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  await new Promise((done) => server.close(done))
  return port
}

function processesOf(uid: number): string[] {
  // Nobody may reap those that are dead.
  const owner = (pid: string) => {
    try {
      const status = readFileSync(`/proc/${pid}/status`, 'utf8')
      return /^State:\s*[ZX]/m.test(status) ? -1 : Number(/^Uid:\s*(\d+)/m.exec(status)?.[1])
    } catch {
      return -1
    }
  }
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name) && owner(name) === uid)
}

test('a service of another user runs on while gates end, and is ended after them', options, async () => {
  const start = 'echo up > up; echo listening; sleep 300 & setsid sleep 300 & echo "I am $(id -un)"; wait'
  await using place = await openPlace([{ start }], {
    first: 'id -un; setsid sleep 200 & sleep 200 & true',
    second: 'sleep 0.3; cat up; pgrep -c sleep || true',
  })
  for (const _ of [1, 2]) {
    const results = await place.run()
    assert.deepEqual(
      results.map(({ name, ok }) => [name, ok]),
      [
        ['first', true],
        ['second', true],
      ],
    )
    assert.match(results[0]?.output ?? '', new RegExp(`^${place.as.name}\n`))
    assert.deepEqual(processesOf(place.as.uid), [])
  }
})

test(
  'a gate of another user that exceeds its timeout is ended, and its service is not',
  options,
  async () => {
    const start = 'echo listening; sleep 300'
    await using place = await openPlace([{ start }], { test: 'sleep 200 & sleep 200' }, { timeoutMs: 1500 })
    assert.deepEqual(
      (await place.run()).map(({ name, ended }) => [name, ended]),
      [['test', 'timed out after 2 s']],
    )
    assert.deepEqual(processesOf(place.as.uid), [])
  },
)

test('a service of another user that ends early is red, with its last lines', options, async () => {
  await using place = await openPlace(
    [{ start: 'echo listening; while [ ! -e die ]; do sleep 0.05; done; echo gone; exit 4' }],
    {
      test: 'touch die; sleep 1; false',
    },
  )
  const results = await place.run()
  assert.deepEqual(
    results.map(({ name, ended }) => [name, ended]),
    [
      ['test', 'exit 1'],
      ['service one', 'ended (exit 4) while gate test ran'],
    ],
  )
  assert.match(results[0]?.output ?? '', /listening\ngone/)
  assert.deepEqual(processesOf(place.as.uid), [])
})

test(
  'another user in a container without namespaces: gates and services run, and no process is left',
  options,
  async () => {
    const services = [
      { name: 'stays', start: 'echo listening; sleep 300 & setsid sleep 300 & wait' },
      { name: 'leaves', start: 'setsid sleep 300 >/dev/null 2>&1 & echo listening' },
    ]
    const gates = { first: 'setsid sleep 200 & sleep 200 & true', second: 'sleep 200 & sleep 200' }
    await using place = await openPlace(services, gates, { timeoutMs: 1500, isNarrow: false })
    const results = await place.run()
    assert.deepEqual(
      results.map(({ name, ended }) => [name, ended]),
      [
        ['first', 'exit 0'],
        ['second', 'timed out after 2 s'],
      ],
    )
    assert.deepEqual(processesOf(place.as.uid), [])
  },
)

for (const how of ['stays', 'starts another and leaves'])
  test(`PostgreSQL that ${how} is ready, as another user`, withPostgres, async () => {
    const port = await freePort()
    const data = '-D "$HOME/data"'
    const init = `[ -e "$HOME/data" ] || initdb ${data} -A trust -U app || exit`
    const given = `-p ${port} -k /tmp -c fsync=off`
    const start =
      how === 'stays'
        ? `${init}; exec postgres ${data} ${given}`
        : `${init}; pg_ctl start -w ${data} -l "$HOME/pg.log" -o "${given}"`
    const psql = `psql -h localhost -p ${port} -U app postgres -tAc`
    await using place = await openPlace(
      [{ start, ready: { kind: 'command', run: `pg_isready -q -h localhost -p ${port}` } }],
      {
        test: `${psql} 'create table if not exists seen (n int); insert into seen values (1); select count(*) from seen'`,
      },
    )
    // Data that it wrote is there when it comes again.
    for (const count of [1, 2]) {
      const results = await place.run()
      assert.deepEqual(
        results.map(({ name, ok, ended }) => [name, ok, ended]),
        [['test', true, 'exit 0']],
        results.at(-1)?.output,
      )
      assert.match(results[0]?.output ?? '', new RegExp(`^${count}$`, 'm'))
      assert.deepEqual(processesOf(place.as.uid), [])
    }
  })
