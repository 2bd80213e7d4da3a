// What people's commands do: each once, each what the table of design 4 says.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { applyCommand } from '../../../src/engine/commands/apply-commands.ts'
import { parseSlash } from '../../../src/engine/commands/command-table.ts'
import type { Command } from '../../../src/engine/model/event.ts'
import type { State } from '../../../src/engine/model/state.ts'
import { parsePrd } from '../../../src/engine/prd/parse.ts'
import { newStory } from '../../../src/engine/prd/schema.ts'
import { emptyRecord } from '../../../src/engine/state/state-updates.ts'
import { prdFile } from '../../../src/report/feature-files.ts'
import { storiesOf } from '../../../src/report/stories.ts'
import { whyOf } from '../../../src/report/why.ts'
import { anyText, runs } from '../runs.ts'
import { frozen, NOW, stateOf, stories, storyOf } from './samples.ts'

const by = { id: 7, by: 'ann' }

/** US-001 passed, US-002 is blocked, US-003 is open and has failed once, US-004 was skipped; nobody pauses. */
function midway(changes: Partial<State['control']> = {}): State {
  const [one, two, three, four] = stories('US-001', 'US-002', 'US-003', 'US-004')
  assert.ok(one && two && three && four)
  const lastResult = { completedAt: null, commit: 'abc1234', summary: 's' }
  const state = stateOf([
    { ...one, passes: true, retries: 1, lastResult },
    { ...two, blocked: true, retries: 3, notes: 'blocked after 3 failed attempts' },
    { ...three, retries: 1 },
    { ...four, skipped: true },
  ])
  return frozen({
    ...state,
    verification: { approved: true, asked: false, sessions: 0, message: 'm' },
    control: { ...state.control, lastComment: 3, idleJobs: 2, ...changes },
  })
}

const paused = { paused: { reason: 'paused by bob', by: 'bob' }, notBefore: NOW }

