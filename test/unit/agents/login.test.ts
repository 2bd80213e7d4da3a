// A key that is missing: said by the name of its variable, and only where the agent certainly cannot work.
import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import test from 'node:test'
import { agentVariables } from '../../../src/agents/agent.ts'
import { findKeyProblem, mayBeLoggedIn } from '../../../src/agents/agent-ready.ts'
import { agentNames, findAgent, isModelKey } from '../../../src/agents/registry.ts'

async function place() {
  const root = await mkdtemp(join(tmpdir(), 'ralph-login-'))
  const ask = (
    agent: string,
    env: Record<string, string> = {},
    extraEnv: string[] = [],
    answer: typeof fetch = async () => new Response('{}', { status: 503 }),
  ) => {
    const login = findAgent(agent)?.login
    assert.ok(login, agent)
    return findKeyProblem(
      { login, env: { HOME: join(root, 'home'), ...env }, extraEnv, cwd: join(root, 'shop') },
      answer,
    )
  }
  return {
    ask,
    async write(path: string, text = '{}') {
      await mkdir(dirname(join(root, path)), { recursive: true })
      await writeFile(join(root, path), text)
    },
    [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true }),
  }
}

test('without a variable and a login, the error names the variables that an agent needs', async () => {
  await using there = await place()
  for (const [agent, names] of [
    ['claude', /ANTHROPIC_API_KEY.*CLAUDE_CODE_OAUTH_TOKEN/],
    ['codex', /OPENAI_API_KEY/],
    ['gemini', /GEMINI_API_KEY/],
    ['copilot', /COPILOT_GITHUB_TOKEN/],
    ['amp', /AMP_API_KEY/],
    ['cursor', /CURSOR_API_KEY/],
  ] as const)
    assert.match((await there.ask(agent)) ?? '', names)
})

test('an empty variable, as of a secret that does not exist, is named in the error', async () => {
  await using there = await place()
  const why = await there.ask('claude', { ANTHROPIC_API_KEY: '' })
  assert.match(why ?? '', /^ANTHROPIC_API_KEY is empty: the secret does not exist/)
})

test('every way to log in is accepted: keys, other providers, files, project settings, variables of the user', async () => {
  for (const agent of agentNames) {
    const login = findAgent(agent)?.login ?? null
    if (login === null) continue
    for (const name of [...login.keys, ...login.alternatives]) {
      await using there = await place()
      assert.equal(await there.ask(agent, { [name]: 'x' }), null, `${agent} ${name}`)
    }
    for (const path of login.files) {
      await using there = await place()
      await there.write(`home/${path}`)
      assert.equal(await there.ask(agent), null, `${agent} ${path}`)
    }
  }
  await using there = await place()
  assert.equal(await there.ask('codex', { COMPANY_LLM: 'x' }, ['COMPANY_LLM']), null)
  await there.write('shop/.claude/settings.json', '{"permissions":{}}')
  assert.notEqual(await there.ask('claude'), null)
  await there.write('shop/.claude/settings.json', '{"apiKeyHelper":"./key.sh"}')
  assert.equal(await there.ask('claude'), null)
})

test('every key that an agent can log in with reaches the agent, and is hidden from the gates', () => {
  for (const agent of agentNames) {
    const vendor = findAgent(agent)
    for (const name of vendor?.login?.keys ?? []) {
      assert.ok(vendor !== null && agentVariables(vendor).includes(name), `${agent} ${name}`)
      assert.ok(isModelKey(name), name)
    }
  }
})

test("on a person's machine a keychain, a custom program or a wrapper may hold a login, so a missing one is no error", () => {
  const plain = { platform: 'linux', isInstalledByUs: true, isWrapped: false }
  const hosted = { CI: 'true', RUNNER_ENVIRONMENT: 'github-hosted' }
  const own = { CI: 'true', RUNNER_ENVIRONMENT: 'self-hosted' }
  assert.equal(mayBeLoggedIn(hosted, { ...plain, isInstalledByUs: false }), false)
  assert.equal(mayBeLoggedIn(hosted, { ...plain, platform: 'darwin' }), false)
  assert.equal(mayBeLoggedIn(own, plain), false)
  assert.equal(mayBeLoggedIn(own, { ...plain, platform: 'darwin' }), true)
  assert.equal(mayBeLoggedIn(own, { ...plain, isInstalledByUs: false }), true)
  assert.equal(mayBeLoggedIn({}, plain), true)
  assert.equal(mayBeLoggedIn(hosted, { ...plain, isWrapped: true }), true)
})

test('a key that its vendor rejects is an error; any other answer, or none, is left to the agent', async () => {
  await using there = await place()
  const asked: string[] = []
  const answers =
    (status: number, text = '{}'): typeof fetch =>
    async (url, init) => {
      asked.push(`${url} ${JSON.stringify(init?.headers)}`)
      return new Response(text, { status })
    }
  const invalid = '{"error":{"details":[{"reason":"API_KEY_INVALID"}]}}'
  // A key that may not list the models may do the work.
  const few = '{"error":{"message":"You have insufficient permissions. Missing scopes: api.model.read"}}'
  assert.equal(await there.ask('codex', { OPENAI_API_KEY: 'restricted' }, [], answers(401, few)), null)
  for (const [agent, name, refusal] of [
    ['claude', 'ANTHROPIC_API_KEY', answers(401)],
    ['codex', 'OPENAI_API_KEY', answers(401)],
    ['codex', 'CODEX_API_KEY', answers(401)],
    ['gemini', 'GEMINI_API_KEY', answers(400, invalid)],
  ] as const) {
    const env = { [name]: 'the-key-of-all' }
    const why = (await there.ask(agent, env, [], refusal)) ?? ''
    assert.match(why, new RegExp(`^[a-z.]+ refuses ${name} \\(HTTP 40[01]\\)`))
    assert.doesNotMatch(why, /the-key-of-all/)
    assert.match(asked.at(-1) ?? '', /^https:.*the-key-of-all/)
    for (const status of [200, 400, 403, 404, 429, 500])
      assert.equal(await there.ask(agent, env, [], answers(status)), null, `${agent} ${status}`)
    assert.equal(await there.ask(agent, env, [], () => Promise.reject(new Error('offline'))), null)
  }
  const before = asked.length
  for (const env of [
    { CLAUDE_CODE_OAUTH_TOKEN: 'x' },
    { ANTHROPIC_API_KEY: 'x', ANTHROPIC_BASE_URL: 'https://gate.example' },
  ])
    assert.equal(await there.ask('claude', env, [], answers(401)), null)
  assert.equal(asked.length, before, 'a subscription and a gateway of one’s own are not asked')
})
