// What the browser check says of pages, with a real Chromium.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { findChrome } from '../../../../src/gates/browser/find.ts'
import { newMark } from '../../../../src/system/process.ts'
import { lacks } from '../../../machine/needs.ts'
import { html, look, site } from './site.ts'

const chrome = (name: string, act: () => Promise<void>) =>
  test(`${name} (real Chromium)`, { skip: lacks('chrome'), timeout: 120_000 }, act)

/** Path to how a page is made and the one line that is told of it. */
const WRONG: Readonly<Record<string, [Parameters<typeof site>[0][string], string | RegExp]>> = {
  '/console': [
    html('<script>console.error("no such", { a: 1 }, new Error("inner"))</script>'),
    /^console error: no such Object Error: inner/,
  ],
  '/assert': [html('<script>console.assert(1 === 2, "sums")</script>'), 'console error: sums'],
  '/error': [
    html('<script>\n  missing()</script>'),
    /^page error: ReferenceError: missing is not defined \(http:\/\/localhost:\d+\/error:2:3\)$/,
  ],
  '/rejection': [
    html('<script>Promise.reject(new TypeError("no cart"))</script>'),
    /^page error: TypeError: no cart/,
  ],
  '/500': [(_, response) => void response.writeHead(500).end('oops'), 'status: 500 Internal Server Error'],
  '/nothing': [(_, response) => void response.writeHead(404).end('oops'), 'status: 404 Not Found'],
  '/failed': [
    html('<img src="/gone.png">'),
    /^failed request: GET http:\/\/localhost:\d+\/gone\.png: 404 Not Found$/,
  ],
  '/refused': [(_, response) => void response.destroy(), 'not opened: net::ERR_EMPTY_RESPONSE'],
  '/alert': [
    html(
      '<div role="alert">Something went <b>wrong</b></div><div role="alert" hidden>not seen</div><div role="alert"></div>',
    ),
    'alert: Something went wrong',
  ],
  '/vite': [
    html(
      '<script>const o = document.createElement("vite-error-overlay"); o.attachShadow({ mode: "open" }).innerHTML = "<pre class=message-body>Failed to resolve import</pre>"; document.body.append(o)</script>',
    ),
    'error overlay of Vite: Failed to resolve import',
  ],
  '/next': [
    html(
      '<script>const o = document.createElement("nextjs-portal"); o.attachShadow({ mode: "open" }).innerHTML = "<div data-nextjs-dialog>Build Error</div>"; document.body.append(o)</script>',
    ),
    'error overlay of Next.js: Build Error',
  ],
  '/redirect': [
    (_, response) => void response.writeHead(302, { location: 'https://example.com/login' }).end(),
    'not followed: the page redirects to https://example.com/login, on another origin',
  ],
  '/file': [
    html('<script>location = "file:///etc/passwd"</script>'),
    'console error: Not allowed to load local resource: file:///etc/passwd',
  ],
}

/** What is said below each address, by its path. */
function byPath(output: string): Map<string, string[]> {
  return new Map(
    output.split(/^(?=http)/m).map((part): [string, string[]] => {
      const [address = '', ...lines] = part.trimEnd().split('\n')
      return [new URL(address.replace(/:$/, '')).pathname, lines.map((line) => line.trim())]
    }),
  )
}

chrome('each fault of a page is one line below its address', async () => {
  await using shop = await site(
    Object.fromEntries(Object.entries(WRONG).map(([path, [page]]) => [path, page])),
  )
  const { ok, ended, output, screenshots = [], pictures } = await look(shop.url, Object.keys(WRONG))
  assert.equal(ok, false)
  assert.ok(
    ended.startsWith(`faults on ${Object.keys(WRONG).length} of ${Object.keys(WRONG).length} pages: `),
    ended,
  )
  const said = byPath(output)
  for (const [path, [, wanted]] of Object.entries(WRONG)) {
    const [line = '', ...more] = said.get(path) ?? []
    if (typeof wanted === 'string') assert.equal(line, wanted, output)
    else assert.match(line, wanted)
    assert.deepEqual(more, [], `${path}\n${output}`)
  }
  // There is nothing to see of a page that was not opened.
  assert.equal(screenshots.length, Object.keys(WRONG).length - 2)
  for (const { blob, bytes } of screenshots) {
    const picture = pictures.get(blob)
    assert.equal(picture?.length, bytes)
    assert.equal(picture?.toString('latin1', 8, 12), 'WEBP')
    assert.ok(bytes <= 60 * 1024)
  }
})

