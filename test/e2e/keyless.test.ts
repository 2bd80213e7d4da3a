// `auth: oidc` in a whole job: the runner gives the job's identity, the vendor a short key for it, and only Ralph's proxy has that key.
// The vendor's server is a stand-in of ours, as are the runner's identities. Needs root.
import '../fakes/disk.ts'
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import test from 'node:test'
import { openClaude } from '../fakes/claude-machine.ts'
import { lacks } from '../machine/needs.ts'
import { type IdentityRules, type IdentityServer, startIdentityServer } from '../standin/identity.ts'
import { annotationsOf, goodTurn, openSite, outputsOf, RUN_TESTS_AS_OTHER_USER, story } from './site.ts'

const SUBJECT = 'repo:acme/sample:environment:ralph'
const IDS = {
  ANTHROPIC_FEDERATION_RULE_ID: 'fdrl_1',
  ANTHROPIC_ORGANIZATION_ID: 'org',
  ANTHROPIC_SERVICE_ACCOUNT_ID: 'svac_1',
}

/** Anthropic's server: it exchanges identities, and its model answers who comes with a key that it gave. */
async function openVendor(identity: IdentityServer) {
  const refused: string[] = []
  const server = createServer((asked, response) => {
    if (asked.url === '/v1/oauth/token') {
      const { method, headers } = asked
      const passed = request(
        `${identity.url}/api.anthropic.com${asked.url}`,
        { method, headers },
        (answer) => {
          response.writeHead(answer.statusCode ?? 502, answer.headers)
          answer.pipe(response)
        },
      )
      asked.pipe(passed)
      return
    }
    asked.resume()
    const key = (asked.headers.authorization ?? '').replace('Bearer ', '')
    const isKnown = identity.keys.includes(key) && asked.headers['x-api-key'] === undefined
    if (!isKnown) refused.push(asked.url ?? '')
    response.writeHead(isKnown ? 200 : 401, { 'content-type': 'application/json' })
    response.end(isKnown ? '{"type":"message"}' : '{"type":"error"}')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { url, refused, [Symbol.asyncDispose]: async () => void server.close() }
}

async function run(rules: Partial<IdentityRules> = {}, mayIdentify = true) {
  await using identity = await startIdentityServer({ subject: SUBJECT, ...rules })
  await using vendor = await openVendor(identity)
  const script = { 'US-001': [goodTurn('one', 1)] }
  await using claude = await openClaude({ script, key: identity.requestToken, outside: '127.0.0.1' })
  await using site = await openSite({
    stories: [story('US-001', 'one')],
    script,
    inputs: { agent: 'claude', auth: 'oidc', gates: `test: ${RUN_TESTS_AS_OTHER_USER}` },
    workflow: (text) =>
      text
        .replace(/^ +isolation: .*\n/m, '')
        .replace(/^ +agent-command: .*\n/m, '')
        .replace(/^( +)actions: write # the next job\n/m, (line, indent) =>
          mayIdentify ? `${line}${indent}id-token: write\n` : line,
        )
        .replace(/^( +)ANTHROPIC_API_KEY: .*$/m, (_line, indent) =>
          [...Object.entries(IDS), ['ANTHROPIC_BASE_URL', vendor.url]]
            .map(([name, value]) => `${indent}${name}: ${value}`)
            .join('\n'),
        ),
    runner: {
      path: [claude.bin],
      identity: { url: `${identity.url}/runner?api-version=2`, token: identity.requestToken },
    },
  })
  const job = await site.go()
  const { keys, exchanges, requestToken } = identity
  return {
    ...{ job, keys, exchanges, requestToken, refused: vendor.refused },
    log: site.log(),
    saw: await claude.saw(),
    state: await site.state(),
    said: [...site.github.world.comments.values()].map(({ body }) => body).join('\n'),
  }
}

const options = { skip: lacks('root', 'ip') }

test(
  'a job without a stored key works a story: the key is never in the sight of the agent, the log or the comment',
  options,
  async () => {
    const { job, keys, exchanges, requestToken, refused, log, saw, said } = await run()
    assert.equal(outputsOf(job).outcome, 'complete', log)
    assert.deepEqual(
      exchanges.map(({ host, status }) => [host, status]),
      [
        ['runner', 200],
        ['api.anthropic.com', 200],
      ],
    )
    const sessions = saw.filter(({ mode }) => mode !== 'version')
    assert.equal(sessions.length, 2, 'the story and the judge')
    for (const one of sessions) {
      assert.match(one.key, /^ralph-[0-9a-f]{48}$/)
      assert.deepEqual(one.inSight, [], 'the token that asks for identities is in sight')
      assert.equal(one.model, '{"type":"message"}')
      assert.match(one.stranger, /not the key that Ralph gave/)
    }
    assert.deepEqual(refused, [])
    assert.equal(keys.length, 1)
    for (const secret of [...keys, requestToken])
      for (const text of [log, said, JSON.stringify(saw)]) assert.ok(!text.includes(secret))
  },
)

for (const [name, rules, mayIdentify, why] of [
  ['another subject', { tokenSubject: 'repo:acme/fork:pull_request' }, true, /no rule matches the subject/],
  ['an expired identity', { tokenSeconds: -10 }, true, /has expired/],
  ['a job without the permission', {}, false, /id-token: write/],
] as const)
  test(`${name} is one error with the page to read, before anything is charged`, options, async () => {
    const { job, log, saw, state } = await run(rules, mayIdentify)
    const [error = '', ...more] = annotationsOf(job, 'error').filter((line) => /auth/.test(line))
    assert.match(error, why, log)
    assert.match(error, /docs\/how-to\/keyless\.md/)
    assert.deepEqual(more, [])
    assert.deepEqual(
      saw.filter(({ mode }) => mode !== 'version'),
      [],
    )
    assert.equal(state.prd.run.iterations, 0)
  })
