// Which pull requests a stack has, in which order, and what has to be done so that GitHub shows it so. Pure.

import type { BranchCommit } from '../../engine/model/branch-commit.ts'

/** Stories that get one pull request: those of an epic, or one story. */
export type Group = {
  id: string
  /** How the name of its branch ends. */
  branchPart: string
  /** For people; not escaped. */
  name: string
  /** Also the ids of their corrections. */
  stories: readonly string[]
  /** Stories that people skipped or dropped: if they have commits, a later commit reverts them. */
  skipped: readonly string[]
  isFinished: boolean
}

export type StackPull = {
  number: number
  state: 'open' | 'closed' | 'merged'
  /** The branch that it goes to. */
  base: string
  /** ISO 8601; null if it was not merged. */
  mergedAt: string | null
}

/** What GitHub has of a group. `head`: of the branch; null if there is none. `newest`: the newest commit of the feature in it. */
export type Found<P extends StackPull = StackPull> = {
  head: string | null
  newest: string | null
  pull: P | null
}

export type StackInput<P extends StackPull = StackPull> = {
  /** The feature's own branch. */
  branch: string
  base: string
  /** The oldest first, as published. */
  commits: readonly BranchCommit[]
  groups: readonly Group[]
  /** By the group's id. */
  found: ReadonlyMap<string, Found<P>>
  /** Whether no story is left. */
  isOver: boolean
}

/** A part of the stack: a branch and its pull request. */
export type Layer<P extends StackPull = StackPull> = {
  group: Group
  branch: string
  /** The last commit of the feature in it; null if the base branch has all of them. */
  commit: string | null
  /** What its commits are for, in their order. */
  stories: readonly string[]
  state: 'new' | StackPull['state']
  /** Of the branch on GitHub; null if there is none. */
  head: string | null
  pull: P | null
  /** The branch that its pull request should go to. */
  base: string
}

export type StackPlan<P extends StackPull = StackPull> = {
  /** The lowest first. */
  layers: readonly Layer<P>[]
  /** The branch that the feature's own pull request should go to: it is the top of the stack. */
  topBase: string
  /** The lowest layer that people closed: nothing above it is changed before they decide. */
  closed: Layer<P> | null
  /** Groups whose branch name is taken by a branch that Ralph did not create. */
  taken: readonly { group: Group; branch: string }[]
}

/** The branch of a group. No feature has such a name by default, and git allows it next to the feature's branch. */
export function layerBranch(branch: string, { branchPart }: Pick<Group, 'branchPart'>): string {
  return `${branch}+${branchPart}`
}

/** Whether the branch is one of the stack on this feature's branch. */
export function isLayerOf(branch: string, name: string): boolean {
  return name.startsWith(layerBranch(branch, { branchPart: '' }))
}

/** Whether the branch is one of this stack, or what the stack is built on. Ralph leaves another base as people chose it. */
export function isOfStack(name: string, { branch, base }: Pick<StackInput, 'branch' | 'base'>): boolean {
  return name === base || isLayerOf(branch, name)
}

/**
 * A layer ends where the last story of its group is finished. Layers that exist never move: what comes later, such as a correction, is in a
 * layer above. So new layers are added only above all others, and the feature's own pull request has the rest.
 */
export function planStack<P extends StackPull>(input: StackInput<P>): StackPlan<P> {
  const { branch, base, groups, found, commits } = input
  const history = new History(commits)
  const placed: Placed<P>[] = []
  const taken: { group: Group; branch: string }[] = []
  for (const group of groups) {
    const one = found.get(group.id) ?? { head: null, newest: null, pull: null }
    const kind = whose(group, one, history)
    if (kind === 'ours')
      placed.push({ group, end: history.indexOf(one.newest), pull: one.pull, head: one.head })
    if (kind === 'taken') taken.push({ group, branch: layerBranch(branch, group) })
  }
  const isPlaced = (group: Group) => placed.some((one) => one.group === group)
  const isTaken = (group: Group) => taken.some((one) => one.group === group)
  const isClosed = (one: Placed<P>) => one.pull?.state === 'closed'
  const waits = placed.some(isClosed)
  const highest = Math.max(-1, ...placed.map(({ end }) => end))
  const added = groups
    .filter((group) => !waits && group.isFinished && !isPlaced(group) && !isTaken(group))
    .map((group) => ({ group, end: history.endOf(group, groups), pull: null, head: null }))
    .filter(({ end }) => end > highest && !(input.isOver && history.isLast(end)))
  const ordered = [...placed, ...withoutEqual(added)].sort(
    (one, other) =>
      one.end - other.end || history.endOf(one.group, groups) - history.endOf(other.group, groups),
  )
  const layers: Layer<P>[] = []
  let below = base
  let topBase = base
  let from = -1
  for (const { group, end, pull, head } of ordered) {
    const name = layerBranch(branch, group)
    const state = pull?.state ?? 'new'
    const stories = history.storiesBetween(from, end)
    const known = end === -1 ? group.stories : stories
    layers.push({
      group,
      branch: name,
      commit: commits[end]?.commit ?? null,
      stories: known,
      state,
      head,
      pull,
      base: below,
    })
    from = Math.max(from, end)
    if (state === 'merged' || (state === 'closed' && head === null)) continue
    below = name
    // GitHub refuses a pull request without a commit.
    if (end < commits.length - 1) topBase = name
  }
  return { layers, topBase, closed: layers.find(({ state }) => state === 'closed') ?? null, taken }
}

