// The one pull request of a feature: found by its branch, opened as a draft, labelled, made ready on completion.
import { createHash } from 'node:crypto'
import { LABELS, type Label } from '../report/outcomes.ts'
import { marker } from '../report/parts.ts'
import { MOST_CHARACTERS } from '../report/sticky-comment.ts'
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
}

export type PullRequest = { branch: string; base: string; title: string; body: string; draft: boolean }

/** `forbidden`: this token may not, so a permission or a switch is missing. */
export type Refused = { kind: 'refused'; reason: string; forbidden: boolean }
export type Opened = { kind: 'open'; pull: Pull } | Refused

/** The open pull request from this branch of this repository, or null. */
export async function findPull({ api, at }: GitHub, branch: string): Promise<Pull | null> {
  const { data } = await api.rest.pulls.list({
    ...at,
    head: `${at.owner}:${branch}`,
    state: 'open',
    per_page: 10,
  })
  const found = data.find(
    (pull) => pull.head.ref === branch && pull.head.repo?.full_name === `${at.owner}/${at.repo}`,
  )
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
}): Pull {
  return {
    number: found.number,
    url: found.html_url,
    nodeId: found.node_id,
    draft: found.draft === true,
    title: found.title,
    body: found.body ?? '',
    labels: found.labels.map(({ name }) => name),
  }
}

/** Opens the pull request. `refused` says why, where Actions may not or there is nothing to compare. */
export async function openPull(github: GitHub, wanted: PullRequest, isLast = false): Promise<Opened> {
  const { branch: head, ...rest } = wanted
  try {
    const { data } = await github.api.rest.pulls.create({ ...github.at, head, ...rest, ...NO_RETRIES })
    return { kind: 'open', pull: pullOf(data) }
  } catch (error) {
    // The answer may be lost although it was opened; and a repository may know no drafts. GitHub takes no second one, so
    // where it cannot be looked up either, asking again does no harm.
    const there = await findPull(github, head).catch((lost: unknown) => {
      github.warn(`the pull requests could not be looked up: ${githubMessage(lost)}`)
      return null
    })
    if (there !== null) return { kind: 'open', pull: there }
    if (httpStatusOf(error) === 422 && wanted.draft && /draft/i.test(githubMessage(error))) {
      return openPull(github, { ...wanted, draft: false }, isLast)
    }
    if (isOutcomeUnknown(error) && !isLast) return openPull(github, wanted, true)
    return { kind: 'refused', reason: githubMessage(error), forbidden: isForbidden(error) }
  }
}

/** Takes the draft mark off. */
export async function makeReady({ api }: GitHub, pull: Pull): Promise<void> {
  const mutation = `mutation ($id: ID!) { markPullRequestReadyForReview(input: { pullRequestId: $id }) { pullRequest { isDraft } } }`
  await api.graphql(mutation, { id: pull.nodeId })
}

export async function updatePull(
  { api, at }: GitHub,
  number: number,
  change: Partial<PullText>,
): Promise<void> {
  await api.rest.pulls.update({ ...at, pull_number: number, ...change })
}

/** The pull request bears these of ours and no others of ours; `pull.labels` are what it is known to bear. False where the token may not. */
export async function setLabels({ api, at }: GitHub, pull: Pull, wanted: readonly Label[]): Promise<boolean> {
  const missing = wanted.filter((name) => !pull.labels.includes(name))
  const wrong = LABELS.filter((name) => pull.labels.includes(name) && !wanted.includes(name))
  const issue = { ...at, issue_number: pull.number }
  try {
    if (missing.length > 0) await api.rest.issues.addLabels({ ...issue, labels: missing })
    for (const name of wrong)
      await api.rest.issues.removeLabel({ ...issue, name }).catch((error: unknown) => {
        // A person was quicker.
        if (httpStatusOf(error) !== 404) throw error
      })
    pull.labels = [...pull.labels.filter((name) => !wrong.some((one) => one === name)), ...missing]
    return true
  } catch (error) {
    if (!isForbidden(error)) throw error
    return false
  }
}

// Ralph's own part of a pull request's title and text bears a seal, which shows that it is unchanged since Ralph wrote it. So
// text that people wrote is never overwritten, even after a job that died or a state that was lost.

/** What stands on GitHub. */
export type PullText = { title: string; body: string }

/** Ralph's part: the text in at most `room` characters, beginning with the marker of the feature. */
export type OwnText = { feature: string; title: string; text(room: number): string }

/** Fewer characters than this say too little to be worth a part. */
const LEAST = 3000
/** The seal and the lines between, characters. */
const FRAME = 150

/** Title and text of a pull request that Ralph opens. */
export function newPullText({ feature, title, text }: OwnText): PullText {
  return { title, body: withSeal(feature, title, text(MOST_CHARACTERS - FRAME)) }
}

/**
 * What is to be written to a pull request that may be people's: the title only where it is still Ralph's own, and of the
 * text Ralph's part alone; that is put at the end where there is none, or where people wrote into it. `full` when there is
 * no room for it.
 */
export function updatedPullText(now: PullText, own: OwnText): Partial<PullText> | 'full' {
  const part = ownPart(now.body, own.feature)
  const isOurs = part !== null && part.title === digest(now.title)
  const before = part === null ? now.body : now.body.slice(0, part.from)
  const after = part === null ? '' : now.body.slice(part.to)
  const gap = part === null && before !== '' ? '\n\n' : ''
  const room = MOST_CHARACTERS - before.length - after.length - FRAME
  if (room < LEAST) return 'full'
  const body = `${before}${gap}${withSeal(own.feature, isOurs ? own.title : null, own.text(room))}${after}`
  return {
    ...(isOurs && own.title !== now.title ? { title: own.title } : {}),
    ...(body === now.body ? {} : { body }),
  }
}

function withSeal(feature: string, title: string | null, text: string): string {
  return `${text}${seal(feature, title === null ? TITLE_OF_PEOPLE : digest(title), digest(text))}`
}

/** In the place of the title's digest where the title is people's. */
const TITLE_OF_PEOPLE = 'people'

function seal(feature: string, title: string, text: string): string {
  return `${marker('pull', feature).replace('<!-- ', '<!-- /').replace(' -->', '')} title=${title} text=${text} -->`
}

/** Where Ralph's part stands as Ralph wrote it, the last one, and the digest of the title that came with it. */
function ownPart(body: string, feature: string): { from: number; to: number; title: string } | null {
  let found: { from: number; to: number; title: string } | null = null
  let searched = 0
  for (const end of body.matchAll(/<!-- \/ralph:pull:\S+ title=(\w+) text=(\w+) -->/g)) {
    const [all, title = '', text = ''] = end
    const begin = body.slice(searched, end.index).lastIndexOf(marker('pull', feature))
    const from = searched + begin
    searched = end.index + all.length
    if (begin === -1 || all !== seal(feature, title, text)) continue
    if (digest(body.slice(from, end.index)) === text) found = { from, to: searched, title }
  }
  return found
}

/** A digest that stays the same where GitHub's editor changes line ends, and where a person ticks a box of the list. */
function digest(text: string): string {
  const plain = text
    .replace(/\r\n?/g, '\n')
    .replace(/^- \[[x ]\]/gm, '- [ ]')
    .trim()
  return createHash('sha256').update(plain).digest('hex').slice(0, 16)
}
