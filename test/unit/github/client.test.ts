import assert from 'node:assert/strict'
import test from 'node:test'
import { RequestError } from '@octokit/request-error'
import { isForbidden, NO_RETRIES, rateLimitedUntil } from '../../../src/github/client.ts'
import { startGitHub } from '../../standin/github.ts'
import { connected } from './connected.ts'

const call = { owner: 'acme', repo: 'shop' }

test('an API request without an answer times out, and is retried', async () => {
  await using github = await startGitHub()
  const fault = github.fault({ kind: 'rest' }, 'hang')
  const token = github.mintJobToken({ contents: 'read' })
  const { api } = connected(github, token, () => {}, 200)
  assert.equal((await api.rest.repos.get(call)).status, 200)
  assert.equal(fault.hits, 1)
})

test('a wait for a rate limit does not count as request time', async () => {
  await using github = await startGitHub()
  const body = { message: 'You have exceeded a secondary rate limit.' }
  const fault = github.fault({ kind: 'rest' }, { status: 403, headers: { 'retry-after': '1' }, body })
  const token = github.mintJobToken({ contents: 'read' })
  const { api } = connected(github, token, () => {}, 500)
  assert.equal((await api.rest.repos.get(call)).status, 200)
  assert.equal(fault.hits, 1)
})

for (const [name, status, headers, message] of [
  ['429 with Retry-After alone', 429, { 'retry-after': '1' }, 'Too Many Requests'],
  [
    'an older server’s words for its secondary limit',
    403,
    { 'retry-after': '1' },
    'You have triggered an abuse detection mechanism.',
  ],
] as const) {
  test(`${name} is waited for, also for a request that creates something`, async () => {
    await using github = await startGitHub()
    const said: string[] = []
    const token = github.mintJobToken({ contents: 'write', issues: 'write' })
    const { api } = connected(github, token, (text) => said.push(text))
    const fault = github.fault({ kind: 'rest' }, { status, headers, body: { message } })
    await api.rest.issues.create({ ...call, title: 'once', ...NO_RETRIES })
    assert.equal(fault.hits, 1)
    assert.equal(
      said.filter((text) => /rate limit was reached at POST .*Ralph tries again in \d s/.test(text)).length,
      1,
      said.join('\n'),
    )
  })
}

test('a refusal is distinguished from a rate limit, which has a time to wait', () => {
  const now = 1_800_000_000_000
  const refused = (status: number, headers: Record<string, string>, message = 'no') =>
    new RequestError(message, status, {
      request: { method: 'POST', url: 'https://x.test', headers: {} },
      response: { status, url: '', headers, data: {} },
    })
  const secondary = 'You have exceeded a secondary rate limit.'
  for (const [error, seconds] of [
    [refused(403, {}, 'Resource not accessible by integration'), null],
    [refused(403, { 'x-ratelimit-remaining': '998' }, 'Resource not accessible by integration'), null],
    [refused(422, { 'retry-after': '7' }), null],
    [new Error('rate limit'), null],
    [refused(429, {}), 60],
    [refused(429, { 'retry-after': '7' }), 7],
    [refused(403, { 'retry-after': '7' }, secondary), 7],
    [refused(403, {}, secondary), 60],
    [refused(403, {}, 'You have triggered an abuse detection mechanism.'), 60],
    [refused(403, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(now / 1000 + 1800) }), 1800],
    [refused(403, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(now / 1000 - 5) }), 0],
  ] as const) {
    const until = seconds === null ? null : now + seconds * 1000
    assert.equal(rateLimitedUntil(error, now), until, `${error.message} ${seconds}`)
    assert.equal(isForbidden(error), 'status' in error && error.status === 403 && seconds === null)
  }
})
