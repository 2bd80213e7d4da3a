// `pull-request: stacked`: a pull request for each epic or story, each on top of the one before. The feature's own pull request is the top.
// Nothing about it is kept in the state: history and GitHub say what exists, so that a job that was lost changes nothing.

import type { BranchCommit } from '../../engine/model/branch-commit.ts'
import type { State } from '../../engine/model/state.ts'
import { remaining } from '../../engine/prd/select.ts'
import {
  earlierStackBlock,
  type LayerView,
  layerBody,
  layerName,
  layerTitle,
  ownStackBlock,
  type StackEntry,
} from '../../report/stack-text.ts'
import type { Note } from '../../report/view.ts'
import { type GitHub, githubMessage } from '../client.ts'
import { newPullText, type OwnText, openPull, type Pull, updatedPullText, updatePull } from '../pull.ts'
import { compareUrl } from '../repository-address.ts'
import { findLayers, type LayerPull } from './find-layers.ts'
import { groupsOf } from './groups.ts'
import {
  aboveMerged,
  type Found,
  type Group,
  isLayerOf,
  isOfStack,
  type Layer,
  layerBranch,
  planStack,
  type StackPlan,
} from './plan-stack.ts'

/** The stack's branches in git. */
export type LayerBranches = {
  commits(state: State): Promise<BranchCommit[]>
  newestIn(commits: readonly string[], head: string): Promise<string | null>
  create(branches: readonly { branch: string; commit: string }[]): Promise<string | null>
  merge(
    state: State,
    layer: { branch: string; head: string; base: string; merged: string; mergedAs: string },
  ): Promise<{ kind: 'needless' | 'merged' | 'conflict' } | { kind: 'refused'; reason: string }>
}

export type StackOptions = {
  github: GitHub
  /** Opens the pull requests. */
  publisher: GitHub
  branches: LayerBranches
  redact(text: string): string
}

/** Pull requests whose text is updated in one job, at most. The others follow in the next jobs. */
const MAX_UPDATES = 20

type Layers = readonly Layer<LayerPull>[]

export class Stack {
  readonly #options: StackOptions
  #layers: Layers = []
  /** Whether `#layers` is what GitHub has. */
  #isRead = false
  #notes: Note[] = []

  constructor(options: StackOptions) {
    this.#options = options
  }

  /** What people should know about the stack. */
  get notes(): readonly Note[] {
    return this.#notes
  }

  /**
   * The list of the stack for the text of the feature's own pull request; empty without one. If the stack was not read, it is the list in
   * `before`, the text that Ralph wrote last: people find their way by it.
   */
  list(top: number | null, before: string, room: number): string {
    return this.#isRead ? ownStackBlock(this.#entries(null), top, room) : earlierStackBlock(before, room)
  }

  /**
   * Brings the stack up to what is published: creates what is missing and moves pull requests to the right base. One request if nothing
   * changed; none before the first group is finished. `top`: the feature's own pull request, whose base is changed as well.
   */
  async update(state: State, top: Pull | null): Promise<void> {
    this.#notes = []
    const { published, green, branch, base, prd } = state
    // The stories that passed are those of the green commit.
    if (published === null || published !== green) return
    const groups = groupsOf(prd)
    if (!groups.some(({ isFinished }) => isFinished)) return
    const commits = await this.#options.branches.commits(state)
    const plan = planStack({
      branch,
      base: base.branch,
      commits,
      groups,
      found: await this.#find(state, groups, commits),
      isOver: remaining(prd, state.control.scope).length === 0,
    })
    this.#layers = plan.layers
    this.#isRead = true
    this.#notes = notesOf(plan, branch)
    if (plan.closed === null) {
      await this.#create()
      await this.#open(state, top)
      await this.#retarget(state, plan, top)
      await this.#merge(state)
    }
    await this.#describe(state, top)
  }

