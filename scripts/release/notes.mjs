// Prints what CHANGELOG.md says of the version in package.json: the text of its release.
// node scripts/release/notes.mjs
import { readFileSync } from 'node:fs'
import { refuse } from './refuse.mjs'
import { versionsIn } from './versions.mjs'

const { version, mistakes } = versionsIn('.')
refuse(mistakes)
// The newest version comes first: its section ends where the next one begins.
const [, newest = ''] = readFileSync('CHANGELOG.md', 'utf8').split(/^## /m)
const [, ...lines] = newest.split('\n')
const text = lines.join('\n').trim()
if (text === '')
  refuse([
    { path: 'CHANGELOG.md', found: `nothing about ${version}`, expected: 'what changed', fix: 'write it' },
  ])
process.stdout.write(`${text}\n`)
