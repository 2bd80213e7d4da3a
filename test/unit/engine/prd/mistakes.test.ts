// What is refused, and how it is said: everything at once, with its place and the way out.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { jsonFault } from '../../../../src/engine/model/json-fault.ts'
import { branchNameFault, idFault } from '../../../../src/engine/model/safe-names.ts'
import { describeValue } from '../../../../src/engine/model/text.ts'
import { parsePrd } from '../../../../src/engine/prd/parse.ts'
import { assertGrowth } from '../../growth.ts'
import { runs } from '../../runs.ts'
import { mistakesIn } from './samples.ts'

const good = { id: 'US-001', title: 'a', acceptanceCriteria: ['b'] }

/** The one mistake of a file with this story (and a sound US-002). */
function mistakeOf(fields: Record<string, unknown>): string {
  const userStories = [
    { ...good, ...fields },
    { ...good, id: 'US-002' },
  ]
  const mistakes = mistakesIn({ schemaVersion: 2, userStories })
  assert.equal(mistakes.length, 1, JSON.stringify(mistakes))
  const { path, found, expected, fix } = mistakes[0] ?? { path: '', found: '', expected: '', fix: '' }
  return `${path} | ${found} | ${expected} | ${fix}`
}

test('prd.json: all mistakes at once, each with its path', () => {
  const mistakes = mistakesIn({
    schemaVersion: 2,
    branchName: '-x',
    run: { iterations: 'many', usage: { calls: -1 }, outcome: 'fine' },
    userStories: [
      { id: 'US-001', title: '', acceptanceCriteria: [] },
      { id: 'US-001', title: 'b', acceptanceCriteria: ['c', 4, ' '], passes: 'yes', priority: 'high' },
      { id: 'US 3', title: 'c', acceptanceCriteria: ['d'], dependsOn: ['US-01', 'US-004'], tags: 'ui' },
      'story',
      {
        id: 'US-004',
        title: 'd',
        acceptanceCriteria: ['e'],
        dependsOn: ['US-004'],
        lastResult: { commit: '--x' },
      },
    ],
  })
  assert.deepEqual(
    mistakes.map(({ path, found }) => [path.replace('prd.json: ', ''), found]),
    [
      ['branchName', '"-x"'],
      ['run.iterations', '"many"'],
      ['run.outcome', '"fine"'],
      ['run.usage.calls', '-1'],
      ['userStories[0].title', '""'],
      ['userStories[0].acceptanceCriteria', 'an empty list'],
      ['userStories[1].acceptanceCriteria[1]', '4'],
      ['userStories[1].acceptanceCriteria[2]', 'an empty text'],
      ['userStories[1].priority', '"high"'],
      ['userStories[1].passes', '"yes"'],
      ['userStories[2].id', '"US 3"'],
      ['userStories[2].tags', '"ui"'],
      ['userStories[3]', '"story"'],
      ['userStories[4].lastResult.commit', '"--x"'],
      ['userStories[1].id', '"US-001"'],
      ['userStories[2].dependsOn[0]', '"US-01"'],
      ['userStories[4].dependsOn[0]', '"US-004" itself'],
    ],
  )
})

