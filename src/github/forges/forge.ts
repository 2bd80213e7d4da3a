// The kinds of server that Ralph works with: github.com, GitHub Enterprise Server, and Gitea or Forgejo. A row says how one differs from
// github.com. What a server lacks without a row is found by its answer: 404 for checks means that statuses are posted instead.
import { GITHUB_SSH, type RepositoryAddress, repositoryUrl } from '../repository-address.ts'
import { speakGitea } from './gitea.ts'

type Forge = {
  name: string
  /** How the address of its API ends. */
  api: RegExp
  /** Whether jobs have the service for artifacts (version 4), which `separate-job` and Ralph's own upload need. */
  hasArtifacts: boolean
  /** Without it, `pull-request: stacked` cannot find the pull requests of its layers. */
  hasGraphql: boolean
  /** Whether `/checks` at the end of a pull request's address is a page. */
  hasChecksPage: boolean
  /** Whose token may look up what a person may do in the repository. */
  permissionsFor: 'everyone' | 'admins'
  /** Turns GitHub's requests into those of this server, and its answers into GitHub's; null if it speaks GitHub's API. */
  speak: ((ask: typeof fetch, api: string) => typeof fetch) | null
}

const GITHUB: Forge = {
  name: 'GitHub',
  api: /^/,
  hasArtifacts: true,
  hasGraphql: true,
  hasChecksPage: true,
  permissionsFor: 'everyone',
  speak: null,
}

const FORGES: readonly Forge[] = [
  { ...GITHUB, name: 'GitHub Enterprise Server', api: /\/api\/v3$/, hasArtifacts: false },
  {
    name: 'Gitea or Forgejo',
    api: /\/api\/v1$/,
    hasArtifacts: false,
    hasGraphql: false,
    hasChecksPage: false,
    permissionsFor: 'admins',
    speak: speakGitea,
  },
]

/** The kind of the server whose API is at this address. An empty address means github.com. */
export function forgeOf(api: string): Forge {
  const address = api.replace(/\/+$/, '')
  return FORGES.find((forge) => forge.api.test(address)) ?? GITHUB
}

/** What reports need to link to pages of the repository. */
export function serverFacts(place: RepositoryAddress) {
  return { repositoryUrl: repositoryUrl(place), hasChecksPage: forgeOf(place.api).hasChecksPage }
}

/** The host that a clone's remote names, without its port; null for a path. */
export function hostOf(remote: string): string | null {
  const [, web, ssh] =
    /^(?:(?:https?|ssh|git):\/\/(?:[^@/\s]+@)?([^:/\s]+)|[^@/\s]+@([^:/\s]+):)/.exec(remote) ?? []
  return (web ?? ssh ?? '').toLowerCase() || null
}

/**
 * Whether a host is github.com (also its host for SSH over port 443), or its data residency. Only they have the services of artifacts and
 * caches. Loopback stands in for them.
 */
export function isGitHubHost(host: string): boolean {
  return host === 'github.com' || host === GITHUB_SSH || /\.ghe\.com$|\.localhost$|^127\.0\.0\.1$/.test(host)
}

/** A remote's host that is not GitHub's own. `isAlias`: SSH may know any server by this name, also github.com. */
export type OtherHost = { host: string; isAlias: boolean }

/** Null for a path, and for GitHub's own hosts. */
export function otherHostOf(remote: string): OtherHost | null {
  const host = hostOf(remote)
  if (host === null || isGitHubHost(host)) return null
  // No domain ends like `work` or `github.com-work`, so these are names from an SSH configuration.
  const isDomain = /\.(?:[a-z]{2,}|xn--[a-z0-9-]+|\d+)$/.test(host)
  return { host, isAlias: !isDomain && !/^(?:https?|git):/.test(remote) }
}

/** The authors of comments that are written with a job's own token. Every workflow of the repository can write as one of them. */
export const JOB_LOGINS: ReadonlySet<string> = new Set([
  'github-actions[bot]',
  'gitea-actions',
  'forgejo-actions',
])

/** The number by which the page of a job's run is found: its id, but on Forgejo the number that counts the repository's runs. */
export function runPage(env: Readonly<Record<string, string | undefined>>, id: number): number {
  const number = Number(env.GITHUB_RUN_NUMBER)
  return env.FORGEJO_ACTIONS === 'true' && Number.isSafeInteger(number) ? number : id
}
