// Moves the tag of the major version (`v1`) to a release, forward only.
// node scripts/release/move-major.mjs v1.2.3
import { git, push, remoteTag } from './git.mjs'
import { output, refuse } from './refuse.mjs'

const tag = process.argv[2] ?? ''
const [, major] = /^(v\d+)\.\d+\.\d+$/.exec(tag) ?? []
if (major === undefined)
  refuse([{ path: 'the tag', found: `"${tag}"`, expected: 'vX.Y.Z', fix: 'name the release' }])
git('fetch', '--quiet', '--force', 'origin', 'refs/tags/*:refs/tags/*')
const tags = git('tag', '--list', `${major}.*`).split('\n')
if (!tags.includes(tag))
  refuse([{ path: tag, found: 'no such tag', expected: 'a release', fix: 'publish it first' }])
const commit = git('rev-parse', `${tag}^{commit}`)
const before = remoteTag(major)
const there = before === null ? [] : tags.filter((one) => isVersion(one) && commitOf(one) === commitOf(major))
const newer = there.filter((one) => one.localeCompare(tag, 'en', { numeric: true }) > 0)
if (newer.length > 0)
  refuse([
    {
      path: major,
      found: newer.join(', '),
      expected: `a release before ${tag}`,
      fix: `leave ${major} there`,
    },
  ])
if (before === null || commitOf(major) !== commit) push(commit, `refs/tags/${major}`, before ?? '')
output({ major, commit })

function isVersion(one) {
  return /^v\d+\.\d+\.\d+$/.test(one)
}

function commitOf(one) {
  return git('rev-parse', `${one}^{commit}`)
}
