// The stand-in for identity tokens, by itself: what it gives, and what it refuses.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import test from 'node:test'
import { type IdentityServer, startIdentityServer } from '../../standin/identity.ts'

const SUBJECT = 'repo:o/r:environment:ralph'
const HEADERS = { 'content-type': 'application/json', 'anthropic-beta': 'oidc-federation-2026-04-01' }

async function tokenFor(
  { url, requestToken }: Pick<IdentityServer, 'url' | 'requestToken'>,
  audience: string,
): Promise<string> {
  const headers = { authorization: `Bearer ${requestToken}` }
  const response = await fetch(`${url}/runner?api-version=2&audience=${encodeURIComponent(audience)}`, {
    headers,
  })
  const { value } = (await response.json()) as { value: string }
  return value
}

async function exchange(url: string, assertion: string): Promise<number> {
  const body = JSON.stringify({ assertion, federation_rule_id: 'fdrl_1', service_account_id: 'svac_1' })
  return (await fetch(`${url}/api.anthropic.com/v1/oauth/token`, { method: 'POST', headers: HEADERS, body }))
    .status
}

test('the stand-in gives an identity to the job alone, and a key for it once', async () => {
  await using server = await startIdentityServer({ subject: SUBJECT })
  const stranger = await fetch(`${server.url}/runner?audience=x`)
  assert.equal(stranger.status, 401)
  const token = await tokenFor(server, 'https://api.anthropic.com')
  assert.equal(await exchange(server.url, token), 200)
  assert.equal(await exchange(server.url, token), 401, 'used before')
  const [head, claims] = token.split('.')
  assert.equal(await exchange(server.url, `${head}.${claims}.forged`), 401)
  assert.equal(await exchange(server.url, await tokenFor(server, 'sts.amazonaws.com')), 401)
  assert.deepEqual(
    server.exchanges.filter(({ host }) => host === 'api.anthropic.com').map(({ why }) => why),
    ['', 'the token was used before', 'the signature is not valid', 'audience does not match'],
  )
})

test('the stand-in runs as a program of its own', async () => {
  const file = join(import.meta.dirname, '../../standin/identity.ts')
  const child = spawn(process.execPath, [file], { stdio: ['ignore', 'pipe', 'inherit'] })
  try {
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
    assert.match(String((await lines.next()).value), /^http:\/\/127\.0\.0\.1:\d+$/)
  } finally {
    child.kill()
    await once(child, 'close')
  }
})
