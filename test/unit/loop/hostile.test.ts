// Every hostile string in what the loop writes: commits, prd.json, prompts; and as what people comment.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { storyMessage } from '../../../src/loop/files.ts'
import { hostileStrings } from '../../fixtures/hostile-strings.ts'
import { poisoned } from '../report/poison.ts'
import { midRun } from '../report/samples.ts'

/** GitHub runs nothing for a push whose head commit says one of these; other services know the rest. */
const SKIPS = /\[(?:skip[ -]|[\w-]+[ -]skip\]|no ci)|\*\*\*NO_CI|^skip-checks:/im
/** What GitHub would act on in a commit that comes to the default branch. */
const ACTIVE = /@[\w-]|#\d|\bGH-\d|:\/\//i

test('a commit says the story, and nothing that git, GitHub or a CI would obey', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ralph-hostile-'))
  const git = (args: string[], input = '') =>
    execFileSync('git', args, {
      cwd: folder,
      input,
      encoding: 'utf8',
      maxBuffer: 1e8,
      env: { PATH: process.env.PATH, HOME: folder, GIT_CONFIG_NOSYSTEM: '1', ...PERSON },
    })
  try {
    git(['init', '-q', '-b', 'main', '.'])
    const tree = git(['mktree']).trim()
    // Titles of which nothing is left make the same commit.
    const commits = new Map<string, string>()
    for (const { name, text } of hostileStrings) {
      const message = storyMessage(poisoned(midRun(), text), 'US-003', 7)
      commits.set(git(['commit-tree', tree, '-F', '-'], message).trim(), name)
    }
    const format = '%H%x00%s%x00%(trailers:only,unfold)%x00%B%x00'
    const told = git(
      ['log', '--no-walk=unsorted', '--stdin', `--format=${format}`],
      [...commits.keys()].join('\n'),
    ).split('\0')
    assert.equal(told.length, commits.size * 4 + 1)
    assert.ok(commits.size > 300)
    for (let at = 0; at + 1 < told.length; at += 4) {
      const [id = '', subject = '', trailers = '', whole = ''] = told.slice(at, at + 4)
      const name = `${commits.get(id.trim())}: ${whole}`
      assert.ok(subject.startsWith('feat: US-003 -') && subject.length <= 100, name)
      assert.equal(trailers, 'Ralph-Story: US-003\nRalph-Iteration: 7\nRalph-Run: n\n', name)
      assert.equal(whole.trim().split('\n').length, 5, name)
      assert.doesNotMatch(whole, SKIPS, name)
      assert.doesNotMatch(whole, ACTIVE, name)
    }
    assert.match(storyMessage(poisoned(midRun(), '::error::x'), 'US-003', 7), /^feat: US-003 - ::error::x\n/)
    assert.equal(
      git(
        ['interpret-trailers', '--parse'],
        storyMessage(poisoned(midRun(), 'x\n\nRalph-Run: y'), 'US-003', 7),
      ),
      'Ralph-Story: US-003\nRalph-Iteration: 7\nRalph-Run: n\n',
    )
  } finally {
    rmSync(folder, { recursive: true })
  }
})
const PERSON = {
  GIT_AUTHOR_NAME: 'a',
  GIT_AUTHOR_EMAIL: 'a@a.test',
  GIT_COMMITTER_NAME: 'a',
  GIT_COMMITTER_EMAIL: 'a@a.test',
}

test('a secret in a title is not cut in two before it is taken out', () => {
  const secret = `k${'e'.repeat(120)}y`
  const message = storyMessage(poisoned(midRun(), `use ${secret}`), 'US-003', 7, (text) =>
    text.replaceAll(secret, '***'),
  )
  assert.match(message, /^feat: US-003 - use \*\*\*\n/)
})
