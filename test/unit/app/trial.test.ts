// Commands that are tried once: what a missing program looks like by way of each runner, and what only sounds like one.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { openTrial } from '../../../src/app/trial.ts'

async function tried(commands: readonly string[]): Promise<string[]> {
  const top = await mkdtemp(join(tmpdir(), 'ralph-trial-'))
  try {
    await using trial = await openTrial({
      top,
      workingDirectory: '.',
      isRepository: false,
      env: { PATH: process.env.PATH ?? '' },
      gateEnv: [],
      signal: new AbortController().signal,
    })
    const ends: string[] = []
    for (const command of commands) {
      const { state, ended, line } = await trial.run('lint', command)
      ends.push(`${state}: ${ended}${line === '' ? '' : `: ${line}`}`)
    }
    return ends
  } finally {
    await rm(top, { recursive: true, force: true })
  }
}

/** What a runner prints, and the code that it ends with. */
const ends = (code: number, ...lines: string[]) =>
  `printf '%s\\n' ${lines.map((line) => `'${line.replaceAll("'", "'\\''")}'`).join(' ')} >&2; exit ${code}`

test('a missing program of a gate is reported by name, whichever runner starts it', async () => {
  const needs = (program: string) => `missing: needs ${program}, which is not on this machine`
  assert.deepEqual(
    await tried([
      'no-such-linter .',
      'sh -c "no-such-linter ."',
      'true && ./bin/lint',
      ends(2, 'make: golangci-lint: No such file or directory', 'make: *** [Makefile:20: lint] Error 127'),
      ends(2, '/bin/sh: 1: golangci-lint: not found', 'make[1]: *** [Makefile:20: lint] Error 127'),
      ends(
        127,
        'error: Recipe `lint` failed on line 2 with exit code 127',
        'sh: line 1: shellcheck: command not found',
      ),
      ends(201, 'task: Failed to run task "lint": "golangci-lint": executable file not found in $PATH'),
      ends(127, '/usr/bin/env: ‘python2’: No such file or directory'),
      ends(127, 'sh: 1: no-such-linter: Permission denied'),
    ]),
    [
      needs('no-such-linter'),
      needs('no-such-linter'),
      'missing: exit 127: bash: line 1: ./bin/lint: No such file or directory',
      needs('golangci-lint'),
      needs('golangci-lint'),
      needs('shellcheck'),
      needs('golangci-lint'),
      needs('python2'),
      needs('no-such-linter'),
    ],
  )
})

test('output of a failed test is not read as a missing program', async () => {
  assert.deepEqual(
    await tried([
      ends(1, 'FAIL: user: not found'),
      ends(2, 'open x.go: No such file or directory', 'make: *** [Makefile:3: test] Error 1'),
      'true # sh: 1: x: not found',
    ]),
    [
      'red: exit 1: FAIL: user: not found',
      'red: exit 2: make: *** [Makefile:3: test] Error 1',
      'green: exit 0',
    ],
  )
})

test('the copy has the submodules that are checked out, at the commit that the project records', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ralph-trial-'))
  const git = (cwd: string, ...args: string[]) =>
    execFileSync(
      'git',
      ['-c', 'user.name=a', '-c', 'user.email=a@b', '-c', 'protocol.file.allow=always', ...args],
      {
        cwd: join(folder, cwd),
        stdio: 'pipe',
      },
    )
  try {
    for (const name of ['data', 'top']) {
      await mkdir(join(folder, name))
      git(name, 'init', '-q', '-b', 'main')
      await writeFile(join(folder, name, 'file.txt'), `of ${name}\n`)
      git(name, 'add', '.')
      git(name, 'commit', '-qm', 'first')
    }
    git('top', 'submodule', '--quiet', 'add', join(folder, 'data'), 'test/data')
    git('top', 'submodule', '--quiet', 'add', join(folder, 'data'), 'test/absent')
    git('top', 'commit', '-qm', 'submodules')
    git('top', 'submodule', '--quiet', 'deinit', '--force', 'test/absent')
    await using trial = await openTrial({
      top: join(folder, 'top'),
      workingDirectory: '.',
      isRepository: true,
      env: { PATH: process.env.PATH ?? '' },
      gateEnv: [],
      signal: new AbortController().signal,
    })
    const read = await trial.run(
      'lint',
      'grep -qx "of data" test/data/file.txt && [ ! -e test/absent/file.txt ]',
    )
    assert.equal(read.state, 'green', read.output)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})

test('a subcommand that cargo does not have is a missing program, and its word in the output of a test is not', async () => {
  const output = [
    'error: no such command: `hack`',
    '',
    'help: find a package to install `hack` with `cargo search cargo-hack`',
  ]
  assert.deepEqual(
    await tried([
      ends(101, ...output),
      ends(1, ...output),
      ends(101, 'thread: error: no such command: `hack`'),
    ]),
    [
      'missing: needs cargo-hack, which is not on this machine',
      'red: exit 1: error: no such command: `hack`',
      'red: exit 101: thread: error: no such command: `hack`',
    ],
  )
})