describe('mistakes of stories', () => {
  test('an unknown dependency suggests the nearest id', () => {
    assert.match(
      mistakeOf({ dependsOn: ['US-0O2'] }),
      /userStories\[0\]\.dependsOn\[0\].*"US-0O2".*did you mean "US-002"\?/,
    )
    assert.match(mistakeOf({ dependsOn: ['elsewhere'] }), /remove it, or add that story/)
    assert.match(mistakeOf({ dependsOn: ['US-099'] }), /remove it, or add that story/)
  })

  test('a dependency on a story that people removed is no mistake if the caller allows it', () => {
    const text = JSON.stringify({ userStories: [{ ...good, dependsOn: ['US-009'] }] })
    assert.equal(parsePrd(text, 'x').ok, false)
    assert.equal(parsePrd(text, 'x', new Set(['US-009'])).ok, true)
  })

  test('cycles are listed by their ids', () => {
    const chain = ['US-1', 'US-2', 'US-3'].map((id, index, ids) => ({
      ...good,
      id,
      dependsOn: [ids[(index + 1) % ids.length]],
    }))
    const mistakes = mistakesIn({ userStories: [good, ...chain] })
    assert.equal(mistakes.length, 1)
    assert.equal(mistakes[0]?.path, 'prd.json: userStories[3].dependsOn[0]')
    assert.equal(mistakes[0]?.found, '"US-1 -> US-2 -> US-3 -> US-1"')
  })

  test('two separate cycles are two mistakes, a diamond is none', () => {
    const edges: Array<[string, string[]]> = [
      ['a', ['b']],
      ['b', ['a']],
      ['c', ['d', 'e']],
      ['d', ['f']],
      ['e', ['f']],
      ['f', []],
      ['g', ['h']],
      ['h', ['g']],
    ]
    const mistakes = mistakesIn({ userStories: edges.map(([id, dependsOn]) => ({ ...good, id, dependsOn })) })
    assert.deepEqual(
      mistakes.map(({ found }) => found),
      ['"a -> b -> a"', '"g -> h -> g"'],
    )
  })

  test('a cycle of 10,000 stories is found', () => {
    const userStories = Array.from({ length: 10_000 }, (_, index) => ({
      ...good,
      id: `US-${index}`,
      dependsOn: [`US-${(index + 1) % 10_000}`],
    }))
    assert.match(
      mistakesIn({ userStories })[0]?.found ?? '',
      /US-0 -> US-1 -> US-2 -> \(9996 more\) -> US-9999 -> US-0/,
    )
  })

  test('stories that all depend on each other, and 200,000 unknown dependencies, are refused in limited time', () => {
    const ids = Array.from({ length: 1_000 }, (_, index) => `a${index}`)
    const mistakes = mistakesIn({ userStories: ids.map((id) => ({ ...good, id, dependsOn: ids })) })
    assert.equal(mistakes.length, 100)
    const strange = ids.map((id) => ({
      ...good,
      id,
      dependsOn: ids.slice(0, 200).map((other) => `b${other}`),
    }))
    assert.equal(mistakesIn({ userStories: strange }).length, 200_000)
  })

  test('a file with nothing but mistakes is refused without a crash', () => {
    const wrong = Array.from({ length: 300_000 }, () => 1)
    assert.ok(mistakesIn({ schemaVersion: 2, userStories: wrong }).length > 0)
    assert.ok(mistakesIn({ schemaVersion: 2, userStories: [{ ...good, tags: wrong }] }).length > 0)
  })

  test('10,000 unknown dependencies take less than quadratic time', () => {
    const unknown = (length: number): void => {
      const userStories = Array.from({ length }, (_, index) => ({
        ...good,
        id: `US-${index}`,
        dependsOn: [`XX-${index}`],
      }))
      assert.equal(mistakesIn({ userStories }).length, length)
    }
    assertGrowth(unknown, 2_500)
  })

  test('invalid ids', () => {
    for (const id of ['US-001', '1', 'a.b_c-D', 'x'.repeat(64)]) assert.equal(idFault(id), null, id)
    for (const id of [
      '',
      '-x',
      '.x',
      'a b',
      'a/b',
      'ä',
      'a..b',
      'a.',
      'a.lock',
      'all',
      'x'.repeat(65),
      'a\n',
      '$(x)',
    ]) {
      assert.notEqual(idFault(id), null, id)
    }
    assert.match(mistakeOf({ id: '$(rm -rf /)' }), /userStories\[0\]\.id/)
    assert.match(mistakeOf({ id: ['US-001'] }), /userStories\[0\]\.id \| a list of 1 \| a text/)
    assert.match(mistakeOf({ id: '' }), /userStories\[0\]\.id/)
    assert.equal(mistakesIn({ userStories: [{ ...good, id: {} }, { ...good, id: [] }, 7, 8] }).length, 4)
  })

  test('invalid titles', () => {
    assert.match(mistakeOf({ title: '  ' }), /userStories\[0\]\.title .* a title/)
    assert.match(mistakeOf({ title: null }), /nothing/)
    assert.match(mistakeOf({ title: 'x'.repeat(501) }), /501 characters \| at most 500/)
  })

  test('empty criteria, in formats that require them', () => {
    for (const file of [
      { schemaVersion: 2, userStories: [{ id: 'a', title: 'b' }] },
      { project: 'p', userStories: [{ id: 'a', title: 'b', acceptanceCriteria: [] }] },
      {
        config: {},
        stats: {},
        userStories: [{ id: 'a', title: 'b', acceptanceCriteria: null, attempts: 0 }],
      },
    ]) {
      assert.equal(mistakesIn(file)[0]?.path, 'prd.json: userStories[0].acceptanceCriteria')
    }
  })

  test('fields have the names of their own format', () => {
    assert.equal(
      mistakesIn({ tasks: [{ title: 'a', completed: 'yes' }] })[0]?.path,
      'prd.json: tasks[0].completed',
    )
    assert.equal(
      mistakesIn({ name: 'x', userStories: [{ ...good, labels: 'ui' }] })[0]?.path,
      'prd.json: userStories[0].labels',
    )
    assert.equal(
      mistakesIn({ userStories: [{ ...good, attempts: 'x' }] })[0]?.path,
      'prd.json: userStories[0].attempts',
    )
    assert.equal(mistakesIn({ name: 4, tasks: [good] })[0]?.path, 'prd.json: name')
    const status = mistakesIn({ tasks: [{ title: 'a', status: 'doen' }] })
    assert.deepEqual(status, [
      {
        path: 'prd.json: tasks[0].status',
        found: '"doen"',
        expected: 'todo, in_progress, done, failed',
        fix: 'write "done"',
      },
    ])
  })
})

