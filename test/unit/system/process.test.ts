// Programs that misbehave, for real: they hang, fork, ignore signals, flood, and are ended with all they started.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { OtherUser } from '../../../src/isolation/other-user.ts'
import { endOrphans, MARK_NAME, newMark, type RunRequest, runUntrusted } from '../../../src/system/process.ts'
import { lacks } from '../../machine/needs.ts'
import { HEADLESS, PYTHON } from './headless.ts'

const linux = { skip: process.platform !== 'linux', timeout: 20_000 }
let folder = ''
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'process-'))
})
after(() => rmSync(folder, { recursive: true }))

function request(script: string, more: Partial<RunRequest> = {}): RunRequest {
  return {
    file: 'bash',
    args: ['-c', script],
    cwd: folder,
    // SHLVL: else bash, with a socket as stdin, reads ~/.bashrc.
    env: { PATH: process.env.PATH ?? '', SHLVL: '1' },
    timeoutMs: 20_000,
    captureBytes: 10_000,
    ...more,
  }
}

/** Runs and collects lines. */
async function run(script: string, more: Partial<RunRequest> = {}) {
  const lines: string[] = []
  const result = await runUntrusted(
    request(script, {
      onLine: (stream, line) => lines.push(stream === 'stdout' ? line : `err ${line}`),
      ...more,
    }),
  )
  return { ...result, lines }
}

/** Processes whose environment has this mark. */
function marked(mark: string): string[] {
  return readdirSync('/proc').filter((name) => {
    try {
      return (
        /^\d+$/.test(name) && readFileSync(`/proc/${name}/environ`, 'latin1').includes(`${MARK_NAME}=${mark}`)
      )
    } catch {
      return false
    }
  })
}

/** Whether it runs; a dead one that nobody reaped does not. */
function runs(pid: number | string): boolean {
  try {
    return !/^\d+ \(.*\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))
  } catch {
    return false
  }
}

test('a process has exactly the given environment and its marker, and gives exit code and lines of both streams', async () => {
  const { exit, lines, output } = await run('echo one; echo two >&2; printf three; exit 7', {
    env: { PATH: '/bin:/usr/bin', SHLVL: '1' },
  })
  assert.deepEqual(exit, { kind: 'exit', code: 7 })
  assert.deepEqual([...lines].sort(), ['err two', 'one', 'three'])
  assert.ok(output.includes('one\n') && output.includes('two\n') && output.includes('three'))

  const { output: environment } = await runUntrusted({
    ...request(''),
    file: 'env',
    args: [],
    env: { PATH: '/bin:/usr/bin' },
    mark: 'abc',
  })
  const names = environment
    .trim()
    .split('\n')
    .map((line) => line.split('=')[0])
  assert.deepEqual(names.sort(), ['PATH', MARK_NAME])
  assert.ok(environment.includes(`${MARK_NAME}=abc\n`))
})

test('a process ended by a signal from elsewhere is reported with it', async () => {
  assert.deepEqual((await run('kill -SEGV $$')).exit, { kind: 'signal', signal: 'SIGSEGV' })
})

test('stdin of a process is written and closed, or empty', async () => {
  const text = '日本語\n'.repeat(50_000)
  assert.equal((await run('wc -c', { stdin: text })).lines[0]?.trim(), String(Buffer.byteLength(text)))
  assert.deepEqual((await run('cat; echo end')).lines, ['end'])
  assert.deepEqual((await run('exec <&-; echo end', { stdin: text })).lines, ['end'])
})

test('programs that cannot be started are reported', async () => {
  const reason = async (more: Partial<RunRequest>): Promise<string> => {
    const { exit, output } = await runUntrusted({ ...request(''), ...more })
    assert.equal(exit.kind, 'not-started')
    assert.equal(output, '')
    return exit.kind === 'not-started' ? exit.reason : ''
  }
  writeFileSync(join(folder, 'plain'), 'no program')
  assert.match(await reason({ env: { PATH: '/usr/bin:/bin' }, file: 'no-such-program' }), /ENOENT/)
  assert.match(await reason({ file: join(folder, 'plain') }), /EACCES/)
  assert.match(await reason({ args: ['-c', 'true', 'x'.repeat(3_000_000)] }), /E2BIG/)
  assert.match(await reason({ args: ['a\0b'] }), /null bytes/)
  assert.match(await reason({ cwd: join(folder, 'gone') }), /working directory .*gone does not exist/)
  assert.match(await reason({ env: { PATH: '/nowhere' }, file: 'true' }), /ENOENT/)
})