chrome('pages without a fault are green, with a screenshot in each size and the one before', async () => {
  const noise =
    '<script>console.log("hello"); console.warn("old"); new Image().src = "data:image/gif;base64,R0lGODlhAQABAAAAACw="</script>'
  await using shop = await site({ '/': html(`<h1>Shop</h1>${noise}`), '/cart': html('<h1>Cart</h1>') })
  const before = [
    { url: `${shop.url}/cart`, viewport: '390x844', blob: 'old', bytes: 1, before: null },
    { url: `${shop.url}/cart`, viewport: '390x844', blob: 'newer', bytes: 1, before: null },
  ]
  const result = await look(shop.url, ['/', '/cart'], { viewports: ['1280x800', '390x844'], before })
  assert.deepEqual([result.ok, result.ended, result.output], [true, '2 pages without a fault', ''])
  assert.equal(result.remarks, undefined)
  assert.deepEqual(
    result.screenshots?.map(({ url, viewport, before }) => [new URL(url).pathname, viewport, before]),
    [
      ['/', '1280x800', null],
      ['/', '390x844', null],
      ['/cart', '1280x800', null],
      ['/cart', '390x844', 'newer'],
    ],
  )
})

chrome('a page on this machine may have any name of the machine', async () => {
  await using shop = await site({ '/': html('here') })
  const pages = [{ url: `${shop.url.replace('localhost', '127.0.0.1')}/`, expected: [] }]
  const { ok, output } = await look(shop.url, [], { pages })
  assert.equal(ok, true, output)
  if (
    !Object.values(networkInterfaces())
      .flat()
      .some((one) => one?.address === '::1')
  )
    return
  await using six = await site({ '/': html('here') }, '::1')
  const both = [six.url, six.url.replace('localhost', '[::1]')].map((url) => ({
    url: `${url}/`,
    expected: [],
  }))
  const seen = await look(six.url, [], { pages: both })
  assert.equal(seen.ok, true, seen.output)
})

chrome('an expected status, or a request that the page aborted, is no fault', async () => {
  const given =
    '<script>const a = new AbortController(); fetch("/slow", { signal: a.signal }).catch(() => {}); a.abort()</script>'
  await using shop = await site({ '/': html(given), '/slow': () => {} })
  const pages = [
    { url: `${shop.url}/`, expected: [] },
    { url: `${shop.url}/gone`, expected: [404] },
  ]
  const { ok, output } = await look(shop.url, [], { pages })
  assert.equal(ok, true, output)
})

chrome('any other status from 400 is a fault', async () => {
  await using shop = await site({ '/500': (_, response) => void response.writeHead(500).end() })
  const { ok, output } = await look(shop.url, [], { pages: [{ url: `${shop.url}/500`, expected: [404] }] })
  assert.equal(ok, false)
  assert.match(output, /\/500:\n {2}status: 500 Internal Server Error$/m)
})

chrome('a page sends no request to another origin, neither by frames, workers nor sockets', async () => {
  await using other = await site({ '/x.js': '', '/frame': html('') })
  const far = other.url
  await using shop = await site({
    '/': html(
      [
        `<script src="${far}/x.js"></script><iframe src="${far}/frame"></iframe><img src="http://example.com/x.png">`,
        '<iframe src="/frame"></iframe>',
        `<script>new Worker(URL.createObjectURL(new Blob(["fetch('${far}/worker').catch(() => {})"])));`,
        `new WebSocket("ws://example.com/socket"); navigator.sendBeacon("${far}/beacon", "x"); open("${far}/popup")</script>`,
      ].join(''),
    ),
    '/frame': html(`<script>fetch("${far}/inside").catch(() => {})</script>`),
  })
  const { ok, output, remarks = [] } = await look(shop.url, ['/'])
  assert.equal(ok, true, output)
  assert.deepEqual(other.asked, [])
  const all = remarks.join('\n')
  for (const told of [
    `${far}/x.js`,
    `${far}/frame`,
    'http://example.com/x.png',
    `${far}/inside`,
    `${far}/worker`,
    'ws://example.com/socket',
  ])
    assert.ok(all.includes(`blocked a request to another origin: ${told}`), `${told}\n${all}`)
})

chrome('a page sends no UDP packet, and WebRTC reaches no STUN server', async () => {
  const socket = createSocket('udp4')
  let packets = 0
  socket.on('message', () => {
    packets += 1
  })
  socket.bind(0)
  await once(socket, 'listening')
  try {
    const { port } = socket.address()
    const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? [])
    const hosts = all.filter(({ family }) => family === 'IPv4').map(({ address }) => address)
    // It is loading until all candidates are found, or a server of STUN would have been asked.
    const script = `
      const servers = ${JSON.stringify(hosts)}.map((host) => ({ urls: 'stun:' + host + ':${port}' }))
      const connection = new RTCPeerConnection({ iceServers: servers })
      connection.createDataChannel('x')
      const gathered = new Promise((resolve) => {
        connection.onicegatheringstatechange = () => connection.iceGatheringState === 'complete' && resolve()
      })
      const late = new Promise((resolve) => setTimeout(resolve, 3000))
      connection.setLocalDescription().then(() => Promise.race([gathered, late])).then(() => fetch('/gathered'))`
    let finish = () => {}
    await using shop = await site({
      '/': html(`<img src="/wait"><script>${script}</script>`),
      '/wait': (_, response) => {
        finish = () => response.writeHead(204).end()
      },
      '/gathered': (_, response) => {
        response.writeHead(204).end()
        finish()
      },
    })
    const { ok, output } = await look(shop.url, ['/'])
    assert.equal(ok, true, output)
    assert.ok(shop.asked.includes('/gathered'), shop.asked.join(' '))
    assert.equal(packets, 0)
  } finally {
    socket.close()
  }
})

