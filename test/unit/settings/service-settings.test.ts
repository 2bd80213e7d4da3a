// Services: every form of `ready`, a list or a map, and what is wrong with them, all at once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { servicesAt } from '../../../src/engine/model/service.ts'
import { describeServices } from '../../../src/settings/read-settings.ts'
import { onlyWrong, paths, right, wrong, yml } from './reading.ts'

const readyOf = (written: string) =>
  right(yml(`services: { a: { ready: ${written} } }`)).settings.services[0]?.ready

test("a service's ready: a URL, a port, a host and port, text of a line, a command", () => {
  assert.deepEqual(readyOf('http://localhost:3000/up'), { kind: 'url', url: 'http://localhost:3000/up' })
  assert.deepEqual(readyOf('5432'), { kind: 'port', host: 'localhost', port: 5432 })
  assert.deepEqual(readyOf('{ tcp: "db:5432" }'), { kind: 'port', host: 'db', port: 5432 })
  assert.deepEqual(readyOf('{ tcp: "[::1]:5432" }'), { kind: 'port', host: '::1', port: 5432 })
  assert.deepEqual(readyOf('{ log: "ready in * ms" }'), { kind: 'log', parts: ['ready in ', ' ms'] })
  assert.deepEqual(readyOf('{ command: pg_isready }'), { kind: 'command', run: 'pg_isready' })
})

test("a service may be ready at its worker's own port", () => {
  const own = { kind: 'port', host: 'localhost', port: 0 }
  assert.deepEqual(readyOf('$RALPH_PORT'), own)
  assert.deepEqual(readyOf("{ tcp: '[::1]:$RALPH_PORT' }"), { ...own, host: '::1' })
  const [url] = servicesAt(
    right(yml("services: { a: { ready: 'http://localhost:$RALPH_PORT/up' } }")).settings.services,
    24_680,
  )
  assert.deepEqual(url?.ready, { kind: 'url', url: 'http://localhost:24680/up' })
  for (const bad of ['$RALPH_PORTS', 'localhost:$RALPH_PORT', '$PORT'])
    assert.equal(
      onlyWrong(yml(`services: { a: { ready: ${bad} } }`)).path,
      'ralph.config.yml: services.a.ready',
    )
})

test('services may be a list or a map, also as an input', () => {
  const list = right(yml('services: [{ name: web, start: x, ready: 3000, when: ui, environment: [A] }]'))
  const map = right({ inputs: { services: 'web: { start: x, ready: 3000, when: ui, environment: [A] }' } })
  assert.deepEqual(list.settings.services, map.settings.services)
  const lines = right({
    inputs: { services: '- name: web\n  start: x\n  ready: 3000\n  when: ui\n  environment: A' },
  })
  assert.deepEqual(list.settings.services, lines.settings.services)
})

test("a service's environment is names or values; a variable that is never passed on is a mistake", () => {
  const { settings, notes } = right(
    yml(
      'services: { a: { ready: 1, environment: { PORT: 3000, ON: true, GITHUB_TOKEN: x } }, b: { ready: 2, environment: [HOME, ANTHROPIC_API_KEY] } }',
    ),
  )
  assert.deepEqual(settings.services[0]?.environment, { PORT: '3000', ON: 'true', GITHUB_TOKEN: 'x' })
  assert.deepEqual(settings.services[1]?.inherit, ['HOME', 'ANTHROPIC_API_KEY'])
  assert.deepEqual(notes, [
    'ralph.config.yml: services: GITHUB_TOKEN is never passed to services',
    'ralph.config.yml: services: ANTHROPIC_API_KEY is never passed to services',
  ])
})

test('a service that keeps running is a note where it cannot, and the list of settings has names only', () => {
  const written =
    'isolation: other-user\nservices: { db: { start: T=hunter2 pg, ready: 1, restartBeforeVerify: false }, web: { start: x, ready: 2 } }'
  const { settings, notes } = right(yml(written))
  assert.deepEqual(notes, [
    'ralph.config.yml: services: restartBeforeVerify: false has no effect on db: with isolation: other-user, Ralph stops services after the gates',
  ])
  assert.equal(describeServices(settings), 'db, web')
  assert.deepEqual(right(yml(written.replace('other-user', 'same-user'))).notes, [])
})

test('a service without ready is a mistake', () => {
  const { path, fix } = onlyWrong(yml('services: { db: { start: postgres } }'))
  assert.deepEqual([path, fix], ['ralph.config.yml: services.db.ready', 'add `ready:`'])
})

test('all mistakes in services are reported at once, each once', () => {
  const written = `services:
  - { name: a b, ready: 70000 }
  - { name: c, ready: {} }
  - { name: d, ready: { log: x, tcp: "y:1" } }
  - { name: e, ready: { tcp: 5432 }, logs: ../x, when: [] }
  - { name: f, ready: { lgo: x }, env: [A] }
  - { name: g, ready: { tcp: "db:0" }, environment: { A-B: x, C: [1] } }
  - { ready: localhost:3000 }`
  assert.deepEqual(
    paths(wrong(yml(written))),
    [
      ...['[0].name', '[0].ready', '[1].ready', '[2].ready', '[3].logs', '[3].ready.tcp', '[3].when'],
      ...['[4].env', '[4].ready.lgo', '[5].environment.A-B', '[5].environment.C', '[5].ready.tcp'],
      ...['[6].name', '[6].ready'],
    ].map((path) => `ralph.config.yml: services${path}`),
  )
})

test('two services whose names differ only by case are refused', () => {
  const { path, fix } = onlyWrong(yml('services: [{ name: web, ready: 1 }, { name: Web, ready: 2 }]'))
  assert.deepEqual([path, fix], ['ralph.config.yml: services[1].name', 'rename one of the two'])
})