test('a wall time-out and an idle time-out end a process', async () => {
  const wall = await run('while :; do echo x; sleep 0.02; done', { timeoutMs: 150, idleTimeoutMs: 5000 })
  assert.deepEqual(wall.exit, { kind: 'timeout' })
  assert.ok(wall.lines.length >= 2)
  const idle = await run('echo x; exec sleep 60', { idleTimeoutMs: 100 })
  assert.deepEqual(idle.exit, { kind: 'idle' })
  assert.ok(idle.ms >= 100 && idle.ms < 20_000)
})

test('output resets the idle time-out, also without a line end or on stderr', async () => {
  const { exit } = await run('for i in 1 2 3 4 5 6; do printf . >&2; sleep 0.05; done', {
    idleTimeoutMs: 200,
  })
  assert.deepEqual(exit, { kind: 'exit', code: 0 })
})

test('a time-out longer than a timer can be never ends a process', async () => {
  const { exit } = await run('true', { timeoutMs: Number.POSITIVE_INFINITY, idleTimeoutMs: 2 ** 40 })
  assert.deepEqual(exit, { kind: 'exit', code: 0 })
})

test('an abort ends a process before its start, and while it runs', async () => {
  const before = await run('touch started', { signal: AbortSignal.abort() })
  assert.deepEqual(before.exit, { kind: 'aborted' })
  assert.equal(readdirSync(folder).includes('started'), false)

  const stop = new AbortController()
  const { exit, ms } = await run('echo ready; exec sleep 60', {
    signal: stop.signal,
    onLine: () => stop.abort(),
  })
  assert.deepEqual(exit, { kind: 'aborted' })
  assert.ok(ms < 20_000, `${ms} ms`)
})

test("SIGTERM goes first, with time to finish, also to a shell's children", async () => {
  const script = `bash -c 'trap "sleep 0.2; echo finished; exit" TERM; echo ready; while :; do sleep 0.02; done'; true`
  const took: number[] = []
  // On a busy machine more than once: the grace is over as soon as the group is gone, also if nobody reaps it.
  do {
    const stop = new AbortController()
    const lines: string[] = []
    const onLine = (stream: string, line: string): void => {
      if (stream === 'stdout') lines.push(line) // bash reports "Terminated" on stderr
      stop.abort()
    }
    const { exit, ms } = await runUntrusted(request(script, { signal: stop.signal, onLine }))
    assert.deepEqual(exit, { kind: 'aborted' })
    assert.deepEqual(lines, ['ready', 'finished'])
    took.push(ms)
  } while (Math.min(...took) >= 800 && took.length < 10)
  assert.ok(Math.min(...took) < 800, `${took.join()} ms`)
})

test('a process that ignores SIGTERM is killed', async () => {
  const stop = new AbortController()
  const mark = newMark()
  const { exit } = await run(`trap '' TERM INT HUP; echo ready; while :; do sleep 0.02; done`, {
    signal: stop.signal,
    onLine: () => stop.abort(),
    mark,
  })
  assert.deepEqual(exit, { kind: 'aborted' })
  if (process.platform === 'linux') assert.deepEqual(marked(mark), [])
})

test(
  'processes left at a normal end are ended: own sessions, nohup, double forks, a cleared environment in the group',
  linux,
  async () => {
    const mark = newMark()
    const script = `
    setsid sleep 300 >/dev/null 2>&1 &
    nohup sleep 301 >/dev/null 2>&1 &
    (setsid bash -c 'trap "" TERM; (sleep 302 & ); while :; do sleep 0.05; done' >/dev/null 2>&1 &)
    env -i "$(command -v sleep)" 303 >/dev/null 2>&1 & echo $!
    sleep 0.1
    exit 0`
    const { exit, lines } = await run(script, { mark })
    assert.deepEqual(exit, { kind: 'exit', code: 0 })
    assert.deepEqual(marked(mark), [])
    assert.equal(runs(Number(lines[0])), false, 'the one with a wiped environment')
  },
)

test('a process whose first thread has ended looks like a zombie, and is ended', {
  ...linux,
  skip: linux.skip || lacks('python'),
}, async () => {
  const script = `setsid ${PYTHON} -c '${HEADLESS}' >/dev/null 2>&1 & echo $!; sleep 0.4`
  const { lines } = await run(script, { mark: newMark() })
  const pid = lines[0] ?? ''
  const threads = readdirSync('/proc').includes(pid) ? readdirSync(`/proc/${pid}/task`) : []
  const running = threads.filter((thread) => runs(`${pid}/task/${thread}`))
  assert.deepEqual(running, [], 'at most a thread that is dead and was not reaped is left')
})

