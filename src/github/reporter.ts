// Tells people on GitHub: checks, the sticky comment, the pull request. Implements ReporterPort; never fails a run.
import type { Limits } from '../model/limits.ts'
import type { ReporterPort } from '../model/ports.ts'
import type { GithubIds, State } from '../model/state.ts'
import { lastWordOf, rollupCheck, storyCheck } from '../report/checks.ts'
import { stickyComment, stickyMarker } from '../report/markdown.ts'
import type { Facts, Note } from '../report/parts.ts'
import { pullRequestBody, pullRequestTitle } from '../report/pull-request.ts'
import { mapTexts } from '../report/texts.ts'
import type { Checks } from './checks.ts'
import { type Api, saidByGitHub } from './client.ts'
import type { Conversation } from './conversation.ts'
import { closeSuperseded } from './left-open.ts'
import { compareUrl, type Place, pullUrl, repositoryUrl } from './place.ts'
import { findPull, makeReady, type Opened, openPull, type Pull, updatePull } from './pull.ts'
import { type Own, updated, whole } from './pull-text.ts'

export type ReporterOptions = {
  api: Api
  /** Opens the pull request: an App's or a person's token, so that CI starts; else the same as `api`. */
  publishApi: Api
  place: Place
  conversation: Conversation
  checks: Checks
  pullRequest: 'draft' | 'ready' | 'none'
  limits: Limits
  runUrl: string | null
  redact(text: string): string
  /** Places in files that failing gates named, by story id. */
  places(state: State): Promise<NonNullable<Facts['annotations']>>
  warn(message: string): void
}

/** More stories than this, and a batch re-posts only its own and the failed ones (design 4). */
const ALL_CHECKS = 20
const MOST_CHECKS = 50

export type GitHubReporter = ReporterPort & {
  facts(): Facts
  /** Whether GitHub took the last report, so that no check is left open. */
  told(): boolean
}

