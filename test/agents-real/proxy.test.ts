// Real agent CLIs as another user whose network is closed: their model is reached through our proxy, and the key is in
// no environment, no command line and no file that they can read. Needs root.
import '../fakes/disk.ts'
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmod, mkdir, mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import test from 'node:test'
import { codex } from '../../src/agents/codex.ts'
import { relayModel } from '../../src/app/relay.ts'
import { runUntrusted } from '../../src/system/process.ts'
import { lacks } from '../machine/needs.ts'
import { openOutside } from '../standin/outside.ts'
import { clis } from './clis.ts'
import { binOf, install, openBench, toolCache } from './drive.ts'
import { startModel, type Turn } from './model.ts'

const KEY = 'canary-0123456789abcdef0123456789abcdef'
const isRoot = process.platform === 'linux' && process.getuid?.() === 0

/** By a tool of the agent's: everything that its user can read of processes, and its own environment. */
const LOOK =
  '(env; cat /proc/*/environ /proc/*/cmdline) 2>/dev/null | tr "\\0" "\\n" | grep -ciE "canary-[0-9a-f]{32}" >seen.txt; (env; cat /proc/*/environ) 2>/dev/null | grep -aoE "ralph-[0-9a-f]{48}" | sort -u | wc -l >>seen.txt; id -un >>seen.txt'
const TURNS: Turn[] = [
  { say: 'I write it.', wishes: [{ write: 'hello.txt', content: 'hello\n' }] },
  { say: 'I look about.', wishes: [{ shell: LOOK }] },
  { say: 'Did it.\n\n<ralph>DONE</ralph>' },
]

/** The variable that holds the key, over what clis.ts sets. */
const KEYED: Readonly<Record<string, Record<string, string | undefined>>> = {
  claude: { CLAUDE_CODE_OAUTH_TOKEN: undefined, ANTHROPIC_API_KEY: KEY },
  gemini: { GEMINI_API_KEY: KEY },
  copilot: { COPILOT_PROVIDER_API_KEY: KEY },
  qwen: { OPENAI_API_KEY: KEY },
  droid: { FACTORY_API_KEY: KEY },
}

/** The installed CLIs where every user may read them. */
async function openTools(name: string, version: string) {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'ralph-tools-')))
  await chmod(folder, 0o755)
  const [from, to] = [toolCache(), folder].map((one) => join(one, 'ralph-agents', name))
  await mkdir(to ?? '', { recursive: true })
  const whole = [join(from ?? '', version), join(to ?? '', version)]
  try {
    execFileSync('cp', ['-al', ...whole], { stdio: 'ignore' })
  } catch {
    execFileSync('cp', ['-a', ...whole])
  }
  return { folder, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) }
}

for (const cli of clis.filter(({ name }) => KEYED[name] !== undefined)) {
  test(`${cli.name} as another user reaches its model through the proxy, without the key`, {
    timeout: 400_000,
  }, async (t) => {
    const missing = lacks('root')
    if (missing) return t.skip(missing)
    const why = await install(cli)
    if (why !== null) return t.skip(why)
    await using tools = await openTools(cli.name, cli.version)
    await using bench = await openBench({
      cli,
      story: { title: 'Say hello', description: 'hello.txt holds the word hello.' },
      script: () => ({ sessions: [{ when: '', turns: TURNS }] }),
      flags: ['--isolation', 'other-user', '--network', 'model', '--no-final-verification'],
      env: { ...KEYED[cli.name], RUNNER_TOOL_CACHE: tools.folder, RUNNER_ENVIRONMENT: 'github-hosted' },
    })
    const { exit, said, log, prd } = await bench.run()
    assert.equal(exit, 0, log)
    assert.equal(said.outcome, 'complete', log)
    const [found, placeholders, user] = (await bench.git('show', 'ralph/sample:seen.txt')).split('\n')
    assert.equal(found, '0', 'the key is in sight')
    assert.equal(placeholders, '1', 'what it takes for its key is there')
    assert.match(user ?? '', /^ralph-[0-9a-f]{8}$/)
    const asked = bench.model.requests.filter(({ turn }) => turn !== null)
    assert.deepEqual([...new Set(asked.map(({ key }) => key))], [KEY])
    assert.ok(!log.includes(KEY))
    assert.ok((prd.run.usage?.inputTokens ?? 0) > 0)
  })
}

