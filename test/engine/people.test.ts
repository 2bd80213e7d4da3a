// People on the branch while Ralph works: their commits, their edits of prd.json, what they do to branch and state.
import assert from 'node:assert/strict'
import test from 'node:test'
import { serializePrd } from '../../src/engine/prd/serialize.ts'
import { renderPrdMarkdown } from '../../src/plan/render-prd-md.ts'
import { toPlainText } from '../../src/report/sentence.ts'
import { viewOf } from '../../src/report/view.ts'
import { BRANCH, Chain, type ChainOptions, goodTurn, PRD, type Script, STATE_REF, story } from './chain.ts'

const STORIES = [story('US-001', 'one'), story('US-002', 'two', { priority: 2 })]
const SCRIPT = { 'US-001': [goodTurn('one')], 'US-002': [goodTurn('two')] }

/** A chain in whose first session of a story people do something. */
async function meanwhile(
  id: string,
  act: (chain: Chain) => Promise<unknown>,
  options: Partial<ChainOptions> = {},
): Promise<Chain> {
  const script: Script = options.script ?? SCRIPT
  const [first = {}, ...later] = script[id] ?? []
  const turns = [{ ...first, meanwhile: act }, ...(later.length > 0 ? later : [first])]
  const chain = await Chain.open({ stories: STORIES, ...options, script: { ...script, [id]: turns } })
  await chain.go()
  return chain
}

/** What holds whatever people did. */
async function sound(chain: Chain): Promise<void> {
  const state = await chain.state()
  assert.equal(state.lease, null)
  assert.equal(await chain.bare.ask(['fsck', '--no-dangling']), '')
}

async function completed(chain: Chain): Promise<void> {
  await sound(chain)
  assert.deepEqual(chain.conclusions.at(-1)?.outcome, 'complete', chain.notes.join('\n'))
  for (const one of (await chain.prd()).userStories) assert.ok(one.passes || one.skipped, one.id)
}

async function holds(chain: Chain, commit: string): Promise<void> {
  assert.ok(await chain.bare.isAncestor(commit, await chain.head()), `${commit} is no longer on the branch`)
}

const worked = (chain: Chain) => chain.sessions.filter((one) => one.mode === 'run').map((one) => one.story)

test('people push code while a session works: their commit is merged, gated with the story, and nothing is lost', async () => {
  let theirs = ''
  await using chain = await meanwhile('US-001', async (there) => {
    theirs = await there.commit(BRANCH, { 'src/three': 'three\n' })
  })
  await completed(chain)
  await holds(chain, theirs)
  for (const name of ['one', 'two', 'three']) assert.notEqual(await chain.read(BRANCH, `src/${name}`), null)
  assert.deepEqual(worked(chain), ['US-001', 'US-002'])
})

test('people add, remove, reword and reorder stories in prd.json while another story is in work: the run follows', async () => {
  const stories = [
    ...STORIES,
    story('US-003', 'three', { priority: 3 }),
    story('US-004', 'four', { priority: 4 }),
  ]
  const script = { ...SCRIPT, 'US-004': [goodTurn('four')], 'US-005': [goodTurn('five')] }
  await using chain = await meanwhile(
    'US-001',
    (there) =>
      there.edit((prd) => {
        prd.userStories = prd.userStories
          .filter((one) => one.id !== 'US-003')
          .map((one) => (one.id === 'US-004' ? { ...one, priority: 1 } : one))
        Object.assign(prd.userStories, [
          ...prd.userStories,
          story('US-005', 'five', { passes: true, priority: 9 }),
        ])
      }),
    { stories, script },
  )
  await completed(chain)
  assert.deepEqual(
    worked(chain),
    ['US-001', 'US-004', 'US-002', 'US-005'],
    'a claim to have passed is not believed',
  )
  assert.deepEqual(
    (await chain.prd()).userStories.map((one) => one.id),
    ['US-001', 'US-002', 'US-004', 'US-005'],
  )
})

test('new criteria for a passed story and for the one in work: both are worked on again', async () => {
  await using chain = await meanwhile(
    'US-002',
    (there) =>
      there.edit((prd) => {
        for (const one of prd.userStories) Object.assign(one, { acceptanceCriteria: ['it is quick, too'] })
      }),
    {
      inputs: { publish: 'story' },
      script: {
        'US-001': [goodTurn('one'), goodTurn('fast')],
        'US-002': [goodTurn('two'), goodTurn('quick')],
      },
    },
  )
  await completed(chain)
  assert.deepEqual(worked(chain).toSorted(), ['US-001', 'US-001', 'US-002', 'US-002'])
})

