// A story that is seen: the browser refuses a page whose console is broken, with a picture, and lets it through when it is mended.
import '../fakes/disk.ts'
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { chmod } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { freePort } from '../fakes/clone.ts'
import { lacks } from '../machine/needs.ts'
import { place } from './laptop.ts'
import { openSite, outputsOf, story } from './site.ts'

const SERVER = `
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
createServer((request, response) => {
  try {
    const page = readFileSync(new URL('pages' + (request.url === '/' ? '/index' : request.url) + '.html', import.meta.url))
    response.writeHead(200, { 'content-type': 'text/html' }).end(page)
  } catch {
    response.writeHead(404).end('no such page')
  }
}).listen(Number(process.argv[2]), '127.0.0.1')
`
const page = (title: string, more = '') =>
  `<!doctype html><html lang="en"><title>${title}</title><body style="font:20px sans-serif;margin:40px"><h1>${title}</h1>${more}</body></html>\n`
const SAD = '<script>console.error("price is", undefined)</script>'
const PRD = '.ralph/2026-01-31-sample/prd.json'
const GATE = 'gates: { test: "true" }'

/** `older`: the gates stand in a ralph.config.json of the agnostic CLI. */
async function shop(settings: string, turns: unknown[], verify: unknown[] = [{}], older?: object) {
  const port = await freePort()
  const url = `http://localhost:${port}`
  const seen = story('US-001', 'the cart', {
    tags: ['ui'],
    acceptanceCriteria: [`${url}/cart shows the cart`],
  })
  const config = [
    GATE,
    `services: { web: { start: node server.mjs ${port}, ready: "${url}" } }`,
    `browser: { ${settings} }`,
  ]
  const services = [{ name: 'web', start: `node server.mjs ${port}`, ready: url }]
  const settingsFile =
    older === undefined
      ? { 'ralph.config.yml': `${config.join('\n')}\n` }
      : { 'ralph.config.json': JSON.stringify({ services, ...older }) }
  const at = await place(
    {
      'server.mjs': SERVER,
      'pages/index.html': page('Shop'),
      ...settingsFile,
      [PRD]: JSON.stringify({ schemaVersion: 2, userStories: [seen] }),
    },
    { 'US-001': turns, verify } as never,
  )
  const state = () => JSON.parse(at.git('show', 'refs/ralph/2026-01-31-sample:.ralph-state/state.json'))
  return { ...at, url, state }
}

test('a page with console errors is rejected with a screenshot, the next attempt gets the errors, and the fixed page passes (Chromium)', {
  skip: lacks('chrome'),
  timeout: 240_000,
}, async () => {
  await using at = await shop('urls: [/], viewports: [1280x800, 390x844]', [
    { files: { 'pages/cart.html': page('Cart', SAD) } },
    { files: { 'pages/cart.html': page('Cart', '<p>Nothing in it.</p>') } },
  ])
  const { code, out, err } = await at.ralph(['run'])
  assert.equal(code, 0, out + err)
  const [, second = ''] = (await at.prompts()).filter((prompt) => prompt.includes('US-001'))
  assert.match(second, /^- browser: opens the pages of the story/m)
  assert.match(second, new RegExp(`${at.url}/cart \\(390x844\\):\\n\\s+console error: price is undefined`))
  const { records, basePages, timeline } = at.state()
  const [gate] = records['US-001'].gates.filter((one: { name: string }) => one.name === 'browser')
  assert.deepEqual([gate.ok, gate.ended], [true, '2 pages without a fault'])
  assert.deepEqual(
    timeline.map((one: { result: string }) => one.result),
    ['rejected', 'passed'],
  )
  // The first page was there before; the cart was not.
  const pages = gate.screenshots.map(({ url, viewport, before }: Record<string, string>) => [
    new URL(url ?? '').pathname,
    viewport,
    before !== null,
  ])
  assert.deepEqual(pages, [
    ['/', '1280x800', true],
    ['/', '390x844', true],
    ['/cart', '1280x800', false],
    ['/cart', '390x844', false],
  ])
  assert.equal(basePages.length, 2)
  const kept = at
    .git('ls-tree', '--name-only', 'refs/ralph/2026-01-31-sample:.ralph-state/screenshots')
    .split('\n')
  for (const { blob } of gate.screenshots) assert.ok(kept.includes(`${blob}.webp`))
  const folder = /^Pictures: (\S+)/m.exec(out + err)?.[1] ?? ''
  const files = readdirSync(folder).filter((name) => name.startsWith('US-001'))
  assert.deepEqual(files, [
    'US-001-1-cart-1280x800.webp',
    'US-001-1-cart-390x844.webp',
    'US-001-1-home-1280x800.webp',
    'US-001-1-home-390x844.webp',
    'US-001-2-cart-1280x800.webp',
    'US-001-2-cart-390x844.webp',
    'US-001-2-home-1280x800.webp',
    'US-001-2-home-390x844.webp',
  ])
  assert.equal(readFileSync(join(folder, files[4] ?? '')).toString('latin1', 8, 12), 'WEBP')
})

