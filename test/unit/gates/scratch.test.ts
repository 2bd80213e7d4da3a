// What a session leaves where tools keep their caches reaches no gate, no other session and no judge. Real processes and users.
import '../../fakes/disk.ts'
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { openHomes } from '../../../src/agents/home.ts'
import type { Service } from '../../../src/engine/model/service.ts'
import { createGates } from '../../../src/gates/gates.ts'
import { createServices } from '../../../src/gates/services.ts'
import { type OtherUser, openOtherUser } from '../../../src/isolation/other-user.ts'
import { createRedactor } from '../../../src/isolation/redact.ts'
import { newMark, runUntrusted } from '../../../src/system/process.ts'
import { lacks } from '../../machine/needs.ts'
import { gateRun, NO_CODE } from './gate-run.ts'

const rootOnly = { skip: lacks('root'), timeout: 60_000 }

type Kind = 'same-user' | 'narrow' | 'open'

/** A checkout with sessions, gates and services, as one of the kinds of users. */
async function openPlace(kind: Kind) {
  const folder = await mkdtemp(join(tmpdir(), 'ralph-scratch-'))
  const [tree, temp] = [join(folder, 'tree'), join(folder, 'temp')]
  await chmod(folder, 0o755)
  await mkdir(temp)
  execFileSync('git', ['init', '-q', tree])
  const env = { PATH: process.env.PATH, HOME: join(folder, 'person'), RUNNER_TEMP: temp }
  const key = folder
  const open = { env, workTree: tree, gitDir: join(tree, '.git'), key, report: () => {} }
  const user = kind === 'same-user' ? null : await openOtherUser(open)
  if (user !== null) assert.equal(user.isNarrow, kind === 'narrow')
  const homes = await openHomes({ shares: [], env, identity: { name: 'a', email: 'a@b' }, key, as: user })
  const mark = newMark()
  const plain = { PATH: process.env.PATH ?? '', SHLVL: '1' }
  const run = async (script: string, given: Record<string, string | undefined>, as: OtherUser | null) => {
    const all = Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
    const { exit, output } = await runUntrusted({
      ...{ file: 'bash', args: ['-c', script], cwd: tree, env: Object.fromEntries(all), mark, as },
      ...{ timeoutMs: 20_000, captureBytes: 64 * 1024 },
    })
    assert.deepEqual(exit, { kind: 'exit', code: 0 }, output)
    return output
  }
  const heard = { logs: null, onStart: () => {}, onEnd: () => {} }
  const shared = { ...heard, cwd: tree, redactor: createRedactor([]), mark, as: user }
  return {
    ...{ tree, user },
    /** What a session's program prints. */
    async session(script: string): Promise<string> {
      await using home = await homes.open()
      return await run(script, home.env(plain), home.as)
    },
    gatesOf(commands: readonly string[], services: readonly Service[] = [], prepare: string | null = null) {
      return createGates({
        ...shared,
        ...NO_CODE,
        ...{ top: tree, prepare, lockfileChanged: async () => false, env: plain },
        gates: commands.map((command, at) => ({
          ...{ name: `gate${at}`, run: command, timeoutMs: 20_000, when: null, advisory: false },
        })),
        ...(services.length === 0
          ? {}
          : { services: async () => createServices({ ...shared, services, envOf: () => plain }) }),
      })
    },
    async [Symbol.asyncDispose]() {
      await user?.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

type Place = Awaited<ReturnType<typeof openPlace>>

async function outputsOf(gates: ReturnType<Place['gatesOf']>): Promise<string[]> {
  const results = await gates.run(gateRun(), new AbortController().signal)
  await gates[Symbol.asyncDispose]?.()
  return results.map(({ ok, output }) => `${ok ? 'green' : 'red'}: ${output.trim()}`)
}

/** Without this right, as in a container, no namespaces can be made: then it is this file again that is run so. */
const WITHOUT = ['--bounding-set=-sys_admin', '--inh-caps=-sys_admin']
const isWithout = process.env.RALPH_TEST_WITHOUT_NAMESPACES === '1'

const CASES: readonly [Kind, string][] = isWithout
  ? [['open', 'as another user without namespaces']]
  : [
      ['same-user', 'as our own user'],
      ['narrow', 'as another user with a view of its own'],
    ]

test('without namespaces: gates do not use a cache that a session left among temporary files', {
  ...rootOnly,
  skip: rootOnly.skip || isWithout,
}, () => {
  const env = { ...process.env, RALPH_TEST_WITHOUT_NAMESPACES: '1', NODE_TEST_CONTEXT: undefined }
  const args = [...WITHOUT, process.execPath, '--test', '--test-reporter=tap', import.meta.filename]
  const { status, stdout } = spawnSync('setpriv', args, { env, encoding: 'utf8' })
  assert.match(stdout, /^# pass [1-9]/m)
  assert.equal(status, 0, stdout)
})

/** As jest and tsx do it: a folder named by the user, among temporary files, whose content is believed. */
const TOOL = (name: string) => `
const cache = require('node:path').join(require('node:os').tmpdir(), '${name}-' + process.getuid(), 'verdict')
console.log('the code is wrong')
process.exit(1)`

for (const [kind, title] of CASES) {
  const options = kind === 'same-user' ? {} : rootOnly

  test(`${title}: gates do not use a cache that a session left among temporary files`, options, async () => {
    await using place = await openPlace(kind)
    const name = `ralph-tool-${randomBytes(6).toString('hex')}`
    await writeFile(join(place.tree, 'tool.cjs'), TOOL(name))
    // Our own user has the machine's folder itself, where nothing tells what it left from what a person left.
    const folders = place.user === null ? ['$TMPDIR', '$TEMP', '$TMP'] : ['$TMPDIR', '/tmp', '/var/tmp']
    const cache = `"\${at:-${tmpdir()}}/${name}-$(id -u)"`
    const script = `mkdir -p ${cache} && echo green >${cache}/verdict && cat ${cache}/verdict`
    const quoted = folders.map((one) => `"${one}"`).join(' ')
    assert.match(await place.session(`for at in ${quoted}; do ${script}; done`), /^(green\n){3}$/)
    assert.deepEqual(await outputsOf(place.gatesOf(['node tool.cjs'])), ['red: the code is wrong'])
  })
}

for (const [kind, title] of CASES) {
  const options = kind === 'same-user' ? {} : rootOnly

  test(`${title}: temporary files exist within a run, and are removed after it`, options, async () => {
    await using place = await openPlace(kind)
    const name = `ralph-own-${randomBytes(6).toString('hex')}`
    const script = `f="$(mktemp)" && echo x >"$TMPDIR/${name}" && cat "$TMPDIR/${name}" && echo "$TMPDIR" && rm "$f"`
    const [, own = ''] = (await place.session(script)).split('\n')
    // What is asked of root comes after what was asked before.
    await place.user?.asRoot('true')
    assert.equal(existsSync(join(own, name)), false, own)
    assert.match(await place.session(`ls -A "$TMPDIR" | grep ${name} || echo nothing`), /^nothing$/m)
    const gates = place.gatesOf([`echo x >"$TMPDIR/${name}"`, `cat "$TMPDIR/${name}"`])
    assert.deepEqual(await outputsOf(gates), ['green: ', 'green: x'])
    const later = place.gatesOf([`cat "$TMPDIR/${name}" 2>/dev/null || echo nothing`])
    assert.deepEqual(await outputsOf(later), ['green: nothing'])
  })
}

for (const [kind, title] of CASES.filter(([one]) => one !== 'same-user'))
  test(
    `${title}: a session does not see the gates' home, and leaves nothing in shared memory`,
    rootOnly,
    async () => {
      await using place = await openPlace(kind)
      assert.deepEqual(await outputsOf(place.gatesOf(['echo kept >~/kept && echo ~'])), [
        `green: ${place.user?.home}`,
      ])
      const left = await place.session(
        `ls ${place.user?.home} 2>&1; echo x >/dev/shm/ralph-left-$$; for kind in '-M 64' -Q '-S 1'; do ipcmk $kind -p 0666 >/dev/null; done; id -u`,
      )
      assert.match(left, /Permission denied/)
      assert.deepEqual(
        await outputsOf(
          place.gatesOf([
            'cat ~/kept',
            'ls -d /dev/shm/ralph-left-* 2>/dev/null; cat /proc/sysvipc/* | tr -s " " | grep -c " $(id -u) $(id -g) "',
          ]),
        ),
        ['green: kept', 'red: 0'],
      )
    },
  )

/** add_key and request_key, for the keyring of the user and that of the session. */
const [ADD_KEY, REQUEST_KEY] = process.arch === 'arm64' ? [217, 218] : [248, 249]
const kernelCall = (call: number, rest: string) =>
  `perl -e 'my ($type, $name, $text) = ("user", "ralph-test", "x"); ${rest.replaceAll('CALL', String(call))}'`
const ADD = kernelCall(
  ADD_KEY,
  'for (-4, -3) { print syscall(CALL, $type, $name, $text, 1, $_) > 0 ? "kept " : "no: $! " }',
)
const LOOK = kernelCall(REQUEST_KEY, 'print syscall(CALL, $type, $name, 0, 0) > 0 ? "found" : "nothing"')

for (const [kind, title] of CASES.filter(([one]) => one !== 'same-user'))
  test(`${title}: a session leaves no key in the kernel's keyring`, rootOnly, async () => {
    await using place = await openPlace(kind)
    assert.match(await place.session(ADD), /^(no: \S.*? not implemented ){2}$/)
    assert.deepEqual(await outputsOf(place.gatesOf([LOOK])), ['green: nothing'])
  })
