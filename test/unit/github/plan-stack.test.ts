// Which branch is where in a stack, and which pull request goes to which base: from any history and whatever people did with it.
import assert from 'node:assert/strict'
import { describe, it, test } from 'node:test'
import fc from 'fast-check'
import type { BranchCommit } from '../../../src/engine/model/branch-commit.ts'
import {
  aboveMerged,
  type Found,
  type Group,
  layerBranch,
  planStack,
  type StackInput,
  type StackPlan,
  type StackPull,
} from '../../../src/github/stack/plan-stack.ts'
import { runs } from '../runs.ts'

const BRANCH = 'ralph/shop'
/** When people merged, in this order. */
const TIMES = ['2026-01-10T10:00:00Z', '2026-01-10T11:00:00Z'] as const

/** `A1 A2 -`: commits that finish the stories A1 and A2, and one of Ralph without a story; `revert` drops a story. */
function commitsOf(text: string): BranchCommit[] {
  return text.split(' ').map((word, index) => ({
    commit: `c${index}`,
    stories: word === '-' || word === 'revert' ? [] : word.split('+'),
    isRevert: word === 'revert',
  }))
}

/** `A: A1 A2` is finished, `A? A1 A2` is not. */
function groupOf(text: string): Group {
  const [, id = '', mark, stories = ''] = /^(\w+)([:?]) (.*)$/.exec(text) ?? []
  return {
    id,
    branchPart: id,
    name: `Epic ${id}`,
    stories: stories.split(' '),
    skipped: [],
    isFinished: mark === ':',
  }
}

function inputOf(history: string, groups: string[], more: Partial<StackInput> = {}): StackInput {
  const [commits, found] = [commitsOf(history), new Map<string, Found>()]
  return { branch: BRANCH, base: 'main', commits, groups: groups.map(groupOf), found, isOver: false, ...more }
}

/** GitHub after the actions of a plan: every layer has a branch and an open pull request with the right base. */
function applied(plan: StackPlan, before: StackInput['found']): Map<string, Found> {
  const after = new Map(before)
  for (const [index, { group, commit, pull, base }] of plan.layers.entries()) {
    const known = after.get(group.id)
    if (pull === null)
      after.set(group.id, {
        head: commit,
        newest: commit,
        pull: { number: 100 + index, state: 'open', base, mergedAt: null },
      })
    else if (pull.state === 'open' && known !== undefined && plan.closed === null)
      after.set(group.id, { ...known, pull: { ...pull, base } })
  }
  return after
}

function shown({ layers, topBase }: StackPlan): string[] {
  const name = (branch: string) => branch.replace(`${BRANCH}+`, '+')
  const lines = layers.map(
    ({ branch, commit, state, base, stories }) =>
      `${name(branch)} ${state} at ${commit} -> ${name(base)}: ${stories.join(' ')}`,
  )
  return [...lines, `top -> ${name(topBase)}`]
}

