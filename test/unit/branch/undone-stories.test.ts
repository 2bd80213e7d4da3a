// A later story that removes what an earlier one added: found by the files, named by the story.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { undoneStories } from '../../../src/branch/undone-stories.ts'
import { CatFile } from '../../../src/git/cat-file.ts'
import { place } from '../git/place.ts'

const commit = (subject: string) => `git add -A; git commit -q -m '${subject}'`

/** The base, US-001 (a new and a changed file), US-002 (changes one of them again), then the candidate. */
async function undoneAfter(candidate: string) {
  using at = await place(
    'sha1',
    [
      `echo base > old.txt; ${commit('base')}`,
      `echo one > new.txt; echo one >> old.txt; ${commit('US-001')}`,
      `echo two >> old.txt; echo two > two.txt; ${commit('US-002')}`,
      `${candidate}; ${commit('candidate')}`,
    ].join('\n'),
  )
  const [first = '', second = '', last = ''] = at.shell('git rev-parse HEAD~2 HEAD~1 HEAD').trim().split('\n')
  using objects = new CatFile(at.git)
  return await undoneStories(objects, {
    green: second,
    candidate: last,
    history: [
      { commit: first, storyId: 'US-001' },
      { commit: second, storyId: 'US-002' },
    ],
    isRalphPath: (path) => path.startsWith('.ralph/'),
  })
}

test('a reset to the fork point leaves nothing of all earlier stories', async () => {
  const reset = 'git rm -q new.txt two.txt; echo base > old.txt; echo three > three.txt'
  assert.deepEqual(await undoneAfter(reset), [
    { storyId: 'US-001', paths: ['new.txt', 'old.txt'], isAll: true },
    { storyId: 'US-002', paths: ['old.txt', 'two.txt'], isAll: true },
  ])
})

test('a deleted file of an earlier story is a part of it', async () => {
  assert.deepEqual(await undoneAfter('git rm -q new.txt; echo three > three.txt'), [
    { storyId: 'US-001', paths: ['new.txt'], isAll: false },
  ])
})

test('undoing only the later of two stories leaves the earlier one', async () => {
  assert.deepEqual(await undoneAfter('git rm -q two.txt; printf "base\\none\\n" > old.txt'), [
    { storyId: 'US-002', paths: ['old.txt', 'two.txt'], isAll: true },
  ])
})

test('code that is changed further, or a file that is added, undoes nothing', async () => {
  assert.deepEqual(await undoneAfter('echo three >> old.txt; echo three > three.txt'), [])
})
