// The one pull request of a feature: found by its branch, opened as a draft, labelled, made ready on completion.
import { createHash } from 'node:crypto'
import { LABELS, type Label } from '../report/outcomes.ts'
import { marker } from '../report/parts.ts'
import { MAX_CHARACTERS } from '../report/sticky-comment.ts'
import {
  type GitHub,
  githubMessage,
  httpStatusOf,
  isForbidden,
  isOutcomeUnknown,
  NO_RETRIES,
} from './client.ts'

export type Pull = PullText & {
  number: number
  url: string
  nodeId: string
  draft: boolean
  labels: string[]
  /** The branch that it goes to. */
  base: string
}

export type PullRequest = { branch: string; base: string; title: string; body: string; draft: boolean }

/** `forbidden`: the token may not do this, so a permission or a repository setting is missing. */
export type Refused = { kind: 'refused'; reason: string; isForbidden: boolean }
export type Opened = { kind: 'open'; pull: Pull } | Refused

/** The newest pull request from this branch of this repository that is open (or closed, or merged), or null. */
export async function findPull(
  { api, repo }: GitHub,
  branch: string,
  state: 'open' | 'closed' = 'open',
): Promise<Pull | null> {
  const { data } = await api.rest.pulls.list({
    ...repo,
    head: `${repo.owner}:${branch}`,
    state,
    per_page: 10,
  })
  const [found] = data
    .filter((pull) => pull.head.ref === branch && pull.head.repo?.full_name === `${repo.owner}/${repo.repo}`)
    .sort((one, other) => other.number - one.number)
  return found === undefined ? null : pullOf(found)
}

function pullOf(found: {
  number: number
  html_url: string
  node_id: string
  draft?: boolean
  title: string
  body: string | null
  labels: readonly { name: string }[]
  base: { ref: string }
}): Pull {
  return {
    number: found.number,
    url: found.html_url,
    nodeId: found.node_id,
    draft: found.draft === true,
    title: found.title,
    body: found.body ?? '',
    labels: found.labels.map(({ name }) => name),
    base: found.base.ref,
  }
}

/**
 * Opens the pull request. `refused` if Actions may not open one, or if there is nothing to compare. `isLastTry`: no further try if
 * the answer is lost.
 */
export async function openPull(github: GitHub, pullRequest: PullRequest, isLastTry = false): Promise<Opened> {
  const { branch: head, ...rest } = pullRequest
  try {
    const { data } = await github.api.rest.pulls.create({ ...github.repo, head, ...rest, ...NO_RETRIES })
    return { kind: 'open', pull: pullOf(data) }
  } catch (error) {
    // The pull request may have been opened although the answer was lost. If it cannot be looked up either, opening it again does no
    // harm: GitHub refuses a second pull request of a branch.
    const existing = await findPull(github, head).catch((lookupError: unknown) => {
      github.warn(`Ralph could not look up the pull requests: ${githubMessage(lookupError)}`)
      return null
    })
    if (existing !== null) return { kind: 'open', pull: existing }
    const isDraftRefused = httpStatusOf(error) === 422 && /draft/i.test(githubMessage(error))
    if (pullRequest.draft && isDraftRefused)
      return openPull(github, { ...pullRequest, draft: false }, isLastTry)
    if (isOutcomeUnknown(error) && !isLastTry) return openPull(github, pullRequest, true)
    return { kind: 'refused', reason: githubMessage(error), isForbidden: isForbidden(error) }
  }
}

/**
 * How much of a pull request was merged. `whole`: the branch up to the commit `head`. `part`: less, because the branch has moved since.
 * Null if it was not merged, or if GitHub does not say.
 */
export async function findMerge(
  { api, repo, warn }: GitHub,
  pull: number | null,
  head: string | null,
): Promise<'whole' | 'part' | null> {
  if (pull === null || head === null) return null
  try {
    const { data } = await api.rest.pulls.get({ ...repo, pull_number: pull })
    if (!data.merged) return null
    if (data.head.sha === head) return 'whole'
    // People may have pushed on top of it before they merged. After a squash the base has none of these commits.
    const merged = await api.rest.repos.listCommits({ ...repo, sha: data.head.sha, per_page: 100 })
    return merged.data.some(({ sha }) => sha === head) ? 'whole' : 'part'
  } catch (error) {
    warn(`Ralph could not look up the pull request: ${githubMessage(error)}`)
    return null
  }
}

/** Marks a draft as ready for review. */
export async function makeReady({ api, repo }: GitHub, pull: Pull): Promise<void> {
  const mutation = `mutation ($id: ID!) { markPullRequestReadyForReview(input: { pullRequestId: $id }) { pullRequest { isDraft } } }`
  try {
    await api.graphql(mutation, { id: pull.nodeId })
  } catch (error) {
    // Without GraphQL: GitHub's REST API cannot do this, but that of Gitea and Forgejo can.
    if (httpStatusOf(error) !== 404) throw error
    await api.request('PATCH /repos/{owner}/{repo}/pulls/{pull_number}', {
      ...repo,
      pull_number: pull.number,
      draft: false,
    })
  }
}

