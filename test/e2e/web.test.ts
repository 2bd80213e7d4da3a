// A web application with a service, a database and a browser, from the first story to the pull request: on the bundle.
import assert from 'node:assert/strict'
import test from 'node:test'
import { freePort } from '../fakes/clone.ts'
import { lacks } from '../machine/needs.ts'
import { openSite, outputsOf, RUN_TESTS, story } from './site.ts'

const skip = lacks('chrome', 'postgres')

/** PostgreSQL runs as no root. */
const DATABASE = `set -e
D=$(mktemp -d)
run() { if [ "$(id -u)" = 0 ]; then chown nobody "$D"; setpriv --reuid=nobody --regid=nogroup --clear-groups "$@"; else "$@"; fi; }
run initdb -D "$D/data" -A trust -U postgres >/dev/null
run postgres -D "$D/data" -k "$D" -p "$DB_PORT" -c listen_addresses=localhost`

const SERVER = `import { createServer } from 'node:http'
import { answer } from './app.mjs'

createServer((request, response) => {
  const { status = 200, type = 'text/html', body } = answer(new URL(request.url, 'http://localhost').pathname)
  response.writeHead(status, { 'content-type': type }).end(body)
}).listen(Number(process.env.WEB_PORT), 'localhost', () => console.log('listening'))
`
const QUERY = `import { execFileSync } from 'node:child_process'

const ADDRESS = ['-h', 'localhost', '-p', process.env.DB_PORT, '-U', 'postgres', '-d', 'postgres', '-At']
export const query = (sql) => execFileSync('psql', [...ADDRESS, '-c', sql], { encoding: 'utf8' }).trim()
`
const APP = `export function answer(path) {
  return path === '/health' ? { body: 'ok' } : { status: 404, body: 'nothing here' }
}
`

/** The application with its items, and a page whose script is this. */
const app = (script: string, footer = '') => `import { query } from './query.mjs'

query("create table if not exists items (name text primary key); insert into items values ('tea'), ('milk') on conflict do nothing")

const PAGE = \`<!doctype html><html lang="en"><head><title>Shop</title><link rel="icon" href="data:,"></head><body><main><h1>Shop</h1><ul></ul></main>${footer}
<script>${script}</script></body></html>\`

export function answer(path) {
  if (path === '/health') return { body: 'ok' }
  if (path === '/api/items') return { type: 'application/json', body: JSON.stringify(query('select name from items order by name').split('\\n')) }
  if (path === '/shop') return { body: PAGE }
  return { status: 404, body: 'nothing here' }
}
`
const GOOD =
  "fetch('/api/items').then((answer) => answer.json()).then((items) => { document.querySelector('ul').innerHTML = items.map((item) => '<li>' + item + '</li>').join('') })"
const BROKEN = `showItems(); ${GOOD}`

const apiTest = (name: string, expression: string) => ({
  [`test/${name}.test.mjs`]: `import assert from 'node:assert/strict'
import test from 'node:test'

test('${name}', async () => {
  const answer = await fetch(\`http://localhost:\${process.env.WEB_PORT}/api/items\`)
  const items = await answer.json()
  assert.ok(${expression})
})
`,
})

