// Which gates run at the same time, and what is left of those that another one ends. Real gates, where processes matter.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Gate, GateResult } from '../../../src/engine/model/gate.ts'
import { createGates, type GatesOptions } from '../../../src/gates/gates.ts'
import { readChange, selectGates } from '../../../src/gates/select-gates.ts'
import { sideBySide } from '../../../src/gates/side-by-side.ts'
import { createRedactor } from '../../../src/isolation/redact.ts'
import { newMark } from '../../../src/system/process.ts'
import { runs } from '../runs.ts'
import { gateRun, NO_CODE } from './gate-run.ts'

const GATE: Gate = { name: 'test', run: 'true', timeoutMs: 20_000, when: null, advisory: false }
const named = (name: string, more: Partial<Gate> = {}): Gate => ({ ...GATE, name, ...more })
const resultOf = ({ name, advisory }: Gate, ok: boolean): GateResult => ({
  ...{ name, advisory, ok },
  ended: ok ? 'exit 0' : 'exit 1',
  ms: 1,
  output: '',
})
const blocks = ({ ok, advisory }: GateResult) => !ok && !advisory

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f']

/** Each may need gates that were written before it. */
const arbitraryGates = fc
  .array(
    fc.record({ needs: fc.array(fc.nat(5), { maxLength: 2 }), alone: fc.boolean(), advisory: fc.boolean() }),
    { minLength: 1, maxLength: NAMES.length },
  )
  .map((drafts) =>
    drafts.map(({ needs, alone, advisory }, at) =>
      named(NAMES[at] ?? '', {
        advisory,
        ...(alone ? { alone: true as const } : {}),
        ...(at === 0 ? {} : { needs: needs.map((need) => NAMES[need % at] ?? '') }),
      }),
    ),
  )

test('gates at the same time: at most the configured number, `alone` alone, after their `needs`, none after a red one', async () => {
  const property = fc.asyncProperty(
    arbitraryGates,
    fc.integer({ min: 1, max: 4 }),
    fc.subarray(NAMES),
    fc.scheduler(),
    async (gates, most, red, scheduler) => {
      const running = new Map<string, number>()
      const over = new Map<string, boolean>()
      let isRed = false
      const perform = async (gate: Gate, slot: number, signal: AbortSignal) => {
        assert.ok(!isRed, `${gate.name} began behind a red one`)
        assert.ok(![...running.values()].includes(slot), 'the slot is another one is own')
        for (const need of gate.needs ?? []) assert.ok(over.has(need), `${gate.name} needs ${need}`)
        const alone = [...running.keys(), gate.name].filter(
          (name) => gates.find((one) => one.name === name)?.alone,
        )
        assert.ok(alone.length === 0 || running.size === 0, `${alone} is not alone`)
        running.set(gate.name, slot)
        assert.ok(running.size <= most)
        await scheduler.schedule(Promise.resolve(), gate.name)
        running.delete(gate.name)
        const ok = !red.includes(gate.name) && !signal.aborted
        over.set(gate.name, ok)
        if (!ok && !gate.advisory) isRed = true
        return resultOf(gate, ok)
      }
      const how = { perform, blocks, goesOn: () => true }
      const results = await scheduler.waitFor(sideBySide(gates, most, new AbortController().signal, how))
      assert.equal(running.size, 0)
      const order = results.map(({ name }) => NAMES.indexOf(name))
      assert.deepEqual(order, [...order].sort())
      const blocking = gates.filter(({ name, advisory }) => red.includes(name) && !advisory)
      if (blocking.length === 0) assert.equal(results.length, gates.length)
      else
        assert.equal(
          results.filter(blocks).length,
          1,
          'one gate is red, and those that it ended have no result',
        )
    },
  )
  await fc.assert(property, { ...runs(200), interruptAfterTimeLimit: 5000 })
})

