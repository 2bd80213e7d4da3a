// `ralph monitor`: a run on this machine as its files tell, and one in CI as its state ref tells.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { openWorkspace } from '../../../src/app/workspace.ts'
import { follow } from '../../../src/cli/monitor.ts'
import { localSource, refuseUnknown } from '../../../src/cli/monitor-source.ts'
import { newEnding } from '../../../src/engine/model/job.ts'
import { KEYS, openTerminal } from '../../fakes/terminal.ts'
import { startGitHub } from '../../standin/github.ts'
import { putState } from '../github/put-state.ts'
import { midRun } from '../report/samples.ts'
import { right } from '../settings/reading.ts'
import { GATE, good, MAIN, openPlace, type Place } from './place.ts'

test('monitor without a terminal prints one frame of plain lines, exits 0 and changes nothing', async () => {
  await using place = await openPlace([{ id: 'US-001' }, { id: 'US-002' }])
  const before = await place.ralph('monitor')
  assert.deepEqual([before.code, before.err], [0, ''])
  assert.match(before.out, /^Status: READY, 0 of 2 stories pass · not started · US-001 is next$/m)
  await place.setScript({ 'US-001': [{ ...good('US-001'), say: 'I did this.\n::error::x' }] })
  await place.ralph('run', ...place.agent, ...GATE, '--once')
  const refs = place.refs()
  const { code, out } = await place.ralph('monitor', 'sample')
  assert.equal(code, 0)
  assert.match(out, /^Stories: 1 passed, 1 open$/m)
  assert.match(out, /^Iteration 1: US-001 passed: /m)
  assert.match(out, /^Says: I did this\.$/m)
  assert.doesNotMatch(out, /^::/m)
  const { features } = await place.json('monitor')
  assert.ok(Array.isArray(features) && features.length === 1 && features[0].status.title === 'CONTINUED')
  assert.equal(place.refs(), refs)
})

test('monitor reads a long transcript in the format of its own agent, whatever the settings name', async () => {
  await using place = await openPlace([{ id: 'US-001' }])
  await place.setScript({ 'US-001': [good('US-001')] })
  await place.ralph('run', ...place.agent, ...GATE, '--once')
  const top = join(place.repository, '.git', 'ralph', 'transcripts')
  const [log] = readdirSync(top, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.log'),
  )
  const said = (text: string) =>
    `${JSON.stringify({ type: 'item.completed', item: { type: 'agent_message', text } })}\n`
  writeFileSync(join(top, log ?? ''), `agent: codex\n${said('I look.').repeat(5000)}${said('I mended it.')}`)
  const { out } = await place.ralph('monitor')
  assert.match(out, /^Says: I mended it\.$/m)
})

test('monitor on a terminal follows a run, and q restores the terminal', async () => {
  await using place = await openPlace([{ id: 'US-001', title: 'Sign in' }])
  const go = join(place.folder, 'go')
  await place.setScript({
    'US-001': [
      {
        ...good('US-001'),
        shell: `echo first words; until [ -e ${go} ]; do sleep 0.1; done; echo later words`,
      },
    ],
  })
  await using terminal = openTerminal([process.execPath, MAIN, 'monitor'], {
    cwd: place.repository,
    env: place.env,
  })
  await terminal.see('READY')
  const run = place.start(['run', ...place.agent, ...GATE, '--no-final-verification'])
  await terminal.see('AT WORK')
  await terminal.see('first words')
  writeFileSync(go, '')
  await terminal.see('COMPLETE')
  assert.equal((await run.ended).code, 0)
  terminal.type('q')
  assert.equal(await terminal.ended, 0)
})

test('monitor reads no file while nothing changes, and shows new output at once', async (t) => {
  await using place = await openPlace([{ id: 'US-001' }])
  const { settings } = right({ inputs: { agent: 'claude' } })
  const where = {
    settings,
    env: place.env,
    directory: place.repository,
    remote: null,
    identity: null,
  } as const
  using source = localSource(await openWorkspace({ ...where, warn: assert.fail }), settings, [])
  await source.look()
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const stop = new AbortController()
  let looks = 0
  const following = follow(source, stop.signal, () => looks++)
  t.mock.timers.tick(5 * 3_600_000)
  for (let turns = 0; turns < 10; turns++) await turn()
  assert.equal(looks, 0)
  await place.write({ '.git/ralph/transcripts/1-sample/US-001-1.log': 'words\n' })
  // The moment in which changes settle passes once it has begun.
  for (let left = 10 * 3_600_000; looks === 0 && left > 0; left -= 60) {
    await turn()
    t.mock.timers.tick(60)
  }
  assert.equal(looks, 1)
  stop.abort()
  await following
})