test('people remove the story in work from prd.json: its session ends, and the chain goes on with the rest', async () => {
  await using chain = await meanwhile('US-001', (there) =>
    there.edit((prd) => {
      prd.userStories = prd.userStories.filter((one) => one.id !== 'US-001')
    }),
  )
  await completed(chain)
  assert.deepEqual(
    (await chain.prd()).userStories.map((one) => one.id),
    ['US-002'],
  )
})

test('`/ralph add` while people push: the added story is worked on, too', async () => {
  await using chain = await meanwhile(
    'US-001',
    async (there) => {
      await there.commit(BRANCH, { 'NOTES.md': 'by hand\n' }, 'notes')
      there.say('/ralph add -- three\n- three works')
    },
    { script: { ...SCRIPT, 'US-003': [goodTurn('three')] } },
  )
  await completed(chain)
  assert.deepEqual(worked(chain), ['US-001', 'US-002', 'US-003'])
})

test('people push an invalid prd.json: it is reported, and the run goes on with the stories of its state', async () => {
  await using chain = await meanwhile('US-001', (there) =>
    there.commit(BRANCH, { [PRD]: '{ "userStories": [' }),
  )
  await completed(chain)
  assert.match(chain.notes.join('\n'), /has a mistake at .*, so Ralph continues with its own/)
})

test('people push a commit that conflicts with the story in work: the story is worked on again, and its prompt names the conflict', async () => {
  let theirs = ''
  await using chain = await meanwhile(
    'US-001',
    async (there) => {
      theirs = await there.commit(BRANCH, { 'src/base': 'theirs\n' })
    },
    {
      script: {
        'US-001': [{ files: { 'src/base': 'ours\n' } }, { files: { 'src/base': 'both\n' } }],
        'US-002': [goodTurn('two')],
      },
    },
  )
  await completed(chain)
  await holds(chain, theirs)
  assert.equal(await chain.read(BRANCH, 'src/base'), 'both\n')
  assert.equal(worked(chain).filter((id) => id === 'US-001').length, 2)
})

test('people push a commit that fails the gates: the run pauses with the reason, keeps both sides, and goes on once it is fixed', async () => {
  await using chain = await meanwhile('US-001', (there) =>
    there.commit(BRANCH, { 'src/three': 'RED\n' }, 'red'),
  )
  await sound(chain)
  assert.equal(chain.conclusions.at(-1)?.outcome, 'paused')
  assert.match(
    chain.conclusions.at(-1)?.reason ?? '',
    /gate test failed \(exit 1\) on [0-9a-f]{7}, which people pushed/,
  )
  await chain.commit(BRANCH, { 'src/three': null }, 'green again')
  chain.say('/ralph run')
  await chain.go()
  await completed(chain)
  assert.equal(
    worked(chain).filter((id) => id === 'US-001').length,
    1,
    'what had passed was not worked again',
  )
})

test('people push while a gate is red because of an earlier story: that story is worked on again, and the run is not paused', async () => {
  let theirs = ''
  await using chain = await meanwhile(
    'US-003',
    async (there) => {
      theirs = await there.commit(BRANCH, { 'src/four': 'four\n' })
    },
    {
      stories: [story('US-001', 'one', { tags: ['ui'] }), story('US-002', 'two'), story('US-003', 'three')],
      files: { 'src/page': 'fine\n' },
      inputs: { gates: 'test: "true"\nui: { run: "! grep -q broken src/page", when: ui }' },
      script: {
        'US-001': [goodTurn('one')],
        // It asks for no ui gate, and breaks what that one looks at.
        'US-002': [{ files: { 'src/page': 'broken\n' } }, { files: { 'src/page': 'mended\n' } }],
        'US-003': [goodTurn('three')],
      },
    },
  )
  await completed(chain)
  await holds(chain, theirs)
  const { timeline } = await chain.state()
  assert.deepEqual(
    timeline
      .filter(({ result }) => result === 'reset')
      .map(({ storyId, summary }) => `${storyId} ${summary}`),
    ['US-002 gate ui failed (exit 1) in the final verification, but passed before this story'],
  )
})