const PLAIN: GatesOptions = {
  gates: [],
  prepare: null,
  lockfileChanged: async () => false,
  ...NO_CODE,
  top: tmpdir(),
  cwd: tmpdir(),
  env: { PATH: process.env.PATH ?? '' },
  redactor: createRedactor([]),
  logs: null,
  mark: newMark(),
  onStart: () => {},
  onEnd: () => {},
}
const run = (gates: readonly Gate[], parallel: number, more: Partial<GatesOptions> = {}) =>
  createGates({ ...PLAIN, gates, parallel, ...more }).run(
    gateRun({ of: 'story' }),
    new AbortController().signal,
  )

test("gates that run at the same time do not end each other's processes", async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ralph-side-'))
  try {
    const [ab, ba] = [join(folder, 'ab'), join(folder, 'ba')]
    execFileSync('mkfifo', [ab, ba])
    // The first ends, with its survivors, while the second is at work.
    const first = named('first', { run: `sleep 60 & echo hello >${ab}; read -r word <${ba}` })
    const second = named('second', { run: `read -r word <${ab}; echo hello >${ba}; sleep 0.5; echo $word` })
    const results = await run([first, second], 2)
    assert.deepEqual(
      results.map(({ name, ok }) => [name, ok]),
      [
        ['first', true],
        ['second', true],
      ],
    )
    assert.match(results[1]?.output ?? '', /hello/)
  } finally {
    await rm(folder, { recursive: true })
  }
})

test('the first red gate ends those that run at the same time, which count as not run', async () => {
  const ended: string[] = []
  const slow = named('slow', { run: 'sleep 60' })
  const red = named('red', { run: 'exit 3' })
  const results = await run([slow, red, named('never')], 2, {
    onEnd: ({ name, ended: how }) => ended.push(`${name}: ${how}`),
  })
  assert.deepEqual(
    results.map(({ name, ended: how }) => `${name}: ${how}`),
    ['red: exit 3'],
  )
  assert.deepEqual(ended.toSorted(), ['red: exit 3', 'slow: cancelled'])
})

test('a gate that cannot be started ends the others, then the error is thrown', async () => {
  const seen: string[] = []
  const perform = async (gate: Gate, _slot: number, either: AbortSignal) => {
    if (gate.name === 'broken') throw new Error('no space left')
    seen.push(`${gate.name} begins`)
    await new Promise<void>((resolve) => either.addEventListener('abort', () => setImmediate(resolve)))
    seen.push(`${gate.name} is ended`)
    return resultOf(gate, false)
  }
  const gates = [named('slow'), named('broken'), named('never')]
  const how = { perform, blocks, goesOn: () => true }
  await assert.rejects(sideBySide(gates, 2, new AbortController().signal, how), /no space left/)
  assert.deepEqual(seen, ['slow begins', 'slow is ended'])
})

test('two gates that use the same port are green if one has `alone`, and red at the same time', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ralph-side-'))
  try {
    const [free, taken, tried] = ['free', 'taken', 'tried'].map((name) => join(folder, name))
    execFileSync('mkfifo', [String(taken), String(tried)])
    const script = join(folder, 'listen.mjs')
    // The first to listen chooses the port, and beside the other one it holds it until that has tried.
    await writeFile(
      script,
      `import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
const [, , meets] = process.argv
const isFirst = !existsSync('${free}')
const server = createServer().listen(isFirst ? 0 : Number(readFileSync('${free}', 'utf8')), '127.0.0.1', () => {
  if (isFirst) writeFileSync('${free}', String(server.address().port))
  if (meets === 'yes') {
    writeFileSync('${taken}', 'x')
    readFileSync('${tried}')
  }
  // Long enough that one beside it would find the port taken.
  setTimeout(() => server.close(), meets === 'holds' ? 500 : 0)
})
`,
    )
    const listen = `${process.execPath} ${script}`
    const second = `read -r -n 1 _ <${taken}; ${listen} no; code=$?; echo x >${tried}; exit $code`
    const beside = await run([named('api', { run: `${listen} yes` }), named('web', { run: second })], 2)
    assert.ok(beside.some(({ name, ok, output }) => name === 'web' && !ok && /EADDRINUSE/.test(output)))
    const alone = named('web', { run: `${listen} no`, alone: true })
    const results = await run([named('api', { run: `${listen} holds` }), alone], 2)
    assert.deepEqual(
      results.map(({ name, ok }) => [name, ok]),
      [
        ['api', true],
        ['web', true],
      ],
    )
  } finally {
    await rm(folder, { recursive: true })
  }
})

