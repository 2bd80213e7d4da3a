// Polls the states of runs over the API. Requests are conditional, so that an answer without a change does not count against the rate
// limit (GitHub's REST documentation, "Use conditional requests").
import { type GitHub, httpStatusOf, rateLimitedUntil } from './client.ts'

/** The least time between two polls, milliseconds. */
export const POLL_MS = 30_000

export class StateRefs {
  readonly #github: GitHub
  /** `ralph` of `refs/ralph`. */
  readonly #prefix: string
  #etag: string | null = null

  constructor(github: GitHub, namespace: string) {
    this.#github = github
    this.#prefix = `${namespace.replace(/^refs\//, '')}/`
  }

  /** The commit of every state, by folder; null if nothing has changed since the last poll. Throws errors of the API. */
  async poll(): Promise<Map<string, string> | null> {
    const { api, repo } = this.#github
    try {
      const { data, headers } = await api.rest.git.listMatchingRefs({
        ...repo,
        ref: this.#prefix,
        headers: this.#etag === null ? {} : { 'if-none-match': this.#etag },
      })
      this.#etag = headers.etag ?? null
      const start = `refs/${this.#prefix}`.length
      return new Map(data.map(({ ref, object }) => [ref.slice(start), object.sha]))
    } catch (error) {
      if (httpStatusOf(error) === 304) return null
      throw error
    }
  }

  /** Makes the next poll unconditional, because the last one could not be used. */
  resetEtag(): void {
    this.#etag = null
  }

  /** The text of a file of the state at its commit, which never changes. */
  async text(commit: string, path: string): Promise<string> {
    const { api, repo } = this.#github
    const { data } = await api.rest.repos.getContent({
      ...repo,
      path,
      ref: commit,
      mediaType: { format: 'raw' },
    })
    // With this media type the response is the text itself, although octokit's types say otherwise.
    const text: unknown = data
    if (text instanceof ArrayBuffer) return new TextDecoder().decode(text)
    if (typeof text !== 'string') throw new Error(`${path} of ${commit} is not a file`)
    return text
  }
}

/** How long to wait for the next poll, milliseconds; `error`: of the last one. */
export function nextPollMs(error: unknown, now: number): number {
  return Math.max(POLL_MS, (rateLimitedUntil(error, now) ?? now) - now)
}
