// The repository's address on GitHub, its URLs, and the pages that people are sent to. Pure.

export type RepositoryAddress = {
  owner: string
  repo: string
  /** `https://github.com`, without a slash at the end. */
  server: string
  api: string
  defaultBranch: string
}

/** GitHub's host for SSH over the port of HTTPS. */
export const GITHUB_SSH = 'ssh.github.com'

/** The repository that a clone's remote names; null if its host is none of `servers` (the address of the API by web address). */
export function parseRemoteAddress(
  remote: string,
  servers: Readonly<Record<string, string>>,
): Omit<RepositoryAddress, 'defaultBranch'> | null {
  // `git@host:owner/repo.git`, `ssh://git@host/owner/repo`, `https://host/owner/repo.git`
  const ssh = /^(?:ssh:\/\/)?(?:[^@/\s]+@)([^:/\s]+)(?::\d+)?[:/](.+)$/.exec(remote)
  const web = /^https?:\/\/(?:[^@/\s]+@)?([^/\s]+)\/(.+)$/.exec(remote)
  const [, named = '', path = ''] = web ?? ssh ?? []
  const host = named === GITHUB_SSH ? 'github.com' : named
  const [owner = '', repo = '', ...more] = path.replace(/\/+$|(?:\.git)?\/*$/g, '').split('/')
  const server = Object.keys(servers).find((address) => address.replace(/^https?:\/\//, '') === host)
  if (server === undefined || owner === '' || repo === '' || more.length > 0) return null
  return { owner, repo, server, api: servers[server] ?? '' }
}

export function repositoryUrl(place: RepositoryAddress): string {
  return `${place.server}/${place.owner}/${place.repo}`
}

export function runUrl(place: RepositoryAddress, runId: number): string {
  return `${repositoryUrl(place)}/actions/runs/${runId}`
}

/** The page on which a person opens the pull request, if Actions may not. */
export function compareUrl(place: RepositoryAddress, base: string, branch: string): string {
  const encodeName = (name: string) => name.split('/').map(encodeURIComponent).join('/')
  return `${repositoryUrl(place)}/compare/${encodeName(base)}...${encodeName(branch)}?expand=1`
}

/** Variables that give git a token. No file has the token, and a header in a configuration file does not count. */
export function gitAuth(place: RepositoryAddress, token: string): Record<string, string> {
  const key = `http.${place.server}/.extraheader`
  const basic = Buffer.from(`x-access-token:${token}`).toString('base64')
  return {
    GIT_CONFIG_COUNT: '2',
    GIT_CONFIG_KEY_0: key,
    GIT_CONFIG_VALUE_0: '',
    GIT_CONFIG_KEY_1: key,
    GIT_CONFIG_VALUE_1: `AUTHORIZATION: basic ${basic}`,
  }
}
