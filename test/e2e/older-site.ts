// A site as an older version of the action left it, its machine lost in the middle of a session: written down by
// scripts/record-older.mjs, and set up again here.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Check, Comment, Issue, Run } from '../standin/model.ts'
import { badTurn, goodTurn, ROOT, type Script, type Site, story } from './site.ts'

const FOLDER = join(ROOT, 'test', 'fixtures', 'states', 'lost-chain')
const REFS = ['refs/heads/main', 'refs/heads/ralph/sample', 'refs/ralph/2026-01-31-sample']
const WORKFLOW = '.github/workflows/ralph.yml'

export const STORIES = [
  story('US-001', 'one'),
  story('US-002', 'two', { dependsOn: ['US-001'] }),
  story('US-003', 'three', { dependsOn: ['US-001'] }),
  story('US-004', 'four', { dependsOn: ['US-002', 'US-003'] }),
  story('US-005', 'five', { priority: 2 }),
]
/** Three iterations fill the first job; the second one has a red gate, then the machine is lost. */
export const SCRIPT: Script = {
  'US-001': [goodTurn('one', 1)],
  'US-002': [badTurn('two', 2), goodTurn('two', 2)],
  'US-003': [badTurn('three', 3), goodTurn('three', 3)],
  'US-004': [goodTurn('four', 4)],
  'US-005': [goodTurn('five', 5)],
}

export type Recorded = {
  url: string
  issues: Issue[]
  comments: Comment[]
  checks: Check[]
  labels: [string, { id: number; color: string; description: string | null }][]
  runs: Run[]
}

/** Writes what GitHub has, without what only the runs that are over needed. */
export async function record({ github, runner }: Site): Promise<void> {
  const { world, bare } = github
  const recorded: Recorded = {
    url: github.url,
    issues: [...world.issues.values()],
    comments: [...world.comments.values()],
    checks: [...world.checks.values()].filter((check) => !check.ofJob),
    labels: [...world.labels],
    runs: runner.runs.map((run) => ({ ...run, payload: {}, jobs: [], earlier: [] })),
  }
  await writeFile(join(FOLDER, 'site.json'), `${JSON.stringify(recorded, null, 2)}\n`)
  await writeFile(join(FOLDER, 'repository.txt'), await bare.bytes(['fast-export', ...REFS]))
}

/** Puts it in the place of what a new site has; its workflow, which names today's action, is committed on top. */
export async function restore({ github }: Site): Promise<Recorded> {
  const { world, bare } = github
  const workflow = (await bare.read('main', WORKFLOW)) ?? ''
  await bare.run(['fast-import', '--quiet', '--force'], {
    input: await readFile(join(FOLDER, 'repository.txt')),
  })
  const text = await readFile(join(FOLDER, 'site.json'), 'utf8')
  const { url }: Recorded = JSON.parse(text)
  const recorded: Recorded = JSON.parse(text.replaceAll(url, github.url))
  const { issues, comments, checks, labels, runs } = recorded
  for (const issue of issues) world.issues.set(issue.number, issue)
  for (const comment of comments) world.comments.set(comment.id, comment)
  for (const check of checks) world.checks.set(check.id, check)
  for (const [name, label] of labels) world.labels.set(name, label)
  world.runs.push(...runs)
  const ids = [...issues, ...comments, ...checks, ...runs].map(({ id }) => id)
  while (world.nextId() <= Math.max(...ids));
  while (world.nextNumber() < Math.max(...issues.map(({ number }) => number)));
  await github.commit('main', { [WORKFLOW]: workflow }, 'ci: the action as it is today', 'alice')
  return recorded
}