describe('a stack is cut from the history', () => {
  it('at the last commit of each finished epic; the rest is the own pull request of the feature', () => {
    const input = inputOf('- A1 A2 B1 C1', ['A: A1 A2', 'B: B1', 'C? C1 C2'])
    assert.deepEqual(shown(planStack(input)), [
      '+A new at c2 -> main: A1 A2',
      '+B new at c3 -> +A: B1',
      'top -> +B',
    ])
  })

  it('in the order in which epics were finished, with the stories that are really in each', () => {
    const input = inputOf('A1 B1 B2 A2 C1', ['A: A1 A2', 'B: B1 B2', 'C? C1 C2'])
    assert.deepEqual(shown(planStack(input)), [
      '+B new at c2 -> main: A1 B1 B2',
      '+A new at c3 -> +B: A2',
      'top -> +A',
    ])
  })

  it('the last epic of a finished run stays with the feature', () => {
    const all = ['A: A1', 'B: B1']
    assert.deepEqual(shown(planStack(inputOf('A1 B1 -', all, { isOver: true }))), [
      '+A new at c0 -> main: A1',
      'top -> +A',
    ])
    // The top has no commit of its own yet: GitHub would refuse +B as its base.
    assert.deepEqual(shown(planStack(inputOf('A1 B1', [...all, 'C? C1']))).at(-1), 'top -> +A')
  })

  it('layers stay where they are: a correction and a later story of the epic are in a layer above', () => {
    const first = inputOf('A1 B1', ['A: A1', 'B? B1 B2'])
    const found = applied(planStack(first), first.found)
    const later = inputOf('A1 B1 A1+FIX-1 B2 A2 C1', ['A: A1 A2 FIX-1', 'B: B1 B2', 'C? C1 C2'], { found })
    assert.deepEqual(shown(planStack(later)), [
      '+A open at c0 -> main: A1',
      '+B new at c3 -> +A: B1 A1 FIX-1 B2',
      'top -> +B',
    ])
  })

  it('a dropped story is never in a new layer without its revert', () => {
    const groups = ['A: A1', 'B? B1'].map(groupOf)
    const dropped = { ...groupOf('A: A1'), skipped: ['A2'] }
    const input = inputOf('A2 A1 B1 revert B2', [], { groups: [dropped, ...groups.slice(1)] })
    assert.deepEqual(shown(planStack(input)), ['+A new at c3 -> main: A2 A1 B1', 'top -> +A'])
  })

  it('an epic that is finished below an existing layer gets none: people removed its open story', () => {
    const first = inputOf('A1 B1', ['A? A1 A2', 'B: B1', 'C? C1'])
    const found = applied(planStack(first), first.found)
    const later = planStack(inputOf('A1 B1', ['A: A1', 'B: B1', 'C? C1'], { found }))
    assert.deepEqual(shown(later), ['+B open at c1 -> main: A1 B1', 'top -> main'])
  })

  it('epics that end at one commit share a layer', () => {
    const input = inputOf('A1+B1 C1', ['A: A1', 'B: B1', 'C? C1 C2'])
    assert.deepEqual(shown(planStack(input)), ['+A new at c0 -> main: A1 B1', 'top -> +A'])
  })
})

