// The server of runs in CI: whether it has what the settings need, and which page tells how to set it up.
import { forgeOf, type OtherHost, otherHostOf } from '../../github/forges/forge.ts'
import type { Mistake } from '../../system/errors.ts'
import {
  type CheckResult,
  okResult,
  type RunStart,
  requireCheckout,
  type Subject,
  toFaults,
} from './subject.ts'

const PAGES =
  'GitHub Enterprise Server: docs/how-to/ghes.md, Gitea and Forgejo: docs/how-to/gitea-forgejo.md, all others: docs/how-to/other-ci.md, with examples for GitLab, Buildkite, Jenkins and cron in examples/other-ci'

/** What to read about servers whose host says what they are. */
const PAGE_OF: readonly (readonly [host: RegExp, read: string])[] = [
  [/gitlab/, 'GitLab: docs/how-to/other-ci.md, with the example examples/other-ci/gitlab-ci.yml'],
  [/gitea|forgejo|^codeberg\.org$/, 'Gitea and Forgejo: docs/how-to/gitea-forgejo.md'],
]

/** What `ralph init` and `doctor` say about a remote on another host than GitHub's own. */
export function otherHostNote({ host, isAlias }: OtherHost): string {
  if (isAlias)
    return `origin is on the SSH host ${host}. If that is not GitHub's own site, read the page for your server. ${PAGES}`
  const [, read = PAGES] = PAGE_OF.find(([name]) => name.test(host)) ?? []
  return `origin is on ${host}, which is not GitHub's own site. ${read}`
}

/** `separate-job` on a server without the service for artifacts. */
export function separateJobMistake(server: string): Mistake {
  return {
    path: 'isolation',
    found: `separate-job hands work from job to job as artifacts of version 4, which ${server} does not have.`,
    expected: '',
    fix: 'set isolation: other-user, and use examples/ralph.yml as the workflow',
  }
}

function stackedMistake(server: string): Mistake {
  return {
    path: 'pull-request',
    found: `stacked needs GraphQL, which ${server} does not have.`,
    expected: '',
    fix: 'set pull-request: draft. Then one pull request has the whole feature',
  }
}

/** In a job: why `isolation` or `pull-request` cannot work on its server. */
export function serverMistakes({ env, settings }: Pick<RunStart, 'env' | 'settings'>): Mistake[] {
  const { name, hasArtifacts, hasGraphql } = forgeOf(env.GITHUB_API_URL ?? '')
  if (settings.surface !== 'action') return []
  return [
    ...(settings.isolation === 'separate-job' && !hasArtifacts ? [separateJobMistake(name)] : []),
    ...(settings.pullRequest === 'stacked' && !hasGraphql ? [stackedMistake(name)] : []),
  ]
}

export function checkServer(subject: Subject): CheckResult[] {
  const { env, settings } = subject
  const { ci, workspace } = requireCheckout(subject)
  const forge = forgeOf(env.GITHUB_API_URL ?? '')
  if (settings.surface === 'action') {
    const mistakes = serverMistakes(subject)
    return mistakes.length > 0 ? toFaults(mistakes) : forge.hasArtifacts ? [] : [okResult(forge.name)]
  }
  return remoteResults(workspace.clone.config.get('remote.origin.url'), ci?.settings.isolation ?? null)
}

/** On a laptop: by the host of the remote. `isolation`: of the workflow. */
export function remoteResults(remote: string | undefined, isolation: string | null): CheckResult[] {
  const other = otherHostOf(remote ?? '')
  if (other === null) return []
  const isRefused = isolation === 'separate-job' && !other.isAlias
  return isRefused ? toFaults([separateJobMistake(other.host)]) : [okResult(otherHostNote(other))]
}