test('a time-out ends processes in sessions of their own, too', linux, async () => {
  const mark = newMark()
  const { exit } = await run('setsid sleep 300 & exec sleep 300', { mark, timeoutMs: 100 })
  assert.deepEqual(exit, { kind: 'timeout' })
  assert.deepEqual(marked(mark), [])
})

test('a grandchild that holds stdout open does not delay the result', async () => {
  const { exit, ms, lines } = await run('echo said; sleep 300 & exit 0')
  assert.deepEqual(exit, { kind: 'exit', code: 0 })
  assert.deepEqual(lines, ['said'])
  assert.ok(ms < 20_000, `${ms} ms`)
})

test('the last lines of a process substitution are delivered', async () => {
  const { lines } = await run('exec > >(sleep 0.1; cat); echo late')
  assert.deepEqual(lines, ['late'])
})

test('other processes are left alone, also one whose marker only begins the same', linux, async () => {
  const mark = newMark()
  const others = [`${MARK_NAME}=${mark}x`, `X${MARK_NAME}=${mark}`, `${MARK_NAME}=`].map((entry) => {
    const [name = '', value = ''] = entry.split('=')
    return spawn('sleep', ['300'], { env: { PATH: process.env.PATH, [name]: value } })
  })
  const mine = spawn('sleep', ['300'], { env: { PATH: process.env.PATH, [MARK_NAME]: mark } })
  const ended = new Promise((resolve) => mine.once('exit', (_, signal) => resolve(signal)))
  assert.equal(await endOrphans(mark), 1)
  assert.equal(await ended, 'SIGKILL')
  for (const other of others) {
    assert.equal(other.exitCode ?? other.signalCode, null)
    other.kill('SIGKILL')
  }
  assert.equal(await endOrphans(mark), 0)
})

test(
  'a survivor of a killed run is found also after a search that skipped processes older than its own',
  linux,
  async () => {
    const mark = newMark()
    const survivor = spawn('sleep', ['300'], { env: { PATH: process.env.PATH, [MARK_NAME]: mark } })
    await once(survivor, 'spawn')
    const script = `import { endOrphans } from '${import.meta.resolve('../../../src/system/process.ts')}'
await endOrphans('another', 1)
console.log(await endOrphans('${mark}'))`
    const nextRun = spawn(process.execPath, ['--input-type=module', '-e', script])
    const [said] = await once(nextRun.stdout, 'data')
    survivor.kill('SIGKILL')
    assert.equal(String(said).trim(), '1')
  },
)

test('processes that are just starting are found, too', linux, async () => {
  const mark = newMark()
  const script = 'for i in 1 2 3 4 5 6 7 8; do setsid sleep 300 >/dev/null 2>&1 & done'
  for (let round = 0; round < 5; round += 1) {
    await run(script, { mark })
    assert.deepEqual(marked(mark), [])
  }
})

