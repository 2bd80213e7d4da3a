// Every hostile string in what the loop writes: commits, prd.json, prompts; and as what people comment.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { storiesIn } from '../../../src/branch/story-commits.ts'
import { applyCommand } from '../../../src/engine/commands/apply-commands.ts'
import { parseSlash } from '../../../src/engine/commands/command-table.ts'
import { ownFiles } from '../../../src/engine/model/paths.ts'
import type { State } from '../../../src/engine/model/state.ts'
import { sanitizeText } from '../../../src/engine/model/text.ts'
import { parsePrd } from '../../../src/engine/prd/parse.ts'
import { markImported } from '../../../src/engine/prd/schema.ts'
import { runParts, verifyParts } from '../../../src/engine/prompts/build-prompt.ts'
import { textOf } from '../../../src/engine/prompts/template.ts'
import { prdFile, storyMessage } from '../../../src/report/feature-files.ts'
import { hostileStrings } from '../../fixtures/hostile-strings.ts'
import { poisoned } from '../report/poison.ts'
import { midRun, stuck } from '../report/samples.ts'

const runPrompt = (...given: Parameters<typeof runParts>) => textOf(runParts(...given))
const verifyPrompt = (...given: Parameters<typeof verifyParts>) => textOf(verifyParts(...given))

/** GitHub runs nothing for a push whose head commit says one of these; other services know the rest. */
const SKIPS = /\[(?:skip[ -]|[\w-]+[ -]skip\]|no ci)|\*\*\*NO_CI|^skip-checks:/im
/** What GitHub would act on in a commit that comes to the default branch. */
const ACTIVE = /@[\w-]|#\d|\bGH-\d|:\/\//i

test("an agent's text in a commit message forges no trailer, mentions no user and skips no CI", () => {
  const state = midRun()
  const forged = ['x\n\nRalph-Story: US-001\nRalph-Run: n', `Ralph-Run: ${state.nonce}\rRalph-Story: US-009`]
  for (const text of [...hostileStrings.map((one) => one.text), ...forged]) {
    const message = storyMessage(state, 'US-003', 7, undefined, text)
    const plain = storyMessage(state, 'US-003', 7)
    const lines = message.split('\n')
    const rest = lines.filter((line) => !line.startsWith('> '))
    if (rest.length < lines.length) {
      assert.deepEqual(rest.splice(1, 2), ['', "In the agent's words:"], text)
      assert.equal(rest.join('\n'), plain, text)
    } else assert.equal(message, plain, text)
    assert.deepEqual(storiesIn(`squashed\n\n${message}`, state.nonce), ['US-003'], text)
    assert.doesNotMatch(message, SKIPS, text)
    assert.doesNotMatch(message, ACTIVE, text)
    assert.ok(message.length < 900, text)
  }
})

