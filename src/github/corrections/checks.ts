// The project's own checks on the head of the branch: which are open, which are red, and what the red ones say. All of it is hostile.

import { createHash } from 'node:crypto'
import type { CorrectionReport, Heard } from '../../engine/model/correction.ts'
import type { Story } from '../../engine/model/feature.ts'
import type { State } from '../../engine/model/state.ts'
import { fenced, oneLine, sanitizeText } from '../../engine/model/text.ts'
import { isOwnName } from '../../report/check-runs.ts'
import { excerpt } from '../../system/excerpt.ts'
import { type GitHub, githubMessage, httpStatusOf, pagesOf } from '../client.ts'
import { newestOf, stateOf } from '../project-checks.ts'
import { readLogEnd } from './log-end.ts'

/** A check run or a commit status by one name. */
export type Seen = {
  name: string
  state: 'pending' | 'green' | 'red'
  /** It is red because it was cancelled, so it says nothing about the code. */
  isCancelled: boolean
  /** Of the check run; null for a status. */
  id: number | null
  isActions: boolean
  url: string
  text: string
  annotations: number
}

const MAX_ANNOTATIONS = 50
const MAX_TEXT = 12_000

/** The checks that count on this commit. Ralph's own never count. `names`: which count; empty: those that a rule requires, else all. */
export async function readChecks(
  github: GitHub,
  state: State,
  head: string,
  names: readonly string[],
  redact: (text: string) => string,
): Promise<Heard> {
  const all = await checksOn(github, head)
  const wanted = names.length > 0 ? names : await requiredNames(github, state.base.branch)
  const counted = wanted.length === 0 ? all : all.filter(({ name }) => wanted.includes(name))
  const missing = wanted.filter((name) => all.every((one) => one.name !== name))
  const pending = [...counted.filter((one) => one.state === 'pending').map(({ name }) => name), ...missing]
  const red = counted.filter((one) => one.state === 'red')
  const isNone = counted.length === 0 && wanted.length === 0
  const baseRed = red.length === 0 ? new Set<string>() : await redOn(github, state.base.sha)
  const reports: CorrectionReport[] = []
  // A check that is also red on the base is not this branch's fault.
  for (const check of red)
    if (!baseRed.has(check.name)) reports.push(await reportOf(github, state, head, check, redact))
  const blamed = [...new Set(red.map(({ name }) => name))].filter((name) => !baseRed.has(name))
  return {
    reports: pending.length === 0 ? reports : [],
    checks: { head, pending: isNone ? ['the first check'] : pending, red: blamed },
  }
}

/** The newest checks and statuses on a commit, without Ralph's own. */
export async function checksOn({ api, repo }: GitHub, ref: string): Promise<Seen[]> {
  const params = { ...repo, ref, per_page: 100 }
  const runs = []
  for await (const { check_runs } of pagesOf((page) => api.rest.checks.listForRef({ ...params, page })))
    runs.push(...check_runs.filter(({ name }) => !isOwnName(name)))
  const checks = newestOf(runs).map((run) => {
    const { title, summary, text, annotations_count: annotations = 0 } = run.output
    return {
      name: run.name,
      state: stateOf(run),
      isCancelled: run.conclusion === 'cancelled',
      id: run.id,
      isActions: run.app?.slug === 'github-actions',
      url: run.html_url ?? run.details_url ?? '',
      text: [title, summary, text].filter(Boolean).join('\n\n'),
      annotations,
    }
  })
  return [...checks, ...(await statusesOn({ api, repo }, params))]
}

/** The newest status of each context. */
async function statusesOn(
  { api }: Pick<GitHub, 'api' | 'repo'>,
  params: { owner: string; repo: string; ref: string; per_page: number },
): Promise<Seen[]> {
  const newest = new Map<string, Seen>()
  try {
    const ask = (page: number) => api.rest.repos.listCommitStatusesForRef({ ...params, page })
    // The newest comes first.
    for await (const statuses of pagesOf(ask))
      for (const { context, state, description, target_url } of statuses) {
        if (isOwnName(context) || newest.has(context)) continue
        newest.set(context, {
          name: context,
          state: state === 'pending' ? 'pending' : state === 'success' ? 'green' : 'red',
          isCancelled: false,
          id: null,
          isActions: false,
          url: target_url ?? '',
          text: description ?? '',
          annotations: 0,
        })
      }
  } catch (error) {
    // Without `statuses: read` only checks count.
    if (httpStatusOf(error) !== 403) throw error
  }
  return [...newest.values()]
}

export async function redOn(github: GitHub, ref: string): Promise<Set<string>> {
  const all = await checksOn(github, ref)
  return new Set(all.filter((one) => one.state === 'red').map(({ name }) => name))
}

