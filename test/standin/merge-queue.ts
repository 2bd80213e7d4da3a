// The merge queue of the stand-in: a merge group is a real merge of the base and the pull request, on a branch that is deleted at the end.
import type { Identity, Json } from './model.ts'
import { demand } from './rest/call.ts'
import type { World } from './world.ts'

/** The queue's own app. What it does starts workflows. */
const QUEUE = 'github-merge-queue[bot]'

/** The timeline's words, which differ from those of the event's payload: observed, GitHub lists only the latter. */
const TIMELINE_REASON: Readonly<Record<string, string>> = {
  CI_FAILURE: 'failed_checks',
  MANUAL: 'manual',
  MERGE: 'merged',
}

/** Puts the pull request into the queue; gives the commit of its merge group, or null if it conflicts with the base. */
export async function enqueue(world: World, number: number): Promise<string | null> {
  const { pull } = world.issue(number)
  if (pull === null) throw new Error(`#${number} is no pull request`)
  const base = (await world.bare.head(pull.base)) ?? pull.baseSha
  const tree = await world.bare.ask(['merge-tree', '--write-tree', base, pull.headSha])
  const who = { author: world.person(QUEUE), committer: world.person(QUEUE) }
  // The same merge, tried again, is another commit.
  const message = `Merge pull request #${number} from ${world.settings.owner}/${pull.head}\n\nGroup ${world.nextId()}`
  const commit = tree === null ? null : await world.bare.commitTree(tree, [base, pull.headSha], message, who)
  world.queueEvents.push({ number, kind: 'added', reason: null, commit, createdAt: world.now() })
  if (commit !== null)
    await world.bare.run(['update-ref', `refs/heads/${queueBranch(world, number, base)}`, commit])
  return commit
}

/** Takes it out again. `reason`: as the payload has it. */
export async function dequeue(world: World, number: number, reason: string): Promise<void> {
  const issue = world.issue(number)
  const added = world.queueEvents.findLast((one) => one.number === number && one.kind === 'added')
  if (added === undefined) throw new Error(`#${number} is not in the queue`)
  const removed = TIMELINE_REASON[reason] ?? reason.toLowerCase()
  const { commit } = added
  world.queueEvents.push({ number, kind: 'removed', reason: removed, commit, createdAt: world.now() })
  const refs = await world.bare.refs('refs/heads/gh-readonly-queue')
  for (const [ref, sha] of refs) if (sha === commit) await world.bare.run(['update-ref', '-d', ref])
  world.raisePull('dequeued', issue, { login: QUEUE }, { reason })
}

function queueBranch(world: World, number: number, base: string): string {
  return `gh-readonly-queue/${world.issue(number).pull?.base}/pr-${number}-${base}`
}

const TYPES = { added: 'ADDED_TO_MERGE_QUEUE_EVENT', removed: 'REMOVED_FROM_MERGE_QUEUE_EVENT' } as const

/** The timeline of a pull request, as far as it is about the queue; and the date of its newest commit. */
export function timelineOf(world: World, by: Identity, number: number): Json {
  return {
    timelineItems: ({ last, itemTypes }: { last: number; itemTypes: string[] }) => {
      demand(by, ['pull_requests:read'])
      const all = world.queueEvents.filter(
        (event) => event.number === number && itemTypes.includes(TYPES[event.kind]),
      )
      const nodes = all.slice(-last).map(({ kind, reason, commit, createdAt }) => ({
        __typename: kind === 'added' ? 'AddedToMergeQueueEvent' : 'RemovedFromMergeQueueEvent',
        reason,
        createdAt,
        beforeCommit: commit === null ? null : commitNode(world, by, commit),
      }))
      return { totalCount: all.length, nodes }
    },
  }
}

export function commitNode(world: World, by: Identity, sha: string): Json {
  const ask = (format: string) => {
    demand(by, ['contents:read'])
    return world.bare.run(['show', '-s', `--format=${format}`, sha])
  }
  return {
    __typename: 'Commit',
    oid: sha,
    committedDate: async () => new Date(await ask('%cI')).toISOString(),
    parents: async ({ first }: { first: number }) => {
      const parents = (await ask('%P')).split(' ').slice(0, first)
      return { nodes: parents.map((oid) => ({ __typename: 'Commit', oid })) }
    },
  }
}
