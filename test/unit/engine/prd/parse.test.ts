// Reading prd.json: every format in the wild becomes version 2, nothing is lost, nothing is believed.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { emptyUsage } from '../../../../src/engine/model/usage.ts'
import { parsePrd } from '../../../../src/engine/prd/parse.ts'
import { asImported, emptyRun } from '../../../../src/engine/prd/schema.ts'
import { serializePrd } from '../../../../src/engine/prd/serialize.ts'
import { anyText, runs } from '../../runs.ts'
import { arbitraryPrd, fixture, mistakesIn, parsed } from './samples.ts'

const all = ['bmad', 'agnostic-v2', 'snarktank', 'ralph-tui', 'ralphy', 'steps', 'ours'].map(
  (name) => `${name}.json`,
)

describe('formats of prd.json', () => {
  test("Ralph's own is written back unchanged", () => {
    const { prd, notes } = parsed(fixture('ours.json'))
    assert.equal(serializePrd(prd), fixture('ours.json'))
    assert.deepEqual(notes, [])
    assert.deepEqual(prd.extra, { owner: { team: 'web' } })
    assert.deepEqual(prd.run.extra, { host: 'runner-1' })
    assert.deepEqual(prd.run.usage?.extra, { moods: 12 })
    assert.deepEqual(prd.userStories[0]?.extra, { estimate: { points: 3 } })
    assert.deepEqual(prd.userStories[0]?.lastResult?.extra, { reviewer: 'ann' })
    assert.equal(prd.userStories[0]?.lastResult?.imported, undefined)
  })

  test('BMAD Ralph: gates are proposed, attempts become retries, completedAt the last result', () => {
    const { prd, notes } = parsed(fixture('bmad.json'))
    const [first, second] = prd.userStories
    assert.deepEqual(first?.lastResult, {
      completedAt: '2026-01-10T09:20:00Z',
      commit: null,
      summary: '',
      imported: true,
    })
    assert.equal(first?.epicId, 'EPIC-001')
    assert.equal(first?.extra, undefined)
    assert.equal(second?.retries, 2)
    assert.equal(second?.lastResult, null)
    assert.deepEqual(prd.run, { ...emptyRun(), usage: emptyUsage() })
    assert.deepEqual(Object.keys(prd.extra ?? {}), ['generatedAt', 'config', 'stats'])
    const said = notes.join('\n')
    assert.match(
      said,
      /does not run gates .*qualityGates \("typecheck", "test"\): put them into the workflow/,
    )
    assert.match(said, /max-iterations and max-attempts/)
    assert.match(said, /does not read stats/)
    assert.match(said, /1 story imported as passed/)
  })

  test('version 2 of the earlier CLI: passed stories are marked as imported', () => {
    const { prd, notes } = parsed(fixture('agnostic-v2.json'))
    const [first, second] = prd.userStories
    assert.deepEqual(first?.lastResult, {
      completedAt: '2024-01-15T10:30:00Z',
      commit: 'abc1234',
      summary: 'Extracted from git commit message',
      imported: true,
    })
    assert.ok(first?.passes)
    assert.ok(second?.blocked)
    assert.equal(second?.retries, 3)
    assert.deepEqual(prd.run.learnings, ['the tests need a database'])
    assert.equal(prd.run.usage?.costUsd, 0)
    assert.equal(notes.length, 1)
  })

  test('snarktank: read to the same stories', () => {
    const { prd } = parsed(fixture('snarktank.json'))
    assert.equal(prd.schemaVersion, 2)
    assert.deepEqual(
      prd.userStories.map(({ id, priority, passes, notes }) => [id, priority, passes, notes]),
      [
        ['US-001', 1, false, ''],
        ['US-002', 2, true, 'done by hand'],
      ],
    )
    assert.equal(prd.userStories[1]?.lastResult?.imported, true)
  })

  test('ralph-tui: name, labels, optional criteria', () => {
    const { prd, notes } = parsed(fixture('ralph-tui.json'))
    const [first, second] = prd.userStories
    assert.equal(prd.project, 'Dashboard')
    assert.deepEqual(Object.keys(prd.extra ?? {}), ['metadata'])
    assert.deepEqual(first?.tags, ['ui', 'core'])
    assert.deepEqual(first?.extra, { completionNotes: 'Completed by agent' })
    assert.deepEqual(first?.acceptanceCriteria, ['A widget that counts'])
    assert.deepEqual(second?.acceptanceCriteria, ['Place the widget'])
    assert.deepEqual(second?.dependsOn, ['US-001'])
    assert.equal(second?.priority, 2)
    assert.match(notes.join('\n'), /2 stories had no acceptance criteria/)
    assert.match(notes.join('\n'), /Ralph reads labels as tags/)
    const story = (id: string, ...dependencies: string[]) => ({
      id,
      title: id,
      acceptanceCriteria: ['b'],
      dependencies,
    })
    const known = { userStories: [story('US-1'), story('US-2', 'US-1')] }
    assert.deepEqual(parsed(JSON.stringify(known)).prd.userStories[1]?.dependsOn, ['US-1'])
    const other = { userStories: [story('US-1', 'react')] }
    assert.match(
      parsed(JSON.stringify(other)).notes.join('\n'),
      /Ralph does not read the field dependencies: write dependsOn/,
    )
  })

  test('ralphy: completed, parallel_group', () => {
    const { prd, notes } = parsed(fixture('ralphy.json'))
    assert.deepEqual(
      prd.userStories.map(({ id, title, passes, acceptanceCriteria }) => [
        id,
        title,
        passes,
        acceptanceCriteria[0],
      ]),
      [
        ['US-001', 'Set up the project', true, 'Set up the project'],
        ['US-002', 'Add login', false, 'With e-mail and password'],
        ['US-003', 'Add logout', false, 'Add logout'],
      ],
    )
    assert.deepEqual(
      prd.userStories.map(({ dependsOn, extra }) => [dependsOn, extra]),
      [
        [[], undefined],
        [['US-001'], undefined],
        [[], undefined],
      ],
    )
    assert.equal(prd.extra, undefined)
    assert.match(notes.join('\n'), /Ralph treats parallel_group as a sequence: 1 story waits/)
    assert.match(notes.join('\n'), /3 stories had no id, so Ralph gave them a number/)
  })

  test('steps Ralph: status', () => {
    const { prd, notes } = parsed(fixture('steps.json'))
    assert.deepEqual(
      prd.userStories.map(({ id, passes, blocked }) => [id, passes, blocked]),
      [
        ['1', true, false],
        ['2', false, false],
        ['3', false, true],
        ['4', false, false],
      ],
    )
    assert.deepEqual(prd.userStories[0]?.extra, { category: 'backend' })
    assert.match(notes.join('\n'), /1 failed task imported as blocked/)
  })

  test('an older field name beside the new one is an unknown field', () => {
    const { prd } = parsed('{"name":"n","project":"p","tasks":[{"title":"a","labels":["x"],"tags":["y"]}]}')
    assert.deepEqual([prd.project, prd.extra], ['p', { name: 'n' }])
    assert.deepEqual([prd.userStories[0]?.tags, prd.userStories[0]?.extra], [['y'], { labels: ['x'] }])
  })

  test('an id may be a number, also in a dependency', () => {
    const { prd } = parsed('{"tasks":[{"id":1,"title":"a"},{"id":2,"title":"b","dependsOn":[1]}]}')
    assert.deepEqual(prd.userStories[1]?.dependsOn, ['1'])
  })

  test('state in a file of the base branch is dropped at the start of a run', () => {
    const prd = asImported(parsed(fixture('ours.json')).prd)
    assert.deepEqual(prd.run, { ...emptyRun(), learnings: ['run npm ci first'] })
    assert.equal(prd.userStories[0]?.lastResult?.imported, true)
    assert.equal(prd.userStories[1]?.lastResult, null)
  })

  test('an imported pass is marked, and noted once', () => {
    const again = parsed(serializePrd(parsed(fixture('bmad.json')).prd))
    assert.doesNotMatch(again.notes.join('\n'), /imported as passed|schema version/)
  })

  test('-0 is read as 0', () => {
    const { prd } = parsed('{"tasks": [{"title": "a", "priority": -0}]}')
    assert.ok(Object.is(prd.userStories[0]?.priority, 0))
  })

  test('missing ids are numbered by position, without duplicates', () => {
    const text = JSON.stringify({
      tasks: [{ title: 'a' }, { title: 'b', id: 'US-003' }, { title: 'c' }, { title: 'd', id: 'US-004' }],
    })
    assert.deepEqual(
      parsed(text).prd.userStories.map(({ id }) => id),
      ['US-001', 'US-003', 'US-005', 'US-004'],
    )
  })

  for (const name of all) {
    test(`${name} is read, written and read again as the same`, () => {
      const { prd } = parsed(fixture(name), name)
      assert.deepEqual(parsed(serializePrd(prd)).prd, prd)
      assert.equal(serializePrd(parsed(serializePrd(prd)).prd), serializePrd(prd))
    })
  }
})

