// The browser runs as the gates' user: it reads nothing of ours, has a profile that goes with it, and leaves nothing.
import '../../../fakes/disk.ts'
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { openOtherUser } from '../../../../src/isolation/other-user.ts'
import { lacks } from '../../../machine/needs.ts'
import { html, look, site } from './site.ts'

const skip = lacks('root', 'chrome-for-all')

test('the browser check as another user visits pages, and Chromium runs wholly as that user (Chromium)', {
  skip,
  timeout: 180_000,
}, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ralph-other-'))
  await chmod(folder, 0o755)
  const [tree, temp] = [join(folder, 'tree'), join(folder, 'temp')]
  await mkdir(temp)
  execFileSync('git', ['init', '-q', tree])
  const env = { PATH: process.env.PATH, HOME: '/root', RUNNER_TEMP: temp }
  const user = await openOtherUser({
    env,
    workTree: tree,
    gitDir: join(tree, '.git'),
    key: folder,
    report: () => {},
  })
  try {
    const owners = new Set<number>()
    const profiles: string[] = []
    await using shop = await site({
      '/': (_, response) => {
        for (const [pid, line] of browsers()) {
          owners.add(statSync(`/proc/${pid}`).uid)
          profiles.push(/--user-data-dir=(\S+)/.exec(line)?.[1] ?? '')
        }
        response.writeHead(200, { 'content-type': 'text/html' })
        response.end(html('<h1>Shop</h1>'))
      },
      '/error': html('<script>missing()</script>'),
    })
    const { ok, output, screenshots } = await look(shop.url, ['/', '/error'], {
      as: user,
      env: { PATH: process.env.PATH ?? '', HOME: '/root' },
    })
    assert.equal(ok, false)
    assert.match(output, /page error: ReferenceError: missing is not defined/)
    assert.equal(screenshots?.length, 2, output)
    assert.deepEqual([...owners], [user.uid])
    const top = dirname(dirname(user.home))
    for (const profile of profiles) assert.ok(profile.startsWith(`${top}/session-`), profile)
    assert.equal(user.isRunning(), false)
    // What is asked of root comes after what was asked before.
    await user.asRoot('true')
    assert.deepEqual(
      readdirSync(top).filter((name) => name.startsWith('session-')),
      [],
    )
  } finally {
    await user.close()
    await rm(folder, { recursive: true, force: true })
  }
})

/** Process ids and command lines; other tests have browsers of their own. */
function browsers(): [number, string][] {
  const lines = execFileSync('ps', ['-ww', '-eo', 'pid=,ppid=,args='], { encoding: 'utf8' }).split('\n')
  const parents = new Map(lines.map((line) => line.trim().split(/\s+/, 2).map(Number) as [number, number]))
  const isOurs = (pid: number): boolean => pid === process.pid || (pid > 1 && isOurs(parents.get(pid) ?? 0))
  return lines
    .filter(
      (line) => /^\s*\d+ +\d+ \S*chrom\S* .*--remote-debugging-pipe/.test(line) && !line.includes('--type='),
    )
    .map((line): [number, string] => [Number.parseInt(line, 10), line])
    .filter(([pid]) => isOurs(pid))
}
