// Records test/fixtures/states/lost-chain again: a chain of jobs of an older version of the action, whose machine is lost in the
// middle of its second job. Run: node scripts/record-older.mjs FOLDER, with the older action.yml and dist/ in it, such as
//   git archive <commit> action.yml dist | tar -x -C FOLDER
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { record, SCRIPT, STORIES } from '../test/e2e/older-site.ts'
import { openSite, ROOT } from '../test/e2e/site.ts'

const [folder] = process.argv.slice(2)
if (folder === undefined) throw new Error('the folder of the older action is missing')

// The repository is to name no path of this machine.
const programs = '/dev/shm/ralph-record-older'
const [script, seen] = ['script.json', 'seen.jsonl'].map((name) => join(programs, name))
await mkdir(programs)
await writeFile(seen, '')
const agent = join(ROOT, 'test', 'fakes', 'agent.mjs')
await writeFile(join(programs, 'sample-agent'), `#!/bin/sh\nexec node '${agent}' '${script}' '${seen}'\n`, {
  mode: 0o755,
})
const site = await openSite({
  stories: STORIES,
  script: {},
  inputs: { 'agent-command': 'exec sample-agent' },
  runner: { action: { match: /^ralph\/action@/, path: resolve(folder) }, path: [programs] },
})
try {
  const middle = site.hold('middle')
  const [red, ...others] = SCRIPT['US-003']
  const lost = others.map((turn) => ({ ...turn, shell: middle.shell }))
  await writeFile(script, JSON.stringify({ ...SCRIPT, 'US-003': [red, ...lost] }))
  await site.runner.dispatch('ralph.yml', { feature: 'sample' }, { actor: 'alice' })
  const run = await middle.reached()
  site.runner.kill(run.id)
  await site.runner.settled()
  await record(site)
} finally {
  await site[Symbol.asyncDispose]()
  await rm(programs, { recursive: true })
}
