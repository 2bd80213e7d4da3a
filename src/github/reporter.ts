// Reports the status of a run on GitHub: checks, the sticky comment, the pull request. Never fails a run.

import type { Event } from '../engine/model/event.ts'
import type { Limits } from '../engine/model/limit-types.ts'
import type { Observer, PullRequestPort } from '../engine/model/ports.ts'
import type { Conclusion, GithubIds, State } from '../engine/model/state.ts'
import type { Step } from '../engine/model/step.ts'
import { firstNames, mapTexts } from '../engine/model/text.ts'
import { ownSituation } from '../engine/situation.ts'
import { joinBlocks } from '../report/blocks.ts'
import { type Check, closingReportOf, rollupCheck, storyCheck } from '../report/check-runs.ts'
import type { EarlierRun } from '../report/expected-cost.ts'
import { labelsOf } from '../report/outcomes.ts'
import { marker } from '../report/parts.ts'
import { pullRequestBody, pullRequestTitle } from '../report/pull-request-text.ts'
import { continuedComment, issueReply } from '../report/replies.ts'
import { stickyComment } from '../report/sticky-comment.ts'
import { type Facts, type Note, type View, viewOf } from '../report/view.ts'
import { resolvesWithin } from '../system/within.ts'
import { type AutoMerge, disableAutoMerge, enableAutoMerge } from './auto-merge.ts'
import { type GitHub, githubMessage } from './client.ts'
import { collisionsOf } from './collisions.ts'
import type { Conversation } from './conversation.ts'
import { type AnswerContext, answerCorrections } from './corrections/answer-corrections.ts'
import { serverFacts } from './forges/forge.ts'
import type { Checks } from './post-checks.ts'
import {
  findMerge,
  findPull,
  makeReady,
  newPullText,
  type OwnText,
  openPull,
  type Pull,
  type Refused,
  setLabels,
  updatedPullText,
  updatePull,
} from './pull.ts'
import { compareUrl, repositoryUrl } from './repository-address.ts'
import type { Stack } from './stack/stack.ts'

type ReporterOptions = {
  github: GitHub
  /** Opens the pull request: with the token of an App or a person, so that CI starts on it; else the same as `github`. */
  publisher: GitHub
  conversation: Conversation
  checks: Checks
  pullRequest: 'draft' | 'ready' | 'none'
  autoMerge: boolean
  /** With `pull-request: stacked`. */
  stack: Stack | null
  limits: Limits
  /** `agents-md: section`. */
  agentsSection: boolean
  runUrl: string | null
  /** The commit that has checks already, for a job that opens nothing itself. */
  head: string | null
  /** The repository's other runs. */
  earlier: readonly EarlierRun[]
  redact(text: string): string
  /** Places in files that failing gates named, by story id. */
  places(state: State): Promise<NonNullable<Facts['annotations']>>
  /** What the commits of each story changed. */
  changes(state: State): Promise<NonNullable<Facts['changes']>>
  /** Whether a commit changes these lines of a file. */
  touches: AnswerContext['touches']
  /** `checks: report`: whether red checks of the project are named. */
  namesRedChecks: boolean
  /** Notes on this job that are not in the state. */
  notes(): readonly string[]
}

/** With more stories than this, a batch posts again only the checks of its stories and of failed ones. */
const ALL_CHECKS = 20
const MAX_CHECKS = 50
/** How long a save waits for a post that is under way, milliseconds: what it learns is otherwise in a later one. */
const MAX_POST_WAIT_MS = 10_000

export class GitHubReporter implements Observer, PullRequestPort {
  readonly #options: ReporterOptions
  /** Why there is no pull request. */
  #noPullReason: Exclude<Note, string> | null = null
  #pull: Pull | null = null
  /** False once GitHub refused labels; they are then left out without a warning. */
  #mayLabel = true
  /** The commit that has Ralph's checks. */
  #headSha: string | null
  #isReported = true
  /** The project's red checks, as they were read last, in words. */
  #redChecks: string | null = null
  /** Other pull requests of Ralph that change the same files. */
  #collisions: readonly Note[] = []
  /** What became of `auto-merge: true`. */
  #autoMerge: AutoMerge | null = null
  /** What the stories changed, as it was last looked up. */
  #changes: NonNullable<Facts['changes']> = {}
  #isMerged = false
  /** The post that is running alongside the run. It is awaited before the branch moves, and before the job ends. */
  #posting: Promise<void> = Promise.resolve()
  /** The newest state to post; an older one that still waits is skipped. */
  #newest: State | null = null
  /** The state since the branch was opened or moved, if that is not posted yet. */
  #unposted: State | null = null
  /** Whether the state's pull request was looked up by this job. */
  #isFound = true
  /** Ids that were found while posting; the next reservation or answer adds them to the state. */
  #found: Partial<Pick<GithubIds, 'pull' | 'pullUrl' | 'comment'>> = {}

