// A real chain tells a webhook what happens, once, when it is durable, and a collector when each job is over; nothing that
// they do holds it up.
import assert from 'node:assert/strict'
import test from 'node:test'
import { Loopback } from '../unit/notify/loopback.ts'
import { badTurn, Chain, goodTurn, story } from './chain.ts'

const SECRET = 'xoxb-0123456789-secret'
const STORIES = [story('US-001', `<!channel> ${SECRET}`), story('US-002', 'two')]
const SCRIPT = { 'US-001': [goodTurn('one')], 'US-002': [badTurn('two'), badTurn('two'), badTurn('two')] }

test('start, progress, blocked and the outcome reach a webhook once each, without secrets, and a restarted job sends none again', async () => {
  await using server = await Loopback.open()
  const inputs = {
    notify: JSON.stringify({
      webhook: { url: server.url(), secret: SECRET },
      slack: server.url('/slack'),
      every: 2,
    }),
    'max-iterations': '8',
  }
  await using chain = await Chain.open({ stories: STORIES, script: SCRIPT, inputs })
  assert.equal((await chain.go()).outcome, 'stuck')
  const heard = (path: string) => server.heard.filter((one) => one.path === path)
  const told = heard('/services/T0000000/B0000000/0123456789abcdef').map(({ body }) => body)
  assert.deepEqual(
    told.map(({ event, outcome, iterations, stories }) => [
      event,
      outcome,
      iterations,
      JSON.stringify(stories),
    ]),
    [
      ['start', null, 0, '{"total":2,"passed":0,"skipped":0,"blocked":[]}'],
      ['progress', null, 2, '{"total":2,"passed":1,"skipped":0,"blocked":[]}'],
      ['blocked', null, 4, '{"total":2,"passed":1,"skipped":0,"blocked":["US-002"]}'],
      ['progress', null, 4, '{"total":2,"passed":1,"skipped":0,"blocked":["US-002"]}'],
      ['outcome', 'stuck', 4, '{"total":2,"passed":1,"skipped":0,"blocked":["US-002"]}'],
    ],
  )
  assert.match(String(told[2]?.headline), /^US-002 is blocked \(two\): gate test/)
  assert.match(String(told[2]?.next), /^Ralph continues with the other stories/)
  assert.equal(heard('/slack').length, told.length)
  assert.doesNotMatch(server.heard.map(({ text }) => text).join('\n'), new RegExp(`${SECRET}|<!channel>`))
  assert.equal(new Set(told.map(({ deliveryId }) => deliveryId)).size, told.length)
  assert.deepEqual(chain.notes, [])

  const before = server.heard.length
  assert.equal((await chain.go()).outcome, 'stuck')
  assert.equal(server.heard.length, before, 'it stands as it stood: nothing is told')
})

test('a webhook that answers with errors is one warning, and the chain completes', async () => {
  await using server = await Loopback.open()
  server.reply = (response) => response.writeHead(500).end('gone')
  const inputs = { notify: `discord: ${server.url('/api/webhooks/1/abcdefghijklmnopqrstuvwxyz')}\nevery: 1` }
  const stories = [story('US-001', 'one')]
  await using chain = await Chain.open({ stories, script: { 'US-001': [goodTurn('one')] }, inputs })
  assert.equal((await chain.go()).outcome, 'complete')
  assert.ok(server.heard.length > 1)
  assert.deepEqual(chain.notes, ['notify: Ralph could not send a message to discord: HTTP 500: gone'])
})

type Sent = { traceId: string; spanId: string; parentSpanId?: string; name: string } & Record<string, unknown>

test('an OTLP collector gets all jobs of a chain as one trace of nested spans with metrics, without text of stories', async () => {
  await using server = await Loopback.open()
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: server.url(''),
    OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer%20${SECRET}`,
  }
  const stories = [story('US-001', 'a word of a story'), story('US-002', 'two')]
  await using chain = await Chain.open({ stories, script: SCRIPT, env, inputs: { 'max-attempts': '3' } })
  assert.equal((await chain.go()).outcome, 'stuck')
  assert.deepEqual(
    server.heard.map(({ path }) => path),
    ['/v1/traces', '/v1/metrics', '/v1/traces', '/v1/metrics'],
    'one request each when a job is over',
  )
  assert.ok(server.heard.every(({ headers }) => headers.authorization === `Bearer ${SECRET}`))
  const spans: Sent[] = server.heard
    .flatMap(({ body }) => (body.resourceSpans ?? []) as { scopeSpans: { spans: Sent[] }[] }[])
    .flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans))
  assert.equal(new Set(spans.map(({ traceId }) => traceId)).size, 1)
  const ids = spans.map(({ spanId }) => spanId)
  assert.equal(new Set(ids).size, ids.length)
  const orphans = spans.filter(
    ({ parentSpanId }) => parentSpanId !== undefined && !ids.includes(parentSpanId),
  )
  assert.deepEqual(orphans, [])
  const count = (name: string) => spans.filter((span) => span.name === name).length
  assert.deepEqual(
    ['ralph.job', 'ralph.iteration', 'invoke_agent custom', 'gate test'].map(count),
    [2, 4, 4, 5],
  )
  assert.deepEqual(
    spans.filter(({ parentSpanId }) => parentSpanId === undefined).map(({ name }) => name),
    ['ralph.job', 'ralph.job'],
  )
  const text = server.heard.map((one) => one.text).join('\n')
  assert.doesNotMatch(text, new RegExp(`a word of a story|${SECRET}`))
  assert.match(text, /"process\.exit\.code","value":\{"intValue":1\}/)
  assert.match(text, /"gen_ai\.usage\.input_tokens","value":\{"intValue":1000\}/)
  assert.deepEqual(chain.notes, [])
})

test('an OTLP collector that refuses requests is one warning per job', async () => {
  await using server = await Loopback.open()
  server.reply = (response) => response.writeHead(503).end('full')
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: server.url('') }
  const stories = [story('US-001', 'one')]
  await using chain = await Chain.open({ stories, script: { 'US-001': [goodTurn('one')] }, env })
  assert.equal((await chain.go()).outcome, 'complete')
  assert.deepEqual(chain.notes, ['Ralph could not send telemetry: HTTP 503: full'])
})