/** The names that a rule of the branch requires, without Ralph's own. */
export async function requiredNames({ api, repo }: GitHub, branch: string): Promise<string[]> {
  const { data } = await api.rest.repos.getBranchRules({ ...repo, branch }).catch((error: unknown) => {
    // An older server, or a plan without rulesets.
    if (httpStatusOf(error) === 404 || httpStatusOf(error) === 403) return { data: [] }
    throw error
  })
  return data
    .flatMap((rule) => {
      if (rule.type !== 'required_status_checks') return []
      return rule.parameters?.required_status_checks?.map(({ context }) => context) ?? []
    })
    .filter((name) => !isOwnName(name))
}

/** What a red check says, and which story is to blame. `head`: the commit that it is on. */
export async function reportOf(
  github: GitHub,
  state: State,
  head: string,
  check: Seen,
  redact: (text: string) => string,
): Promise<CorrectionReport> {
  const found = await annotationsOf(github, check)
  const log = await logOf(github, check)
  const parts = [check.text, ...found.map(({ path, line, message }) => `${path}:${line}: ${message}`), log]
  const text = excerpt(redact(sanitizeText(parts.filter((part) => part !== '').join('\n'))), MAX_TEXT)
  const digest = createHash('sha256').update(withoutTimes(text)).digest('hex').slice(0, 16)
  const { name, url } = check
  const first = await firstRedStory(github, state, head, check).catch((error: unknown) => {
    github.warn(
      `Ralph could not read earlier results of the check ${oneLine(name, 80)}: ${githubMessage(error)}`,
    )
    return null
  })
  return {
    source: { kind: 'check', name: oneLine(name, 100), head, url, digest },
    text: text === '' ? 'The check has no output.' : fenced(text),
    places: first === null ? found.map(({ path, line }) => ({ path, lines: { from: line, to: line } })) : [],
    ...(first === null ? lastStory(state) : { otherwise: first }),
  }
}

/** Earlier commits that are asked about one red check. */
const MAX_EARLIER = 10

/**
 * The story whose commit was the first on which the check is red. Null if no earlier commit has a result of this check: only published
 * heads do. A check is read from the newest commit backwards, up to the first that is not red.
 */
async function firstRedStory(
  { api, repo }: GitHub,
  state: State,
  head: string,
  { name, id }: Seen,
): Promise<string | null> {
  // A status has no such filter, and its Apps report on every push.
  if (id === null) return null
  let first: string | null = null
  for (const { commit, storyId } of earlierCommits(state, head).slice(0, MAX_EARLIER)) {
    const params = { ...repo, ref: commit, check_name: name, per_page: 100 }
    const { data } = await api.rest.checks.listForRef(params)
    const states = newestOf(data.check_runs).map(stateOf)
    if (states.length === 0) continue
    if (!states.includes('red')) break
    first = storyId
  }
  return first
}

/** The commits of passed stories below the head, the newest first, each with the story that is to blame. */
function earlierCommits({ timeline, prd, records }: State, head: string) {
  const seen = new Set([head])
  return timeline.toReversed().flatMap(({ result, storyId }) => {
    const story = prd.userStories.find(({ id }) => id === storyId)
    const commit = records[storyId]?.commit
    if (result !== 'passed' || story === undefined || commit == null || seen.has(commit)) return []
    seen.add(commit)
    return [{ commit, storyId: blamed(story) }]
  })
}

/** Without places, the story that passed last is to blame. */
function lastStory({ timeline, prd }: State): { otherwise?: string } {
  const last = timeline.findLast(({ result }) => result === 'passed')
  const story = prd.userStories.find(({ id }) => id === last?.storyId)
  return story === undefined ? {} : { otherwise: blamed(story) }
}

/** A correction stands for the story that it corrects. */
function blamed({ id, corrects }: Story): string {
  return corrects?.story ?? id
}

/** Times, durations and addresses differ from run to run. */
function withoutTimes(text: string): string {
  return text.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z?|\d+(?:\.\d+)? ?m?s\b|0x[0-9a-f]+|[0-9a-f]{12,}/gi, '_')
}

type Annotation = { path: string; line: number; message: string }

async function annotationsOf({ api, repo, warn }: GitHub, check: Seen): Promise<Annotation[]> {
  if (check.id === null || check.annotations === 0) return []
  try {
    const params = { ...repo, check_run_id: check.id, per_page: MAX_ANNOTATIONS }
    const { data } = await api.rest.checks.listAnnotations(params)
    return data
      .filter(({ annotation_level: level, path }) => level === 'failure' && path !== '.github')
      .map(({ path, start_line: line, message }) => ({
        path: oneLine(path, 300),
        line: Math.max(1, line),
        message: oneLine(message ?? '', 500),
      }))
  } catch (error) {
    warn(
      `Ralph could not read the annotations of the check ${oneLine(check.name, 80)}: ${githubMessage(error)}`,
    )
    return []
  }
}

/** The end of the log of a job of GitHub Actions; empty for other Apps, whose logs GitHub does not have. */
async function logOf(github: GitHub, check: Seen): Promise<string> {
  if (check.id === null || !check.isActions) return ''
  try {
    return await readLogEnd(github, check.id)
  } catch (error) {
    github.warn(
      `Ralph could not read the log of the check ${oneLine(check.name, 80)}: ${githubMessage(error)}`,
    )
    return ''
  }
}