for (const [name, key] of [
  ['q', 'q'],
  ['Ctrl+C', KEYS.interrupt],
] as const)
  test(`monitor ended by ${name} restores screen and cursor`, async () => {
    await using place = await openPlace([{ id: 'US-001' }])
    await using terminal = openTerminal([process.execPath, MAIN, 'monitor'], {
      cwd: place.repository,
      env: { ...place.env, NO_COLOR: '1' },
      columns: 40,
    })
    await terminal.see('READY')
    terminal.type(KEYS.down, key)
    assert.equal(await terminal.ended, 0)
    const all = terminal.raw()
    assert.ok(all.startsWith('\u001b[?1049h\u001b[?25l'))
    assert.ok(all.trimEnd().endsWith('\u001b[?25h\u001b[?1049l'), JSON.stringify(all.slice(-100)))
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours
    assert.doesNotMatch(all, /\u001b\[[1-9][\d;]*m/)
  })

test('monitor reports a missing run, and a state of a newer version', async () => {
  await using place = await openPlace([{ id: 'US-001' }])
  await place.ralph('run', ...place.agent, ...GATE, '--once')
  const name = 'refs/ralph/2026-01-31-sample'
  const text = place.git('show', `${name}:.ralph-state/state.json`)
  await place.write({ '../state.json': text.replace('"version":1', '"version":99') })
  const blob = place.git('hash-object', '-w', '../state.json')
  const tree = (input: string) =>
    execFileSync('git', ['mktree'], { cwd: place.repository, env: place.env, input, encoding: 'utf8' }).trim()
  const root = tree(`040000 tree ${tree(`100644 blob ${blob}\tstate.json\n`)}\t.ralph-state\n`)
  const commit = place.git('commit-tree', '-m', 'newer', root)
  writeFileSync(join(place.repository, '.git', 'ralph', 'git', name), `${commit}\n`)
  const newer = await place.ralph('monitor')
  assert.equal(newer.code, 64)
  assert.match(newer.err, /version: found 99, expected 1 or less\n {2}fix: a newer version of Ralph/)
})

async function inCi(place: Place, github: Awaited<ReturnType<typeof startGitHub>>, token: string) {
  place.git('remote', 'add', 'origin', github.cloneUrl)
  Object.assign(place.env, { GITHUB_SERVER_URL: github.url, GITHUB_API_URL: github.url, GH_TOKEN: token })
}

test('monitor shows a run in CI by two API requests, with its address', async () => {
  await using github = await startGitHub()
  await using place = await openPlace([{ id: 'US-001' }])
  await inCi(place, github, github.mintJobToken({ contents: 'read' }))
  const ended = { ...midRun(), attempts: {} }
  ended.job = {
    ...ended.job,
    ending: newEnding({ outcome: 'stuck', reason: 'US-003 is blocked', until: null }, 0),
  }
  await putState(github, ended)
  const { code, out, err } = await place.ralph('monitor')
  assert.deepEqual([code, err], [0, ''])
  assert.match(out, /^=== ralph\/auth ===\nStatus: STUCK, Stuck: US-003 is blocked/)
  assert.match(out, /^Next: .*\/ralph /m)
  assert.ok(out.includes(`${github.url}/acme/shop, checked every 30 s`), out)
  assert.deepEqual(
    github.requests.map(({ operation, status }) => [operation, status]),
    [
      ['git/list-matching-refs', 200],
      ['repos/get-content', 200],
    ],
  )
  assert.deepEqual(github.violations, [])
  const other = await place.ralph('monitor', 'aut', '--remote')
  assert.equal(other.code, 64)
  assert.match(other.err, /feature: there is no feature aut in CI\.\n.*did you mean auth/)
})

test('monitor reports a token that may not read, no token, and a clone of another host', async () => {
  await using github = await startGitHub()
  await using place = await openPlace([{ id: 'US-001' }])
  const told = async () => {
    const { code, err } = await place.ralph('monitor', '--remote')
    assert.equal(code, 64)
    return err
  }
  assert.match(
    await told(),
    /--remote: this clone has no remote origin, but Ralph looks for runs in CI at https:\/\/github\.com\./,
  )
  await inCi(place, github, github.mintJobToken({ checks: 'write' }))
  assert.match(
    await told(),
    /GH_TOKEN: this token cannot read the contents of acme\/shop: GitHub answers 403: .*\n {2}fix: .*contents: read/,
  )
  place.env.GH_TOKEN = 'nobody'
  assert.match(await told(), /GH_TOKEN: this token cannot read .*: GitHub answers 401: Bad credentials/)
  delete place.env.GH_TOKEN
  place.env.PATH = `${join(place.folder, 'none')}:/usr/bin:/bin`
  if (!existsSync('/usr/bin/gh')) assert.match(await told(), /GH_TOKEN: there is no token for/)
  place.env.GH_TOKEN = github.mintJobToken({ contents: 'read' })
  assert.match(await told(), /feature: no job has worked on a feature in .*acme\/shop yet\./)
})

test('the error for an unknown feature lists each feature once', () => {
  assert.throws(
    () => refuseUnknown(['lgin'], ['login', 'shop', 'login'], 'here'),
    /use one of: login, shop \(did/,
  )
})