describe('mistakes of the file', () => {
  test('without stories', () => {
    assert.match(mistakesIn({ backlog: [good] })[0]?.fix ?? '', /rename "backlog" to "userStories"/)
    assert.equal(mistakesIn({ userStories: [] })[0]?.found, 'an empty list')
    assert.equal(mistakesIn({ tasks: [] })[0]?.path, 'prd.json: tasks')
    assert.equal(mistakesIn({ userStories: {} })[0]?.found, 'an object')
    assert.equal(mistakesIn({})[0]?.path, 'prd.json: userStories')
    assert.match(mistakesIn([good])[0]?.fix ?? '', /userStories/)
    assert.equal(mistakesIn('4')[0]?.expected, 'an object')
  })

  test('without stories and other mistakes: all are reported', () => {
    assert.deepEqual(
      mistakesIn({ schemaVersion: '2', branchName: 'a b', run: 4 }).map(({ path }) => path),
      ['prd.json: schemaVersion', 'prd.json: userStories', 'prd.json: branchName', 'prd.json: run'],
    )
  })

  test('of a newer version: the message asks for a newer Ralph', () => {
    const mistakes = mistakesIn({ schemaVersion: 3, userStories: 'new in 3' })
    assert.equal(mistakes.length, 1)
    assert.equal(mistakes[0]?.fix, 'this Ralph reads up to 2: upgrade Ralph')
    assert.equal(mistakesIn({ schemaVersion: '2', userStories: [good] })[0]?.path, 'prd.json: schemaVersion')
  })

  test('broken JSON: line, column and the likely cause', () => {
    const cases: Array<[string, string, RegExp]> = [
      ['{\n  "a": 1, // note\n}', 'line 2 column 11', /a comment/],
      ['{\n  "a": [1, 2,],\n}', 'line 2 column 13', /trailing comma/],
      ['{"a": 1,}', 'line 1 column 8', /trailing comma/],
      ["{'a': 1}", 'line 1 column 2', /single quote/],
      ['{"a": 1\n"b": 2}', 'line 2 column 1', /"b": 2|\\"b/],
      ['{\n<<<<<<< HEAD\n"a": 1}', 'line 2 column 1', /conflict/],
      ['{"a": "x\n"}', 'line 1 column 9', /line break/],
      ['{"a": "\t"}', 'line 1 column 8', /\\t/],
      ['{"a": "\\x"}', 'line 1 column 8', /\\\\x/],
      ['{"a": tru}', 'line 1 column 7', /tru/],
      ['{"a": 01}', 'line 1 column 8', /1/],
      ['{a: 1}', 'line 1 column 2', /a: 1/],
      ['{"a" 1}', 'line 1 column 6', /1/],
      ['{"a": 1}}', 'line 1 column 9', /\}/],
      ['{"a": [1}', 'line 1 column 9', /\}/],
      ['{"a": 1', 'line 1 column 8', /end of the file/],
      ['{"a": }', 'line 1 column 7', /\}/],
      ['{,}', 'line 1 column 2', /comma/],
      [' \n', 'line 1 column 1', /empty file/],
      ['hello', 'line 1 column 1', /hello/],
      [`{"${'a'.repeat(99)}": 1, "b": in JSON at position 3}`, 'line 1 column 113', /in JSON/],
    ]
    for (const [text, place, found] of cases) {
      const mistakes = mistakesIn(text)
      assert.equal(mistakes[0]?.path, `prd.json: ${place}`, text)
      assert.match(mistakes[0]?.found ?? '', found, text)
    }
  })

  test('broken JSON with a check box in a text is not read as a check list', () => {
    assert.match(mistakesIn('{"notes": "x\n- [ ] y"}')[0]?.path ?? '', /line 1 column 13/)
  })

  test('every error of JSON.parse gets a line and a column', () => {
    const pieces = [
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"a"',
      '"',
      '1',
      '-',
      '.5',
      'e3',
      'true',
      'nul',
      ' ',
      '\n',
      '\\u00',
      '/',
    ]
    const text = fc.oneof(
      fc.array(fc.constantFrom(...pieces), { maxLength: 12 }).map((parts) => parts.join('')),
      fc.json(),
      fc.json().chain((json) => fc.nat(json.length).map((at) => json.slice(0, at) + json.slice(at + 1))),
    )
    fc.assert(
      fc.property(text, (arbitrary) => {
        try {
          JSON.parse(arbitrary)
        } catch (thrown) {
          const { line, column, ...words } = jsonFault(arbitrary, thrown)
          assert.ok(column >= 1 && column <= (arbitrary.split('\n')[line - 1] ?? '').length + 1, arbitrary)
          for (const said of Object.values(words)) assert.ok(said.length > 0)
        }
      }),
      runs(500),
    )
  })
})