  async #find(
    { branch, prd }: State,
    groups: readonly Group[],
    commits: readonly BranchCommit[],
  ): Promise<Map<string, Found<LayerPull>>> {
    const { github, branches } = this.#options
    const ids = commits.map(({ commit }) => commit)
    const answers = await findLayers(
      github,
      groups.map((group) => layerBranch(branch, group)),
      prd.run.startedAt,
    )
    const found = new Map<string, Found<LayerPull>>()
    for (const [index, { head, pull }] of answers.entries()) {
      // After a merge, people may push to the branch again.
      const at = pull?.state === 'merged' ? pull.head : (head ?? pull?.head ?? null)
      const newest = at === null ? null : await branches.newestIn(ids, at)
      found.set(groups[index]?.id ?? '', { head, newest, pull })
    }
    return found
  }

  async #create(): Promise<void> {
    const isMissing = ({ state, head }: Layer<LayerPull>) => state === 'new' && head === null
    const missing = this.#layers.flatMap((layer) =>
      isMissing(layer) && layer.commit !== null ? [{ branch: layer.branch, commit: layer.commit }] : [],
    )
    const refused = await this.#options.branches.create(missing)
    if (refused === null) {
      this.#layers = this.#layers.map((one) => (isMissing(one) ? { ...one, head: one.commit } : one))
      return
    }
    this.#note(`The branches of the stack could not be created: ${refused}`)
    this.#layers = this.#layers.filter((layer) => !isMissing(layer))
  }

  async #open(state: State, top: Pull | null): Promise<void> {
    const { publisher, github } = this.#options
    for (const layer of this.#layers) {
      if (layer.pull !== null) continue
      const content = {
        ...newPullText(this.#text(state, layer, top)),
        branch: layer.branch,
        base: layer.base,
      }
      const opened = await openPull(publisher, { ...content, draft: false })
      if (opened.kind === 'refused') {
        const name = 'Open it yourself'
        const url = compareUrl(github.place, layer.base, layer.branch)
        const text = `The pull request of ${layer.group.id} could not be opened: ${opened.reason.replace(/\.$/, '')}.`
        this.#notes.push({ text, link: { name, url } })
        // The others would be refused for the same reason.
        if (opened.isForbidden) return
        continue
      }
      const { number, url, title, body } = opened.pull
      const pull = {
        ...{ number, url, title, body, base: layer.base, state: 'open' as const },
        ...{ head: layer.head ?? '', mergeCommit: null, mergedAt: null },
      }
      this.#layers = this.#layers.map((one) => (one === layer ? { ...layer, pull, state: 'open' } : one))
    }
  }

  async #retarget(state: State, { topBase }: StackPlan<LayerPull>, top: Pull | null): Promise<void> {
    const stack = { branch: state.branch, base: state.base.branch }
    const wanted = this.#layers.map(({ pull, base }) => ({
      pull: pull?.state === 'open' ? pull : null,
      base,
    }))
    const exists = topBase === stack.base || this.#layers.some(({ branch }) => branch === topBase)
    for (const { pull, base } of [...wanted, { pull: exists ? top : null, base: topBase }]) {
      if (pull === null || pull.base === base || !isOfStack(pull.base, stack)) continue
      const done = await this.#attempt(`#${pull.number} could not be moved to ${base}`, (publisher) =>
        updatePull(publisher, pull.number, { base }),
      )
      if (done) pull.base = base
    }
  }

  /** Merges the base into the layers above a merged one, if it was squashed or rebased. */
  async #merge(state: State): Promise<void> {
    for (const { layer, below, last } of aboveMerged(this.#layers)) {
      const { branch, base, head, pull } = layer
      const { commit: merged } = last
      const mergedAs = below.pull?.mergeCommit ?? null
      if (pull === null || head === null || merged === null || mergedAs === null) continue
      const result = await this.#options.branches.merge(state, { branch, head, base, merged, mergedAs })
      const link = { name: `Pull request ${pull.number}`, url: pull.url }
      if (result.kind === 'conflict')
        this.#notes.push({
          text: `${branch} conflicts with ${base}, into which ${below.group.id} was merged. Merge ${base} into ${branch}, and resolve each conflict in favor of ${branch}.`,
          link,
        })
      if (result.kind === 'refused')
        this.#notes.push({ text: `${base} could not be merged into ${branch}: ${result.reason}.`, link })
    }
  }

  /** The texts list the stack, so a new layer changes those of the others. The newest are updated first. */
  async #describe(state: State, top: Pull | null): Promise<void> {
    let updates = 0
    for (const layer of [...this.#layers].reverse()) {
      const { pull } = layer
      if (pull?.state !== 'open' || updates === MAX_UPDATES) continue
      const change = updatedPullText(pull, this.#text(state, layer, top))
      if (change === 'full' || Object.keys(change).length === 0) continue
      updates += 1
      await this.#attempt(`#${pull.number} could not be updated`, (publisher) =>
        updatePull(publisher, pull.number, change),
      )
    }
  }

  #text({ feature, prd }: State, layer: Layer, top: Pull | null): OwnText {
    const { redact } = this.#options
    const titles = new Map(prd.userStories.map(({ id, title }) => [id, redact(title)]))
    const view: LayerView = {
      feature,
      branchPart: layer.group.branchPart,
      id: redact(layer.group.id),
      name: redact(layer.group.name),
      stories: layer.stories.map((id) => ({ id, title: titles.get(id) ?? '' })),
      entries: this.#entries(layer),
      top: top?.number ?? null,
    }
    return {
      feature: layerName(view),
      title: redact(layerTitle(view)),
      text: (room) => redact(layerBody(view, room)),
    }
  }

  /** Redacted before they are escaped, because escaping could split a secret so that it is not found. */
  #entries(current: Layer | null): StackEntry[] {
    const { redact } = this.#options
    return this.#layers.map(({ group, pull }) => ({
      id: redact(group.id),
      name: redact(group.name),
      number: pull?.number ?? null,
      isCurrent: group === current?.group,
    }))
  }

  #note(text: string): void {
    this.#notes.push(text)
  }

  async #attempt(what: string, act: (publisher: GitHub) => Promise<void>): Promise<boolean> {
    try {
      await act(this.#options.publisher)
      return true
    } catch (error) {
      this.#note(`${what}: ${githubMessage(error)}`)
      return false
    }
  }
}

function notesOf({ layers, closed, taken }: StackPlan<LayerPull>, branch: string): Note[] {
  const notes: Note[] = taken.map(
    ({ group, branch: name }) =>
      `Ralph did not create the branch ${name}, so ${group.id} gets no pull request. Its commits are in the next one`,
  )
  if (closed?.pull != null) {
    const { number, url } = closed.pull
    const text = `Pull request ${number} (${closed.group.id}) was closed without a merge, so the stack waits: the pull requests above it contain its commits. Reopen it to continue. To end the stack instead, set pull-request: draft, and change the base of the feature's own pull request.`
    notes.push({ text, link: { name: `Pull request ${number}`, url } })
  }
  for (const { pull, group } of layers) {
    if (pull?.state !== 'merged') continue
    const into = layers.find((one) => one.branch === pull.base && one.state === 'open')
    if (into?.pull == null || !isLayerOf(branch, pull.base)) continue
    const text = `Pull request ${pull.number} (${group.id}) was merged into ${pull.base}. It reaches the base branch together with pull request ${into.pull.number}.`
    notes.push({ text, link: { name: `Pull request ${into.pull.number}`, url: into.pull.url } })
  }
  return notes
}
