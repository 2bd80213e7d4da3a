// Names that are not UTF-8: touched, refused, kept and restored byte for byte, held against real git.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { runs } from '../runs.ts'
import { openWorked } from './worked.ts'

const ONLY_LINUX = { skip: process.platform === 'linux' ? false : 'file names are bytes on Linux alone' }

/** Files (names in latin1) that are committed; an agent's turn is `work`. */
async function place(names: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'bytes-'))
  const top = join(folder, 'clone')
  const env = { PATH: process.env.PATH ?? '', HOME: folder }
  const git = (...args: string[]) => execFileSync('git', args, { cwd: top, env, encoding: 'latin1' })
  const at = (name: string) => Buffer.from(`${top}/${name}`, 'latin1')
  mkdirSync(top)
  git('init', '-q', '-b', 'main')
  for (const [key, value] of [
    ['user.name', 'a'],
    ['user.email', 'a@b'],
  ] as const)
    git('config', key, value)
  writeFileSync(at('plain.txt'), 'plain\n')
  for (const name of names) {
    mkdirSync(at(name).subarray(0, at(name).lastIndexOf('/')), { recursive: true })
    writeFileSync(at(name), 'old\n')
  }
  git('add', '-A')
  git('commit', '-q', '-m', 'base')
  const worked = await openWorked(top, env)
  await worked.repository.checkOut(worked.head, null)
  return {
    ...worked,
    at,
    git,
    names: () => git('ls-files', '-z').split('\0').filter(Boolean).sort(),
    onDisk: () =>
      execFileSync('find', ['.', '-path', './.git', '-prune', '-o', '!', '-type', 'd', '-printf', '%P\\0'], {
        cwd: top,
        encoding: 'latin1',
      })
        .split('\0')
        .filter(Boolean)
        .sort(),
    [Symbol.dispose]() {
      worked.objects[Symbol.dispose]()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const CAFE = 'caf\xe9.txt'

test('a tracked file may be changed, whatever the bytes of its name', ONLY_LINUX, async () => {
  using clone = await place([CAFE, 'd\xff/x'])
  writeFileSync(clone.at(CAFE), 'new\n')
  rmSync(clone.at('d\xff/x'))
  const seen = await clone.inspect()
  assert.equal(seen.kind, 'candidate', JSON.stringify(seen))
  if (seen.kind !== 'candidate') return
  const { commit } = seen.candidate
  assert.equal(
    clone.git('diff', '--name-status', '-z', 'HEAD', commit, '--', ':!.ralph'),
    `M\0${CAFE}\0D\0d\xff/x\0`,
  )
})

test(
  'a new file whose name is not UTF-8 is refused by its name, and saved work is kept',
  ONLY_LINUX,
  async () => {
    using clone = await place([CAFE])
    const { repository, state } = clone
    writeFileSync(clone.at('n\xe9w.txt'), 'x\n')
    writeFileSync(clone.at(CAFE), 'new\n')
    writeFileSync(clone.at('good.txt'), 'good\n')
    const seen = await clone.inspect()
    assert.equal(seen.kind, 'refused')
    assert.match(
      seen.kind === 'refused' ? seen.failure.summary : '',
      /refused n\\xe9w\.txt: the path is not UTF-8/,
    )
    assert.match(seen.kind === 'refused' ? seen.failure.detail : '', /- "n\\xe9w\.txt": /)
    const kept = await repository.saveWork(state, 'US-001')
    assert.deepEqual(kept?.dropped, ['n\\xe9w.txt'])
    await repository.restore(state.green)
    assert.deepEqual(clone.onDisk(), [CAFE, 'plain.txt'].sort())
    await repository.checkOut(state.green, kept)
    assert.deepEqual(clone.onDisk(), [CAFE, 'good.txt', 'plain.txt'].sort())
    assert.equal(readFileSync(clone.at(CAFE), 'utf8'), 'new\n')
    assert.equal((await clone.inspect()).kind, 'candidate')
  },
)

test(
  'a link out of the tree whose name is not UTF-8 is removed, and honest attempts pass',
  ONLY_LINUX,
  async () => {
    using clone = await place([CAFE])
    execFileSync('bash', ['-c', `rm caf*; ln -s /etc/passwd $'caf\\xe9.txt'`], {
      cwd: clone.git('rev-parse', '--show-toplevel').trim(),
    })
    assert.equal((await clone.inspect()).kind, 'refused')
    const kept = await clone.repository.saveWork(clone.state, 'US-001')
    await clone.repository.checkOut(clone.state.green, kept)
    assert.deepEqual(clone.onDisk(), [CAFE, 'plain.txt'].sort())
    assert.equal(readFileSync(clone.at(CAFE), 'utf8'), 'old\n')
    writeFileSync(clone.at('plain.txt'), 'honest\n')
    assert.equal((await clone.inspect()).kind, 'candidate')
  },
)

/** Control characters in a name are refused, those that UTF-8 has in two bytes, too. */
const name = fc.uint8Array({ min: 0x21, max: 0xff, minLength: 1, maxLength: 6 }).map((bytes) =>
  Buffer.from(bytes)
    .toString('latin1')
    .replace(/[/\x7f.\\:"]|\xc2[\x80-\x9f]/g, 'x'),
)
const path = fc.array(name, { minLength: 1, maxLength: 2 }).map((parts) => `t-${parts.join('/t-')}.txt`)

test(
  'names of any bytes are committed as git commits them, and restored as they were',
  ONLY_LINUX,
  async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(path, { minLength: 2, maxLength: 6, selector: (one) => one.split('/')[0] }),
        async (names) => {
          using clone = await place(names)
          const before = clone.onDisk()
          const [first = '', second = ''] = names
          writeFileSync(clone.at(first), 'new\n')
          rmSync(clone.at(second))
          const seen = await clone.inspect()
          assert.equal(seen.kind, 'candidate', JSON.stringify(seen))
          if (seen.kind !== 'candidate') return
          const { commit } = seen.candidate
          const changed = clone
            .git('diff', '--name-status', '-z', clone.head, commit, '--', ':!.ralph')
            .split('\0')
            .filter(Boolean)
          assert.deepEqual(
            new Map(pairs(changed)),
            new Map([
              [first, 'M'],
              [second, 'D'],
            ]),
          )
          const kept = await clone.repository.saveWork(clone.state, 'US-001')
          await clone.repository.restore(clone.head)
          assert.deepEqual(clone.onDisk(), before)
          await clone.repository.checkOut(clone.head, kept)
          assert.deepEqual(
            clone.onDisk(),
            before.filter((one) => one !== second),
          )
          assert.equal(readFileSync(clone.at(first), 'utf8'), 'new\n')
        },
      ),
      runs(6),
    )
  },
)

function pairs(fields: readonly string[]): [string, string][] {
  return fields.flatMap((status, at): [string, string][] =>
    at % 2 === 0 ? [[fields[at + 1] ?? '', status]] : [],
  )
}
