// A repository of the stand-in, as one token sees it.
import { connect, type GitHub } from '../../../src/github/client.ts'
import type { GitHub as StandIn } from '../../standin/github.ts'

export function connected(
  { owner, repo, url, apiUrl }: Pick<StandIn, 'owner' | 'repo' | 'url' | 'apiUrl'>,
  token: string,
  warn: (message: string) => void = () => {},
  tryMs?: number,
): GitHub {
  return connect({ owner, repo, server: url, api: apiUrl, defaultBranch: 'main' }, token, warn, tryMs)
}