/**
 * The open layers on a branch into which a lower layer was merged. `below`: the newest such layer. `last`: the highest layer whose commits
 * came with it. Layers next to each other may have been merged into different branches, so only the base of a pull request counts.
 */
export function aboveMerged<P extends StackPull>(
  layers: readonly Layer<P>[],
): { layer: Layer<P>; below: Layer<P>; last: Layer<P> }[] {
  return layers.flatMap((layer, index) => {
    // Another base was chosen by people, or could not be changed yet.
    if (layer.state !== 'open' || layer.pull?.base !== layer.base) return []
    const below = layers.slice(0, index).findLast((one) => isMergedInto(one, layer.base))
    return below === undefined ? [] : [{ layer, below, last: lastIn(below, layers) }]
  })
}

function isMergedInto({ state, pull }: Layer, branch: string): boolean {
  return state === 'merged' && pull?.base === branch
}

/** The highest layer whose commits were in the branch of a layer when people merged that one. Layers may be merged into each other. */
function lastIn<P extends StackPull>(layer: Layer<P>, layers: readonly Layer<P>[]): Layer<P> {
  const until = layer.pull?.mergedAt ?? ''
  const inside = layers
    .slice(layers.indexOf(layer) + 1)
    .findLast((one) => isMergedInto(one, layer.branch) && (one.pull?.mergedAt ?? '') <= until)
  return inside === undefined ? layer : lastIn(inside, layers)
}

type Placed<P extends StackPull> = { group: Group; end: number; pull: P | null; head: string | null }

/** Whether Ralph made what GitHub has. A branch that people made may have the same name. */
function whose(group: Group, { head, newest, pull }: Found, history: History): 'ours' | 'taken' | 'none' {
  const end = history.indexOf(newest)
  const isIn = (id: string) => history.first(id) !== -1 && history.first(id) <= end
  const hasStory = [...group.stories, ...group.skipped].some(isIn)
  // Without a pull request nothing else shows that people's commits are on top of Ralph's.
  const isUnchanged = newest !== null && head === newest
  if (pull?.state === 'merged') return 'ours'
  if (hasStory && (pull !== null || isUnchanged)) return 'ours'
  return head === null ? 'none' : 'taken'
}

/** Of groups that end at the same commit only the first: a pull request needs at least one commit. */
function withoutEqual<T extends { end: number }>(all: readonly T[]): T[] {
  const ends = new Set<number>()
  return all.filter(({ end }) => !ends.has(end) && ends.add(end))
}

class History {
  readonly #commits: readonly BranchCommit[]
  readonly #indexes: ReadonlyMap<string, number>
  readonly #first = new Map<string, number>()

  constructor(commits: readonly BranchCommit[]) {
    this.#commits = commits
    this.#indexes = new Map(commits.map(({ commit }, index) => [commit, index]))
    for (const [index, { stories }] of commits.entries())
      for (const id of stories) if (!this.#first.has(id)) this.#first.set(id, index)
  }

  indexOf(commit: string | null): number {
    return commit === null ? -1 : (this.#indexes.get(commit) ?? -1)
  }

  /** The index of the commit that finished a story first, or -1. */
  first(id: string): number {
    return this.#first.get(id) ?? -1
  }

  /** Where all of the group's stories are finished; -1 if none has a commit. A dropped story is never there without its revert. */
  endOf(group: Group, groups: readonly Group[]): number {
    const end = Math.max(-1, ...group.stories.map((id) => this.first(id)))
    const dropped = groups.flatMap(({ skipped }) => skipped).map((id) => this.first(id))
    if (end === -1 || !dropped.some((index) => index !== -1 && index <= end)) return end
    return Math.max(
      end,
      this.#commits.findLastIndex(({ isRevert }) => isRevert),
    )
  }

  /** Whether no story is finished after this commit. */
  isLast(end: number): boolean {
    return this.#commits.slice(end + 1).every(({ stories }) => stories.length === 0)
  }

  storiesBetween(after: number, end: number): string[] {
    return [...new Set(this.#commits.slice(after + 1, end + 1).flatMap(({ stories }) => stories))]
  }
}
