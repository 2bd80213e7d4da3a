// The replies to `/ralph why` and `/ralph diff`: what is known of a story, without a checkout and without any work.

import { redactorFor } from '../app/redactor.ts'
import { storiesIn } from '../git/story-commits.ts'
import { type GitHub, saidByGitHub } from '../github/client.ts'
import { compareUrl, repositoryUrl } from '../github/place.ts'
import type { State } from '../model/state.ts'
import { mapTexts } from '../model/text.ts'
import { type ChangesView, diffReply, whyReply } from '../report/replies.ts'
import { whyOf } from '../report/why.ts'
import { secretsIn } from '../system/untrusted-env.ts'
import type { ActionContext } from './context.ts'

type About = { kind: 'why' | 'diff'; story: string | null }

export async function told(
  context: ActionContext,
  github: GitHub,
  state: State,
  { kind, story }: About,
): Promise<string> {
  const { redact } = redactorFor(secretsIn(context.env))
  if (kind === 'why') return redact(whyReply(whyOf(mapTexts(state, redact), story, 'comment')))
  const { base, branch } = state
  const whole = compareUrl(github.place, base.branch, branch)
  const isKept = story !== null && state.kept[story] !== undefined
  const commits = story === null || isKept ? [] : await commitsOf(github, state, story)
  return redact(diffReply({ storyId: story, commits, compareUrl: whole, isKept }))
}

/** The story's commits among the newest hundred, the oldest first; its last one alone where GitHub does not list them. */
async function commitsOf(github: GitHub, state: State, story: string): Promise<ChangesView['commits']> {
  const { api, at, place, warn } = github
  const { green, nonce, records } = state
  const url = (sha: string, parent: string) => `${repositoryUrl(place)}/compare/${parent}...${sha}`
  try {
    const { data } = await api.rest.repos.listCommits({ ...at, sha: green, per_page: 100 })
    return data.toReversed().flatMap(({ sha, parents, commit: { message } }) => {
      const [subject = ''] = message.split('\n')
      const parent = parents[0]?.sha ?? ''
      return storiesIn(message, nonce).includes(story) ? [{ sha, subject, compareUrl: url(sha, parent) }] : []
    })
  } catch (error) {
    warn(`the commits could not be listed: ${saidByGitHub(error)}`)
    const sha = records[story]?.commit ?? null
    return sha === null ? [] : [{ sha, subject: '', compareUrl: url(sha, `${sha}^`) }]
  }
}