export async function updatePull(
  { api, repo }: GitHub,
  number: number,
  change: Partial<PullText & { base: string }>,
): Promise<void> {
  await api.rest.pulls.update({ ...repo, pull_number: number, ...change })
}

/** Sets Ralph's labels to exactly `labels`; other labels stay. `pull.labels`: its labels now. False if the token may not do this. */
export async function setLabels(
  { api, repo }: GitHub,
  pull: Pull,
  labels: readonly Label[],
): Promise<boolean> {
  const missing = labels.filter((name) => !pull.labels.includes(name))
  const surplus = LABELS.filter((name) => pull.labels.includes(name) && !labels.includes(name))
  const issue = { ...repo, issue_number: pull.number }
  try {
    if (missing.length > 0) await api.rest.issues.addLabels({ ...issue, labels: missing })
    for (const name of surplus)
      await api.rest.issues.removeLabel({ ...issue, name }).catch((error: unknown) => {
        // A person has removed it already.
        if (httpStatusOf(error) !== 404) throw error
      })
    pull.labels = [...pull.labels.filter((name) => !surplus.some((label) => label === name)), ...missing]
    return true
  } catch (error) {
    if (!isForbidden(error)) throw error
    return false
  }
}

// A seal (a comment with digests) follows Ralph's part of a pull request's text. It shows whether title and text are unchanged since Ralph
// wrote them. So people's text is never overwritten, even after a job that died or a state that was lost.

/** Title and text as they are on GitHub. */
export type PullText = { title: string; body: string }

/**
 * Ralph's part: the text in at most `room` characters, beginning with the marker of the feature. `before`: the part that it replaces, as
 * Ralph wrote it; empty without one.
 */
export type OwnText = { feature: string; title: string; text(room: number, before: string): string }

/** With less room than this, in characters, Ralph's part is left out. */
const MIN_ROOM = 3000
/** Characters of the seal and of the lines around it. */
const SEAL_LENGTH = 150

/** Title and text of a pull request that Ralph opens. */
export function newPullText({ feature, title, text }: OwnText): PullText {
  return { title, body: withSeal(feature, title, text(MAX_CHARACTERS - SEAL_LENGTH, '')) }
}

/**
 * The changes to write to a pull request that people may have edited or opened.
 * - The title is changed only if it is still Ralph's own.
 * - In the text only Ralph's part is replaced. If it is missing or was edited, a new one is added at the end.
 * - `full`: there is no room for Ralph's part.
 */
export function updatedPullText(current: PullText, own: OwnText): Partial<PullText> | 'full' {
  const part = ownPart(current.body, own.feature)
  const isOwnTitle = part !== null && part.title === digest(current.title)
  const before = part === null ? current.body : current.body.slice(0, part.from)
  const after = part === null ? '' : current.body.slice(part.to)
  const gap = part === null && before !== '' ? '\n\n' : ''
  const room = MAX_CHARACTERS - before.length - after.length - SEAL_LENGTH
  if (room < MIN_ROOM) return 'full'
  const text = own.text(room, part === null ? '' : current.body.slice(part.from, part.to))
  const body = `${before}${gap}${withSeal(own.feature, isOwnTitle ? own.title : null, text)}${after}`
  return {
    ...(isOwnTitle && own.title !== current.title ? { title: own.title } : {}),
    ...(body === current.body ? {} : { body }),
  }
}

function withSeal(feature: string, title: string | null, text: string): string {
  return `${text}${seal(feature, title === null ? TITLE_OF_PEOPLE : digest(title), digest(text))}`
}

/** Written instead of the title's digest if a person has changed the title. */
const TITLE_OF_PEOPLE = 'people'

function seal(feature: string, title: string, text: string): string {
  return `${marker('pull', feature).replace('<!-- ', '<!-- /').replace(' -->', '')} title=${title} text=${text} -->`
}

/** Ralph's last part of the text that is unchanged, from its marker to the end of its seal. `title`: the title's digest in the seal. */
type OwnPart = { from: number; to: number; title: string }

function ownPart(body: string, feature: string): OwnPart | null {
  let found: OwnPart | null = null
  let searchedTo = 0
  for (const match of body.matchAll(/<!-- \/ralph:pull:\S+ title=(\w+) text=(\w+) -->/g)) {
    const [foundSeal, title = '', text = ''] = match
    const begin = body.slice(searchedTo, match.index).lastIndexOf(marker('pull', feature))
    const from = searchedTo + begin
    searchedTo = match.index + foundSeal.length
    if (begin === -1 || foundSeal !== seal(feature, title, text)) continue
    if (digest(body.slice(from, match.index)) === text) found = { from, to: searchedTo, title }
  }
  return found
}

/** A digest that ignores line ends, which GitHub's editor changes, and ticked boxes of the task list. */
function digest(text: string): string {
  const normalized = text
    .replace(/\r\n?/g, '\n')
    .replace(/^- \[[x ]\]/gm, '- [ ]')
    .trim()
  return createHash('sha256').update(normalized).digest('hex').slice(0, 16)
}
