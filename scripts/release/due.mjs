// Whether this checkout is a version that is to be released: outputs `version`, `tag`, `released` and `due`.
// node scripts/release/due.mjs [event]: the first release, which has none before it, is due where a person dispatched the workflow
import { git } from './git.mjs'
import { output, refuse } from './refuse.mjs'
import { versionsIn } from './versions.mjs'

const { version, mistakes } = versionsIn('.')
refuse(mistakes)
const tag = `v${version}`
const tags = git('ls-remote', '--tags', 'origin', 'v*')
  .split('\n')
  .map((line) => line.split('\t')[1])
const released = tags.includes(`refs/tags/${tag}`)
const isFirst = !tags.some((name) => /^refs\/tags\/v\d+\.\d+\.\d+$/.test(name ?? ''))
output({ version, tag, released, due: !released && (!isFirst || process.argv[2] === 'workflow_dispatch') })