  constructor(options: ReporterOptions) {
    this.#options = options
    this.#headSha = options.head
  }

  /** Whether GitHub took the last report, so that no check is left open. */
  isReported(): boolean {
    return this.#isReported
  }

  /** The view of a state. It is redacted before it is rendered, because escaping could split a secret so that it is not found. */
  view(state: State, annotations: NonNullable<Facts['annotations']> = {}): View {
    const { github, runUrl, limits, agentsSection, earlier, redact } = this.#options
    const { place } = github
    const note = this.#noPullReason
    const own = [this.#redChecks, this.#autoMerge?.note ?? null].filter((one) => one !== null)
    const notes = [...own, ...this.#options.notes()].map(redact)
    const situation = ownSituation(state)
    const isAutoMerged = this.#autoMerge?.isOn === true
    const since = this.#isMerged
      ? { since: 'merged' as const }
      : isAutoMerged
        ? { since: 'auto-merge' as const }
        : {}
    const facts = {
      ...serverFacts(place),
      runUrl,
      limits,
      agentsSection,
      now: Date.now(),
      compareUrl: note === null ? null : compareUrl(place, state.base.branch, state.branch),
      notes: [...(note === null ? [] : [note]), ...(this.#options.stack?.notes ?? []), ...this.#collisions]
        .map((one) => (typeof one === 'string' ? redact(one) : { ...one, text: redact(one.text) }))
        .concat(notes),
      annotations,
      changes: this.#changes,
      earlier,
    }
    return viewOf(mapTexts(state, redact), facts, { ...situation, ...since })
  }

  /** Posts once for each iteration, when it begins. Its result is reported with the next one, or at the end. */
  async event(event: Event, state: State): Promise<void> {
    // A verification without a verdict is repeated. Its reason is reported before the next one costs as much again.
    const shouldReport =
      event.kind === 'reserved' || (event.kind === 'verified' && event.verdict.kind === 'none')
    if (shouldReport && this.#headSha !== null) this.#postBeside(state)
  }

  /** Steps that take long without an iteration are reported when they begin. */
  async step({ kind }: Step): Promise<void> {
    if (kind === 'plan' || kind === 'verify' || kind === 'wait') this.#postUnposted()
  }

  async settle(): Promise<void> {
    await this.#posting
  }

  async newIds(signal: AbortSignal): Promise<Partial<GithubIds>> {
    // A post that hangs must not hold up the iteration that is saved with this: a cancelled job is killed after some seconds.
    await resolvesWithin(MAX_POST_WAIT_MS, this.#posting, signal)
    return this.#found
  }

  /** The state is saved, and another job continues: what this job opened is reported. */
  async handedOver(): Promise<void> {
    this.#postUnposted()
    await this.#posting
  }

  /**
   * Finds or opens the pull request at once if the state has none, because commands are read from it. Everything else (check,
   * comment, a known pull request) is posted when the next iteration or step begins.
   */
  async opened(state: State, isNew = false): Promise<GithubIds> {
    await this.#posting
    this.#headSha = state.published
    const known = this.#withFoundIds(state)
    this.#isFound = known.github.pull === null
    await this.#stopAutoMerge(known)
    const github = this.#isFound ? await this.#withPull(known, isNew) : known.github
    this.#unposted = { ...known, github }
    return github
  }

  #withFoundIds(state: State): State {
    return { ...state, github: { ...state.github, ...this.#found } }
  }

  #postUnposted(): void {
    if (this.#unposted !== null) this.#postBeside(this.#unposted)
  }

  /** Posts the state without waiting: the run continues meanwhile. */
  #postBeside(state: State): void {
    this.#unposted = null
    this.#newest = state
    this.#posting = this.#posting
      .then(async () => {
        if (this.#newest !== state) return
        if (!this.#isFound) await this.#findKnown(state)
        await this.#reportProgress(this.#withFoundIds(state))
      })
      .catch((error: unknown) => this.#options.github.warn(githubMessage(error)))
  }

  async merged(state: State): Promise<boolean> {
    return (await findMerge(this.#options.github, state.github.pull, state.published)) === 'whole'
  }

  /** People may have closed the pull request that the state knows, or opened another one. */
  async #findKnown(state: State): Promise<void> {
    const { pull, pullUrl, comment } = await this.#withPull(this.#withFoundIds(state))
    this.#found = { ...this.#found, pull, pullUrl, comment }
    this.#isFound = true
  }

  async beforePublish(saved: State, head: string): Promise<GithubIds> {
    await this.#posting
    const state = this.#withFoundIds(saved)
    // A job that ends before it opens anything still has to close the check of the previous job.
    const oldHead = this.#headSha ?? state.github.head ?? state.published
    // The project's CI had the time of this job.
    if (oldHead !== null && oldHead !== head) await this.#readRedChecks(state, oldHead, true)
    if (oldHead !== head) this.#headSha = null
    const { unclosed = [] } = state.github
    const superseded = (oldHead === null ? unclosed : [...unclosed, oldHead]).filter((sha) => sha !== head)
    return {
      ...state.github,
      unclosed: await this.#options.checks.closeSuperseded(superseded),
    }
  }

  async finished(saved: State, conclusion: Conclusion): Promise<GithubIds> {
    await this.#posting
    this.#unposted = null
    const state = this.#withFoundIds(saved)
    // Read again: people may have edited, closed or merged it since it was opened.
    const known = state.published === null ? state : { ...state, github: await this.#withPull(state) }
    this.#isFound = true
    await this.#readChanges(known)
    await this.#updateStack(known)
    // Looked up before the checks are posted, because checks and comment name the next action.
    if (conclusion.outcome === 'complete') this.#isMerged = await this.merged(known)
    if (conclusion.outcome !== 'continued') await this.#readCollisions()
    if (state.published !== null) await this.#postAll(known, state.published, conclusion)
    if (known.github.pull !== null && this.#options.pullRequest !== 'none')
      await this.#refresh(known, conclusion.outcome === 'complete')
    await this.#replyToIssue(known)
    return this.#updateSticky(known, this.view(known)).then((github) =>
      this.#answerCorrections(known, github),
    )
  }

  /** The replies to the people who asked for corrections. The ids of those that have one are saved with the next save. */
  async #answerCorrections(state: State, ids: GithubIds): Promise<GithubIds> {
    const { pull, pullUrl } = ids
    if (pull === null || pullUrl === null || state.corrections === undefined) return ids
    const { github, conversation, redact, touches } = this.#options
    const known = { ...state, github: ids }
    const answered = await answerCorrections({
      github,
      conversation,
      pull,
      pullUrl,
      state: known,
      redact,
      touches,
    })
    return { ...ids, answered }
  }

  /** One reply on the issue that asked for the plan, as long as no story is worked on. */
  async #replyToIssue(state: State): Promise<void> {
    const { plan, feature } = state
    if (plan === undefined || plan.issue === null || plan.phase === 'begun') return
    const { issue } = plan
    const { conversation, redact } = this.#options
    await this.#attempt('reply on the issue', undefined, () =>
      conversation.writeUniqueSticky(issue, marker('issue', feature), redact(issueReply(this.view(state)))),
    )
  }

  /** An error of `act` becomes a warning, and the result is `otherwise`: reporting never fails a run. */
  async #attempt<T>(what: string, otherwise: T, act: () => Promise<T>): Promise<T> {
    try {
      return await act()
    } catch (error) {
      this.#options.github.warn(`Ralph could not ${what}: ${githubMessage(error)}`)
      return otherwise
    }
  }

  /** The roll-up and the comment. */
  async #reportProgress(state: State): Promise<void> {
    await this.#readChanges(state)
    const sha = this.#headSha
    if (sha !== null) {
      const check = this.#redacted(rollupCheck(this.view(state)))
      await this.#attempt('post the check', undefined, () => this.#options.checks.post(sha, [check]))
      // Now the list of this commit is known, and whether checks may be read.
      await this.#readRedChecks(state, sha)
    }
    const view = this.view(state)
    await this.#label(view)
    await this.#updateSticky(state, view)
  }

  async #readRedChecks({ base }: State, sha: string, again = false): Promise<void> {
    const { checks, namesRedChecks } = this.#options
    if (!namesRedChecks) return
    const read = () => checks.redOfProject(sha, base.sha, again)
    const red = await this.#attempt("read the project's own checks", [], read)
    this.#redChecks = red.length > 0 ? describeRedChecks(red, sha) : null
  }

  async #readChanges(state: State): Promise<void> {
    const read = () => this.#options.changes(state)
    this.#changes = await this.#attempt('count the changes of the stories', this.#changes, read)
  }

  async #label(view: View): Promise<void> {
    const pull = this.#pull
    if (pull === null || !this.#mayLabel) return
    this.#mayLabel = await this.#attempt('set the labels', true, () =>
      setLabels(this.#options.github, pull, labelsOf(view)),
    )
  }

  async #updateSticky({ github, feature }: State, view: View): Promise<GithubIds> {
    const { conversation, redact } = this.#options
    const { pull } = github
    if (pull === null) return github
    const body = redact(stickyComment(view))
    const comment = await this.#attempt('write the summary comment', github.comment, () =>
      conversation.writeSticky(pull, github.comment, marker('sticky', feature), body),
    )
    this.#found = { ...this.#found, comment }
    return { ...github, comment }
  }

  async #postAll(state: State, sha: string, { outcome }: Conclusion): Promise<void> {
    const { checks, places } = this.#options
    this.#headSha = sha
    // A story's check belongs on a commit that holds its code.
    const stories = state.green === sha ? storiesToPost(state, outcome === 'continued') : []
    const found = await this.#attempt('find the lines for the annotations of the checks', {}, () =>
      places(mapTexts(state, this.#options.redact)),
    )
    const view = this.view(state, found)
    const rollup = rollupCheck(view)
    const posted = [rollup, ...stories.map((id) => storyCheck(view, id))].map((one) => this.#redacted(one))
    const isOpen = rollup.conclusion === null
    this.#isReported = isOpen
    this.#isReported = await this.#attempt('post the checks', isOpen, async () => {
      await checks.post(sha, posted)
      // When the chain has ended, open checks of earlier jobs are closed as well.
      const names = posted.map(({ name }) => name)
      if (!isOpen) await checks.closeAll(sha, (name) => closingReportOf(state, name), names)
      return true
    })
  }

  #redacted(check: Check): Check {
    const { redact } = this.#options
    return { ...check, title: redact(check.title), summary: redact(check.summary), text: redact(check.text) }
  }