describe('people merge and close', () => {
  const groups = ['A: A1', 'B: B1', 'C: C1', 'D? D1']
  const start = inputOf('A1 B1 C1 D1', groups)
  const stack = applied(planStack(start), start.found)
  const after = (changes: Record<string, Partial<StackPull> & { isDeleted?: true }>) => {
    const found = new Map(stack)
    for (const [id, { isDeleted, ...change }] of Object.entries(changes)) {
      const known = found.get(id)
      if (known?.pull == null) throw new Error(`there is no ${id}`)
      found.set(id, { ...known, head: isDeleted ? null : known.head, pull: { ...known.pull, ...change } })
    }
    return planStack({ ...start, found })
  }

  it('from the bottom: the next one goes to the base', () => {
    for (const isDeleted of [{}, { isDeleted: true }] as const)
      assert.deepEqual(shown(after({ A: { state: 'merged', ...isDeleted } })), [
        '+A merged at c0 -> main: A1',
        '+B open at c1 -> main: B1',
        '+C open at c2 -> +B: C1',
        'top -> +C',
      ])
    const all = { A: { state: 'merged' }, B: { state: 'merged' }, C: { state: 'merged' } } as const
    assert.deepEqual(shown(after(all)).at(-1), 'top -> main')
  })

  it('in the middle: those above go to the branch that it was merged into', () => {
    assert.deepEqual(shown(after({ B: { state: 'merged' } })), [
      '+A open at c0 -> main: A1',
      '+B merged at c1 -> +A: B1',
      '+C open at c2 -> +A: C1',
      'top -> +C',
    ])
  })

  /** The open layers whose branch needs a merge: `what was merged, up to which layer -> into which layer`. */
  const merges = ({ layers }: StackPlan) =>
    aboveMerged(layers).map(
      ({ layer, below, last }) => `${below.group.id} up to ${last.group.id} -> ${layer.group.id}`,
    )
  const merged = (base: string, mergedAt: string) => ({ state: 'merged', base, mergedAt }) as const

  it('the layer above a merged one is known by the base of both pull requests, not by its place', () => {
    const [first, second] = TIMES
    const [intoBase, intoA] = [(at: string) => merged('main', at), (at: string) => merged(`${BRANCH}+A`, at)]
    assert.deepEqual(merges(after({ A: intoBase(first), B: { base: 'main' } })), ['A up to A -> B'])
    assert.deepEqual(merges(after({ B: intoA(first), C: { base: `${BRANCH}+A` } })), ['B up to B -> C'])
    // B first went into the branch of A, so the base has both with A.
    const both = { A: intoBase(second), B: intoA(first), C: { base: 'main' } }
    assert.deepEqual(merges(after(both)), ['A up to B -> C'])
    // B went into the branch of A after that was merged, so the base lacks B.
    const late = { A: intoBase(first), B: intoA(second), C: { base: 'main' } }
    assert.deepEqual(merges(after(late)), ['A up to A -> C'])
  })

  it('no layer needs a merge whose base is another branch than the one that has the merged layer', () => {
    const [at] = TIMES
    assert.deepEqual(merges(after({ A: merged('main', at) })), [], 'its base is still the merged branch')
    assert.deepEqual(merges(after({ A: merged('main', at), B: { base: 'release' } })), [])
    assert.deepEqual(merges(after({ B: merged('main', at), C: { base: `${BRANCH}+A` } })), [])
  })

  it('a closed one stays closed, and nothing is added above it', () => {
    const plan = after({ A: { state: 'closed' } })
    assert.equal(plan.closed?.group.id, 'A')
    assert.deepEqual(shown(plan).slice(0, 2), ['+A closed at c0 -> main: A1', '+B open at c1 -> +A: B1'])
    const found = new Map([...stack].filter(([id]) => id !== 'C'))
    found.set('A', {
      head: null,
      newest: 'c0',
      pull: { number: 100, state: 'closed', base: 'main', mergedAt: null },
    })
    const ids = planStack({ ...start, found }).layers.map(({ group }) => group.id)
    assert.deepEqual(ids, ['A', 'B'])
  })

  it('a merged one that the base has is below all others', () => {
    const found = new Map(stack).set('A', {
      head: null,
      newest: null,
      pull: { number: 1, state: 'merged', base: 'main', mergedAt: TIMES[0] },
    })
    const later = inputOf('B1 C1 D1', groups, {
      found: new Map(
        [...found].map(([id, one]) => [id, { ...one, newest: { A: null, B: 'c0', C: 'c1' }[id] ?? null }]),
      ),
    })
    assert.deepEqual(shown(planStack(later)), [
      '+A merged at null -> main: A1',
      '+B open at c0 -> main: B1',
      '+C open at c1 -> +B: C1',
      'top -> +C',
    ])
  })
})

test('a branch of people with the name of a layer is left alone, and its stories are in the next layer', () => {
  const groups = ['A: A1', 'B: B1', 'C? C1']
  for (const found of [
    { head: 'theirs', newest: null, pull: null },
    {
      head: 'theirs',
      newest: null,
      pull: { number: 7, state: 'open' as const, base: 'main', mergedAt: null },
    },
    // Begun at a commit of the feature, with commits on top.
    { head: 'theirs', newest: 'c0', pull: null },
  ]) {
    const plan = planStack(inputOf('A1 B1 C2', groups, { found: new Map([['A', found]]) }))
    assert.deepEqual(
      plan.taken.map(({ branch }) => branch),
      [layerBranch(BRANCH, { branchPart: 'A' })],
    )
    assert.deepEqual(shown(plan), ['+B new at c1 -> main: A1 B1', 'top -> +B'])
  }
})

// Epics whose stories are finished in any order, in several jobs, between which people merge, close and delete.
const arbitraryStack = fc.record({
  sizes: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 6 }),
  shuffle: fc.array(fc.nat(1000), { minLength: 18, maxLength: 18 }),
  jobs: fc.array(
    fc.record({
      commits: fc.integer({ min: 0, max: 4 }),
      who: fc.nat(5),
      what: fc.constantFrom('none', 'none', 'merge', 'merge-delete', 'close', 'delete'),
    }),
    { minLength: 1, maxLength: 10 },
  ),
})

type Story = { id: string; epic: string }