describe('hostile prd.json files', () => {
  test('with __proto__ at every level have no effect on prototypes', () => {
    const evil =
      '"__proto__": {"passes": true, "polluted": 1}, "\\u005f_proto__": {"polluted": 2}, "constructor": 1'
    const { prd } = parsed(
      `{${evil}, "run": {${evil}, "control": {${evil}}}, "tasks": [{${evil}, "title": "a", "deep": [{${evil}}]}]}`,
    )
    assert.equal(prd.userStories[0]?.passes, false)
    for (const held of [prd, prd.extra, prd.run.extra, prd.run.control, prd.userStories[0]?.extra, {}]) {
      assert.equal(Object.getPrototypeOf(held), Object.prototype)
      assert.ok(!('polluted' in (held ?? {})))
    }
    assert.deepEqual(Object.keys(prd.userStories[0]?.extra ?? {}), ['constructor', 'deep'])
    // Not even as an own field: whoever copies it by assignment would obey it.
    assert.doesNotMatch(JSON.stringify(prd), /__proto__/)
    assert.deepEqual(parsed(serializePrd(prd)).prd, prd)
  })

  test('with an escaped __proto__ have no effect on prototypes', () => {
    const { prd } = parsed('{"tasks": [{"title": "a", "deep": {"\\u005f_pro\\u0074o__": {"x": 1}}}]}')
    assert.deepEqual(prd.userStories[0]?.extra, { deep: {} })
  })

  test('with deep nesting are refused without a crash', () => {
    const deep = '['.repeat(100_000)
    assert.equal(mistakesIn(`{"a": ${deep}`).length, 1)
    assert.match(mistakesIn(`{"a": ${deep}${']'.repeat(100_000)}}`)[0]?.found ?? '', /deep/)
    assert.match(
      mistakesIn(`{"tasks": [{"title": "a", "x": ${'['.repeat(70)}${']'.repeat(70)}}]}`)[0]?.found ?? '',
      /nested/,
    )
  })

  test('with gate names in notes add no gates', () => {
    const config = { qualityGates: { 'a\u001b[31m\n::error::': 'x' } }
    const { notes } = parsed(JSON.stringify({ config, tasks: [{ title: 'a' }] }))
    assert.doesNotMatch(notes.join(''), /\p{Cc}/u)
  })

  test('with a text of 5 MB are read in limited time', () => {
    assert.match(mistakesIn(`{"a": "${'\\n'.repeat(2_500_000)}`)[0]?.found ?? '', /never ends/)
  })
})