/** opencode lets no command look into /proc. */
const WHO = TURNS.with(1, { say: 'I look who I am.', wishes: [{ shell: 'id -un >who.txt' }] })

/** Those whose model the proxy cannot serve at an address of ours: they leave the closed network by its one exit. */
for (const cli of clis.filter(({ name }) => ['opencode', 'codex'].includes(name)))
  test(`${cli.name} as another user reaches its model by the host that network-allow names`, {
    timeout: 400_000,
  }, async (t) => {
    const missing = lacks('root', 'ip')
    if (missing) return t.skip(missing)
    const why = await install(cli)
    if (why !== null) return t.skip(why)
    await using outside = await openOutside()
    await using tools = await openTools(cli.name, cli.version)
    await using bench = await openBench({
      cli,
      host: outside.near,
      story: { title: 'Say hello', description: 'hello.txt holds the word hello.' },
      script: () => ({ sessions: [{ when: '', turns: WHO }] }),
      flags: (url) => [
        ...['--isolation', 'other-user', '--network', 'model', '--no-final-verification'],
        // opencode looks its models up at models.dev.
        ...['--network-allow', new URL(url).host, '--network-allow', 'models.dev'],
      ],
      env: { RUNNER_TOOL_CACHE: tools.folder, RUNNER_ENVIRONMENT: 'github-hosted' },
    })
    const { exit, said, log } = await bench.run()
    assert.equal(exit, 0, log)
    assert.equal(said.outcome, 'complete', log)
    assert.match(await bench.git('show', 'ralph/sample:who.txt'), /^ralph-[0-9a-f]{8}$/)
    assert.ok(bench.model.requests.some(({ turn }) => turn !== null))
    assert.deepEqual(outside.asked, [])
  })

test('codex reaches its model through the proxy, with the address as an argument', {
  timeout: 300_000,
}, async (t) => {
  const cli = clis.find(({ name }) => name === 'codex')
  assert.ok(cli !== undefined && codex.relay !== undefined)
  const why = await install(cli)
  if (why !== null) return t.skip(why)
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'ralph-codex-')))
  await using model = await startModel({ cwd: folder, sessions: [{ when: '', turns: TURNS }] })
  // Its own address cannot be set by a variable.
  const vendor = { ...codex, relay: { ...codex.relay, upstream: `${model.url}/v1` } }
  const env = { PATH: `${binOf(cli)}${delimiter}${process.env.PATH}`, HOME: folder, CODEX_API_KEY: KEY }
  const relayed = await relayModel(vendor, env, async (port) => port, assert.fail)
  assert.ok(relayed !== null)
  await using proxy = relayed.proxy
  using _way = relayed.admit()
  const ran = await runUntrusted({
    file: 'codex',
    args: codex.args({ env: {}, extraArgs: relayed.args, isRoot: isRoot }),
    cwd: folder,
    env: Object.fromEntries(Object.entries(relayed.env).map(([name, value]) => [name, value ?? ''])),
    stdin: 'Say hello.',
    timeoutMs: 120_000,
    captureBytes: 65_536,
  })
  assert.deepEqual(ran.exit, { kind: 'exit', code: 0 }, ran.output)
  const asked = model.requests.filter(({ turn }) => turn !== null)
  assert.equal(asked.length, TURNS.length, ran.output)
  assert.deepEqual([...new Set(asked.map(({ key }) => key))], [KEY])
  assert.ok(proxy.used().requests >= TURNS.length)
  await rm(folder, { recursive: true, force: true })
})