chrome('pages share no cookies and storage, and dialogs, downloads and prompts are dismissed', async () => {
  const cookies: (string | undefined)[] = []
  await using shop = await site({
    '/a': (request, response) => {
      cookies.push(request.headers.cookie)
      response.writeHead(200, { 'content-type': 'text/html', 'set-cookie': 'a=1' })
      response.end(
        html(
          '<script>alert("hi"); confirm("sure?"); prompt("who?"); print(); onbeforeunload = () => 1; Notification.requestPermission(); navigator.geolocation.getCurrentPosition(() => {}, () => {})</script><a id=a download href="/a">x</a><script>a.click()</script>',
        ),
      )
    },
    '/b': (request, response) => {
      cookies.push(request.headers.cookie)
      response.writeHead(200, { 'content-type': 'text/html' })
      response.end(html('b'))
    },
  })
  const { ok, output, remarks = [] } = await look(shop.url, ['/a', '/b'])
  assert.equal(ok, true, output)
  assert.equal(cookies.at(-1), undefined)
  for (const said of ['(alert): hi', '(confirm): sure?', '(prompt): who?'])
    assert.ok(
      remarks.some((one) => one.includes(`dismissed a dialog ${said}`)),
      remarks.join('\n'),
    )
})

chrome('accessibility is checked only when configured', async () => {
  await using shop = await site({
    '/': html('<img src="data:image/gif;base64,R0lGODlhAQABAAAAACw="><main><h1>Shop</h1></main>'),
  })
  assert.equal((await look(shop.url, ['/'])).ok, true)
  const { ok, output } = await look(shop.url, ['/'], { accessibility: true })
  assert.equal(ok, false)
  assert.match(output, /^ {2}accessibility \(critical, image-alt\): Images must have alternative text: img/m)
})

/** Pages that do not end: path to what is told of them. */
const ENDLESS: Readonly<Record<string, [Parameters<typeof site>[0][string], RegExp | null]>> = {
  '/silent': [() => {}, /not opened: no answer within 2 s/],
  '/slow': [html('<img src="/silent">'), /not loaded: it was still loading after 2 s/],
  '/loop': [html('<script>for (;;);</script>'), /not loaded: it was still loading after 2 s/],
  '/later': [
    html('<script>onload = () => setTimeout(() => { for (;;); })</script>'),
    /not answering: one of its scripts/,
  ],
  '/poll': [html('<script>setInterval(() => fetch("/poll"), 20)</script>'), null],
  '/memory': [
    html('<script>const all = []; for (;;) all.push(new Array(1e6).fill(Math.random()))</script>'),
    /crashed: the page's process crashed|not loaded/,
  ],
}
chrome('a page that does not settle is left, and the next one is checked', async () => {
  await using shop = await site(Object.fromEntries(Object.entries(ENDLESS).map(([at, [page]]) => [at, page])))
  const { ok, output } = await look(shop.url, Object.keys(ENDLESS), { pageTimeoutMs: 2000 })
  assert.equal(ok, false)
  const said = byPath(output)
  for (const [path, [, told]] of Object.entries(ENDLESS)) {
    if (told === null) assert.equal(said.get(path), undefined, output)
    else assert.match(said.get(path)?.join('\n') ?? '', told, `${path}\n${output}`)
  }
  assert.deepEqual(left(), [])
})

chrome('a console of 10 MB is cut, and an error after it is found', async () => {
  await using shop = await site({
    '/': html(
      '<script>for (let i = 0; i < 1e4; i++) console.log("x".repeat(1000)); console.error("at last")</script>',
    ),
    '/one': html('<script>console.error("y".repeat(3e7))</script>'),
    '/errors': html('<script>for (let i = 0; i < 5000; i++) console.error("number " + i)</script>'),
  })
  const { ok, output, remarks } = await look(shop.url, ['/', '/one', '/errors'], { pageTimeoutMs: 60_000 })
  assert.equal(ok, false)
  assert.match(output, /console error: at last\n/)
  assert.match(output, /one:\n {2}console error: 1 more errors, which were too many or too long to read\n/)
  assert.match(output, /console error: number 19\n {2}and 981 more/)
  assert.ok(output.length < 20_000)
  assert.match(remarks?.join('\n') ?? '', /it printed 10000 messages/)
})

