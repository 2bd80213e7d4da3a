// Which pages are looked at.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { originOf } from '../../../../src/engine/model/service.ts'
import { findAddresses, selectPages } from '../../../../src/gates/browser/urls.ts'
import { stateOf, stories } from '../../engine/samples.ts'

const SITE = { base: 'http://localhost:3000', origins: ['http://localhost:3000'], urls: [] as string[] }

function storyWith(...acceptanceCriteria: string[]) {
  const [story] = stateOf(stories('US-001')).prd.userStories
  assert.ok(story !== undefined)
  return { ...story, description: '', acceptanceCriteria }
}

test('a URL in a sentence ends before the punctuation', () => {
  const sentences: Readonly<Record<string, string>> = {
    'Open http://localhost:3000/cart.': 'http://localhost:3000/cart',
    'See (http://localhost:3000/cart), then': 'http://localhost:3000/cart',
    'At `http://localhost:3000/a_(b)`': 'http://localhost:3000/a_(b)',
    '**http://localhost:3000/cart?x=1&y=2#z**': 'http://localhost:3000/cart?x=1&y=2#z',
    '[cart](http://localhost:3000/cart)': 'http://localhost:3000/cart',
    '"http://localhost:3000/"!': 'http://localhost:3000/',
  }
  for (const [text, address] of Object.entries(sentences))
    assert.deepEqual(findAddresses(text), [address], text)
  assert.deepEqual(findAddresses('http:// and https://:0 and file:///etc/passwd'), [])
})

test('pages of stories and of the configuration are visited once each, and only on origins of the project', () => {
  const story = storyWith(
    'http://localhost:3000/cart shows the cart',
    'http://127.0.0.1:3000/cart, too; http://localhost:3000/cart again',
    'https://example.com/pay takes the money',
    'http://localhost:3000/users/:id and http://localhost:3000/{lang}/ are pages',
  )
  const { pages, remarks } = selectPages([story], { ...SITE, urls: ['/', 'http://localhost:3000/cart'] })
  assert.deepEqual(
    pages.map(({ url }) => url),
    ['http://localhost:3000/', 'http://localhost:3000/cart', 'http://127.0.0.1:3000/cart'],
  )
  assert.deepEqual(remarks, [
    'US-001 names https://example.com/pay, but no service answers there, so it was not visited',
    'US-001 names http://localhost:3000/users/:id, which is a pattern, so it was not visited',
    'US-001 names http://localhost:3000/{lang}/, which is a pattern, so it was not visited',
  ])
})

test('without a named page the start page is visited, and a status in a criterion is expected', () => {
  assert.deepEqual(selectPages([storyWith('It works')], SITE).pages, [
    { url: 'http://localhost:3000/', expected: [] },
  ])
  const { pages } = selectPages([storyWith('http://localhost:3000/x?y=500 answers 404')], SITE)
  assert.deepEqual(pages, [{ url: 'http://localhost:3000/x?y=500', expected: [404] }])
})

test('a number is a status only after a word such as answers or HTTP', () => {
  const P = 'http://localhost:3000/p'
  const sentences: Readonly<Record<string, number[]>> = {
    [`${P} shows 500 products in under 400 ms`]: [],
    [`${P} answers with 404-page.html and 500%`]: [],
    [`${P} returns 500.5 points`]: [],
    [`${P} answers 404`]: [404],
    [`${P} responds with an HTTP status of 410.`]: [410],
    [`${P} returns \`404 Not Found\``]: [404],
    [`${P} returns a 404 and says why`]: [404],
    [`${P}: status code 404 or 410`]: [404, 410],
    [`HTTP/1.1 451 is what ${P} sends`]: [451],
    [`${P} antwortet mit HTTP 404 und einem Satz`]: [404],
    [`${P} answers 200`]: [],
    [`${P} does not answer 500, and never responds with HTTP 503`]: [],
    [`${P} must not return an HTTP 500`]: [],
    [`${P} answers 404 instead of an HTTP 500`]: [404],
    [`${P} never returns a 503, doesn't answer with 500`]: [],
    [`${P} answers 401 when nobody is logged in`]: [401],
  }
  for (const [text, expected] of Object.entries(sentences))
    assert.deepEqual(selectPages([storyWith(text)], SITE).pages, [{ url: P, expected }], text)
  const many = `${'code '.repeat(40_000)}${P} ${'answers with the '.repeat(20_000)}`
  const began = performance.now()
  selectPages([storyWith(many)], SITE)
  assert.ok(performance.now() - began < 2000)
})

test('a status applies to every address of its criterion', () => {
  const at = (path: string) => `http://localhost:3000/${path}`
  const criteria = [`${at('a')} and ${at('known')} answer 404`, `${at('b')} shows the cart`]
  const { pages } = selectPages([storyWith(...criteria)], { ...SITE, urls: ['/known'] })
  assert.deepEqual(
    pages.map(({ url, expected }) => [new URL(url).pathname, ...expected]),
    [['/known', 404], ['/a', 404], ['/b']],
  )
})

test('pages beyond the limit are counted in a remark', () => {
  const many = Array.from({ length: 30 }, (_, at) => `/page-${at}`)
  const { pages, remarks } = selectPages([], { ...SITE, urls: many })
  assert.equal(pages.length, 20)
  assert.deepEqual(remarks, ['10 more pages were not visited: Ralph visits at most 20'])
})

test('all names of loopback are one origin, and only HTTP URLs have an origin', () => {
  const same = [
    'http://localhost:3000/a',
    'http://127.0.0.1:3000',
    'ws://[::1]:3000/x',
    'http://0.0.0.0:3000/',
  ]
  assert.deepEqual([...new Set(same.map(originOf))], ['http://localhost:3000'])
  const none = ['file:///etc/passwd', 'chrome://version', 'javascript:alert(1)', '/cart', '']
  assert.deepEqual([...new Set(none.map(originOf))], [null])
  assert.notEqual(originOf('http://localhost:3000'), originOf('https://localhost:3000'))
  assert.notEqual(originOf('http://localhost.example.com'), originOf('http://localhost'))
})