describe('the command', () => {
  test('run ends a pause, a wait and the count of idle jobs', () => {
    const { control, verification } = applyCommand(midway(paused), { ...by, kind: 'run' })
    assert.deepEqual([control.paused, control.notBefore, control.idleJobs], [null, null, 0])
    assert.equal(verification.approved, true, 'an approval stays')
  })

  for (const [kind, reason] of [
    ['pause', 'paused by ann'],
    ['stop', 'stopped by ann'],
  ] as const) {
    test(`${kind} pauses the run, with the person as its reason`, () => {
      assert.deepEqual(applyCommand(midway(), { ...by, kind }).control.paused, { reason, by: 'ann' })
    })
  }

  test('retry unblocks, resets attempts, and puts its hint into the next prompt', () => {
    const state = applyCommand(midway(), {
      ...by,
      kind: 'retry',
      stories: ['US-002'],
      guidance: 'use bcrypt',
    })
    const story = storyOf(state, 'US-002')
    assert.deepEqual([story.blocked, story.retries, story.passes], [false, 0, false])
    assert.deepEqual(state.control.guidance, { 'US-002': ['use bcrypt'] })
  })

  test('retry of a passed story leaves it passed', () => {
    const state = applyCommand(midway(), { ...by, kind: 'retry', stories: ['US-001'], guidance: '' })
    assert.deepEqual(storyOf(state, 'US-001'), storyOf(midway(), 'US-001'))
    assert.equal(state.verification.approved, true)
  })

  test('retry all unblocks blocked stories only', () => {
    const state = applyCommand(midway(), { ...by, kind: 'retry', stories: 'all', guidance: 'all of you' })
    assert.deepEqual(Object.keys(state.control.guidance), ['US-002'])
    assert.equal(storyOf(state, 'US-002').blocked, false)
    assert.equal(storyOf(state, 'US-003').retries, 1)
  })

  test('redo works on a passed story again, and clears the verification', () => {
    const state = applyCommand(midway(), { ...by, kind: 'redo', stories: ['US-001'], guidance: 'too slow' })
    const story = storyOf(state, 'US-001')
    assert.deepEqual([story.passes, story.retries, story.lastResult], [false, 0, null])
    assert.equal(state.verification.approved, false)
    assert.deepEqual(state.control.guidance['US-001'], ['too slow'])
    const all = applyCommand(midway(), { ...by, kind: 'redo', stories: 'all', guidance: '' })
    assert.deepEqual(
      all.prd.userStories.map(({ passes }) => passes),
      [false, false, false, false],
    )
    assert.equal(storyOf(all, 'US-004').skipped, true, 'what was skipped stays skipped')
  })

  test('skip satisfies dependents and counts as neither passed nor blocked; a passed story stays passed', () => {
    const state = applyCommand(midway(), { ...by, kind: 'skip', stories: ['US-001', 'US-002'], guidance: '' })
    assert.deepEqual([storyOf(state, 'US-001').passes, storyOf(state, 'US-001').skipped], [true, false])
    assert.deepEqual([storyOf(state, 'US-002').blocked, storyOf(state, 'US-002').skipped], [false, true])
  })

  test('note adds guidance only', () => {
    const before = midway(paused)
    const state = applyCommand(before, {
      ...by,
      kind: 'note',
      stories: ['US-003'],
      guidance: 'mind the cache',
    })
    assert.deepEqual(state.control, {
      ...before.control,
      lastComment: 7,
      guidance: { 'US-003': ['mind the cache'] },
    })
    assert.deepEqual(state.prd, before.prd)
    assert.deepEqual(state.verification, before.verification)
  })

  test('note keeps the newest ten of a story', () => {
    let state = midway()
    for (let id = 10; id < 40; id += 1)
      state = applyCommand(state, {
        id,
        by: 'ann',
        kind: 'note',
        stories: ['US-003'],
        guidance: `note ${id}`,
      })
    assert.equal(state.control.guidance['US-003']?.length, 10)
    assert.equal(state.control.guidance['US-003']?.at(-1), 'note 39')
  })

  test('add makes a story with the next number, after the others', () => {
    const command: Command = {
      ...by,
      kind: 'add',
      title: 'Sign out',
      description: 'everywhere',
      criteria: ['the session ends'],
    }
    const state = applyCommand(midway(), command)
    const story = state.prd.userStories.at(-1)
    assert.deepEqual(
      [story?.id, story?.title, story?.description, story?.acceptanceCriteria, story?.passes],
      ['US-005', 'Sign out', 'everywhere', ['the session ends'], false],
    )
    assert.equal(state.verification.approved, false)
    assert.deepEqual(
      applyCommand(midway(), { ...command, criteria: [] }).prd.userStories.at(-1)?.acceptanceCriteria,
      ['Sign out'],
    )
  })

  test('verify clears the approval', () => {
    const { verification } = applyCommand(midway(), { ...by, kind: 'verify' })
    assert.deepEqual([verification.approved, verification.sessions], [false, 0])
  })

  test('limit raises iterations and cost, on top of what was granted before', () => {
    const granted = { iterations: 5, costUsd: 1 }
    const more = applyCommand(midway({ granted }), { ...by, kind: 'limit', what: 'iterations', amount: 20 })
    assert.deepEqual(more.control.granted, { iterations: 25, costUsd: 1 })
    const cost = applyCommand(midway({ granted }), { ...by, kind: 'limit', what: 'cost', amount: 0.5 })
    assert.deepEqual(cost.control.granted, { iterations: 5, costUsd: 1.5 })
  })

  const unpausing: Command[] = [
    { ...by, kind: 'add', title: 'one more', description: '', criteria: [] },
    { ...by, kind: 'skip', stories: ['US-003'], guidance: '' },
    { ...by, kind: 'limit', what: 'iterations', amount: 20 },
  ]
  for (const command of unpausing) {
    test(`${command.kind} does not end a pause by a person, which only \`run\` does`, () => {
      assert.deepEqual(applyCommand(midway(paused), command).control.paused, paused.paused)
    })
  }

  test('that is refused marks its comment as read, and changes nothing else', () => {
    const before = midway()
    const after = applyCommand(before, { ...by, kind: 'refused' })
    assert.deepEqual(after, { ...before, control: { ...before.control, lastComment: 7 } })
  })

  test('for an unknown story changes nothing', () => {
    for (const kind of ['retry', 'redo', 'skip', 'note'] as const) {
      const after = applyCommand(midway(), { ...by, kind, stories: ['US-404'], guidance: 'g' })
      assert.deepEqual(after.prd, midway().prd)
      assert.deepEqual(after.control.guidance, {})
    }
  })
})

describe('comment ids', () => {
  const arbitraryCommand: fc.Arbitrary<Command> = fc
    .tuple(
      fc.nat(12),
      fc.constantFrom('run', 'pause', 'retry', 'redo', 'skip', 'note', 'add', 'limit', 'refused'),
    )
    .map(([id, kind]): Command => {
      const said = { id: id + 1, by: 'ann' }
      switch (kind) {
        case 'retry':
        case 'redo':
        case 'note':
        case 'skip':
          return { ...said, kind, stories: ['US-002'], guidance: `hint ${id}` }
        case 'add':
          return { ...said, kind, title: `title ${id}`, description: '', criteria: [] }
        case 'limit':
          return { ...said, kind, what: 'iterations', amount: id + 1 }
        default:
          return { ...said, kind: kind === 'pause' || kind === 'refused' ? kind : 'run' }
      }
    })

  test('a comment is never applied twice, and the last id never decreases', () => {
    const property = fc.property(fc.array(arbitraryCommand, { maxLength: 20 }), (commands) => {
      let state = midway({ lastComment: 0 })
      for (const command of commands) {
        const next = frozen(applyCommand(state, command))
        if (command.id <= state.control.lastComment) assert.equal(next, state)
        else assert.equal(next.control.lastComment, command.id)
        assert.equal(applyCommand(next, command), next)
        state = next
      }
    })
    fc.assert(property)
  })

  test('a command of the CLI (id 0) always applies, and leaves the last id', () => {
    const raise: Command = { id: 0, by: 'you', kind: 'limit', what: 'iterations', amount: 2 }
    const state = applyCommand(applyCommand(midway(), raise), raise)
    assert.deepEqual([state.control.granted.iterations, state.control.lastComment], [4, 3])
  })
})

