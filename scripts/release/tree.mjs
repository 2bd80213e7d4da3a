// Refuses to release what git has not: a change in the work tree (dist/ among them, when it has been built anew), a commit that is
// not on main, a version that is out already.
// node scripts/release/tree.mjs
import { git, remoteTag } from './git.mjs'
import { refuse } from './refuse.mjs'
import { versionsIn } from './versions.mjs'

const { version, mistakes } = versionsIn('.')
refuse(mistakes)
const tag = `v${version}`
const changed = git('status', '--porcelain', '--untracked-files=all').split('\n').filter(Boolean)
refuse([
  ...changed.map((line) => ({
    path: line.slice(3),
    found: line.startsWith('??') ? 'a file that git has not' : 'a change that is not committed',
    expected: 'the tree as it is committed',
    fix: line.includes(' dist/') ? 'npm run build, and commit dist/' : 'commit it, or take it away',
  })),
  ...notOnMain(),
  ...releasedElsewhere(),
])

function notOnMain() {
  const head = git('rev-parse', 'HEAD')
  const contains = git('branch', '--remotes', '--format=%(refname)', '--contains', head).split('\n')
  if (contains.includes('refs/remotes/origin/main')) return []
  return [
    { path: head, found: 'a commit that is not on main', expected: 'a commit of main', fix: 'merge it' },
  ]
}

/** A release is immutable: its tag stays where it is, and a newer one mends what is wrong. */
function releasedElsewhere() {
  const there = remoteTag(tag)
  if (there === null) return []
  const found = `${tag} at ${there}`
  return [{ path: tag, found, expected: 'no such release yet', fix: 'merge the next release pull request' }]
}
