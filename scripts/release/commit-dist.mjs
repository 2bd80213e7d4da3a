// Commits dist/ as a job without a token that writes has built it, onto the branch of the release pull request, whose head must still
// be the commit that was built.
// node scripts/release/commit-dist.mjs <branch>: in a checkout of that commit, with the built dist/ in place
import { git, push } from './git.mjs'
import { output, refuse } from './refuse.mjs'

const branch = process.argv[2] ?? ''
const changed = git('status', '--porcelain', '--untracked-files=all').split('\n').filter(Boolean)
refuse(
  changed
    .map((line) => line.slice(3))
    .filter((path) => !path.startsWith('dist/'))
    .map((path) => ({
      path,
      found: 'a change',
      expected: 'changes of dist/ alone',
      fix: 'look at the build',
    })),
)
const built = git('rev-parse', 'HEAD')
output({ committed: changed.length > 0 })
if (changed.length > 0) {
  git('add', '--all', '--', 'dist')
  const bot = [
    'user.name=github-actions[bot]',
    'user.email=41898282+github-actions[bot]@users.noreply.github.com',
  ]
  git(...bot.flatMap((one) => ['-c', one]), 'commit', '--quiet', '--message', 'chore: dist')
  push('HEAD', `refs/heads/${branch}`, built)
}
