// A pipe holds 64 KB: a long answer arrives whole, and a reader that goes early is no error.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { COMPILED, MAIN } from './place.ts'

test("output larger than a pipe's buffer is written whole", () => {
  const folder = mkdtempSync(join(tmpdir(), 'ralph-pipe-'))
  try {
    const env = { ...COMPILED, PATH: process.env.PATH, HOME: folder }
    const bash = (script: string) =>
      execFileSync('bash', ['-c', script, process.execPath, MAIN], {
        cwd: folder,
        env,
        encoding: 'utf8',
        maxBuffer: 1e9,
      })
    bash(
      'git init -q -b main . && git -c user.name=a -c user.email=a@a.test commit -q --allow-empty -m start',
    )
    mkdirSync(join(folder, '.ralph', '2026-01-31-sample'), { recursive: true })
    const userStories = Array.from({ length: 2000 }, (_, at) => ({
      id: `US-${at}`,
      title: `story ${at}`,
      acceptanceCriteria: ['a'],
    }))
    writeFileSync(
      join(folder, '.ralph', '2026-01-31-sample', 'prd.json'),
      JSON.stringify({ schemaVersion: 2, userStories }),
    )
    const { stories } = JSON.parse(bash('"$0" "$1" status --json | { sleep 1; cat; }'))
    assert.equal(stories.length, 2000)
    assert.match(bash('set -o pipefail; "$0" "$1" status 2>&1 | head -n 1'), /0\/2000 stories/)
  } finally {
    rmSync(folder, { recursive: true })
  }
})
