// From an issue, or from documents, to a plan that people read and approve, to the stories' code: on the bundle.
import assert from 'node:assert/strict'
import test from 'node:test'
import { goodTurn, openSite, outputsOf, type Site } from './site.ts'

const PLAN = {
  description: 'People sign in with a passkey.',
  context: 'Modules lie in src/, each with a test of its own.',
  questions: ['Is a password kept as a way back?'],
  stories: [
    { id: 'US-001', title: 'one', acceptanceCriteria: ['one works', 'a test shows it'] },
    { id: 'US-002', title: 'two', acceptanceCriteria: ['two works'], dependsOn: ['US-001'], passes: true },
  ],
}
const answer = (plan: unknown) => ({ say: `Here it is.\n\`\`\`json\n${JSON.stringify(plan)}\n\`\`\`` })
const WORK = { 'US-001': [goodTurn('one', 1)], 'US-002': [goodTurn('two', 2)] }
const WISH = 'As a customer I want to sign in with a passkey, because I forget passwords.'

async function read(site: Site, feature: string, file: string): Promise<string | null> {
  const day = new Date().toISOString().slice(0, 10)
  return site.github.read(`ralph/${feature}`, `.ralph/${day}-${feature}/${file}`)
}

async function comment(site: Site, login: string, number: number, body: string): Promise<string[]> {
  const { id } = site.github.comment(login, number, body)
  await site.runner.settled()
  assert.deepEqual(site.github.violations, [], site.log())
  return site.reactions(id)
}

test('an issue with the label becomes a plan, is edited, approved and worked on, and its pull request closes it', async () => {
  await using site = await openSite({
    stories: [],
    script: { plan: [{ ...answer(PLAN), files: { 'src/sneaked.mjs': 'x', 'README.md': 'gone' } }], ...WORK },
  })
  const { number } = site.github.openIssue(
    'alice',
    'Passkeys',
    `### Feature name\n\npasskeys\n\n### What\n\n${WISH}`,
  )
  site.github.label('alice', number, 'ralph-plan')
  await site.runner.settled()
  assert.deepEqual(site.github.violations, [], site.log())
  assert.equal(outputsOf(site.last()).outcome, 'paused', site.log())
  assert.deepEqual(
    (await site.sessions()).map(({ mode }) => mode),
    ['plan'],
  )
  assert.match((await site.sessions())[0]?.prompt ?? '', /because I forget passwords/)

  // What people see: stories on the branch, nothing of the session's changes, the plan and its question on the pull request.
  const prd = JSON.parse((await read(site, 'passkeys', 'prd.json')) ?? '')
  assert.deepEqual(
    prd.userStories.map((story: { id: string; passes: boolean }) => [story.id, story.passes]),
    [
      ['US-001', false],
      ['US-002', false],
    ],
  )
  assert.match((await read(site, 'passkeys', 'prd.md')) ?? '', /US-002/)
  assert.match((await read(site, 'passkeys', 'context.md')) ?? '', /each with a test of its own/)
  assert.equal(await site.github.read('ralph/passkeys', 'src/sneaked.mjs'), null)
  assert.equal(await site.github.read('ralph/passkeys', 'README.md'), '# sample\n')
  const pull = await site.pull()
  assert.match(pull.body ?? '', new RegExp(`Closes #${number}\\b`))
  assert.match(
    pull.body ?? '',
    /A plan waits for your approval.*\n?.*begin the work with `\/ralph approve-plan [0-9a-f]{8}`/,
  )
  const shown = () => site.github.comments(pull.number)[0]?.body ?? ''
  assert.match(shown(), /The plan is waiting for approval · 2 stories/)
  assert.match(shown(), /password kept as a way back/)
  assert.match(shown(), /\/ralph approve-plan/)
  assert.match(
    site.github
      .comments(number)
      .map(({ body }) => body)
      .join(),
    /2 stories are proposed in/,
  )

  // An approval is for what was shown: an edit behind the look asks again.
  const day = new Date().toISOString().slice(0, 10)
  const path = `.ralph/${day}-passkeys/prd.json`
  const edited = { ...prd, userStories: [{ ...prd.userStories[0], title: 'one, anew' }, prd.userStories[1]] }
  await site.github.commit('ralph/passkeys', { [path]: JSON.stringify(edited) }, 'an edit', 'alice')
  const refused = await comment(site, 'mallory', pull.number, '/ralph approve-plan')
  assert.deepEqual(refused, ['github-actions[bot]: confused'])
  await comment(site, 'bob', pull.number, '/ralph approve-plan')
  assert.equal(outputsOf(site.last()).outcome, 'paused', site.log())
  assert.match(shown(), /edited after it was approved|is waiting for approval/)
  assert.equal((await site.sessions()).length, 1)

  await comment(site, 'bob', pull.number, '/ralph approve-plan')
  assert.equal(outputsOf(site.last()).outcome, 'complete', site.log())
  assert.doesNotMatch((await site.pull()).body ?? '', /approve-plan/)
  const done = JSON.parse((await read(site, 'passkeys', 'prd.json')) ?? '')
  assert.deepEqual(
    done.userStories.map((story: { title: string; passes: boolean }) => [story.title, story.passes]),
    [
      ['one, anew', true],
      ['two', true],
    ],
  )
})