test('gates that ran while one wrote to a file of the commit run again, alone, now and later', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ralph-side-'))
  try {
    const at = (name: string) => join(folder, name)
    const file = at('code.txt')
    await writeFile(file, 'as committed')
    execFileSync('mkfifo', [at('ab'), at('ba')])
    // Beside each other they meet, and the reader finds what the writer wrote; alone each finds the file as committed.
    const meets = `if [ -p ${at('ab')} ]; then`
    const writes = named('writes', {
      run: `grep -q committed ${file}; ${meets} echo changed >${file}; echo 1 >${at('ab')}; read -r _ <${at('ba')}; fi`,
    })
    const reads = named('reads', {
      run: `${meets} read -r _ <${at('ab')}; rm ${at('ab')}; echo 1 >${at('ba')}; fi; grep committed ${file}`,
    })
    const ended: string[] = []
    const how: Partial<GatesOptions> = {
      top: folder,
      code: { ...NO_CODE.code, files: async () => ['code.txt'] },
      restore: async () => writeFile(file, 'as committed'),
      onEnd: ({ name, ok }) => ended.push(`${name}: ${ok}`),
    }
    const gates = createGates({ ...PLAIN, gates: [writes, reads], parallel: 2, ...how })
    const first = await gates.run(gateRun({ of: 'story', commit: 'abc' }), new AbortController().signal)
    assert.deepEqual(
      first.map(({ name, ok, alone }) => [name, ok, alone]),
      [
        ['writes', true, true],
        ['reads', true, true],
      ],
    )
    assert.match(first[1]?.remarks?.[0] ?? '', /changed while this gate ran at the same time as writes/)
    assert.ok(ended.includes('reads: false'), 'beside each other it was red')
    assert.equal(await readFile(file, 'utf8'), 'as committed')
    const order: string[] = []
    const later = createGates({
      ...{ ...PLAIN, ...how, parallel: 2, gates: [named('writes'), named('reads')] },
      onStart: (name) => order.push(`${name} begins`),
      onEnd: ({ name }) => order.push(`${name} ends`),
    })
    const baseline = { writes: { ms: 1, alone: true as const } }
    await later.run(gateRun({ of: 'story', baseline }), new AbortController().signal)
    assert.deepEqual(order, ['writes begins', 'writes ends', 'reads begins', 'reads ends'])
  } finally {
    await rm(folder, { recursive: true })
  }
})

test('a gate with paths runs when the change touches one, or when no other gate would block', () => {
  const [web, api] = [named('web', { paths: ['web/**'] }), named('api', { paths: ['/api/'] })]
  const lint = named('lint', { advisory: true })
  const meant = (paths: readonly string[], gates: readonly Gate[], more = {}) =>
    selectGates(gates, gateRun({ of: 'story', ...more }), (patterns) =>
      paths.some((path) => patterns.some((pattern) => path.startsWith(pattern.replace(/^\/|\**$/g, '')))),
    ).map(({ name }) => name)
  assert.deepEqual(meant(['web/a.ts'], [web, api, lint]), ['web', 'lint'])
  assert.deepEqual(meant(['docs/a.md'], [web, api, lint]), ['web', 'api', 'lint'])
  assert.deepEqual(meant(['web/a.ts'], [web, api], { also: ['api'] }), ['web', 'api'])
  assert.deepEqual(
    selectGates([web, api], gateRun({ of: 'whole' }), null).map(({ name }) => name),
    ['web', 'api'],
  )
})