test('with 10,000 stories, each depending on the one before, are read in limited time', () => {
  const userStories = Array.from({ length: 10_000 }, (_, index) => ({
    id: `US-${index}`,
    title: `Story ${index}`,
    description: 'As a user I want it',
    acceptanceCriteria: ['one', 'two'],
    dependsOn: index === 0 ? [] : [`US-${index - 1}`],
    passes: index % 2 === 0,
    estimate: 3,
  }))
  const text = JSON.stringify({ schemaVersion: 2, userStories })
  const { prd } = parsed(text)
  assert.equal(prd.userStories.length, 10_000)
  assert.deepEqual(parsed(serializePrd(prd)).prd.userStories.at(-1), prd.userStories.at(-1))
})

describe('reading prd.json', () => {
  test('gives back what was written', () => {
    fc.assert(
      fc.property(arbitraryPrd, (prd) => {
        const first = parsed(serializePrd(prd)).prd
        assert.deepEqual(parsed(serializePrd(first)).prd, first)
        assert.equal(serializePrd(parsed(serializePrd(first)).prd), serializePrd(first))
        if (prd.run.startedAt !== null) assert.deepEqual(first, prd)
      }),
    )
  })

  test('gives a feature or a list of mistakes, for any JSON and any text', () => {
    const key = fc.constantFrom(
      ...[
        'userStories',
        'tasks',
        'schemaVersion',
        'run',
        'id',
        'title',
        'dependsOn',
        'passes',
        'status',
        'usage',
      ],
      ...[
        'acceptanceCriteria',
        'lastResult',
        'labels',
        'attempts',
        'completedAt',
        'name',
        'control',
        'commit',
        'config',
      ],
    )
    const { tree } = fc.letrec((tie) => ({
      leaf: fc.oneof(fc.jsonValue({ maxDepth: 0 }), fc.constantFrom(2, 'US-001', true, 'done')),
      tree: fc.oneof(
        { depthSize: 'small' },
        tie('leaf'),
        fc.array(tie('tree'), { maxLength: 4 }),
        fc.dictionary(key, tie('tree'), { maxKeys: 8 }),
      ),
    }))
    const story = fc.dictionary(key, tree, { maxKeys: 8 })
    const file = fc.record(
      {
        userStories: fc.array(story),
        tasks: fc.array(story),
        schemaVersion: fc.constantFrom(1, 2),
        run: tree,
      },
      { requiredKeys: [] },
    )
    const text = fc.oneof(
      tree.map((value) => JSON.stringify(value)),
      file.map((value) => JSON.stringify(value)),
      fc.json(),
      anyText(),
      fc
        .array(fc.constantFrom('- [ ]', ' a', '\n', '  ', '- ', '# ', '{', '"', '```', '<!--', 'RALPH_DONE'))
        .map((p) => p.join('')),
    )
    fc.assert(
      fc.property(text, (arbitrary) => {
        const result = parsePrd(arbitrary, 'x')
        if (!result.ok) {
          assert.ok(result.mistakes.length > 0)
          mistakesIn(arbitrary, 'x')
          return
        }
        assert.deepEqual(parsed(serializePrd(result.prd)).prd, result.prd)
      }),
      runs(200),
    )
  })
})

