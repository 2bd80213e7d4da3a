// The merge queue's removal of the pull request: checks that are red on the merge group, but not on the branch. Their output is hostile.

import type { CorrectionReport } from '../../engine/model/correction.ts'
import type { State } from '../../engine/model/state.ts'
import { oneLine } from '../../engine/model/text.ts'
import type { GitHub } from '../client.ts'
import { checksOn, redOn, reportOf, requiredNames } from './checks.ts'

/** `beforeCommit`: the merge group's commit, which keeps its checks although its branch is deleted. */
type QueueEvent = {
  reason?: string | null
  createdAt?: string
  beforeCommit?: { oid: string; parents: { nodes: { oid: string }[] } } | null
}
type Answer = {
  repository: {
    pullRequest: {
      headRefOid: string
      commits: { nodes: { commit: { committedDate: string } }[] }
      timelineItems: { nodes: QueueEvent[] }
    } | null
  } | null
}

// REST has neither the reason nor the commit of a removal.
const QUERY = `query ($owner: String!, $name: String!, $number: Int!) {
  repository(owner: $owner, name: $name) { pullRequest(number: $number) {
    headRefOid
    commits(last: 1) { nodes { commit { committedDate } } }
    timelineItems(last: 1, itemTypes: [ADDED_TO_MERGE_QUEUE_EVENT, REMOVED_FROM_MERGE_QUEUE_EVENT]) { nodes {
      ... on RemovedFromMergeQueueEvent { reason createdAt beforeCommit { oid parents(first: 1) { nodes { oid } } } }
    } }
  } }
}`

/**
 * The red checks for which the merge queue removed the head of the branch. Empty if it was not removed since its newest commit, or is in
 * the queue again. A check that is also red on what the group was built on is not this branch's fault.
 */
export async function readRemoval(
  github: GitHub,
  state: State,
  pull: number,
  names: readonly string[],
  redact: (text: string) => string,
): Promise<CorrectionReport[]> {
  const { api, repo } = github
  const { repository } = await api.graphql<Answer>(QUERY, {
    owner: repo.owner,
    name: repo.repo,
    number: pull,
  })
  const found = repository?.pullRequest
  const removal = found?.timelineItems.nodes[0]
  const group = removal?.beforeCommit
  // A merge also removes it from the queue.
  if (found == null || group == null || removal?.reason === 'merged') return []
  const committed = Date.parse(found.commits.nodes[0]?.commit.committedDate ?? '')
  const isOfHead = found.headRefOid === state.published && Date.parse(removal?.createdAt ?? '') >= committed
  if (!isOfHead) return []
  const wanted = names.length > 0 ? names : await requiredNames(github, state.base.branch)
  // The queue cancels what still runs when it removes a group.
  const red = (await checksOn(github, group.oid)).filter((one) => one.state === 'red' && !one.isCancelled)
  const counted = red.filter(({ name }) => wanted.length === 0 || wanted.includes(name))
  if (counted.length === 0) return []
  const before = await redOn(github, group.parents.nodes[0]?.oid ?? state.base.sha)
  const reports: CorrectionReport[] = []
  for (const check of counted) {
    if (before.has(check.name)) continue
    const report = await reportOf(github, state, group.oid, check, redact)
    reports.push({ ...report, text: `${removedSentence(state)}\n\n${report.text}`, onMerge: true })
  }
  return reports
}

function removedSentence({ base }: State): string {
  return `The merge queue removed the pull request, because this check fails on the merge with ${oneLine(base.branch, 80)}.`
}
