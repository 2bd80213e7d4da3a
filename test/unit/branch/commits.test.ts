// Files that Ralph writes into a tree: their bytes change, and nothing else of them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Commits } from '../../../src/branch/commits.ts'
import { place } from '../git/place.ts'

test('file modes in commits: an executable stays executable, a new file is not, and a link is no program', async () => {
  using at = await place(
    'sha1',
    'echo a > run.md; chmod +x run.md; echo b > plain.md; ln -s run.md link.md; git add -A; git commit -q -m files',
  )
  const options = {
    redact: (text: string) => text,
    identity: { name: 'a', email: 'a@b' },
    sign: null,
    stateCommits: true,
    stateSubject: null,
    onOutcome: () => [],
    warn: assert.fail,
  }
  const commits = new Commits(at.git, at.objects, options)
  const root = (await at.objects.root(at.shell('git rev-parse HEAD').trim())) ?? ''
  const files = ['run.md', 'plain.md', 'link.md', 'docs/new.md'].map((path): [string, string] => [path, 'x'])
  const tree = await commits.withFiles(root, new Map(files))
  assert.deepEqual(
    (await at.our(['ls-tree', '-r', tree])).split('\n').map((line) => line.replace(/ .*\t/, ' ')),
    ['100644 docs/new.md', '100644 link.md', '100644 plain.md', '100755 run.md'],
  )
})
