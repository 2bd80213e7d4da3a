// `auth: oidc`, provider by provider, against stand-ins that refuse what the real ones refuse.

import assert from 'node:assert/strict'
import test from 'node:test'
import type { Ask } from '../../../src/agents/keyless/short-key.ts'
import { findAgent } from '../../../src/agents/registry.ts'
import { keylessWay, openKeyless } from '../../../src/app/keyless.ts'
import { UserError } from '../../../src/system/errors.ts'
import { startModel } from '../../agents-real/model.ts'
import { type IdentityRules, startIdentityServer } from '../../standin/identity.ts'

const SUBJECT = 'repo:o/r:environment:ralph'
const PROVIDER = 'projects/1/locations/global/workloadIdentityPools/p/providers/github'
const OTHER_USER = { auth: 'oidc', isolation: 'other-user', surface: 'action', token: null } as const

const PROVIDERS = {
  anthropic: {
    ANTHROPIC_FEDERATION_RULE_ID: 'fdrl_1',
    ANTHROPIC_ORGANIZATION_ID: 'org',
    ANTHROPIC_SERVICE_ACCOUNT_ID: 'svac_1',
  },
  bedrock: {
    CLAUDE_CODE_USE_BEDROCK: '1',
    AWS_ROLE_ARN: 'arn:aws:iam::1:role/ralph',
    AWS_REGION: 'us-east-1',
  },
  vertex: {
    CLAUDE_CODE_USE_VERTEX: '1',
    GOOGLE_WORKLOAD_IDENTITY_PROVIDER: PROVIDER,
    ANTHROPIC_VERTEX_PROJECT_ID: 'project',
    CLOUD_ML_REGION: 'us-east5',
  },
} as const

function vendorOf(name: string) {
  const vendor = findAgent(name)
  assert.ok(vendor)
  return vendor
}

/** Requests to a provider go to its stand-in. */
function askAt(url: string): Ask {
  return async ({ url: asked, headers, body }) => {
    const { host, pathname, search } = new URL(asked)
    const target = asked.startsWith(url) ? asked : `${url}/${host}${pathname}${search}`
    const options = body === '' ? { headers } : { method: 'POST', headers, body }
    const response = await fetch(target, options)
    return { status: response.status, body: await response.text() }
  }
}

