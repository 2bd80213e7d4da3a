// What a kick-off asks to be planned: an issue (`feature: "#12"`), or documents of the base (`command: plan`); null where stories are there.
import * as core from '@actions/core'
import { type Asked, askedByDocuments, askedByIssue, issueIn } from '../app/asked.ts'
import { readDocumentFiles } from '../app/documents.ts'
import type { Workspace } from '../app/workspace.ts'
import { type GitHub, saidByGitHub } from '../github/client.ts'
import { UserError } from '../system/errors.ts'

/** Comments of an issue that a plan is made of, the newest. */
const MOST_COMMENTS = 20
/** Who belongs to the repository: what others say of an issue comes into no prompt. */
const OURS = ['OWNER', 'MEMBER', 'COLLABORATOR']

type Wish = {
  feature: string | null
  isPlan: boolean
  base: string
  today: string
  /** Names of those that the workflow has. */
  gates: readonly string[]
}

export async function askedFor(
  github: GitHub,
  { store, objects }: Workspace,
  wish: Wish,
): Promise<Asked | null> {
  const { feature, isPlan, base, today, gates } = wish
  const number = issueIn(feature)
  if (number !== null) {
    const known = await plannedBy(store, number)
    return askedByIssue(await issueOf(github, number), { known, today, gates })
  }
  if (!isPlan) return null
  if (feature === null) {
    const fix =
      'name the feature, such as feature: auth, or the issue that asks for it, such as feature: "#12"'
    throw new UserError({ path: 'feature', found: 'none', expected: 'what the plan is called', fix })
  }
  const files = await readDocumentFiles({ objects, commit: base }, null)
  const { notes, ...asked } = await askedByDocuments(files, feature, today)
  for (const note of notes.slice(0, 20)) core.notice(note)
  return asked
}

/** The feature that this issue has become already, or null. */
async function plannedBy(store: Workspace['store'], issue: number): Promise<string | null> {
  for (const folder of [...(await store.list()).keys()].sort().reverse()) {
    const state = (await store.load(folder))?.state
    if (state?.plan?.issue === issue) return state.feature
  }
  return null
}

async function issueOf({ api, at }: GitHub, number: number) {
  const found = await api.rest.issues.get({ ...at, issue_number: number }).catch((error: unknown) => {
    const fix = 'name an issue of this repository; the job needs the permission issues: read'
    throw new UserError({
      path: 'feature',
      found: `#${number}: ${saidByGitHub(error)}`,
      expected: 'an issue',
      fix,
    })
  })
  const { title, body, pull_request: pull } = found.data
  if (pull !== undefined) {
    const fix = 'name the feature of the pull request, without #'
    throw new UserError({ path: 'feature', found: `#${number}, a pull request`, expected: 'an issue', fix })
  }
  const { data } = await api.rest.issues.listComments({ ...at, issue_number: number, per_page: 100 })
  const comments = data
    .filter(({ user, author_association: who }) => user?.type === 'User' && OURS.includes(who))
    .map((comment) => (comment.body ?? '').replace(/^\/ralph plan\b[ \t]*(?:--)?/, '').trim())
    .filter((words) => words !== '' && !words.startsWith('/ralph'))
  return { number, title, body: body ?? '', comments: comments.slice(-MOST_COMMENTS) }
}
