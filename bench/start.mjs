// Start of the action's bundle until its first useful effect (the event is read and answered), and the bundles' sizes.
// Run with Node 24: node_modules/.bin/node bench/start.mjs. Prints figures; asserts nothing.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const dist = join(dirname(dirname(fileURLToPath(import.meta.url))), 'dist')
const folder = mkdtempSync(join(tmpdir(), 'ralph-start-'))
const event = join(folder, 'event.json')
for (const name of ['state', 'output']) writeFileSync(join(folder, name), '')
const env = {
  PATH: process.env.PATH,
  GITHUB_EVENT_PATH: event,
  GITHUB_REPOSITORY: 'acme/shop',
  GITHUB_STATE: join(folder, 'state'),
  GITHUB_OUTPUT: join(folder, 'output'),
}
const RUNS = 25

const here = { repository: { full_name: 'acme/shop' }, sender: { login: 'bob', type: 'User' } }
const fork = { head: { ref: 'ralph/auth', sha: 'abc', repo: { full_name: 'mallory/shop' } } }
const own = { head: { ref: 'ralph/auth', sha: 'abc', repo: { full_name: 'acme/shop' } } }
const words = { id: 1, body: 'Thank you.', user: here.sender }
const open = { head_branch: 'ralph/auth', head_sha: 'abc' }
/** Events that do not concern Ralph. */
const EVENTS = [
  ['push', {}],
  ['issue_comment', { action: 'created', comment: words, issue: { number: 1, pull_request: {} } }],
  ['issues', { action: 'labeled', label: { name: 'bug' }, issue: { number: 1 } }],
  ['check_run', { action: 'completed' }],
  ['check_suite', { action: 'requested', check_suite: open }],
  ['workflow_run', { action: 'completed', workflow_run: { ...open, head_repository: { full_name: 'x/y' } } }],
  ['status', { state: 'pending', sha: 'abc', branches: [{ name: 'ralph/auth' }] }],
  ['pull_request_review', { action: 'submitted', review: { state: 'commented' }, pull_request: fork }],
  ['pull_request_review_comment', { action: 'created', comment: {}, pull_request: own }],
  ['pull_request', { action: 'dequeued', pull_request: fork }],
  ['pull_request', { action: 'synchronize', pull_request: own, sender: { login: 'x[bot]', type: 'Bot' } }],
  ['pull_request', { action: 'closed', pull_request: fork }, 'resume-lost'],
]

/** Milliseconds from start to end. */
function time(args, more = {}) {
  const began = process.hrtime.bigint()
  spawnSync(process.execPath, args, { env: { ...env, ...more } })
  return Number(process.hrtime.bigint() - began) / 1e6
}

function median(times) {
  return times.sort((one, other) => one - other)[Math.floor(times.length / 2)]
}

/** The median of what the action takes beyond a bare start of Node, measured in turns, so that a busy machine slows both. */
function ownTime(name, payload, command) {
  writeFileSync(event, JSON.stringify({ ...here, ...payload }))
  const more = { GITHUB_EVENT_NAME: name, INPUT_COMMAND: command }
  const pairs = Array.from({ length: RUNS }, () => [
    time(['-e', '0']),
    time([join(dist, 'action', 'main.js')], more),
  ])
  return median(pairs.map(([bare, whole]) => whole - bare))
}

const say = (line) => process.stdout.write(`${line}\n`)
const bare = median(Array.from({ length: RUNS }, () => time(['-e', '0'])))
say(`node ${process.version}: bare ${bare.toFixed(0)} ms`)
say('action, its own time for an event that does not concern it:')
for (const [name, payload, command = ''] of EVENTS) {
  const action = payload.action === undefined ? '' : `.${payload.action}`
  say(`  ${name}${action}: ${ownTime(name, payload, command).toFixed(0)} ms`)
}
const cli = Array.from({ length: RUNS }, () => time([join(dist, 'cli', 'main.js'), '--version']))
say(`cli, --version: ${median(cli).toFixed(0)} ms`)
const sizes = readdirSync(dist, { recursive: true }).map((name) => statSync(join(dist, name)))
const total = sizes.filter((one) => one.isFile()).reduce((sum, { size }) => sum + size, 0)
say(`dist: ${(total / 1024).toFixed(0)} KB`)
rmSync(folder, { recursive: true, force: true })
