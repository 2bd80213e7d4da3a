// Records what the real client of the cache (@actions/cache, no dependency of ours) asks the service, against the stand-in's: the
// fixture that our own client is held to. Run: node scripts/record-cache.mjs <folder with node_modules>
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { startCache } from '../test/standin/cache-entries.ts'
import { newRuntimeToken } from '../test/standin/results.ts'

const [from = ''] = process.argv.slice(2)
const folder = await mkdtemp(join(tmpdir(), 'ralph-cache-'))
await using started = await startCache()
Object.assign(process.env, {
  ACTIONS_RUNTIME_TOKEN: newRuntimeToken('1'),
  ACTIONS_RESULTS_URL: started.url,
  ACTIONS_CACHE_SERVICE_V2: 'True',
  GITHUB_SERVER_URL: 'https://github.com',
  GITHUB_WORKSPACE: folder,
  RUNNER_TEMP: folder,
})
const entry = join(resolve(from), 'node_modules', '@actions', 'cache', 'lib', 'cache.js')
const { restoreCache, saveCache } = await import(pathToFileURL(entry).href)
process.chdir(folder)
await writeFile('a.txt', 'a file\n')
await restoreCache(['a.txt'], 'ralph-agent')
await saveCache(['a.txt'], 'ralph-agent')
if ((await restoreCache(['a.txt'], 'ralph-agent')) !== 'ralph-agent') throw new Error('nothing was kept')
const to = new URL('../test/fixtures/github/cache-entry.json', import.meta.url)
await writeFile(to, `${JSON.stringify(started.service.asked, null, 2)}\n`)
await rm(folder, { recursive: true })
console.log(`${started.service.asked.length} requests`)