  /** The ids of the state with those of the pull request, which is opened or adopted if possible. */
  #withPull(state: State, isNew = false): Promise<GithubIds> {
    return this.#attempt('open the pull request', state.github, () => this.#ensurePull(state, isNew))
  }

  /** `isNew`: the branch was created just now, so no pull request can exist for it. */
  async #ensurePull(state: State, isNew: boolean): Promise<GithubIds> {
    const { github: ralphGithub, publisher, pullRequest } = this.#options
    const { branch } = state
    if (pullRequest === 'none') return state.github
    this.#pull = isNew ? null : await findPull(ralphGithub, branch)
    const github = this.#pull === null ? await this.#withoutMerged(state) : state.github
    if (this.#pull === null && github.pull !== null) {
      const text = 'The pull request of this run is closed, and Ralph does not open a second one.'
      const url = github.pullUrl ?? repositoryUrl(ralphGithub.place)
      this.#noPullReason = { text, link: { name: `pull request ${github.pull}`, url } }
      return github
    }
    if (this.#pull === null) {
      const content = { ...newPullText(this.#ownText(state)), branch, base: state.base.branch }
      const opened = await openPull(publisher, { ...content, draft: pullRequest === 'draft' })
      if (opened.kind === 'refused') {
        this.#recordRefusal(state, opened)
        return state.github
      }
      this.#pull = opened.pull
    }
    this.#noPullReason = null
    const { number, url } = this.#pull
    await this.#leaveEarlier(state, number)
    // The summary is a comment on the pull request that the state knew.
    const comment = number === state.github.pull ? github.comment : null
    return { ...github, comment, pull: number, pullUrl: url }
  }

  /** The summary on an earlier pull request would always say that Ralph is at work. */
  async #leaveEarlier({ feature, github: { pull, comment } }: State, number: number): Promise<void> {
    if (pull === null || comment === null || pull === number) return
    const body = continuedComment(feature, number)
    await this.#attempt('update the earlier summary comment', undefined, async () => {
      await this.#options.conversation.writeSticky(pull, comment, marker('sticky', feature), body)
    })
  }

  /**
   * The ids without those of a merged pull request, if the base lacks later commits: they need another pull request and summary. That pull
   * request may have been opened and merged already, since a job's last report is not in the state.
   */
  async #withoutMerged({ github, branch, published }: State): Promise<GithubIds> {
    const { github: ralphGithub } = this.#options
    if ((await findMerge(ralphGithub, github.pull, published)) !== 'part') return github
    const last = await findPull(ralphGithub, branch, 'closed')
    const isWhole = last !== null && (await findMerge(ralphGithub, last.number, published)) === 'whole'
    const { number: pull = null, url: pullUrl = null } = isWhole ? last : {}
    return { ...github, pull, pullUrl, comment: null }
  }

  /** Warns once, however often it is tried. */
  #recordRefusal({ base, branch }: State, { reason, isForbidden }: Refused): void {
    const { place, warn } = this.#options.github
    const url = compareUrl(place, base.branch, branch)
    const fix = !isForbidden
      ? ''
      : /not permitted/i.test(reason)
        ? ' Tick Settings > Actions > General > "Allow GitHub Actions to create and approve pull requests", or'
        : ' Give the job permissions: pull-requests: write, or'
    const text = `Ralph could not open the pull request: ${reason.replace(/\.$/, '')}.${fix}`
    const name = fix === '' ? 'Open it yourself' : 'open it yourself'
    if (this.#noPullReason?.text !== text) warn(`${text} ${name}: ${url}`)
    this.#noPullReason = { text, link: { name, url } }
  }

  #ownText(state: State): OwnText {
    const { redact } = this.#options
    const view = this.view(state)
    return {
      feature: state.feature,
      title: redact(pullRequestTitle(view)),
      text: (room, before) => {
        const stack = this.#options.stack?.list(state.github.pull, before, Math.floor(room / 4)) ?? ''
        return redact(joinBlocks([pullRequestBody(view, room - stack.length - 2).trimEnd(), stack]))
      },
    }
  }

  /** Updates title, text and labels; when the run is complete, marks the draft as ready. */
  async #refresh(state: State, isComplete: boolean): Promise<void> {
    const { github, publisher } = this.#options
    await this.#attempt('update the pull request', undefined, async () => {
      const pull = this.#pull
      if (pull === null) return
      const change = updatedPullText(pull, this.#ownText(state))
      if (change === 'full')
        github.warn('the text of the pull request is so long that Ralph cannot add its part')
      else if (Object.keys(change).length > 0) await updatePull(publisher, pull.number, change)
    })
    await this.#label(this.view(state))
    const open = this.#pull
    if (!isComplete || open === null) return
    if (open.draft && this.#options.pullRequest === 'draft')
      await this.#attempt('mark the pull request as ready for review', undefined, () =>
        makeReady(publisher, open),
      )
    await this.#startAutoMerge(state, open)
  }

  /** A job that works on the pull request of a complete run: nothing may be merged meanwhile. */
  async #stopAutoMerge({ github: { pull } }: State): Promise<void> {
    const { autoMerge, publisher } = this.#options
    if (!autoMerge || pull === null) return
    await this.#attempt('turn auto-merge off', undefined, () => disableAutoMerge(publisher, pull))
  }

  async #updateStack(state: State): Promise<void> {
    const { stack } = this.#options
    await this.#attempt('update the stack of pull requests', undefined, async () =>
      stack?.update(state, this.#pull),
    )
  }

  async #readCollisions(): Promise<void> {
    const pull = this.#pull
    if (pull === null || this.#isMerged || this.#options.pullRequest === 'none') return
    this.#collisions = await this.#attempt('compare other pull requests', [], () =>
      collisionsOf(this.#options.github, pull),
    )
  }

  async #startAutoMerge({ base, published: head }: State, { number }: Pull): Promise<void> {
    const { autoMerge, publisher } = this.#options
    if (!autoMerge || head === null || this.#isMerged) return
    this.#autoMerge = await this.#attempt('turn auto-merge on', null, () =>
      enableAutoMerge(publisher, number, { head, base: base.branch }),
    )
  }
}

/** The stories whose checks are posted on a head: all that were worked on; of many stories only the batch's and the failed ones. */
function storiesToPost(state: State, goesOn: boolean): string[] {
  const touched = state.prd.userStories.filter(
    (story) => (state.records[story.id]?.attempts ?? 0) > 0 || story.skipped,
  )
  if (!goesOn) return touched.slice(-MAX_CHECKS).map((story) => story.id)
  if (touched.length <= ALL_CHECKS) return touched.map((story) => story.id)
  const { jobs } = state.prd.run
  const batch = new Set(state.timeline.filter((entry) => entry.job === jobs).map((entry) => entry.storyId))
  return touched.filter((story) => batch.has(story.id) || story.blocked).map((story) => story.id)
}

function describeRedChecks(names: readonly string[], sha: string): string {
  return `These checks of the project fail on ${sha.slice(0, 7)}, but not on the base: ${firstNames(names)}. With checks: wait, Ralph fixes such checks before the run is complete`
}
