// A job that ends in the middle of a browser check, or while a service comes up: killed or cancelled, on a laptop and as the
// action. Services, database and browser are gone with their files, and the next job goes on.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { freePort } from '../fakes/clone.ts'
import { lacks } from '../machine/needs.ts'
import { place } from './laptop.ts'
import { openSite, outputsOf, type Site, story } from './site.ts'

const PRD = '.ralph/2026-01-31-sample/prd.json'
const SERVER = `import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
createServer((request, response) => {
  const page = readFileSync('page.html', 'utf8')
  // It never answers, and says that it was asked.
  if (request.url === '/cart' && page === 'slow') return writeFileSync(process.env.THERE, '')
  response.writeHead(200, { 'content-type': 'text/html' }).end(page)
}).listen(Number(process.env.PORT), 'localhost')
`
const page = (words: string) =>
  `<!doctype html><html lang="en"><title>Cart</title><link rel="icon" href="data:,"><h1>${words}</h1></html>`

/** PostgreSQL runs as no root, and leaves its starter. */
const DATABASE = `set -e
D=$(mktemp -d "$FOLDER/db-XXXXXX")
run() { if [ "$(id -u)" = 0 ]; then chown nobody "$D"; setpriv --reuid=nobody --regid=nogroup --clear-groups "$@"; else "$@"; fi; }
cd /
run initdb -D "$D/data" -A trust -U postgres >/dev/null
run pg_ctl -D "$D/data" -l "$D/log" -o "-k $D -p $PORT -c listen_addresses=localhost" -w start`

const skip = lacks('chrome', 'postgres')

/** What a job that is about to end has, told by a folder of its own. */
async function scene() {
  const folder = await mkdtemp(join(tmpdir(), 'beside-'))
  const [there, tmp] = [join(folder, 'there'), join(folder, 'tmp')]
  execFileSync('mkfifo', [there])
  await mkdir(tmp)
  await Promise.all([chmod(folder, 0o777), chmod(tmp, 0o777)])
  const [web, db] = [await freePort(), await freePort()]
  const url = `http://localhost:${web}`
  const environment = { FOLDER: folder, THERE: there }
  const services = {
    db: {
      start: DATABASE,
      ready: { command: `pg_isready -q -h localhost -p ${db}` },
      environment: { ...environment, PORT: String(db) },
    },
    web: {
      start: 'if [ -e late ]; then echo >"$THERE"; sleep 600; fi; exec node server.mjs',
      ready: url,
      environment: { ...environment, PORT: String(web) },
    },
  }
  const turn = (files: Record<string, string | null>) => ({ 'US-001': [{ files }, { files }, { files }] })
  return {
    tmp,
    stories: [story('US-001', 'the cart', { tags: ['ui'], acceptanceCriteria: [`${url}/cart shows it`] })],
    files: { 'server.mjs': SERVER, 'page.html': page('Empty') },
    settings: { services, browser: {} },
    slow: turn({ 'page.html': 'slow' }),
    late: turn({ late: '' }),
    good: turn({ 'page.html': page('Cart'), late: null }),
    /** A service is asked for the slow page, or began and is not ready. */
    reached: () => readFile(there),
    running: () => processesOf(folder),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  }
}
type Scene = Awaited<ReturnType<typeof scene>>

/** Processes of a command line or an environment with the folder: services, database, browser. */
function processesOf(folder: string): string[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) return []
    try {
      const line = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ')
      const ours =
        line.includes(folder) || readFileSync(`/proc/${name}/environ`, 'utf8').includes(`FOLDER=${folder}\0`)
      return ours ? [`${name} ${line.slice(0, 100)}`] : []
    } catch {
      return []
    }
  })
}

function assertNothingLeft({ running, tmp }: Scene): void {
  assert.deepEqual(running(), [])
  assert.deepEqual(
    readdirSync(tmp).filter((name) => name.startsWith('ralph-')),
    [],
  )
}