const ASKED = {
  questions: [
    { text: 'What is <b>the</b> primary goal? @everybody', options: ['Fewer passwords', 'Fewer calls'] },
    { text: 'Who may sign in?', options: ['Everybody', 'Staff'] },
  ],
}

for (const separate of [false, true])
  test(`questions before the plan are one comment on the issue, and only people with write permission answer${separate ? ', in four jobs' : ''}`, async () => {
    await using site = await openSite({
      stories: [],
      script: { plan: [answer(ASKED), answer(PLAN)], ...WORK },
      separate,
      inputs: { ask: 'true' },
    })
    const { number } = site.github.openIssue('alice', 'Passkeys', WISH)
    site.github.label('alice', number, 'ralph-plan')
    await site.runner.settled()
    const told = () => site.github.comments(number).filter(({ body }) => body.includes('<!-- ralph:issue:'))
    assert.equal(told().length, 1, site.log())
    assert.match(
      told()[0]?.body ?? '',
      /1\. What is [^\n<]*primary goal[\s\S]*\*\*B\.\*\* Fewer calls[\s\S]*\/ralph plan -- 1A, 2A/,
    )
    assert.doesNotMatch(told()[0]?.body ?? '', /<b>|@everybody/)
    assert.deepEqual(await site.github.pulls(), [])
    assert.equal((await site.sessions()).length, 1)

    // The label again, and a stranger's words, are no answer.
    const again = await site.go({ feature: `#${number}` })
    assert.equal(outputsOf(again).outcome, 'paused', site.log())
    assert.deepEqual(await comment(site, 'mallory', number, '/ralph plan -- 1B, 2A'), [])
    assert.equal((await site.sessions()).length, 1, 'nobody paid for a session')

    await comment(site, 'bob', number, '/ralph plan -- 1A, 2F')
    assert.match(site.github.comments(number).at(-1)?.body ?? '', /2F: question 2 has the options A to B/)
    assert.equal((await site.sessions()).length, 1)

    await comment(site, 'bob', number, '/ralph plan -- 1A, 2B')
    const [, planned, ...more] = await site.sessions()
    assert.deepEqual(more, [])
    assert.match(
      planned?.prompt ?? '',
      /primary goal\? @everybody\n {3}Fewer passwords\n2\. Who may sign in\?\n {3}Staff/,
    )
    assert.match((await read(site, 'passkeys', 'prd.json')) ?? '', /US-002/)
    assert.equal(told().length, 1)
    assert.match(told()[0]?.body ?? '', /2 stories are proposed in/)
  })

test('a milestone becomes a feature with a story per issue, and an approved one is worked on; planned again it is the same plan', async () => {
  await using site = await openSite({
    stories: [],
    script: { 'GH-1': [goodTurn('one', 1)], 'GH-2': [goodTurn('two', 2)] },
    files: { 'TODO.md': '- [ ] One\n' },
    inputs: { 'final-verification': 'false' },
  })
  const { openIssue, milestone } = site.github
  const [first, second, other] = [
    openIssue('alice', 'One', '## Acceptance criteria\n\n- [ ] one works'),
    openIssue('mallory', 'Two', `Two works.\n\nDepends on #1`),
    openIssue('alice', 'Of no milestone', WISH),
  ]
  const number = milestone('Release 2: passkeys!', [first.number, second.number])
  const paused = await site.go({ feature: `issues:milestone=${number}` })
  assert.equal(outputsOf(paused).outcome, 'paused', site.log())
  assert.deepEqual(site.github.violations, [], site.log())
  assert.equal((await site.sessions()).length, 0)
  const name = 'release-2-passkeys'
  const prd = JSON.parse((await read(site, name, 'prd.json')) ?? '')
  assert.deepEqual(
    prd.userStories.map(({ id, dependsOn }: { id: string; dependsOn: string[] }) => [id, dependsOn]),
    [
      [`GH-${first.number}`, []],
      [`GH-${second.number}`, [`GH-${first.number}`]],
    ],
    `not ${other.number}`,
  )
  const again = await site.go({ feature: `issues:milestone=${number}` })
  assert.equal(outputsOf(again).outcome, 'paused', site.log())
  assert.equal((await site.github.pulls()).length, 1)
  await comment(site, 'bob', (await site.pull()).number, '/ralph approve-plan')
  assert.equal(outputsOf(site.last()).outcome, 'complete', site.log())
  // The stories are those of issues: no list of somebody else's is ticked for them, and none is missed.
  assert.equal(await site.github.read(`ralph/${name}`, 'TODO.md'), '- [ ] One\n')
  assert.doesNotMatch(site.log(), /could not be marked/)
})

