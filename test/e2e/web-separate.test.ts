// `isolation: separate-job` with everything that sees and steers at once: service, browser, reports, a flaky gate, coverage, steps,
// evidence with a picture, and the report that the land job leaves. On the bundle.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { unzipSync } from 'fflate'
import { freePort } from '../fakes/clone.ts'
import { lacks } from '../machine/needs.ts'
import { openSite, outputsOf, story } from './site.ts'

const SERVER = `import { createServer } from 'node:http'
import { page } from './page.mjs'

createServer((request, response) => {
  const { pathname } = new URL(request.url, 'http://localhost')
  const body = pathname === '/health' ? 'ok' : page(pathname)
  response.writeHead(body === null ? 404 : 200, { 'content-type': 'text/html' }).end(body ?? 'nothing here')
}).listen(Number(process.env.WEB_PORT), 'localhost', () => console.log('listening'))
`
const EMPTY = 'export const page = () => null\n'
/** The page of the shop with this script, and a line that no test runs. */
const shop = (script: string) => `export function page(path) {
  if (path === '/nowhere') {
    return 'never asked for'
  }
  if (path !== '/shop') return null
  return \`<!doctype html><html lang="en"><head><title>Shop</title><link rel="icon" href="data:,"></head>
<body><main><h1>Shop</h1><p>Tea</p></main><script>${script}</script></body></html>\`
}
`
const PAGE_TEST = `import assert from 'node:assert/strict'
import test from 'node:test'
import { page } from '../src/page.mjs'

test('the shop has tea', () => assert.match(page('/shop'), /Tea/))
`
const TWO = {
  'src/two.mjs': 'export const two = 2\n',
  'test/two.test.mjs': PAGE_TEST.replace('page.mjs', 'two.mjs')
    .replace('{ page }', '{ two }')
    .replace(/^test.*/m, "test('two is two', () => assert.equal(two, 2))"),
}
const REPORTED = [
  'mkdir -p reports && node --test --experimental-test-coverage',
  ...['spec stdout', 'junit reports/junit.xml', 'lcov reports/lcov.info'].map((one) => {
    const [reporter = '', to = ''] = one.split(' ')
    return `--test-reporter=${reporter} --test-reporter-destination=${to}`
  }),
  'test/*.test.mjs',
].join(' ')

