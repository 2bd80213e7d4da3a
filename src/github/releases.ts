// The releases of a repository, with the commit that each tag names.
import { isNewer } from '../engine/model/version.ts'
import { type GitHub, NO_RETRIES } from './client.ts'

export type Release = {
  /** `v1.2.3`. */
  tag: string
  commit: string
  /** Markdown of the release's author: not trusted. */
  notes: string
  publishedAt: string
}

/** The releases called `vX.Y.Z`, the newest first, at most the last hundred. A failed request is not repeated. */
export async function releasesOf({ api, repo }: GitHub): Promise<Release[]> {
  const page = { ...repo, per_page: 100, ...NO_RETRIES }
  const { data: releases } = await api.rest.repos.listReleases(page)
  const { data: tags } = await api.rest.repos.listTags(page)
  const commits = new Map(tags.map(({ name, commit }) => [name, commit.sha]))
  return releases
    .filter(({ draft, prerelease, tag_name: tag }) => !draft && !prerelease && /^v\d+\.\d+\.\d+$/.test(tag))
    .flatMap(({ tag_name: tag, body, published_at: publishedAt }) => {
      const commit = commits.get(tag)
      return commit === undefined ? [] : [{ tag, commit, notes: body ?? '', publishedAt: publishedAt ?? '' }]
    })
    .sort((a, b) => (isNewer(a.tag, b.tag) ? -1 : 1))
}