test('a chain of short-lived processes is ended, however many others exist', linux, async () => {
  const mark = newMark()
  const crowd = spawn('bash', ['-c', 'for i in {1..300}; do sleep 300 & done; echo there; wait'], {
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  try {
    await once(crowd.stdout, 'data')
    const hop = `echo >>'${folder}/hops'; sleep 0.01`
    const relay = `next() { ${hop}; if (( $1 > 0 )); then next $(( $1 - 1 )) & disown; fi; }; next 500`
    const hops = (): number => readFileSync(join(folder, 'hops')).length
    const { exit } = await run(`setsid bash -c "$RELAY" & until [ -s hops ]; do sleep 0.01; done`, {
      mark,
      env: { ...request('').env, RELAY: relay },
    })
    const atItsEnd = hops()
    assert.deepEqual(exit, { kind: 'exit', code: 0 })
    await delay(200)
    assert.equal(hops(), atItsEnd)
  } finally {
    process.kill(-(crowd.pid ?? 0), 'SIGKILL')
  }
})

test(
  'a process without an environment may be inside exec: it is watched for a limited time',
  linux,
  async () => {
    const spare = spawn('env', ['-i', '/bin/sleep', '300'])
    while (readFileSync(`/proc/${spare.pid}/comm`, 'latin1') !== 'sleep\n') await new Promise(setImmediate)
    const took = async (since: number): Promise<number> => {
      const began = performance.now()
      assert.equal(await endOrphans(newMark(), since), 0)
      return performance.now() - began
    }
    try {
      assert.ok((await took(0)) >= 250)
      // Others come and go beside us, and are watched as well: not in every look.
      let looks = 1
      while ((await took(Number.MAX_SAFE_INTEGER)) >= 250 && looks < 50) looks += 1
      assert.ok(looks < 50, 'those that were there before are not watched')
      assert.equal(spare.exitCode ?? spare.signalCode, null)
    } finally {
      spare.kill('SIGKILL')
    }
  },
)

test('characters split over chunks, CRLF, and a last line without an end are read', async () => {
  const script = String.raw`printf '\xe6\x97'; sleep 0.05; printf '\xa5\r'; sleep 0.05; printf '\nlast \xf0\x9f'; sleep 0.05; printf '\x8e\x89'`
  assert.deepEqual((await run(script)).lines, ['日', 'last 🎉'])
})

test('a line of 5 MB is delivered cut, and the kept output is limited', async () => {
  const { lines, output } = await run(`head -c 5000000 /dev/zero | tr '\\0' x; echo; echo next`)
  assert.deepEqual(
    lines.map((line) => line.length),
    [1_048_576, 4],
  )
  assert.match(output, /^x{5000}\n\.\.\. 4990006 bytes left out \.\.\.\nx{4994}\nnext\n$/)
})

test('a flood of 100 MB is read without its memory', async () => {
  let count = 0
  const { exit } = await run('yes 0123456789012345678901234567890123456789 | head -c 100000000', {
    // A flood comes in blocks of lines.
    onLine: (_stream, lines) => {
      count += lines.split('\n').length
    },
  })
  assert.deepEqual(exit, { kind: 'exit', code: 0 })
  assert.equal(count, Math.ceil(100_000_000 / 41))
})

test('an error thrown in onLine ends the program and is rethrown', async () => {
  const mark = newMark()
  const broken = request('echo x; exec sleep 300', {
    mark,
    onLine: () => {
      throw new Error('ours')
    },
  })
  await assert.rejects(runUntrusted(broken), /^Error: ours$/)
  if (process.platform === 'linux') assert.deepEqual(marked(mark), [])
})

test('a process that exits in between leaves no children', linux, async () => {
  const mark = newMark()
  const module = JSON.stringify(join(import.meta.dirname, '../../../src/system/process.ts'))
  const script = `import { runUntrusted } from ${module}
    const onLine = () => process.exit(3)
    const args = ['-c', 'setsid sleep 300 & echo ready; sleep 300']
    await runUntrusted({ file: 'bash', args, cwd: '/', env: { PATH: process.env.PATH }, timeoutMs: 9e9, captureBytes: 0, mark: '${mark}', onLine })`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'inherit' })
  assert.equal(await new Promise((resolve) => child.once('exit', resolve)), 3)
  while (marked(mark).length > 0) await new Promise((resolve) => setTimeout(resolve, 5))
})

test('when processes of another user cannot be ended, no file is changed by path any more', async () => {
  const done: string[] = []
  const as: OtherUser = {
    name: 'other',
    uid: 1,
    openGid: 1,
    home: '/nowhere',
    rooms: '/nowhere',
    granted: () => ({ grant: async () => {}, revoke: async () => {} }),
    isNarrow: false,
    command: (file, args) => ({ file, args: [...args] }),
    root: (file = '', ...args) => ({ file, args }),
    asRoot: async () => {},
    preamble: () => Buffer.alloc(0),
    env: (env) => ({ ...env }),
    grant: async () => void done.push('grant'),
    revoke: async () => void done.push('take back'),
    openHome: async () => ({ path: '/nowhere', [Symbol.asyncDispose]: async () => {} }),
    openScratch: async () => ({
      ...{ home: null, tmp: '/nowhere', scratch: null },
      [Symbol.asyncDispose]: async () => {},
    }),
    renewHome: async () => {},
    signal: () => {},
    isRunning: () => true,
    end: async () => {
      throw new Error('one of them lives')
    },
    descendantsOf: () => as,
    close: async () => {},
    before: '[]',
  }
  await assert.rejects(run('true', { as }), /one of them lives/)
  assert.deepEqual(done, ['grant'])
})

test('many processes that end at once do not end each other', async () => {
  const results = await Promise.all(Array.from({ length: 8 }, (_, at) => run(`sleep 0.0${at}; echo ${at}`)))
  results.forEach((result, at) => {
    assert.deepEqual([result.exit, result.lines], [{ kind: 'exit', code: 0 }, [String(at)]])
  })
})