test('in any history with any doings of people: one line from the base to the top, and nothing twice', () => {
  fc.assert(
    fc.property(arbitraryStack, ({ sizes, shuffle, jobs }) => {
      const stories: Story[] = sizes.flatMap((size, epic) =>
        Array.from({ length: size }, (_, index) => ({ id: `E${epic}-${index}`, epic: `E${epic}` })),
      )
      const order = stories
        .map((story, index) => ({ story, key: shuffle[index] ?? 0 }))
        .sort((one, other) => one.key - other.key)
        .map(({ story }) => story)
      let found = new Map<string, Found>()
      const places = new Map<string, string | null>()
      let done = 0
      for (const job of jobs) {
        done = Math.min(order.length, done + job.commits)
        const passed = new Set(order.slice(0, done).map(({ id }) => id))
        const commits = order
          .slice(0, done)
          .map(({ id }, index) => ({ commit: `c${index}`, stories: [id], isRevert: false }))
        const groups = sizes.map((_, epic) => {
          const own = stories.filter((story) => story.epic === `E${epic}`).map(({ id }) => id)
          return {
            id: `E${epic}`,
            branchPart: `E${epic}`,
            name: '',
            stories: own,
            skipped: [],
            isFinished: own.every((id) => passed.has(id)),
          }
        })
        const input: StackInput = {
          branch: BRANCH,
          base: 'main',
          commits,
          groups,
          found,
          isOver: done === order.length,
        }
        const plan = planStack(input)
        holds(plan, input)
        for (const { group, commit } of plan.layers) {
          if (places.has(group.id)) assert.equal(commit, places.get(group.id), 'a layer moved')
          places.set(group.id, commit)
        }
        found = applied(plan, found)
        const again = planStack({ ...input, found })
        assert.deepEqual(
          again.layers.filter(({ pull }) => pull === null),
          [],
          'something is made twice',
        )
        if (plan.closed === null)
          for (const { pull, base, state } of again.layers)
            if (state === 'open') assert.equal(pull?.base, base, 'something is moved twice')
        found = doneByPeople(found, plan, job)
      }
    }),
    runs(300),
  )
})

/** What holds for every plan. */
function holds({ layers, topBase, closed }: StackPlan, { commits, groups, found }: StackInput): void {
  let below = 'main'
  let last = -1
  for (const { group, branch, state, base, commit } of layers) {
    assert.equal(base, below, 'each goes to the one below it')
    const at = commits.findIndex((one) => one.commit === commit)
    assert.ok(at >= last, 'in the order of the history')
    if (state === 'new') {
      assert.ok(at > last, 'a new one has commits of its own')
      const reached = new Set(commits.slice(0, at + 1).flatMap(({ stories }) => stories))
      assert.ok(
        group.stories.every((id) => reached.has(id)),
        'a new one has all of its stories',
      )
      assert.ok(closed === null, 'none is added to a closed stack')
    }
    last = at
    const isGone = state === 'merged' || (state === 'closed' && found.get(group.id)?.head === null)
    if (!isGone) below = branch
  }
  assert.ok(topBase === 'main' || layers.some(({ branch }) => branch === topBase))
  assert.equal(new Set(layers.map(({ branch }) => branch)).size, layers.length)
  assert.ok(layers.length <= groups.length)
}

function doneByPeople(
  found: Map<string, Found>,
  plan: StackPlan,
  { who, what }: { who: number; what: string },
): Map<string, Found> {
  const layer = plan.layers[who % Math.max(1, plan.layers.length)]
  const known = layer === undefined ? undefined : found.get(layer.group.id)
  if (layer === undefined || known?.pull == null || known.pull.state !== 'open' || what === 'none')
    return found
  const pull: StackPull = { ...known.pull, state: what.startsWith('merge') ? 'merged' : 'closed' }
  const isDeleted = what.endsWith('delete')
  const after = new Map(found).set(layer.group.id, { ...known, head: isDeleted ? null : known.head, pull })
  if (what !== 'merge-delete') return after
  // GitHub moves those on top of a deleted branch.
  for (const [id, one] of after)
    if (one.pull?.state === 'open' && one.pull.base === layer.branch)
      after.set(id, { ...one, pull: { ...one.pull, base: pull.base } })
  return after
}