chrome('a browser that crashes is a red result with its reason, and leaves no process', async () => {
  await using shop = await site({
    '/': html('fine'),
    '/end': (_, response) => {
      const [browser = 0] = left()
      process.kill(browser, 'SIGKILL')
      response.end()
    },
  })
  const { ok, ended, output, screenshots } = await look(shop.url, ['/', '/end', '/more'])
  assert.equal(ok, false)
  assert.match(ended, /^the browser was ended by SIGKILL while it showed http:\/\/localhost:\d+\/end$/)
  assert.ok(output.includes(ended))
  assert.equal(screenshots?.length, 1)
  assert.deepEqual(left(), [])
})

test('a configured program that is no browser makes the gate red and shows its output', {
  timeout: 60_000,
}, async () => {
  const { ok, ended } = await look('http://localhost:1', ['/'], { executable: '/bin/false' })
  assert.deepEqual([ok, ended], [false, 'the browser ended with exit code 1'])
  const missing = await look('http://localhost:1', ['/'], { executable: '/nowhere/chrome' })
  assert.equal(missing.ended, 'the browser ended with exit code 127')
  assert.match(missing.output, /\/nowhere\/chrome: No such file/)
})

for (const [what, page] of [
  ['answers', () => {}],
  ['loads', html('<img src="/silent">')],
] as const)
  chrome(`cancelled while a page ${what}: the check ends at once, and leaves no process`, async () => {
    const stop = new AbortController()
    let began = 0
    const cancel = () => {
      began = performance.now()
      stop.abort()
    }
    await using shop = await site({
      '/': typeof page === 'string' ? page : cancel,
      // The page that asks for it waits for its load.
      '/silent': cancel,
    })
    const { signal } = stop
    const mark = newMark()
    const { ok, ended } = await look(shop.url, ['/'], { signal, mark, pageTimeoutMs: 40_000 })
    assert.equal(ok, false)
    assert.match(ended, /^the browser was stopped while/)
    // Of 10 seconds that a cancelled job has.
    assert.ok(performance.now() - began < 8000, String(performance.now() - began))
    assert.deepEqual(left(), [])
    assert.deepEqual(
      readdirSync(tmpdir()).filter((name) => name.startsWith(`ralph-${mark.slice(0, 12)}-`)),
      [],
    )
  })

chrome('a cancelled check that ends slowly is reported as cancelled', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ralph-slow-'))
  try {
    // As on a busy machine: deaf to the first signal, and its profile takes a while to remove.
    const executable = join(folder, 'chromium')
    const script = `#!/bin/bash\ntrap '' TERM\nmkdir "$HOME/many" && (cd "$HOME/many" && seq 12000 | xargs touch)\n${findChrome(null, process.env)} "$@"\nsleep 9\n`
    await writeFile(executable, script, { mode: 0o755 })
    const stop = new AbortController()
    await using shop = await site({ '/': () => stop.abort() })
    const { ended } = await look(shop.url, ['/'], { executable, signal: stop.signal, pageTimeoutMs: 40_000 })
    assert.match(ended, /^the browser was stopped while/)
  } finally {
    await rm(folder, { recursive: true })
  }
})

chrome('a browser that crashes while a page loads is reported at once', async () => {
  let began = 0
  await using shop = await site({
    '/': html('<img src="/silent">'),
    '/silent': () => {
      began = performance.now()
      process.kill(left()[0] ?? 0, 'SIGKILL')
    },
  })
  const { ended } = await look(shop.url, ['/'], { pageTimeoutMs: 40_000 })
  assert.match(ended, /^the browser was ended by SIGKILL while it showed http:\/\/localhost:\d+\/$/)
  assert.ok(performance.now() - began < 8000, String(performance.now() - began))
})

/** Browsers that this process has started, and their processes, which are not dead. */
function left(): number[] {
  const lines = execFileSync('ps', ['-eo', 'pid=,ppid=,stat=,args='], { encoding: 'utf8' }).split('\n')
  const all = lines.map((line) => line.trim().split(/\s+/))
  const ours = new Set([String(process.pid)])
  for (let size = 0; size !== ours.size; ) {
    size = ours.size
    for (const [pid = '', parent = ''] of all) if (ours.has(parent)) ours.add(pid)
  }
  return all
    .filter(
      ([pid = '', , stat = '', ...args]) =>
        ours.has(pid) && !stat.startsWith('Z') && /chrom/.test(args.join(' ')),
    )
    .map(([pid]) => Number(pid))
}
