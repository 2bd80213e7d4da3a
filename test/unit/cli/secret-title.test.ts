// A story's title, or any other word of it, that holds a key which the environment has: no command shows it.
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { COMPILED, MAIN } from './place.ts'

const KEY = 'c0rrect-horse-battery-staple-4711'
const folder = mkdtempSync(join(tmpdir(), 'ralph-secret-'))
after(() => rmSync(folder, { recursive: true }))
const env = {
  ...COMPILED,
  PATH: process.env.PATH,
  HOME: folder,
  SHOP_API_KEY: KEY,
  GIT_AUTHOR_NAME: 'a',
  GIT_AUTHOR_EMAIL: 'a@a.test',
  GIT_COMMITTER_NAME: 'a',
  GIT_COMMITTER_EMAIL: 'a@a.test',
}
const git = (...args: string[]) => execFileSync('git', args, { cwd: folder, env })
const story = {
  id: 'US-001',
  title: `Pay with ${KEY}`,
  description: `As a user, I pay with ${KEY}.`,
  acceptanceCriteria: [`${KEY} is taken`],
  priority: 1,
  passes: false,
  notes: KEY,
}
const prd = {
  schemaVersion: 2,
  project: KEY,
  branchName: 'ralph/sample',
  description: KEY,
  userStories: [story],
}
const file = '.ralph/2026-01-31-sample/prd.json'
mkdirSync(join(folder, '.ralph/2026-01-31-sample'), { recursive: true })
writeFileSync(join(folder, file), JSON.stringify(prd))
git('init', '-q', '-b', 'main', '.')
git('add', '-A', '--', '.ralph')
git('commit', '-q', '-m', 'start')

const AGENT = [
  '--agent',
  'custom',
  '--agent-command',
  'cat >/dev/null; echo x >x.txt; echo "<ralph>DONE</ralph>"',
]

/** Before any run, while one begins, and behind it. */
const COMMANDS = [
  ['status'],
  ['status', '--json'],
  ['next', '--json'],
  ['monitor', '--once'],
  ['run', '--dry-run', '--gate', 'test=true', ...AGENT],
  ['run', '--json', '--once', '--no-final-verification', '--gate', `test=echo ${KEY}`, ...AGENT],
  ['status'],
  ['status', '--json'],
  ['why', 'US-001'],
  ['report'],
]

test("a key in a story's text is in no output of any command", () => {
  for (const args of COMMANDS) {
    const { stdout, stderr } = spawnSync(process.execPath, [MAIN, ...args], {
      cwd: folder,
      env,
      encoding: 'utf8',
    })
    const whole = `${stdout}${stderr}`
    assert.notEqual(whole, '', args.join(' '))
    assert.ok(!whole.includes(KEY), `${args.join(' ')}\n${whole}`)
  }
})