test('an estimated part of the cost is kept, and written only when there is one', () => {
  const text = (usage: object) =>
    JSON.stringify({
      schemaVersion: 2,
      run: { usage },
      userStories: [{ id: 'US-001', title: 'One', acceptanceCriteria: ['it works'] }],
    })
  const read = (usage: object) => {
    const result = parsePrd(text(usage), 'prd.json')
    assert.ok(result.ok)
    return result.prd
  }
  const estimated = read({ costUsd: 2, estimatedCostUsd: 1.5 })
  assert.equal(estimated.run.usage?.estimatedCostUsd, 1.5)
  assert.match(serializePrd(estimated), /"estimatedCostUsd": 1\.5/)
  assert.doesNotMatch(serializePrd(read({ costUsd: 2 })), /estimatedCostUsd/)
})

test('a misspelled known field is kept, and noted with its path', () => {
  const typos = { priorty: 1, dependson: ['US-002'], tag: ['ui'] }
  const first = { id: 'US-001', title: 'One', acceptanceCriteria: ['a'], ...typos }
  const second = { id: 'US-002', title: 'Two', acceptanceCriteria: ['b'], tag: [], priority: 1, priorty: 2 }
  const { prd, notes } = parsed(
    JSON.stringify({ schemaVersion: 2, desciption: 'x', userStories: [first, second] }),
  )
  assert.deepEqual(prd.extra, { desciption: 'x' })
  assert.deepEqual(prd.userStories[0]?.extra, typos)
  assert.deepEqual(notes, [
    'Ralph does not read "desciption": did you mean "description"?',
    'US-001: Ralph does not read "priorty": did you mean "priority"?',
    'US-001: Ralph does not read "dependson": did you mean "dependsOn"?',
    'US-001: Ralph does not read "tag": did you mean "tags"?',
    'US-002: Ralph does not read "tag": did you mean "tags"?',
  ])
})

test('fields of other tools are not noted as misspelled, and many misspelled ones give few notes', () => {
  for (const name of all) assert.doesNotMatch(parsed(fixture(name)).notes.join('\n'), /did you mean/, name)
  const notesOf = (fields: object) =>
    parsed(
      JSON.stringify({
        schemaVersion: 2,
        userStories: [{ title: 'a', acceptanceCriteria: ['b'], ...fields }],
      }),
    ).notes.filter((note) => note.includes('did you mean'))
  const foreign = ['task', 'kind', 'stage', 'status', 'stats', 'blockedBy', 'blocks', 'estimate']
  assert.deepEqual(notesOf(Object.fromEntries(foreign.map((name) => [name, 1]))), [])
  assert.deepEqual(notesOf({ depends_on: [], acceptance_criteria: [] }).length, 1)
  const many = notesOf(
    Object.fromEntries(Array.from('abcdefghijklmnopqrstuvwxyz', (one) => [`tags${one}`, 1])),
  )
  assert.equal(many.length, 20)
  assert.doesNotMatch(notesOf({ 'tags\u001b': 1 }).join(''), /\p{Cc}/u)
})