async function open(provider: keyof typeof PROVIDERS, rules: Partial<IdentityRules> = {}, now = Date.now) {
  const identity = await startIdentityServer({ subject: SUBJECT, ...rules })
  const model = await startModel({ cwd: '/', sessions: [{ when: '', turns: [{ say: 'hello' }] }] })
  const env = {
    ...PROVIDERS[provider],
    ACTIONS_ID_TOKEN_REQUEST_URL: `${identity.url}/runner?api-version=2`,
    ACTIONS_ID_TOKEN_REQUEST_TOKEN: identity.requestToken,
    ANTHROPIC_API_KEY: 'sk-ant-stored-0123456789',
  }
  const vendor = vendorOf('claude')
  const way = keylessWay(vendor, OTHER_USER, (name) => Object.hasOwn(env, name))
  assert.ok(way)
  const atModel = { ...way, upstream: () => model.url }
  const warnings: string[] = []
  const warn = (message: string) => warnings.push(message)
  const options = { settings: OTHER_USER, env, reach: async (port: number) => port, warn }
  const stop = async () => {
    await identity[Symbol.asyncDispose]()
    await model[Symbol.asyncDispose]()
  }
  try {
    const relay = await openKeyless(vendor, atModel, { ...options, ask: askAt(identity.url), now })
    return { identity, model, relay, way, warnings, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Asks the model as the agent would. */
async function askModel({ relay, way }: Awaited<ReturnType<typeof open>>) {
  using _session = relay.admit()
  const address = relay.env[way.addressVariable]
  const response = await fetch(`${address}/v1/messages`, {
    method: 'POST',
    headers: { authorization: `Bearer ${relay.env[way.keyVariable]}`, 'content-type': 'application/json' },
    body: JSON.stringify({ messages: [], tools: [{ name: 'Bash' }] }),
  })
  assert.equal(response.status, 200)
  return await response.text()
}

for (const provider of ['anthropic', 'bedrock', 'vertex'] as const) {
  test(`${provider}: the agent's requests get a short key, and the agent's environment has none`, async () => {
    const opened = await open(provider)
    try {
      await askModel(opened)
      const key = opened.model.requests.at(-1)?.key ?? ''
      const given = provider === 'bedrock' ? /^bedrock-api-key-/ : /^(?:sk-ant-oat01-|ya29\.)/
      assert.match(key, given)
      const seen = JSON.stringify(opened.relay.env)
      for (const secret of [key, ...opened.identity.keys, 'sk-ant-stored-0123456789'])
        assert.ok(!seen.includes(secret), secret)
      assert.deepEqual(opened.warnings, [])
    } finally {
      await opened.relay.proxy[Symbol.asyncDispose]()
      await opened.stop()
    }
  })

  for (const [name, rules, why] of [
    ['another audience', { tokenAudience: 'https://elsewhere.example' }, /audience does not match/],
    ['another subject', { tokenSubject: 'repo:o/fork:pull_request' }, /no rule matches the subject/],
    ['an expired token', { tokenSeconds: -10 }, /has expired/],
  ] as const)
    test(`${provider}: ${name} is one clear error before anything is charged`, async () => {
      await assert.rejects(open(provider, rules), (error) => {
        assert.ok(error instanceof UserError)
        assert.match(error.message, why)
        assert.match(error.message, /docs\/how-to\/keyless\.md/)
        assert.doesNotMatch(error.message, /eyJ/)
        return true
      })
    })

  test(`${provider}: a key is renewed before it expires, each time with a new identity`, async () => {
    let time = Date.now()
    const opened = await open(provider, { keySeconds: 1000 }, () => time)
    try {
      await askModel(opened)
      time += 700_000
      await askModel(opened)
      const exchanges = () =>
        opened.identity.exchanges.filter(({ host }) => host.startsWith('sts.') || host.startsWith('api.'))
      assert.equal(exchanges().length, 1, 'still valid')
      time += 150_000
      await askModel(opened)
      assert.deepEqual(
        exchanges().map(({ status }) => status),
        [200, 200],
      )
      assert.equal(new Set(opened.model.requests.map(({ key }) => key)).size, 2)
    } finally {
      await opened.relay.proxy[Symbol.asyncDispose]()
      await opened.stop()
    }
  })

  test(`${provider}: an identity that was used before is refused, and the old key serves as long as it is valid`, async () => {
    let time = Date.now()
    const opened = await open(provider, { keySeconds: 1000, repeatsToken: true }, () => time)
    try {
      await askModel(opened)
      time += 850_000
      await askModel(opened)
      assert.match(opened.warnings.join('\n'), /was used before/)
      assert.equal(new Set(opened.model.requests.map(({ key }) => key)).size, 1)
    } finally {
      await opened.relay.proxy[Symbol.asyncDispose]()
      await opened.stop()
    }
  })
}

test('copilot: the job token is used on the way to the model only', async () => {
  await using model = await startModel({ cwd: '/', sessions: [{ when: '', turns: [{ say: 'hello' }] }] })
  const vendor = vendorOf('copilot')
  const token = `ghs_${'a1'.repeat(18)}`
  const way = keylessWay(vendor, OTHER_USER, () => false)
  assert.ok(way)
  const relay = await openKeyless(vendor, way, {
    settings: { ...OTHER_USER, token },
    env: { COPILOT_API_URL: model.url },
    reach: async (port) => port,
    warn: assert.fail,
  })
  await using _proxy = relay.proxy
  assert.match(relay.env.COPILOT_GITHUB_TOKEN ?? '', /^ghs_[0-9a-f]{48}$/)
  assert.ok(!JSON.stringify(relay.env).includes(token))
  await askModel({ relay, way } as Awaited<ReturnType<typeof open>>)
  assert.equal(model.requests.at(-1)?.key, token)
})

test('oidc is refused where the agent could ask for an identity itself, without the variables, and for other agents', () => {
  const refused = (
    name: string,
    isolation: 'other-user' | 'same-user' | 'separate-job',
    isSet = () => true,
  ) => {
    try {
      keylessWay(vendorOf(name), { auth: 'oidc', isolation, surface: 'action' }, isSet)
    } catch (error) {
      return error instanceof UserError ? error.message : String(error)
    }
    return null
  }
  assert.match(
    refused('claude', 'same-user') ?? '',
    /oidc needs isolation: other-user.* Here, isolation is same-user\./,
  )
  assert.match(
    refused('claude', 'separate-job') ?? '',
    /oidc needs isolation: other-user.* Here, isolation is separate-job\./,
  )
  assert.match(refused('claude', 'other-user', () => false) ?? '', /needs ANTHROPIC_FEDERATION_RULE_ID/)
  assert.match(refused('gemini', 'other-user') ?? '', /oidc does not work with gemini; it works with /)
  assert.equal(
    keylessWay(vendorOf('gemini'), { auth: 'key', isolation: 'same-user', surface: 'action' }, () => false),
    null,
  )
})

test('without the permission the error names it', async () => {
  const vendor = vendorOf('claude')
  const way = keylessWay(vendor, OTHER_USER, (name) => Object.hasOwn(PROVIDERS.anthropic, name))
  assert.ok(way)
  const env = { ...PROVIDERS.anthropic }
  await assert.rejects(
    openKeyless(vendor, way, { settings: OTHER_USER, env, reach: async (port) => port, warn: assert.fail }),
    /id-token: write/,
  )
})