test('a gate runs with the gates that it needs, also past `paths` and when only some gates run', () => {
  const gates = [
    named('generate', { paths: ['schema/'] }),
    named('build', { paths: ['src/'], needs: ['generate'] }),
    named('lint', { needs: [] }),
    named('test', { paths: ['test/'], needs: ['build'] }),
    named('e2e'),
    named('late', { behindPages: true, needs: ['lint'] }),
    named('pages', { behindPages: true }),
  ]
  const names = (more: object, touches: Parameters<typeof selectGates>[2] = null) =>
    selectGates(gates, gateRun(more), touches).map(({ name }) => name)
  const touching = (path: string) => (patterns: readonly string[]) => patterns.includes(path)
  assert.deepEqual(
    names({ of: 'story' }, touching('test/')),
    gates.map(({ name }) => name),
  )
  assert.deepEqual(names({ of: 'story' }, touching('schema/')), ['generate', 'lint', 'e2e', 'late', 'pages'])
  assert.deepEqual(names({ only: ['lint'] }), ['lint'])
  assert.deepEqual(names({ only: ['test'] }), ['generate', 'build', 'test'])
  assert.deepEqual(names({ only: ['e2e'] }), ['generate', 'build', 'lint', 'test', 'e2e'], 'it names none')
  assert.deepEqual(names({ only: ['late'] }), ['lint', 'late'])
  assert.deepEqual(
    names({ only: ['pages'] }),
    gates.map(({ name }) => name),
  )
  assert.deepEqual(names({ only: ['browser'] }), ['generate', 'build', 'lint', 'test', 'e2e'])
  assert.deepEqual(names({ only: [] }), [])
})

test('every gate runs after the gates that it needs; without `needs` these are all gates before it', () => {
  const property = fc.property(arbitraryGates, fc.subarray(NAMES), (gates, only) => {
    const chosen = selectGates(gates, gateRun({ only }), null)
    const names = chosen.map(({ name }) => name)
    for (const name of only)
      assert.equal(
        names.includes(name),
        gates.some((gate) => gate.name === name),
      )
    for (const gate of chosen) {
      const before = gates.slice(0, gates.indexOf(gate)).map((one) => one.name)
      for (const need of gate.needs ?? before) assert.ok(names.includes(need), `${gate.name} needs ${need}`)
    }
  })
  fc.assert(property, runs(200))
})

test('the list of changed files for gates is left out when it is too long, or a name has a line end', async () => {
  const listed = async (...paths: string[]) => {
    const code = { ...NO_CODE.code, changedPaths: async () => paths }
    const run = gateRun({ of: 'story', from: 'abc', commit: 'def' })
    return (await readChange(run, { gates: [], code })).env
  }
  assert.deepEqual(await listed('src/a.ts', 'a b.ts'), {
    RALPH_BASE: 'abc',
    RALPH_CHANGED_FILES: 'src/a.ts\na b.ts',
  })
  assert.deepEqual(await listed(), { RALPH_BASE: 'abc', RALPH_CHANGED_FILES: '' })
  const odd = ['a\nb', 'a\tb', '\u001b[1m', 'a\u0085b', 'a\udc80', 'x'.repeat(64 * 1024 + 1)]
  for (const name of odd) assert.deepEqual(await listed('src/a.ts', name), { RALPH_BASE: 'abc' }, name)
})

test('gates get the base of the change and its files as variables', async () => {
  const code = { ...NO_CODE.code, changedPaths: async () => ['src/a.ts', 'web/b.ts'] }
  const shows = named('shows', { run: 'echo "$RALPH_BASE"; echo "$RALPH_CHANGED_FILES"' })
  const web = named('web', { run: 'true', paths: ['web/'] })
  const api = named('api', { run: 'true', paths: ['api/'] })
  const gates = createGates({ ...PLAIN, code, gates: [shows, web, api] })
  const results = await gates.run(
    gateRun({ of: 'story', from: 'abc', commit: 'def' }),
    new AbortController().signal,
  )
  assert.deepEqual(
    results.map(({ name }) => name),
    ['shows', 'web'],
  )
  assert.equal(results[0]?.output, 'abc\nsrc/a.ts\nweb/b.ts\n')
})
