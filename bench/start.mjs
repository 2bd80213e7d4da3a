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
writeFileSync(event, '{}')
for (const name of ['state', 'output']) writeFileSync(join(folder, name), '')
const env = {
  PATH: process.env.PATH,
  GITHUB_EVENT_PATH: event,
  GITHUB_EVENT_NAME: 'push',
  GITHUB_REPOSITORY: 'acme/shop',
  GITHUB_STATE: join(folder, 'state'),
  GITHUB_OUTPUT: join(folder, 'output'),
}

function median(args) {
  const times = Array.from({ length: 15 }, () => {
    const began = process.hrtime.bigint()
    spawnSync(process.execPath, args, { env })
    return Number(process.hrtime.bigint() - began) / 1e6
  })
  return times.sort((one, other) => one - other)[7].toFixed(0)
}

process.stdout.write(`node ${process.version}: bare ${median(['-e', '0'])} ms\n`)
process.stdout.write(
  `action, a foreign event from start to end: ${median([join(dist, 'action', 'main.js')])} ms\n`,
)
process.stdout.write(`cli, --version: ${median([join(dist, 'cli', 'main.js'), '--version'])} ms\n`)
const sizes = readdirSync(dist, { recursive: true }).map((name) => statSync(join(dist, name)))
const total = sizes.filter((one) => one.isFile()).reduce((sum, { size }) => sum + size, 0)
process.stdout.write(`dist: ${(total / 1024).toFixed(0)} KB\n`)
rmSync(folder, { recursive: true, force: true })
