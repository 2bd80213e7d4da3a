// The browser of tests is fetched once, as a whole or not at all; where it cannot be had there is a reason.
import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { detectBrowserPlatform } from '@puppeteer/browsers'
import { zipSync } from 'fflate'
import { BUILD, fetchBrowser } from '../../machine/browser.ts'
import { lacks } from '../../machine/needs.ts'

/** Where browsers come from: answers with a zip of this program, or with 404 where there is none. */
async function origin(program: string | null) {
  const asked: string[] = []
  const name = `chrome-headless-shell-${detectBrowserPlatform()?.replace('linux', 'linux64')}`
  const server = createServer((request, response) => {
    if (request.method === 'GET') asked.push(request.url ?? '')
    if (program === null) return response.writeHead(404).end()
    const file = new TextEncoder().encode(program)
    response.end(zipSync({ [name]: { 'chrome-headless-shell': [file, { os: 3, attrs: 0o100755 << 16 }] } }))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const cache = await mkdtemp(join(tmpdir(), 'ralph-browser-'))
  return {
    asked,
    cache,
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mirror`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await rm(cache, { recursive: true })
    },
  }
}

const options = {
  skip: process.platform === 'linux' ? false : 'a browser of Linux is made up',
  timeout: 30_000,
}

test(
  'two downloads of the browser at the same time both get it, and later no request is made',
  options,
  async () => {
    await using place = await origin('#!/bin/sh\necho "Chrome of a test"\n')
    const [folder, other] = await Promise.all([fetchBrowser(place), fetchBrowser(place)])
    assert.equal(folder, other)
    const version = execFileSync(join(folder, 'chromium'), ['--version'], { encoding: 'utf8' })
    assert.equal(version, 'Chrome of a test\n')
    const requests = place.asked.length
    assert.match(
      place.asked[0] ?? '',
      new RegExp(`^/mirror/${BUILD}/linux64/chrome-headless-shell-linux64\\.zip$`),
    )
    assert.equal(await fetchBrowser(place), folder)
    assert.equal(place.asked.length, requests)
    assert.deepEqual(await readdir(place.cache), [`browser-${BUILD}`])
  },
)

test('a browser that cannot be downloaded or started leaves no files', options, async () => {
  await using nothing = await origin(null)
  await assert.rejects(fetchBrowser(nothing), /404/)
  assert.deepEqual(await readdir(nothing.cache), [])
  await using broken = await origin(
    '#!/bin/sh\necho "libnss3.so: cannot open shared object file" >&2; exit 127\n',
  )
  await assert.rejects(fetchBrowser(broken), /libnss3\.so: cannot open/)
  assert.deepEqual(await readdir(broken.cache), [])
})

test(
  'a test is skipped with the reason, or fails where the need is required; a downloaded browser is on the PATH',
  options,
  async () => {
    await using nothing = await origin(null)
    await using some = await origin('#!/bin/sh\necho "Chrome of a test"\n')
    const ask = async (place: { cache: string; baseUrl: string }, required?: string) => {
      const script = `const { lacks } = await import('${new URL('../../machine/needs.ts', import.meta.url)}')
      const { findChrome } = await import('${new URL('../../../src/gates/browser/find.ts', import.meta.url)}')
      const why = lacks('chrome')
      console.log(why || findChrome(null, process.env))`
      const env = {
        PATH: '/nowhere',
        XDG_CACHE_HOME: place.cache,
        PUPPETEER_CHROME_HEADLESS_SHELL_DOWNLOAD_BASE_URL: place.baseUrl,
        ...(required === undefined ? {} : { RALPH_REQUIRE: required }),
      }
      const args = ['--input-type=module', '-e', script]
      return promisify(execFile)(process.execPath, args, { env }).then(({ stdout }) => stdout)
    }
    assert.match(await ask(nothing), /^needs Chrome or Chromium, and none can be fetched: .*404/)
    await assert.rejects(
      ask(nothing, 'nft,chrome'),
      /RALPH_REQUIRE names chrome, but this machine lacks Chrome/,
    )
    await assert.rejects(ask(some, 'chromium'), /RALPH_REQUIRE: chromium is none of root, chrome/)
    assert.equal(await ask(some, 'chrome'), `${some.cache}/ralph-action/browser-${BUILD}/chromium\n`)
    assert.equal(lacks('root') === false, process.getuid?.() === 0)
  },
)
