// Records what the real client of artifacts (@actions/artifact, no dependency of ours) asks the results service, against the
// stand-in's: the fixture that our own client is held to. Run: node scripts/record-artifact.mjs <folder with node_modules>
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { runtimeToken, startResults } from '../test/standin/results.ts'

const [from = ''] = process.argv.slice(2)
const folder = await mkdtemp(join(tmpdir(), 'ralph-artifact-'))
await using started = await startResults()
process.env.ACTIONS_RUNTIME_TOKEN = runtimeToken
process.env.ACTIONS_RESULTS_URL = started.url
process.env.GITHUB_SERVER_URL = 'https://github.com'
process.env.GITHUB_RETENTION_DAYS = '90'
const entry = join(resolve(from), 'node_modules', '@actions', 'artifact', 'lib', 'artifact.js')
const { DefaultArtifactClient } = await import(pathToFileURL(entry).href)
await writeFile(join(folder, 'a.txt'), 'a file\n')
const given = await new DefaultArtifactClient().uploadArtifact(
  'ralph-auth-7-1',
  [join(folder, 'a.txt')],
  folder,
)
if (typeof given.id !== 'number') throw new Error('nothing was uploaded')
const to = new URL('../test/fixtures/github/artifact-upload.json', import.meta.url)
await writeFile(to, `${JSON.stringify(started.service.asked, null, 2)}\n`)
await rm(folder, { recursive: true })
console.log(`${started.service.asked.length} requests`)