for (const [signal, when] of [
  ['SIGKILL', 'slow'],
  ['SIGINT', 'slow'],
  ['SIGTERM', 'late'],
] as const)
  test(`a run on a laptop, ended by ${signal} ${when === 'slow' ? 'in a browser check' : 'while a service starts'}: no process is left, the next run completes (Chromium, PostgreSQL)`, {
    skip,
  }, async () => {
    await using at = await scene()
    const prd = JSON.stringify({ schemaVersion: 2, userStories: at.stories })
    const config = JSON.stringify({ ...at.settings, gates: { there: 'test -f page.html' } })
    await using local = await place({ ...at.files, 'ralph.config.json': config, [PRD]: prd }, at[when])
    const env = { TMPDIR: at.tmp }
    const first = local.start(['run', '--baseline', 'off'], env)
    await Promise.race([at.reached(), first.ended.then(({ out, err }) => assert.fail(out + err))])
    assert.notEqual(at.running().length, 0)
    first.kill(signal)
    const { code, out, err } = await first.ended
    if (signal !== 'SIGKILL') {
      assert.equal(code, 130, out + err)
      assertNothingLeft(at)
    }
    await local.setScript(at.good)
    const next = await local.ralph(['run', '--baseline', 'off'], env)
    assert.equal(next.code, 0, next.out + next.err)
    assertNothingLeft(at)
    const state = JSON.parse(local.git('show', 'refs/ralph/2026-01-31-sample:.ralph-state/state.json'))
    const results = state.timeline.map(({ result }: { result: string }) => result)
    // The gates of a killed run's candidate run again: the page is still slow, so the attempt is rejected.
    assert.deepEqual(results, [signal === 'SIGKILL' ? 'rejected' : 'returned', 'passed'])
  })

/** The action's process that works in one of them. */
function mainIn(workspaces: readonly (string | null)[]): number {
  const [main = ''] = readdirSync('/proc').filter((name) => {
    try {
      const line = readFileSync(`/proc/${name}/cmdline`, 'utf8')
      return line.includes('/dist/action/main.js') && workspaces.includes(readlinkSync(`/proc/${name}/cwd`))
    } catch {
      return false
    }
  })
  return Number(main)
}

function siteOf(at: Scene, when: 'slow' | 'late', separate: boolean): Promise<Site> {
  const texts = Object.entries(at.settings).map(([name, value]) => [name, JSON.stringify(value)])
  return openSite({
    stories: at.stories,
    script: at[when],
    separate,
    files: {
      ...at.files,
      ...(separate ? {} : { 'ralph.config.json': JSON.stringify(at.settings) }),
    },
    inputs: {
      gates: 'there: test -f page.html',
      baseline: 'off',
      'final-verification': 'false',
      ...(separate ? Object.fromEntries(texts) : {}),
    },
    workflow: (text) => text.replace(/^jobs:$/m, `env:\n  TMPDIR: ${at.tmp}\njobs:`),
  })
}

for (const [how, when, separate] of [
  ['killed', 'slow', false],
  ['killed', 'slow', true],
  ['cancelled', 'slow', false],
  ['cancelled', 'late', false],
  ['cancelled', 'slow', true],
] as const)
  test(`the action, ${how} ${when === 'slow' ? 'in a browser check' : 'while a service starts'}${separate ? ', in the gate job' : ''}: no process is left, the next run completes (Chromium, PostgreSQL)`, {
    skip,
  }, async () => {
    await using at = await scene()
    await using site = await siteOf(at, when, separate)
    const run = await site.runner.dispatch('ralph.yml', { feature: 'sample' }, { actor: 'alice' })
    await Promise.race([
      at.reached(),
      site.runner.when((one) => one.status === 'completed').then(() => assert.fail(site.log())),
    ])
    assert.notEqual(at.running().length, 0)
    if (how === 'cancelled') site.runner.cancel(run.id)
    else {
      process.kill(mainIn(run.jobs.map(({ workspace }) => workspace)), 'SIGKILL')
      await site.setScript(at.good)
    }
    await site.runner.settled()
    assertNothingLeft(at)
    assert.deepEqual(
      run.jobs.flatMap(({ notes }) => notes),
      [],
      'the runner found nothing to end',
    )
    assert.equal((await site.state()).lease, null, site.log())
    await site.setScript(at.good)
    if (outputsOf(site.last()).outcome !== 'complete') await site.go()
    assert.equal(outputsOf(site.last()).outcome, 'complete', site.log())
    const [only] = (await site.prd()).userStories
    assert.equal(only?.retries, 0)
    assertNothingLeft(at)
  })