describe('a story of `add` can be read back', () => {
  const readsBack = (state: State) => {
    const parsed = parsePrd(
      prdFile(state, (text) => text),
      'prd.json',
    )
    assert.ok(parsed.ok, JSON.stringify(parsed))
    assert.deepEqual(
      parsed.prd.userStories.map(({ id }) => id),
      state.prd.userStories.map(({ id }) => id),
    )
  }

  test('with any text', () => {
    const words = anyText({ maxLength: 300 })
    const property = fc.property(
      words,
      fc.array(fc.tuple(fc.constantFrom('', '- ', '- [ ] '), words)),
      (title, below) => {
        const body = [`/ralph add -- ${title}`, ...below.map(([start, text]) => start + text)].join('\n')
        const parsed = parseSlash(body, [])
        if (parsed.kind !== 'command') return
        readsBack(applyCommand(midway(), { ...by, ...parsed.command }))
      },
    )
    fc.assert(property, runs(60))
  })

  for (const ids of [
    ['A-1', 'B'],
    ['US-9'],
    ['US-099', 'US-0100'],
    ['us-001'],
    ['US-99999999999999999999', 'US-100000000000000000000'],
  ]) {
    test(`with ids ${ids.join(', ')}: its id is new and valid`, () => {
      const start = stateOf(ids.map((id) => newStory({ id, title: id })))
      const state = applyCommand(start, { ...by, kind: 'add', title: 'new', description: '', criteria: [] })
      const folded = state.prd.userStories.map(({ id }) => id.toLowerCase())
      assert.equal(
        new Set(folded).size,
        ids.length + 1,
        `comments do not tell upper from lower case: ${folded}`,
      )
      readsBack(state)
    })
  }
})

describe("Ralph's note on a story is current", () => {
  const noted = (): State => {
    const state = midway()
    const note = 'blocked after 3 failed attempts: the mail is missing'
    const failure = { kind: 'gates' as const, summary: 'the mail is missing', detail: '' }
    const record = { ...emptyRecord(), note, failure }
    const userStories = state.prd.userStories.map((story) =>
      story.id === 'US-002' ? { ...story, notes: `ask Ann\n${note}` } : story,
    )
    return { ...state, prd: { ...state.prd, userStories }, records: { 'US-002': record } }
  }
  const notesAfter = (command: Parameters<typeof applyCommand>[1]): string =>
    storyOf(applyCommand(noted(), command), 'US-002').notes

  test('a retry removes the note of the block', () => {
    const retried = notesAfter({ ...by, kind: 'retry', stories: 'all', guidance: '' })
    assert.equal(retried, 'ask Ann\nthe mail is missing')
  })

  test('a skipped story has a note with the reason', () => {
    const why = (guidance: string) => notesAfter({ ...by, kind: 'skip', stories: ['US-002'], guidance })
    assert.deepEqual([why(''), why('later')], ['ask Ann\nskipped', 'ask Ann\nskipped: later'])
  })
})

test('a remark of `skip` or `redo` is in the notes, also where Ralph had none', () => {
  const state = midway()
  const skipped = applyCommand(state, { ...by, kind: 'skip', stories: ['US-003'], guidance: 'not this year' })
  assert.equal(storyOf(skipped, 'US-003').notes, 'skipped: not this year')
  assert.match(storiesOf(skipped).find(({ id }) => id === 'US-003')?.aside ?? '', /not this year/)
  const redone = applyCommand(state, {
    ...by,
    kind: 'redo',
    stories: ['US-001'],
    guidance: 'the total is wrong',
  })
  assert.equal(storyOf(redone, 'US-001').notes, 'to be worked on again: the total is wrong')
  const why = whyOf(redone, 'US-001', 'cli')
  assert.deepEqual(why?.guidance, ['the total is wrong'])
  const silent = applyCommand(state, { ...by, kind: 'redo', stories: ['US-001'], guidance: '' })
  assert.equal(storyOf(silent, 'US-001').notes, storyOf(state, 'US-001').notes)
})

test('a requested split is noted on its story', () => {
  const asked = applyCommand(midway(), { ...by, kind: 'split', story: 'US-003', guidance: '' })
  assert.match(storiesOf(asked).find(({ id }) => id === 'US-003')?.aside ?? '', /will be split/)
})