test('a milestone that does not exist, or whose issues no person with write permission reviews, is not planned', async () => {
  await using site = await openSite({ stories: [], script: {}, inputs: { approve: 'auto' } })
  const { number } = site.github.openIssue('mallory', 'Free money', WISH)
  site.github.milestone('Later', [number])
  for (const [feature, message] of [
    ['issues:milestone=7', /milestone 7[\s\S]*use one of these milestones: 1 \(Later\)/],
    ['issues:author=me', /a milestone or a label/],
    [
      'issues:milestone=1',
      /no person reads the plan[\s\S]*people without write permission opened some of the issues: mallory/,
    ],
  ] as const) {
    const run = await site.runner.dispatch('ralph.yml', { feature }, { actor: 'alice' })
    await site.runner.settled()
    assert.equal(run.conclusion, 'failure', feature)
    assert.match(site.runner.log(run), message)
  }
  assert.deepEqual(await site.sessions(), [])
  assert.deepEqual(await site.github.pulls(), [])
})

test('documents on the base become the plan without a session, and are worked on once approved', async () => {
  const stories =
    '# Shop\n\n## Epic 1: Basket\n\n### US-001: one\n\n- [ ] one works\n\n### US-002: two\n\n- [ ] two works\n'
  await using site = await openSite({
    stories: [],
    files: { 'docs/prd.md': stories },
    script: WORK,
    inputs: { 'final-verification': 'false' },
  })
  const paused = await site.go({ feature: 'basket', command: 'plan' })
  assert.equal(outputsOf(paused).outcome, 'paused', site.log())
  assert.equal((await site.sessions()).length, 0)
  const prd = JSON.parse((await read(site, 'basket', 'prd.json')) ?? '')
  assert.deepEqual(
    prd.userStories.map(({ id, epicId }: { id: string; epicId: string }) => [id, epicId !== null]),
    [
      ['US-001', true],
      ['US-002', true],
    ],
  )
  await comment(site, 'bob', (await site.pull()).number, '/ralph approve-plan')
  assert.equal(outputsOf(site.last()).outcome, 'complete', site.log())
})

test('separate-job: the plan is made by a job without a write token, and pushed by another', async () => {
  await using site = await openSite({
    stories: [],
    script: { plan: [answer(PLAN)], ...WORK },
    separate: true,
    inputs: { approve: 'auto', 'final-verification': 'false' },
  })
  const { number } = site.github.openIssue('alice', 'Passkeys', WISH)
  assert.deepEqual(await comment(site, 'bob', number, '/ralph plan'), ['github-actions[bot]: eyes'])
  const prd = JSON.parse((await read(site, 'passkeys', 'prd.json')) ?? '{}')
  assert.equal(prd.run?.outcome, 'complete', site.log())
  const [plan, ...others] = await site.sessions()
  assert.deepEqual([plan?.mode, others.map((one) => one.story)], ['plan', ['US-001', 'US-002']])
  assert.deepEqual(
    plan?.env.filter((name) => /TOKEN|^INPUT_|^ACTIONS_/.test(name)),
    [],
  )
})

test('people without write permission cannot start a plan, neither by a label that an issue form sets nor by a comment', async () => {
  await using site = await openSite({ stories: [], script: {} })
  const { number } = site.github.openIssue('mallory', 'Free money', WISH, ['ralph-plan'])
  await site.runner.settled()
  assert.deepEqual(await comment(site, 'mallory', number, '/ralph plan'), [])
  assert.deepEqual(await site.github.pulls(), [])
  assert.deepEqual(await site.sessions(), [])
  assert.match(site.log(), /mallory has no write permission/)
})

test('a plan that cannot be made now is answered on the issue: while a job works on it, and when it is closed', async () => {
  await using site = await openSite({ stories: [], script: {}, inputs: { 'final-verification': 'false' } })
  const work = site.hold('work')
  await site.setScript({ plan: [answer(PLAN), { ...answer(PLAN), shell: work.shell }] })
  const { number } = site.github.openIssue('alice', 'Passkeys', WISH)
  const told = () => site.github.comments(number).map(({ body }) => body)
  site.github.label('alice', number, 'ralph-plan')
  await site.runner.settled()
  site.github.comment('bob', (await site.pull()).number, '/ralph plan -- smaller')
  const working = await site.runner.when((run) => site.runner.log(run).includes('at work'))
  site.github.comment('bob', number, '/ralph plan -- without passwords')
  const others = () => site.runner.runs.filter(({ id }) => id > working.id)
  // The run of the comment, and the job that it starts.
  await site.runner.when(() => others().length === 2 && others().every((run) => run.status === 'completed'))
  assert.match(told().join('\n'), /is working on this now[\s\S]*when it has ended/, site.log())
  await work.release()
  await site.runner.settled()
  assert.equal(outputsOf(working).outcome, 'paused', site.log())

  const { number: closed } = site.github.openIssue('alice', 'Passwords', WISH)
  site.github.closePull(closed)
  await comment(site, 'bob', closed, '/ralph plan')
  assert.equal(site.last().conclusion, 'failure')
  assert.match(site.github.comments(closed).at(-1)?.body ?? '', /this issue is closed\.[\s\S]*reopen it/)
})
