// Runs the released action on a sample repository: dispatches its workflow there, and waits until that run has succeeded.
// node scripts/release/canary.mjs <owner/name> <tag>: GH_TOKEN may start workflows there (actions: write) and nothing else
import { setTimeout as wait } from 'node:timers/promises'
import { refuse } from './refuse.mjs'

const [repository = '', ref = ''] = process.argv.slice(2)
const { GH_TOKEN = '', GITHUB_API_URL = 'https://api.github.com', CANARY_WAIT_S = '15' } = process.env
const WORKFLOW = 'canary.yml'
const MAX_MINUTES = 60

const started = await ask('POST', `actions/workflows/${WORKFLOW}/dispatches`, {
  ref: 'main',
  inputs: { ref },
  return_run_details: true,
})
process.stdout.write(`${started.html_url}\n`)
const until = Date.now() + MAX_MINUTES * 60_000
for (;;) {
  const run = await ask('GET', `actions/runs/${started.workflow_run_id}`)
  if (run.status === 'completed') {
    if (run.conclusion !== 'success') failed(`the conclusion ${run.conclusion}`, 'look at the run, mend it')
    break
  }
  if (Date.now() > until) failed(`no end in ${MAX_MINUTES} minutes`, 'look at the run')
  await wait(Number(CANARY_WAIT_S) * 1000)
}
process.stdout.write(`${ref} works in ${repository}\n`)

async function ask(method, path, body) {
  const headers = {
    accept: 'application/vnd.github+json',
    authorization: `Bearer ${GH_TOKEN}`,
    'content-type': 'application/json',
  }
  const url = `${GITHUB_API_URL}/repos/${repository}/${path}`
  const response = await fetch(url, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) })
  if (!response.ok)
    failed(`${response.status} of GitHub`, `see that ${WORKFLOW} is there, and what GH_TOKEN may do`)
  return response.json()
}

function failed(found, fix) {
  refuse([{ path: `${repository} with ${ref}`, found, expected: 'a run that succeeds', fix }])
}
