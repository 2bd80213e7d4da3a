// A repository of the stand-in, as one token sees it.
import { connect, type GitHub } from '../../../src/github/client.ts'
import type { GitHub as StandIn } from '../../standin/github.ts'

export function connected(
  { owner, repo, url }: Pick<StandIn, 'owner' | 'repo' | 'url'>,
  token: string,
  warn: (message: string) => void = () => {},
  tryMs?: number,
): GitHub {
  return connect({ owner, repo, server: url, api: url, defaultBranch: 'main' }, token, warn, tryMs)
}
