// That the preload sees what changes something, whichever way Node offers for it, and nothing that only reads.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { MET, type Plan, PRELOAD, pointsOf } from './points.ts'

const SCRIPT = `
import { execFileSync, spawn } from 'node:child_process'
import fs, { createWriteStream, rmdirSync, writeFileSync } from 'node:fs'
import { open, readFile, rename, writeFile } from 'node:fs/promises'
import { once } from 'node:events'
await writeFile('one', 'from promises')
writeFileSync('two', 'from sync')
await new Promise((resolve) => fs.writeFile('three', 'from a callback', resolve))
const handle = await open('four', 'w')
await handle.write('from a handle')
await handle.sync()
await handle.close()
const stream = createWriteStream('five')
stream.end('from a stream')
await once(stream, 'close')
await rename('one', 'six')
await readFile('six')
execFileSync('git', ['--version'])
await once(spawn('git', ['rev-parse', '--git-dir']), 'exit')
await once(spawn('true', ['given']), 'exit')
try { rmdirSync('none') } catch {}
await fetch('http://127.0.0.1:9/read').catch(() => {})
await fetch('http://127.0.0.1:9/write', { method: 'POST' }).catch(() => {})
`

/** The script in a folder of its own, with a plan. */
async function tried(plan: Plan, script = SCRIPT) {
  const folder = await mkdtemp(join(tmpdir(), 'ralph-preload-'))
  await writeFile(join(folder, 'main.js'), script)
  await writeFile(join(folder, 'package.json'), '{"type":"module"}')
  await writeFile(join(folder, 'plans.json'), JSON.stringify({ 'main-1': plan }))
  const env = { ...process.env, NODE_OPTIONS: `--import=${PRELOAD}`, FAULTS: folder }
  const run = spawnSync(process.execPath, ['main.js'], { cwd: folder, env, encoding: 'utf8' })
  return {
    run,
    points: await pointsOf(folder, 'main-1'),
    read: (name: string) => readFile(join(folder, name), 'utf8').catch(() => null),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  }
}

test('the fault preload records every call that changes something, and no read', async () => {
  await using whole = await tried({})
  assert.equal(whole.run.status, 0, whole.run.stderr)
  const effects = new Map(whole.points.map(({ effect }) => [effect.n, `${effect.kind} ${effect.what}`]))
  assert.deepEqual(
    [...effects.values()],
    [
      'writeFile one',
      'writeFile two',
      'writeFile three',
      'write fd of a file', // what the call before does below
      'open four',
      'write four',
      'fsync four',
      'open five',
      'write fd of a file',
      'rename six',
      'spawn true given',
      'rmdir none',
      'request POST /write',
    ],
  )
})

test('the fault preload names an effect the same in every run', async () => {
  const script = `import { mkdtempSync, writeFileSync } from 'node:fs'
const owner = process.pid.toString(36) + '.' + process.pid.toString(16).padStart(4, '0').slice(-4)
writeFileSync(mkdtempSync('ralph-home-0123456789-' + owner + '-') + '/.gitconfig', '')`
  const names = []
  for (let run = 0; run < 4; run += 1) {
    await using whole = await tried({}, script)
    names.push(whole.points.map(({ effect }) => effect.name).join())
  }
  assert.deepEqual(new Set(names).size, 1, names.join('\n'))
})

test('the fault preload ends a process before, in and after a write, as planned', async () => {
  const left = []
  for (const when of ['before', 'torn', 'after'] as const) {
    await using ended = await tried({ at: 2, when })
    assert.equal(ended.run.signal, 'SIGKILL')
    assert.equal(ended.run.stdout, `${MET}\n`)
    left.push([await ended.read('one'), await ended.read('two')])
  }
  const one = 'from promises'
  assert.deepEqual(left, [
    [one, null],
    [one, 'from'],
    [one, 'from sync'],
  ])
})

test('the fault preload ends a process after a call that fails, too', async () => {
  await using ended = await tried({ at: 'rmdir none, 1', when: 'after' })
  assert.equal(ended.run.signal, 'SIGKILL')
})
