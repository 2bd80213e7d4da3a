// Ports of workers on one machine: each has its own, and what all would take is named.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { test } from 'node:test'
import { laneMistakes } from '../../../src/app/lane-work-trees.ts'
import { fixedPortWarnings, withOwnPort } from '../../../src/app/own-port.ts'
import { right, yml } from '../settings/reading.ts'

test('each worker has ten free ports that no other worker has', async () => {
  const all = await Promise.all(Array.from({ length: 20 }, (_, at) => withOwnPort({}, String(at + 1))))
  assert.deepEqual(
    all.map(({ RALPH_WORKER }) => RALPH_WORKER),
    all.map((_, at) => String(at + 1)),
  )
  const ports = all.map(({ RALPH_PORT }) => Number(RALPH_PORT))
  assert.equal(new Set(ports).size, 20)
  assert.ok(ports.every((port) => port % 10 === 0 && port >= 20_000 && port < 32_000))
  for (const port of ports) {
    const server = createServer().listen(port + 9, '127.0.0.1')
    await once(server, 'listening')
    server.close()
  }
})

test('RALPH_WORKER is 1 without lanes, and in a wave what the workflow sets', async () => {
  assert.equal((await withOwnPort({})).RALPH_WORKER, '1')
  assert.equal((await withOwnPort({ RALPH_WORKER: '3' })).RALPH_WORKER, '3')
  assert.equal((await withOwnPort({ RALPH_WORKER: '3; true' })).RALPH_WORKER, '1')
})

test('a fixed port with max-parallel is a warning for gates, and refused for a service', () => {
  const read = (most: number) =>
    right(
      yml(`isolation: same-user
maxParallel: ${most}
services:
  db: { ready: 5432 }
  web: { start: npm start, ready: 'http://localhost:3000/up' }
  api: { start: PORT=3001 npm run api, ready: { log: up } }
  own: { start: PORT=$RALPH_PORT npm start, ready: $RALPH_PORT }
gates: { e2e: 'curl -f http://127.0.0.1:3000', unit: npm test }`),
    ).settings
  const named = fixedPortWarnings(read(2)).map((text) => text.replace(/,.*/, ''))
  assert.deepEqual(named, [
    'service web names port 3000',
    'service api names port 3001',
    'gate e2e names port 3000',
  ])
  assert.deepEqual(fixedPortWarnings(read(1)), [])
  assert.deepEqual(
    laneMistakes(read(2), 0).map(({ found }) => found),
    [
      'Ralph cannot work on 2 stories at a time: each would start service web on port 3000. Use $RALPH_PORT in its `ready` and `start` instead.',
    ],
  )
})
