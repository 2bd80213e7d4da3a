// What a newcomer sees where Ralph cannot work: every command prints the reason, and what to type.
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { findProgram } from '../../../src/system/program.ts'
import { COMPILED, MAIN } from './place.ts'

const folder = mkdtempSync(join(tmpdir(), 'ralph-contact-'))
after(() => rmSync(folder, { recursive: true }))

const PATH = process.env.PATH ?? ''
const GIT = findProgram('git', PATH) ?? ''
const PRD = JSON.stringify({ userStories: [{ id: 'US-001', title: 'x', acceptanceCriteria: ['y'] }] })

type Made = { cwd: string; env?: Record<string, string> }

function git(cwd: string, ...args: string[]): void {
  const who = ['-c', 'user.name=a', '-c', 'user.email=a@a.test']
  execFileSync('git', [...who, ...args], { cwd, env: { PATH, HOME: folder } })
}

function makeFolder(name: string): string {
  const cwd = join(folder, name)
  mkdirSync(cwd)
  return cwd
}

function makeRepository(name: string): string {
  const cwd = makeFolder(name)
  git(cwd, 'init', '-q', '-b', 'main', '.')
  const prd = join(cwd, '.ralph/2026-01-31-sample/prd.json')
  mkdirSync(dirname(prd), { recursive: true })
  writeFileSync(prd, PRD)
  git(cwd, 'add', '-A')
  git(cwd, 'commit', '-qm', 'start')
  return cwd
}

/** A PATH with bash and node, and with this text as the program git; null for none. */
function pathWith(name: string, program: string | null): string {
  const bin = makeFolder(name)
  for (const other of ['bash', 'sh', 'cat', 'env'])
    symlinkSync(findProgram(other, PATH) ?? '', join(bin, other))
  if (program === null) return bin
  writeFileSync(join(bin, 'git'), program)
  chmodSync(join(bin, 'git'), 0o755)
  return bin
}

const OLD_GIT = `#!/bin/sh\n[ "$1" = --version ] && echo 'git version 2.34.1' && exit 0\nexec '${GIT}' "$@"\n`

const STATES: Record<string, { make(): Made; reason: RegExp; fix: RegExp }> = {
  'no repository': {
    make: () => ({ cwd: makeFolder('none') }),
    reason: /no git repository/,
    fix: /git init/,
  },
  'no commit': {
    make() {
      const cwd = makeFolder('empty')
      git(cwd, 'init', '-q', '.')
      return { cwd }
    },
    reason: /this repository has no commits yet/,
    fix: /commit something first/,
  },
  'a detached HEAD': {
    make() {
      const cwd = makeRepository('detached')
      git(cwd, 'checkout', '-q', '--detach')
      return { cwd }
    },
    reason: /HEAD is detached/,
    fix: /--base-branch main/,
  },
  'a sparse checkout': {
    make() {
      const cwd = makeRepository('sparse')
      git(cwd, 'sparse-checkout', 'init', '--cone')
      return { cwd }
    },
    reason: /a sparse checkout/,
    fix: /git sparse-checkout disable/,
  },
  'a partial clone': {
    make() {
      const cwd = makeRepository('partial')
      git(cwd, 'config', 'remote.origin.promisor', 'true')
      return { cwd }
    },
    reason: /a partial clone/,
    fix: /git fetch --refetch/,
  },
  'no git': {
    make: () => ({ cwd: makeRepository('no-git'), env: { PATH: pathWith('bin-none', null) } }),
    reason: /git is not installed/,
    fix: /install git/,
  },
  'an old git': {
    make: () => ({ cwd: makeRepository('old-git'), env: { PATH: pathWith('bin-old', OLD_GIT) } }),
    reason: /git 2\.34\.1 is too old/,
    fix: /git 2\.38 or newer/,
  },
}

const AGENT = ['--agent', 'custom', '--agent-command', 'cat']
const FLAGS = ['--gate', 'test=true', ...AGENT]
const COMMANDS = [
  ['run', ...FLAGS],
  ['run', '--dry-run', ...FLAGS],
  ['next', ...FLAGS],
  ['validate', ...FLAGS],
  ['status'],
  ['doctor', '--no-gates', ...FLAGS],
]

function ralph({ cwd, env }: Made, args: readonly string[]) {
  const all = { ...COMPILED, PATH, HOME: folder, NO_COLOR: '1', ...env }
  return spawnSync(process.execPath, [MAIN, ...args], { cwd, env: all, encoding: 'utf8' })
}

for (const [state, { make, reason, fix }] of Object.entries(STATES))
  test(`every command says that there is ${state}, once, and what to do`, () => {
    const made = make()
    for (const args of COMMANDS) {
      const { status, stdout, stderr } = ralph(made, args)
      const label = `ralph ${args.join(' ')}\n${stdout}${stderr}`
      const printed = `${stdout}${stderr}`
      assert.equal(status, args[0] === 'doctor' ? 1 : 64, label)
      assert.equal(printed.match(new RegExp(reason, 'g'))?.length, 1, label)
      assert.match(printed, fix, label)
      assert.doesNotMatch(
        printed,
        /not (?:checked|looked at): there is no checkout|expected no error|ENOENT/,
        label,
      )
    }
  })

test('init and demo say that git is missing', () => {
  const env = { PATH: pathWith('bin-bare', null) }
  for (const args of [['init', '--yes'], ['demo']]) {
    const { status, stderr } = ralph({ cwd: makeFolder(`bare-${args[0]}`), env }, args)
    assert.equal(status, 64, stderr)
    assert.match(stderr, /git is not installed.*\n.*install git 2\.38 or newer/)
  }
})

test('all other mistakes are reported with the missing repository', () => {
  const cwd = makeFolder('more')
  writeFileSync(join(cwd, 'ralph.config.yml'), 'maxAttemps: 2\n')
  const { status, stdout } = ralph({ cwd }, ['run', '--json', ...AGENT])
  assert.equal(status, 64)
  const paths = JSON.parse(stdout).errors.map(({ path }: { path: string }) => path)
  assert.deepEqual(paths, ['ralph.config.yml: maxAttemps', cwd, 'gates'])
})