test('people delete the branch: the run pauses and does not recreate it; once it is restored the chain goes on', async () => {
  let before = ''
  await using chain = await meanwhile('US-001', async (there) => {
    before = await there.head()
    await there.move(null)
  })
  await sound(chain)
  assert.match(chain.conclusions.at(-1)?.reason ?? '', /^someone deleted /)
  assert.equal((await chain.go()).outcome, 'paused', 'a second press of the button changes nothing')
  assert.equal(await chain.head(), '')
  await chain.move(before)
  assert.equal((await chain.go()).outcome, 'complete')
  assert.deepEqual(worked(chain), ['US-001', 'US-002'], 'what had passed was not worked again')
})

test('people delete the branch and comment `/ralph run`: it is recreated with every story that had passed', async () => {
  await using chain = await meanwhile('US-002', (there) => there.move(null))
  assert.equal(chain.conclusions.at(-1)?.outcome, 'paused')
  chain.say('/ralph run')
  await chain.go()
  await completed(chain)
  assert.deepEqual(worked(chain), ['US-001', 'US-002'], 'what had passed was not worked again')
  for (const name of ['one', 'two']) assert.notEqual(await chain.read(BRANCH, `src/${name}`), null)
})

test('people force-push the branch: the run pauses and keeps their history; once it is put back the chain goes on', async () => {
  let [before, theirs] = ['', '']
  await using chain = await meanwhile('US-001', async (there) => {
    before = await there.head()
    theirs = await there.rewrite()
  })
  await sound(chain)
  assert.equal(chain.conclusions.at(-1)?.outcome, 'paused')
  assert.match((await chain.state()).control.paused?.reason ?? '', /^someone rewrote the history of /)
  assert.equal((await chain.go()).outcome, 'paused')
  assert.equal(await chain.head(), theirs)
  await chain.move(before)
  await chain.go()
  await completed(chain)
  assert.deepEqual(worked(chain), ['US-001', 'US-002'])
})

test('people force-push the branch and comment `/ralph run`: their history is gated, and the chain completes on it', async () => {
  let theirs = ''
  await using chain = await meanwhile('US-002', async (there) => {
    theirs = await there.rewrite()
  })
  assert.equal(chain.conclusions.at(-1)?.outcome, 'paused')
  chain.say('/ralph run')
  await chain.go()
  await completed(chain)
  await holds(chain, theirs)
})

test('the base gets new commits and another prd.json: they are not merged, and a notice says that prd.json differs', async () => {
  let base = ''
  await using chain = await meanwhile(
    'US-001',
    async (there) => {
      await there.commit('main', { 'src/new': 'new\n' }, 'meanwhile', 'bob')
      base = await there.edit(
        (prd) => Object.assign(prd.userStories, [...prd.userStories, story('US-009', 'nine')]),
        'main',
      )
    },
    { inputs: { 'iterations-per-job': '1' } },
  )
  await completed(chain)
  assert.ok(!(await chain.bare.isAncestor(base, await chain.head())))
  assert.deepEqual(worked(chain), ['US-001', 'US-002'])
  assert.match(chain.notes.join('\n'), /prd\.json changed on main after the run began/)
})

test('an edit of prd.md without prd.json is reported once, naming prd.json; an edit of both alike is not reported', async () => {
  const page = PRD.replace('.json', '.md')
  const facts = {
    repositoryUrl: 'https://github.com/acme/shop',
    runUrl: null,
    limits: null,
    now: 0,
    notes: [],
  }
  // That this judge names no evidence is told as well.
  const told = async (chain: Chain) =>
    viewOf(await chain.state(), facts).notes.filter(
      (note) => !/without citing evidence/.test(toPlainText(note)),
    )
  const inputs = { 'iterations-per-job': '1' }
  const words =
    /^\.ralph\/2026-01-31-sample\/prd\.md was edited, but a run reads only .*prd\.json\. Edit the stories there, on ralph\/sample$/
  await using chain = await meanwhile(
    'US-001',
    async (there) => {
      await there.commit(BRANCH, { [page]: '# Demo\n\n### US-003: three\n' })
    },
    { inputs },
  )
  await completed(chain)
  assert.equal((await chain.prd()).userStories.length, 2)
  const [note, ...more] = await told(chain)
  const [, text] = note ?? []
  assert.ok(typeof text === 'object' && 'text' in text && more.length === 0)
  assert.match(text.text, words)
  // Who then edits prd.json has understood.
  await chain.edit((prd) => Object.assign(prd.userStories[1] ?? {}, { title: 'second' }))
  chain.say('/ralph verify')
  await chain.go()
  assert.deepEqual(await told(chain), [])
  const prd = { ...(await chain.prd()), description: 'by hand' }
  await chain.commit(BRANCH, { [PRD]: serializePrd(prd), [page]: renderPrdMarkdown(prd) })
  chain.say('/ralph verify')
  await chain.go()
  assert.deepEqual(await told(chain), [])
})