test('a configuration of the agnostic CLI: the browser gate runs before verify.ui, and commits have its message (Chromium)', {
  skip: lacks('chrome'),
  timeout: 120_000,
}, async () => {
  const cart = [{ files: { 'pages/cart.html': page('Cart') } }]
  await using at = await shop('', cart, [{}], {
    provider: { command: 'amp' },
    verify: { default: ['test -f server.mjs'], ui: ['test -d pages'] },
    browser: { enabled: true },
    commits: { message: 'chore: update prd.json' },
  })
  const { code, out, err } = await at.ralph(['run'])
  assert.equal(code, 0, out + err)
  const names = at.state().records['US-001'].gates.map(({ name }: { name: string }) => name)
  assert.deepEqual(names, ['test-server-mjs', 'browser', 'test-pages'])
  const subjects = at.git('log', '--format=%s', 'main..ralph/sample').split('\n')
  assert.deepEqual(subjects, ['chore: update prd.json', 'feat: US-001 - the cart', 'chore: update prd.json'])
})

test('the browser gate runs as another user beside services of that user (Chromium)', {
  skip: lacks('root', 'chrome-for-all'),
  timeout: 240_000,
}, async () => {
  await using at = await shop('urls: [/]', [{ files: { 'pages/cart.html': page('Cart') } }])
  await chmod(at.folder, 0o755)
  await chmod(join(at.folder, 'seen.jsonl'), 0o666)
  const { code, out, err } = await at.ralph(['run', '--isolation', 'other-user'])
  assert.equal(code, 0, out + err)
  const [gate] = at.state().records['US-001'].gates.filter((one: { name: string }) => one.name === 'browser')
  assert.deepEqual([gate.ok, gate.screenshots.length], [true, 2])
})

test('a browser that is not installed is refused before the run begins, with how to get one', {
  timeout: 60_000,
}, async () => {
  await using at = await shop('executablePath: /nowhere/chrome', [])
  for (const command of ['run', 'validate']) {
    const { code, err } = await at.ralph([command])
    assert.equal(code, 64, err)
    assert.match(
      err,
      /browser\.executablePath[\s\S]*\/nowhere\/chrome[\s\S]*Ralph looks for an installed browser/,
    )
  }
  assert.equal(existsSync(join(at.repository, '.git/ralph/git/refs/ralph')), false)
})

test('a browser URL that no service serves is refused', { timeout: 60_000 }, async () => {
  await using at = await shop('urls: ["https://example.com/"]', [])
  const { code, err } = await at.ralph(['validate'])
  assert.equal(code, 64, err)
  assert.match(err, /browser\.urls\[0\][\s\S]*https:\/\/example\.com\//)
})

test('separate-job: only the gate job opens pages, also for the baseline (Chromium)', {
  skip: lacks('chrome'),
  timeout: 300_000,
}, async () => {
  const port = await freePort()
  const url = `http://localhost:${port}`
  const cart = { 'pages/cart.html': page('Cart') }
  await using site = await openSite({
    separate: true,
    stories: [
      story('US-001', 'the cart', { tags: ['ui'], acceptanceCriteria: [`${url}/cart shows the cart`] }),
    ],
    files: { 'server.mjs': SERVER, 'pages/index.html': page('Shop') },
    script: { 'US-001': [{ files: cart }, { files: cart }] },
    inputs: {
      gates: 'test: "true"',
      services: `web: { start: node server.mjs ${port}, ready: "${url}" }`,
      browser: 'urls: [/]',
      steps:
        '[{ name: implement, type: agent }, { name: look, type: verify }, { name: again, type: agent, config: { prompt: Again. } }]',
    },
  })
  const run = await site.go()
  assert.equal(outputsOf(run).outcome, 'complete', site.log())
  const logs = (key: string) =>
    site.runner.runs.flatMap(({ jobs }) =>
      jobs.filter((job) => job.key === key).map((job) => job.steps.map(({ log }) => log).join('\n')),
    )
  const ran = logs('work').join('\n')
  assert.match(ran, /\[test\]/)
  assert.doesNotMatch(ran, /\[browser\]/)
  assert.match(logs('gate').join('\n'), /\[browser\]/)
  const { basePages = [], records } = await site.state()
  assert.deepEqual(
    basePages.map((one) => new URL(one.url).pathname),
    ['/'],
  )
  const { screenshots = [] } = records['US-001']?.gates.find(({ name }) => name === 'browser') ?? {}
  assert.deepEqual(
    screenshots.map((one) => [new URL(one.url).pathname, one.before !== null]),
    [
      ['/', true],
      ['/cart', false],
    ],
  )
})