test('a page in four jobs: rejected, fixed, judged by its screenshot, and reported (Chromium)', {
  skip: lacks('chrome'),
}, async (t) => {
  const marks = await mkdtemp(join(tmpdir(), 'flaky-'))
  t.after(() => rm(marks, { recursive: true }))
  const port = await freePort()
  const url = `http://localhost:${port}/shop`
  const reviewed = 'if [ "$RALPH_STEP" = review ]; then echo "$RALPH_STORY_ID" >>src/reviewed.txt; fi'
  const good = { 'src/page.mjs': shop("document.title = 'Tea'"), 'test/page.test.mjs': PAGE_TEST }
  const broken = { 'src/page.mjs': shop('showItems()'), 'test/page.test.mjs': PAGE_TEST }
  await using site = await openSite({
    separate: true,
    stories: [
      story('US-001', 'a shop page', {
        tags: ['ui'],
        acceptanceCriteria: [`${url} shows tea`, 'a test shows it'],
      }),
      story('US-002', 'another module', { acceptanceCriteria: ['two is two'] }),
    ],
    script: {
      'US-001': [
        { files: broken, shell: reviewed },
        { files: good, shell: reviewed },
      ],
      'US-002': [{ files: TWO, shell: reviewed }],
      verify: [
        {
          shell: `ls -l .ralph/screenshots; head -c 12 .ralph/screenshots/shop-1280x800.webp; echo`,
          say: [
            '<ralph>EVIDENCE:US-001#1 screenshot shop-1280x800 shows tea</ralph>',
            '<ralph>EVIDENCE:US-001#2 gate test runs test/page.test.mjs</ralph>',
            '<ralph>EVIDENCE:US-002#1 src/two.mjs:1</ralph>',
            '<ralph>VERIFIED</ralph>',
          ].join('\n'),
        },
      ],
    },
    inputs: {
      gates: JSON.stringify({
        test: {
          run: REPORTED,
          report: 'reports/junit.xml',
          coverage: { file: 'reports/lcov.info', threshold: 50 },
        },
        sometimes: {
          run: `[ ! -e src/two.mjs ] || [ -e ${marks}/tried ] || { touch ${marks}/tried; exit 1; }`,
          retries: 1,
        },
      }),
      services: JSON.stringify({
        web: {
          start: 'exec node src/server.mjs',
          ready: `http://localhost:${port}/health`,
          environment: { WEB_PORT: String(port) },
        },
      }),
      browser: '{ accessibility: true }',
      steps: JSON.stringify([
        { name: 'implement', type: 'agent' },
        { name: 'format', type: 'command', config: { command: 'cat src/*.mjs | wc -l >src/lines.txt' } },
        { name: 'review', type: 'agent', config: { prompt: 'Review {{storyId}}.' } },
        { name: 'commit', type: 'git-commit' },
      ]),
    },
    files: { 'src/server.mjs': SERVER, 'src/page.mjs': EMPTY },
  })
  const run = await site.go()
  assert.equal(outputsOf(run).outcome, 'complete', site.log())

  const state = await site.state()
  await t.test('the page is rejected for console errors, and passes when they are fixed', async () => {
    assert.deepEqual(
      state.timeline.map(({ storyId, result }) => [storyId, result]),
      [
        ['US-001', 'rejected'],
        ['US-001', 'passed'],
        ['US-002', 'passed'],
      ],
    )
    const again = (await site.sessions()).find(({ story: id, attempt }) => id === 'US-001' && attempt === 2)
    assert.match(again?.prompt ?? '', /showItems is not defined/)
  })
  await t.test('test counts, coverage and flaky gates come from the gate job', async () => {
    const gateOf = (id: string, name: string) => state.records[id]?.gates.find((one) => one.name === name)
    assert.deepEqual(gateOf('US-001', 'test')?.tests, { passed: 2, failed: 0, skipped: 0 })
    assert.match(gateOf('US-001', 'test')?.remarks?.join() ?? '', /no test ran src\/page\.mjs:3/)
    assert.equal(gateOf('US-002', 'sometimes')?.flaky, true)
    const check = (await site.checks()).get('ralph / US-002')
    assert.match(check?.text ?? '', /flaky/)
  })
  await t.test('commits have the files of both steps before the commit', async () => {
    assert.equal(await site.github.read('ralph/sample', 'src/reviewed.txt'), 'US-001\nUS-001\nUS-002\n')
    assert.match((await site.github.read('ralph/sample', 'src/lines.txt')) ?? '', /^\d+\n$/)
    const modes = (await site.sessions()).map(({ mode, story: id }) => (mode === 'run' ? id : mode))
    assert.deepEqual(modes, ['US-001', 'US-001', 'US-001', 'US-001', 'US-002', 'US-002', 'verify'])
  })
  await t.test('the judge gets the screenshot, and its evidence is verified', async () => {
    assert.match(
      (await site.sessions()).at(-1)?.prompt ?? '',
      /^- shop-1280x800: \.ralph\/screenshots\/shop-1280x800\.webp/m,
    )
    assert.match(site.log(), /RIFF.*WEBP/)
    assert.doesNotMatch(site.log(), /\[verify\] RESET/)
    const { userStories } = await site.prd()
    assert.deepEqual(
      userStories[0]?.lastResult?.evidence?.map(({ shown }) => shown),
      ['screenshot shop-1280x800 shows tea', 'gate test runs test/page.test.mjs'],
    )
  })
  await t.test('the report of the land job has the screenshot', () => {
    const kept = [...site.github.world.results.artifacts].filter(([name]) => name.endsWith('-land'))
    const [, zip] = kept.at(-1) ?? []
    const page = Buffer.from(unzipSync(zip ?? new Uint8Array())['report/sample.html'] ?? []).toString()
    assert.match(page, /<img[^>]+src="data:image\/webp;base64,/)
  })
})