test('people push during the final verification: their commit is merged and verified again, nothing is lost', async () => {
  let theirs = ''
  const judging = async (there: Chain) => {
    theirs = await there.commit(BRANCH, { 'src/three': 'three\n' })
  }
  await using chain = await Chain.open({
    stories: STORIES,
    script: { ...SCRIPT, verify: [{ meanwhile: judging }, {}] },
    inputs: { 'final-verification': 'true' },
  })
  await chain.go()
  await completed(chain)
  await holds(chain, theirs)
  const verified = chain.sessions.filter((one) => one.mode === 'verify')
  assert.equal(verified.length, 2, 'what was approved is not what stands on the branch')
})

test('people revert the commit of a story: the story is not made again without a command', async () => {
  await using chain = await meanwhile(
    'US-002',
    (there) => there.commit(BRANCH, { 'src/one': null }, 'Revert one'),
    {
      inputs: { publish: 'story' },
    },
  )
  await completed(chain)
  assert.equal(await chain.read(BRANCH, 'src/one'), null)
  assert.notEqual(await chain.read(BRANCH, 'src/two'), null)
})

test("people remove the feature's folder from the branch: the run writes it again from its state", async () => {
  await using chain = await meanwhile('US-001', (there) => there.commit(BRANCH, { [PRD]: null }, 'tidy up'))
  await completed(chain)
  assert.deepEqual(worked(chain), ['US-001', 'US-002'])
})

test('the state is deleted while a job works: the job pushes nothing more, and the next one rebuilds the state from the branch', async () => {
  await using chain = await Chain.open({
    stories: STORIES,
    script: {
      'US-001': [goodTurn('one')],
      'US-002': [
        { ...goodTurn('two'), meanwhile: (there) => there.bare.run(['update-ref', '-d', STATE_REF]) },
        goodTurn('two'),
      ],
    },
    inputs: { 'iterations-per-job': '1' },
  })
  await assert.rejects(chain.go(), /another run has taken over this feature/)
  assert.equal(await chain.bare.resolve(STATE_REF), null)
  const before = await chain.head()
  await chain.go()
  await completed(chain)
  await holds(chain, before)
  assert.match(
    chain.notes.join('\n'),
    /the state of sample was lost, so the run continues from ralph\/sample/,
  )
  assert.deepEqual(worked(chain), ['US-001', 'US-002', 'US-002'])
})

test('the state is deleted and branchName is a custom name: the branch is recognised by the commits of the run', async () => {
  const named = { schemaVersion: 2, project: 'Sample', branchName: 'work/sample', userStories: STORIES }
  await using chain = await Chain.open({
    stories: STORIES,
    script: SCRIPT,
    inputs: { 'iterations-per-job': '1', redispatch: 'false' },
    files: { [PRD]: JSON.stringify(named) },
  })
  assert.equal((await chain.go()).outcome, 'continued')
  await chain.bare.run(['update-ref', '-d', STATE_REF])
  const before = await chain.head('work/sample')
  assert.equal((await chain.go()).outcome, 'complete')
  assert.match(chain.notes.join('\n'), /the state of sample was lost, so the run continues from work\/sample/)
  assert.ok(await chain.bare.isAncestor(before, await chain.head('work/sample')))
  assert.deepEqual(worked(chain), ['US-001', 'US-002'])
})

test('a branch that people made before the first run, with prd.json only, is used', async () => {
  await using chain = await Chain.open({ stories: STORIES, script: SCRIPT })
  await chain.move(await chain.head('main'))
  await chain.commit(BRANCH, { 'notes.md': 'mine\n' }, 'Stories')
  await chain.go()
  await completed(chain)
  assert.notEqual(await chain.read(BRANCH, 'notes.md'), null)
})
