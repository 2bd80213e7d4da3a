// Which pages are looked at: what the configuration may say of them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onlyWrong, right, wrong, yml } from './reading.ts'

const WEB = 'services: { web: { start: npm start, ready: "http://localhost:3000/health" } }'

test('browser URLs: paths, and addresses of services', () => {
  const { settings } = right(
    yml(
      `${WEB}\nbrowser: { urls: [/cart, "http://127.0.0.1:3000/x"], viewports: [1280x800, 390x844], timeout: 5 }`,
    ),
  )
  assert.deepEqual(settings.browser?.urls, ['/cart', 'http://127.0.0.1:3000/x'])
  assert.deepEqual([settings.browser?.viewports, settings.browser?.timeout], [['1280x800', '390x844'], 5000])
  assert.equal(
    right(yml('browser: { baseUrl: "https://shop.example", urls: [/cart] }')).settings.browser?.enabled,
    true,
  )
  assert.equal(right(yml('browser: { urls: ["http://localhost:1/"] }')).settings.browser?.enabled, true)
  assert.equal(right(yml('browser: { enabled: false }')).settings.browser?.enabled, false)
})

test('a browser URL that no service has is a mistake with its path', () => {
  const { path, found, expected } = onlyWrong(
    yml(`${WEB}\nbrowser: { urls: [/cart, "https://example.com/x"] }`),
  )
  assert.deepEqual(
    [path, found, expected],
    ['ralph.config.yml: browser.urls[1]', '"https://example.com/x"', 'a page of http://localhost:3000'],
  )
})

test('a browser check without any URL is a mistake', () => {
  for (const text of [
    'browser: {}',
    'browser: { urls: [/cart] }',
    'services: { db: { ready: { log: up }, start: x } }\nbrowser: {}',
  ]) {
    const { path, fix } = onlyWrong(yml(text))
    const expected = 'add baseUrl: http://localhost:3000, or a service whose `ready` is a URL'
    assert.deepEqual([path, fix], ['ralph.config.yml: browser', expected], text)
  }
})

test('each mistake in browser settings has a fix', () => {
  const bad = {
    'urls: [cart]': 'browser.urls[0]',
    'urls: ["file:///etc/passwd"]': 'browser.urls[0]',
    'urls: ["//example.com/"]': 'browser.urls[0]',
    'viewports: [phone]': 'browser.viewports[0]',
    'viewports: [10x10]': 'browser.viewports[0]',
    'baseUrl: localhost:3000': 'browser.baseUrl',
    'timeout: 0': 'browser.timeout',
    'tags: []': 'browser.tags',
  }
  for (const [text, path] of Object.entries(bad))
    assert.ok(
      wrong(yml(`${WEB}\nbrowser: { ${text} }`)).some((one) => one.path === `ralph.config.yml: ${path}`),
      text,
    )
  const { path } = onlyWrong(yml(`${WEB}\ngates: { Browser: npm test }\nbrowser: {}`))
  assert.equal(path, 'ralph.config.yml: gates')
})