test('invalid branch names', () => {
  for (const name of ['ralph/auth', 'feature/x-1', 'a', 'ä/ö', 'x@y'])
    assert.equal(branchNameFault(name), null, name)
  for (const name of [
    ...[
      '',
      '@',
      'HEAD',
      '-x',
      '/a',
      'a/',
      'a//b',
      'a..b',
      'a.',
      '.a',
      'a/.b',
      'a.lock',
      'a.lock/b',
      'a@{b',
      'a b',
    ],
    ...[
      'a~1',
      'a^',
      'a:b',
      'a?',
      'a*',
      'a[b',
      'a\\b',
      'a\u0007',
      'a\u007f',
      'a\u202eb',
      'a\nb',
      'x'.repeat(201),
    ],
    ...['refs/heads/main', 'refs/tags/v1', 'refs/x', 'heads/main', 'FETCH_HEAD', 'ORIG_HEAD'],
  ]) {
    assert.notEqual(branchNameFault(name), null, JSON.stringify(name))
  }
  for (const name of ['heads', 'refs', 'ralph/heads/x', 'HEADER'])
    assert.equal(branchNameFault(name), null, name)
  const fixes = ['refs/heads/main', 'heads/ralph/auth', 'refs/tags/v1'].map(
    (branchName) => mistakesIn({ branchName, userStories: [good] })[0]?.fix,
  )
  assert.deepEqual(fixes, ['write "main"', 'write "ralph/auth"', 'use a name such as "ralph/auth"'])
  assert.match(
    mistakesIn({ branchName: '--upload-pack=x', userStories: [good] })[0]?.path ?? '',
    /branchName/,
  )
})

test('quoted values are short, and show hidden characters', () => {
  assert.equal(describeValue('a\u001b[31m\u202e\u0085"'), '"a\\u001b[31m\\u{202e}\\u{85}\\""')
  assert.ok(describeValue('x'.repeat(200_000)).length <= 80)
  assert.ok(describeValue('\u0000'.repeat(1_000)).length <= 80)
  assert.doesNotMatch(describeValue('😀'.repeat(100)), /\p{Cs}/u)
  assert.equal(describeValue(undefined), 'nothing')
})