export function createReporter(options: ReporterOptions): GitHubReporter {
  const { place, conversation, checks, warn } = options
  /** Why there is no pull request. */
  let noPull: Exclude<Note, string> | null = null
  let pull: Pull | null = null
  let headSha: string | null = null
  let compare: string | null = null
  let isTold = true

  /** Redacted before it is rendered: escaping would split a secret, and hide it from the redaction behind. */
  const clean = (state: State): State => mapTexts(state, options.redact)

  const facts = (): Facts => ({
    repositoryUrl: repositoryUrl(place),
    runUrl: options.runUrl,
    limits: options.limits,
    now: Date.now(),
    compareUrl: compare,
    notes: noPull === null ? [] : [{ ...noPull, text: options.redact(noPull.text) }],
  })

  /** Whatever goes wrong in telling is told, and changes nothing else. */
  async function attempt(what: string, act: () => Promise<void>): Promise<void> {
    try {
      await act()
    } catch (error) {
      warn(`${what}: ${saidByGitHub(error)}`)
    }
  }

  async function stick(state: State): Promise<GithubIds> {
    let github = state.github
    if (github.pull === null) return github
    const number = github.pull
    await attempt('the summary comment could not be written', async () => {
      const body = options.redact(stickyComment(clean(state), facts()))
      const comment = await conversation.stick(number, github.comment, stickyMarker(state.feature), body)
      github = { ...github, comment }
    })
    return github
  }

  async function rollup(state: State, sha: string): Promise<void> {
    await attempt('the check could not be posted', () =>
      checks.post(sha, [redacted(rollupCheck(clean(state), facts()))]),
    )
  }

  function redacted<C extends { title: string; summary: string; text: string }>(check: C): C {
    const { redact } = options
    return { ...check, title: redact(check.title), summary: redact(check.summary), text: redact(check.text) }
  }

  /** Said once, however often it is tried. */
  function refused(state: State, { reason, forbidden }: Extract<Opened, { kind: 'refused' }>): void {
    const url = compareUrl(place, state.base.branch, state.branch)
    const mend = !forbidden
      ? ''
      : /not permitted/i.test(reason)
        ? ' Tick Settings > Actions > General > "Allow GitHub Actions to create and approve pull requests", or'
        : ' Give the job permissions: pull-requests: write, or'
    const text = `The pull request could not be opened: ${reason.replace(/\.$/, '')}.${mend}`
    const name = mend === '' ? 'Open it yourself' : 'open it yourself'
    if (noPull?.text !== text) warn(`${text} ${name}: ${url}`)
    noPull = { text, link: { name, url } }
    compare = url
  }

  async function ensurePull(state: State): Promise<GithubIds> {
    if (options.pullRequest === 'none') return state.github
    pull = await findPull(options.api, place, state.branch)
    if (pull === null && state.github.pull !== null) {
      const text = 'Its pull request is not open any more; Ralph opens no second one.'
      const url = state.github.pullUrl ?? pullUrl(place, state.github.pull)
      noPull = { text, link: { name: `pull request ${state.github.pull}`, url } }
      return state.github
    }
    if (pull === null) {
      const draft = options.pullRequest === 'draft'
      const opened = await openPull(
        options.publishApi,
        place,
        {
          branch: state.branch,
          base: state.base.branch,
          ...whole(wording(state)),
          draft,
        },
        warn,
      )
      if (opened.kind === 'refused') {
        refused(state, opened)
        return state.github
      }
      pull = opened.pull
    }
    noPull = null
    return { ...state.github, pull: pull.number, pullUrl: pull.url }
  }

  function wording(state: State): Own {
    const shown = clean(state)
    return {
      feature: state.feature,
      title: options.redact(pullRequestTitle(shown)),
      text: (room) => options.redact(pullRequestBody(shown, facts(), room)),
    }
  }

  async function complete(state: State): Promise<void> {
    await attempt('the pull request could not be updated', async () => {
      // As it is now: people may have edited it since it was opened.
      pull = await findPull(options.api, place, state.branch)
      if (pull === null) return
      const change = updated(pull, wording(state))
      if (change === 'full') warn("the pull request's text has no room for Ralph's part")
      else if (Object.keys(change).length > 0)
        await updatePull(options.publishApi, place, pull.number, change)
    })
    const open = pull
    if (open?.draft !== true || options.pullRequest !== 'draft') return
    await attempt('the pull request could not be made ready for review', () =>
      makeReady(options.publishApi, open),
    )
  }

  return {
    facts,
    told: () => isTold,
    warn,

    async step() {},

    async event(event, state) {
      // One look an iteration: when a story is taken up. Its result is told with the next one, or at the end.
      // A verification without a verdict is held again: why is told before the next one costs as much.
      const isTold = event.kind === 'reserved' || (event.kind === 'verified' && event.verdict.kind === 'none')
      if (!isTold || headSha === null) return
      await rollup(state, headSha)
      await stick(state)
    },

    async opened(state) {
      let github = state.github
      headSha = state.published
      await attempt('the pull request could not be opened', async () => {
        github = await ensurePull(state)
      })
      const told = { ...state, github }
      if (headSha !== null) await rollup(told, headSha)
      return stick(told)
    },

    async merged(state) {
      const { pull: number } = state.github
      if (number === null) return false
      const { owner, repo } = place
      const found = await options.api.rest.pulls
        .get({ owner, repo, pull_number: number })
        .catch((error: unknown) => warn(`the pull request could not be looked up: ${saidByGitHub(error)}`))
      return found?.data.merged === true
    },

    async beforePublish(state, head) {
      // A job that ends before it opens anything still has the check of the job before to close.
      const old = headSha ?? state.github.head ?? state.published
      if (old !== head) headSha = null
      const { unclosed = [] } = state.github
      const left = (old === null ? unclosed : [...unclosed, old]).filter((sha) => sha !== head)
      return { ...state.github, unclosed: await closeSuperseded(checks, left, warn) }
    },

    async finished(state, conclusion) {
      let told = state
      if (state.published !== null && state.github.pull === null) {
        await attempt('the pull request could not be opened', async () => {
          told = { ...state, github: await ensurePull(state) }
        })
      }
      const sha = state.published
      if (sha !== null) {
        headSha = sha
        const shown = clean(told)
        // A story's check belongs on a commit that holds its code.
        const stories = state.green === sha ? toPost(state, conclusion.outcome === 'continued') : []
        const rollup = rollupCheck(shown, facts())
        let annotations: NonNullable<Facts['annotations']> = {}
        await attempt('no places could be found for the checks', async () => {
          annotations = await options.places(shown)
        })
        const ofStories = stories.map((id) => storyCheck(shown, id, { ...facts(), annotations }))
        const posted = [rollup, ...ofStories].map(redacted)
        isTold = rollup.conclusion === null
        await attempt('the checks could not be posted', async () => {
          await checks.post(sha, posted)
          // When the chain has ended, none of an earlier job is left open either.
          const names = posted.map(({ name }) => name)
          if (rollup.conclusion !== null) await checks.closeAll(sha, (name) => lastWordOf(state, name), names)
          isTold = true
        })
      }
      if (conclusion.outcome === 'complete' && options.pullRequest !== 'none') await complete(told)
      return stick(told)
    },
  }
}

/** The stories whose checks are posted on a head: all that were worked on, or the batch's and the failed ones. */
function toPost(state: State, goesOn: boolean): string[] {
  const touched = state.prd.userStories.filter(
    (story) => (state.records[story.id]?.attempts ?? 0) > 0 || story.skipped,
  )
  if (!goesOn) return touched.slice(-MOST_CHECKS).map((story) => story.id)
  if (touched.length <= ALL_CHECKS) return touched.map((story) => story.id)
  const { jobs } = state.prd.run
  const batch = new Set(state.timeline.filter((entry) => entry.job === jobs).map((entry) => entry.storyId))
  return touched.filter((story) => batch.has(story.id) || story.blocked).map((story) => story.id)
}
