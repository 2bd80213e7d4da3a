// The starter workflow as it stands, `isolation` left out: another user, its network closed, its model's key with us; where
// that cannot be had an error, and a warning where less was chosen by name.
import '../fakes/disk.ts'
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { openClaude } from '../fakes/claude-machine.ts'
import { lacks } from '../machine/needs.ts'
import { openOutside } from '../standin/outside.ts'
import {
  annotationsOf,
  badTurn,
  goodTurn,
  openSite,
  outputsOf,
  RUN_TESTS_AS_OTHER_USER,
  type SiteOptions,
  story,
} from './site.ts'

const KEY = 'sk-ant-canary-0123456789abcdefghijkl'

const byDefault = (text: string) => text.replace(/^ +isolation: .*\n/m, '')
const stories = {
  stories: [story('US-001', 'one'), story('US-002', 'two')],
  script: {
    'US-001': [
      {
        ...goodTurn('one', 1),
        shell: 'git commit -qm mine --allow-empty 2>/dev/null && touch committed.txt',
      },
    ],
    'US-002': [badTurn('two', 2), { ...goodTurn('two', 2), shell: 'chmod -R 0700 src' }],
  },
}

/** The vendor's server; answers who has the key. */
async function openModel() {
  const server = createServer((request, response) => {
    request.resume()
    const isKnown = request.headers['x-api-key'] === KEY
    response.writeHead(isKnown ? 200 : 401, { 'content-type': 'application/json' })
    response.end(isKnown ? '{"type":"message"}' : '{"type":"error"}')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { url, [Symbol.asyncDispose]: async () => void server.close() }
}

const options = { skip: lacks('root', 'ip') }

test(
  'by default a chain runs as another user, without its key and with a closed network, keeps the work of a red gate, and reports refused hosts',
  options,
  async () => {
    await using outside = await openOutside()
    await using model = await openModel()
    await using claude = await openClaude({ script: stories.script, key: KEY, outside: outside.address })
    assert.equal(await (await fetch(`http://${outside.address}/test`)).text(), 'outside')
    await using site = await openSite({
      ...stories,
      inputs: {
        agent: 'claude',
        'iterations-per-job': '2',
        gates: `test: ${RUN_TESTS_AS_OTHER_USER}\nwho: "[ $(id -un) != root ]"`,
      },
      workflow: (text) =>
        byDefault(text)
          .replace(/^ +agent-command: .*\n/m, '')
          .replace(/^( +)(ANTHROPIC_API_KEY: .*)$/m, `$1$2\n$1ANTHROPIC_BASE_URL: ${model.url}`),
      runner: { path: [claude.bin], secrets: { ANTHROPIC_API_KEY: KEY } },
    })
    const run = await site.go()
    assert.equal(outputsOf(run).outcome, 'complete', site.log())
    assert.equal(outputsOf(run).iterations, '3')
    assert.equal(await site.github.read('ralph/sample', 'committed.txt'), null)
    const [asked, ...sessions] = (await claude.saw()).filter((one, at) => one.mode !== 'version' || at === 0)
    assert.deepEqual(asked, { mode: 'version', key: '' })
    assert.equal(sessions.length, 4, 'three attempts at two stories and the judge')
    for (const one of sessions) {
      assert.match(one.user, /^ralph-[0-9a-f]{8}$/)
      assert.match(one.key, /^ralph-[0-9a-f]{48}$/)
      assert.deepEqual(one.inSight, [], 'the key is in sight')
      assert.equal(one.model, '{"type":"message"}', 'by the proxy it has its model')
      assert.match(one.stranger, /not the key that Ralph gave/)
      assert.match(one.direct, /^failed/)
      assert.deepEqual(one.proxied, ['403', '403', '403'])
    }
    assert.deepEqual(outside.asked, ['/test'])
    const summary = run.jobs.flatMap((job) => job.steps.map((step) => step.summary)).join('')
    const comment = [...site.github.world.comments.values()].map(({ body }) => body).join('\n')
    for (const text of [summary, comment, annotationsOf(run, 'warning').join('\n')]) {
      assert.match(text, /The network refused: .*evil.{1,9}example.*\(\d\)/)
      assert.doesNotMatch(text, /same-user/)
    }
    assert.ok(!site.log().includes(KEY))
    assert.doesNotMatch(readFileSync('/etc/passwd', 'utf8'), new RegExp(`^${sessions[0]?.user}:`, 'm'))
  },
)

test('an agent that cannot reach its model on a closed network is an error before any cost, with the setting to write', {
  skip: lacks('root'),
}, async () => {
  await using claude = await openClaude({ script: stories.script, key: KEY, outside: '127.0.0.1:9' })
  await using site = await openSite({
    ...stories,
    inputs: { agent: 'claude' },
    workflow: (text) =>
      byDefault(text)
        .replace(/^ +agent-command: .*\n/m, '')
        .replace(/^( +)(ANTHROPIC_API_KEY: .*)$/m, "$1$2\n$1CLAUDE_CODE_USE_BEDROCK: '1'"),
    runner: { path: [claude.bin], secrets: { ANTHROPIC_API_KEY: KEY } },
  })
  const said = annotationsOf(await site.go(), 'error').join('\n')
  assert.match(
    said,
    /`network: model` is set, but claude cannot reach its model through Ralph's proxy here\./,
    site.log(),
  )
  assert.match(said, /network-allow .*network: open/)
  assert.deepEqual(await site.github.pulls(), [])
})

test('an explicit `isolation: same-user` is a warning in log, summary and comment', async () => {
  await using site = await openSite(stories)
  const run = await site.go()
  assert.equal(outputsOf(run).outcome, 'complete', site.log())
  const annotations = run.jobs.flatMap((job) => job.steps.flatMap((step) => step.annotations))
  const warned = annotations.filter(({ message }) => message.startsWith('isolation: same-user'))
  assert.deepEqual(
    warned.map(({ level }) => level),
    ['warning'],
  )
  const summary = run.jobs.flatMap((job) => job.steps.map((step) => step.summary)).join('')
  const comment = [...site.github.world.comments.values()].map(({ body }) => body).join('\n')
  for (const text of [summary, comment])
    assert.match(text, /isolation: same-user: the agent runs as the user/)
})

test('isolation without root and sudo is an error before any cost, with the setting to write', {
  skip: lacks('root'),
}, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ralph-rootless-'))
  await chmod(folder, 0o755)
  const node = join(folder, 'node')
  const nobody = 'setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs'
  await writeFile(
    node,
    `#!/bin/bash\nchown -R 65534:65534 "$RUNNER_WORKSPACE/.." "$HOME"\nexec ${nobody} '${process.execPath}' "$@"\n`,
  )
  await chmod(node, 0o755)
  const rootless: Partial<SiteOptions['runner']> = { node, workRoot: folder }
  await using site = await openSite({ ...stories, workflow: byDefault, runner: rootless })
  const run = await site.go()
  const said = annotationsOf(run, 'error').join('\n')
  assert.match(said, /the user of the runner is not root, and cannot use sudo without a password/, site.log())
  assert.match(said, /set isolation: same-user/)
  assert.equal(outputsOf(run).outcome, 'error')
  assert.equal(run.conclusion, 'failure')
  assert.equal((await site.sessions()).length, 0)
  assert.deepEqual(await site.github.pulls(), [])
  await rm(folder, { recursive: true, force: true })
})