test('a web application of five stories: a page with console errors is rejected with a screenshot, then fixed (PostgreSQL, Chromium)', {
  skip,
}, async () => {
  const [web, db] = [await freePort(), await freePort()]
  const shop = `http://localhost:${web}/shop`
  const ui = {
    tags: ['ui'],
    acceptanceCriteria: [`${shop} lists the items`, 'its console is clean'],
  }
  await using site = await openSite({
    stories: [
      story('US-001', 'items', { acceptanceCriteria: ['GET /api/items gives tea'] }),
      story('US-002', 'milk', { priority: 2, acceptanceCriteria: ['GET /api/items gives milk'] }),
      story('US-003', 'a shop page', { priority: 3, ...ui }),
      story('US-004', 'order', { priority: 4, acceptanceCriteria: ['items are in their order'] }),
      story('US-005', 'a footer', { priority: 5, ...ui, acceptanceCriteria: [`${shop} says Goodbye`] }),
    ],
    script: {
      'US-001': [{ files: { 'src/app.mjs': app(GOOD), ...apiTest('tea', "items.includes('tea')") } }],
      'US-002': [{ files: apiTest('milk', "items.includes('milk')") }],
      'US-003': [
        { files: { 'src/app.mjs': app(BROKEN), 'src/page.mjs': 'export {}\n' } },
        { files: { 'src/app.mjs': app(GOOD, '<footer>Welcome</footer>') } },
      ],
      'US-004': [{ files: apiTest('order', "items.join() === 'milk,tea'") }],
      'US-005': [{ files: { 'src/app.mjs': app(GOOD, '<footer>Goodbye</footer>') } }],
      verify: [
        {
          say: [
            '<ralph>EVIDENCE:US-001#1 test/tea.test.mjs:7 asks for it</ralph>',
            '<ralph>EVIDENCE:US-002#1 gate test runs test/milk.test.mjs</ralph>',
            '<ralph>EVIDENCE:US-003#1 screenshot shop-1280x800 lists tea and milk</ralph>',
            '<ralph>EVIDENCE:US-003#2 gate browser found nothing in it</ralph>',
            '<ralph>EVIDENCE:US-004#1 test/order.test.mjs:7</ralph>',
            '<ralph>EVIDENCE:US-005#1 src/app.mjs:5 has the footer</ralph>',
            '<ralph>VERIFIED</ralph>',
          ].join('\n'),
        },
      ],
    },
    inputs: {
      gates: `test: ${RUN_TESTS}`,
      'gate-env': 'WEB_PORT\nDB_PORT',
      'iterations-per-job': '4',
    },
    files: {
      'src/server.mjs': SERVER,
      'src/query.mjs': QUERY,
      'src/app.mjs': APP,
      'ralph.config.json': JSON.stringify({
        services: [
          {
            name: 'db',
            start: DATABASE,
            ready: { command: 'pg_isready -q -h localhost -p "$DB_PORT"' },
            restartBeforeVerify: false,
            environment: { DB_PORT: String(db) },
          },
          {
            name: 'web',
            start: 'exec node src/server.mjs',
            ready: `http://localhost:${web}/health`,
            environment: { WEB_PORT: String(web), DB_PORT: String(db) },
          },
        ],
        browser: { accessibility: true },
      }),
    },
    workflow: (text) =>
      text.replace('steps:', `env:\n      WEB_PORT: ${web}\n      DB_PORT: ${db}\n    steps:`),
  })
  const run = await site.go()
  assert.equal(outputsOf(run).outcome, 'complete', site.log())

  const state = await site.state()
  const third = state.timeline.filter(({ storyId }) => storyId === 'US-003')
  assert.deepEqual(
    third.map(({ result }) => result),
    ['rejected', 'passed'],
  )
  assert.match(third[0]?.summary ?? '', /gate browser/)
  const again = (await site.sessions()).find(({ story: id, attempt }) => id === 'US-003' && attempt === 2)
  assert.match(again?.prompt ?? '', /showItems is not defined/)

  const pictures = (id: string) =>
    state.records[id]?.gates.flatMap(({ screenshots = [] }) => screenshots) ?? []
  assert.deepEqual(
    pictures('US-003').map(({ url, viewport }) => [url, viewport]),
    [[shop, '1280x800']],
  )
  assert.ok((pictures('US-005')[0]?.before ?? null) !== null, 'the page as it was before')
  const { userStories } = await site.prd()
  assert.ok(userStories.every(({ lastResult }) => (lastResult?.evidence?.length ?? 0) > 0))
  assert.match((await site.pull()).body ?? '', /Evidence for 6 criteria/)
})