test("a commit message has the story's title without text that git, GitHub or a CI would act on", () => {
  const folder = mkdtempSync(join(tmpdir(), 'ralph-hostile-'))
  const git = (args: string[], input = '') =>
    execFileSync('git', args, {
      cwd: folder,
      input,
      encoding: 'utf8',
      maxBuffer: 1e8,
      env: { PATH: process.env.PATH, HOME: folder, GIT_CONFIG_NOSYSTEM: '1' },
    })
  try {
    git(['init', '-q', '-b', 'main', '.'])
    const messages = hostileStrings.map(({ text }) => storyMessage(poisoned(midRun(), text), 'US-003', 7))
    const commits = messages.map(
      (message) =>
        `commit refs/heads/main\ncommitter a <a@a.test> 0 +0000\ndata ${Buffer.byteLength(message)}\n${message}\n`,
    )
    git(['fast-import', '--quiet', '--done'], `${commits.join('')}done\n`)
    const format = '%H%x00%s%x00%(trailers:only,unfold)%x00%B%x00'
    const told = git(['log', '--reverse', `--format=${format}`, 'main']).split('\0')
    assert.equal(told.length, messages.length * 4 + 1)
    assert.ok(messages.length > 300)
    for (const [at, { name: string }] of hostileStrings.entries()) {
      const [, subject = '', trailers = '', whole = ''] = told.slice(at * 4, at * 4 + 4)
      const name = `${string}: ${whole}`
      assert.ok(subject.startsWith('feat: US-003 -') && subject.length <= 100, name)
      assert.equal(trailers, 'Ralph-Story: US-003\nRalph-Iteration: 7\nRalph-Run: n\n', name)
      assert.equal(whole.trim().split('\n').length, 5, name)
      assert.doesNotMatch(whole, SKIPS, name)
      assert.doesNotMatch(whole, ACTIVE, name)
    }
    assert.match(
      storyMessage(poisoned(midRun(), '::error::x'), 'US-003', 7),
      /^feat: US-003 - ::\u200berror::x\n/,
    )
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
const plain = (text: string) => text

test('a secret at the cut of a long title is redacted', () => {
  const secret = `k${'e'.repeat(120)}y`
  const message = storyMessage(poisoned(midRun(), `use ${secret}`), 'US-003', 7, (text) =>
    text.replaceAll(secret, '***'),
  )
  assert.match(message, /^feat: US-003 - use \*\*\*\n/)
})

/** The parts of a prompt, told apart by their headings; what stands in a fence is no part. */
function parts(prompt: string): string[] {
  let fence = ''
  return prompt.split(/\r\n|[\n\r\u0085\u2028\u2029\f\v]/).filter((line) => {
    const mark = /^`{3,}/.exec(line)?.[0] ?? ''
    if (fence === '' && mark !== '') fence = mark
    else if (fence !== '' && line === fence) fence = ''
    return fence === '' && /^ {0,3}(?:#{1,6}(?:\s|$)|<ralph>|<stuck>|Implement )/.test(line)
  })
}

/** A run in which the text stands wherever sessions, gates, files and comments bring it, and in the story itself. */
function told(text: string): State {
  const state = poisoned(stuck(), text)
  return {
    ...state,
    recent: ['one'],
    kept: { 'US-003': { base: 'b', tree: 't', dropped: [text, text] } },
    control: { ...state.control, guidance: { 'US-003': [text, text] } },
    prd: {
      ...state.prd,
      run: { ...state.prd.run, learnings: [text, text] },
      // Of several lines by right: whoever writes the task may say what it is.
      userStories: state.prd.userStories.map((story) => ({ ...story, description: 'd' })),
    },
  }
}

test('no text in a prompt can pass for another section of it', () => {
  const prompts = (text: string): [string, string] => {
    const state = told(text)
    const story = state.prd.userStories[2]
    assert.ok(story !== undefined)
    const facts = {
      gates: ['test: npm test'],
      services: [],
      instructions: '',
      context: '',
      dropped: [text, text],
      conflict: text,
    }
    return [
      runPrompt(null, state, story, facts),
      verifyPrompt(
        null,
        state,
        { stories: ['US-001', 'US-003'], gates: [] },
        { ...facts, dropped: [], conflict: null },
      ),
    ]
  }
  const bare = (lines: string[]): string[] => lines.map((line) => line.replace(/: .*|:$/, ''))
  const [run, judge] = prompts('x').map(parts)
  assert.deepEqual(
    run?.filter((line) => line.startsWith('#')).map((line) => line.replace(/: .*/, '')),
    [
      '# Rules',
      '# The feature',
      '# What earlier sessions learned',
      '# The last iterations',
      '# The story',
      '# Notes on the story',
      '# Guidance from a maintainer',
      '# Work so far',
      '# The last attempt was rejected',
    ],
  )
  for (const { name, text } of hostileStrings) {
    const [ran, judged] = prompts(text)
    // Where nothing is left of a text, its part is left out.
    const empty = sanitizeText(text).trim() === ''
    const missing: string[] = bare(run ?? []).filter((line) => !bare(parts(ran)).includes(line))
    const added: string[] = bare(parts(ran)).filter((line) => !bare(run ?? []).includes(line))
    assert.deepEqual(added, [], name)
    if (!empty) assert.deepEqual(missing, [], name)
    const feature = '# The feature'
    const left = empty && !parts(judged).includes(feature)
    const expected = bare(judge ?? []).filter((line) => !(left && line === feature))
    assert.equal(bare(parts(judged)).join('\n'), expected.join('\n'), name)
    for (const prompt of [ran, judged]) {
      assert.doesNotMatch(prompt, /[\u{e0000}-\u{e0fff}\u200b\u2060\ufeff]|\p{Bidi_Control}/u, name)
    }
    assert.ok(Buffer.byteLength(ran) < 8000 + 5 * Buffer.byteLength(text), name)
  }
})

test('prd.json is read back as written, with any text', () => {
  for (const { name, text } of hostileStrings) {
    // People's fields are checked when they are read; what sessions and comments bring is not.
    const state = told(text)
    const ours = text.trim() === '' || text.length > 500 ? 'x' : text
    const prd = {
      ...state.prd,
      project: ours,
      description: ours,
      branchName: 'ralph/auth',
      userStories: state.prd.userStories.map((story) => ({
        ...story,
        title: ours,
        acceptanceCriteria: [ours],
        tags: ours.length > 100 ? [] : [ours],
      })),
    }
    const file = prdFile({ ...state, prd }, plain)
    assert.doesNotMatch(file, /[\u{e0000}-\u{e0fff}\u200b\u2060\ufeff]|\p{Bidi_Control}/u, name)
    const parsed = parsePrd(file, 'prd.json')
    assert.ok(parsed.ok, `${name}: ${JSON.stringify(parsed)}`)
    assert.deepEqual(parsed.prd.userStories, prd.userStories.map(markImported), name)
  }
  assert.equal(ownFiles(midRun()).prd, '.ralph/2026-01-10-auth/prd.json')
})

test('a comment is a command by the first word of its first line, or none', () => {
  const ids = ['US-001', 'US-002']
  for (const { name, text } of hostileStrings) {
    const plain = parseSlash(text, ids)
    if (/^\/ralph(?:\s|$)/.test(text)) assert.equal(plain.kind, 'command', name)
    else assert.equal(plain.kind, 'none', name)
    for (const before of ['> ', ' ', '\t', '```\n', '\ufeff', '\u200b', 'x\n', '`', '//ralph ', '-'])
      assert.equal(parseSlash(`${before}/ralph stop ${text}`, ids).kind, 'none', name)
    for (const word of ['', 'retry ', 'skip US-001,', 'limit ', 'note ', 'redo ']) {
      const parsed = parseSlash(`/ralph ${word}${text}`, ids)
      if (parsed.kind !== 'mistake') continue
      assert.match(parsed.problem, /^[\p{L}\p{N} ,;_.-]+$/u, name)
      assert.match(parsed.fix, /^\/ralph [\w +-]+$/, name)
    }
  }
})

test('comments in the state can be read back, and are limited', () => {
  const start = midRun()
  const ids = start.prd.userStories.map((story) => story.id)
  for (const { name, text } of hostileStrings) {
    for (const body of [
      `/ralph note US-003 -- ${text}`,
      `/ralph retry US-003 -- ${text}`,
      `/ralph add -- ${text}`,
      `/ralph add -- x\n- ${text}\n${text}`,
      `/ralph add -- x\r- ${text}`,
    ]) {
      const parsed = parseSlash(body, ids)
      if (parsed.kind !== 'command') continue
      const state = applyCommand(start, { ...parsed.command, id: 1, by: 'bob' })
      const file = prdFile({ ...state, branch: 'ralph/auth' }, plain)
      const read = parsePrd(file, 'prd.json')
      assert.ok(read.ok, `${name}: ${JSON.stringify(read)}`)
      assert.ok(file.length < prdFile(start, plain).length + 60_000, `${name}: ${file.length}`)
      const guidance = state.control.guidance['US-003'] ?? []
      for (const line of guidance) assert.ok(!/\r/.test(line) && line.length <= 2000, name)
      assert.deepEqual(
        state.prd.userStories.slice(0, ids.length).map(({ id, title }) => [id, title]),
        start.prd.userStories.map(({ id, title }) => [id, title]),
        name,
      )
    }
  }
})
