// What follows from the packages that a story adds: `new-dependencies` show, ask and refuse.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseSlash } from '../../../src/engine/commands/command-table.ts'
import type { DependencyFinding } from '../../../src/engine/model/dependency.ts'
import type { Command, Verdict } from '../../../src/engine/model/event.ts'
import { ineffectiveReason } from '../../../src/engine/planning/plan-events.ts'
import { verifyParts } from '../../../src/engine/prompts/build-prompt.ts'
import { ownSituation } from '../../../src/engine/situation.ts'
import { nextAction } from '../../../src/report/next-action.ts'
import { toPlainText } from '../../../src/report/sentence.ts'
import {
  anotherJob,
  built,
  limitsWith,
  runJob,
  type Script,
  saying,
  stateOf,
  stories,
  storyOf,
  used,
} from './samples.ts'

const PACKAGES: DependencyFinding[] = [
  { kind: 'package', ecosystem: 'npm', name: 'Lodahs', version: '1.0.0', resembles: 'lodash' },
  { kind: 'unread', path: 'web/yarn.lock', why: 'it has the conflict markers of a merge' },
]

/** Every candidate adds these packages. `verdict`: of the judge that is asked. */
function adding(dependencies: DependencyFinding[], verdict?: Verdict): Script {
  return (step, _state, now) => {
    if (step.kind === 'guard')
      return { kind: 'guarded', candidate: { ...built(`candidate-${now}`), dependencies } }
    return step.kind === 'judge' && verdict !== undefined ? { kind: 'judged', verdict, usage: used(1) } : null
  }
}

test('show: new packages are listed, nothing waits for them', () => {
  const ran = runJob(stateOf(stories('US-001')), limitsWith(), adding(PACKAGES))
  assert.equal(ran.outcome, 'complete')
  assert.equal(ran.steps.includes('judge US-001'), false)
  assert.deepEqual(
    ran.state.dependencies,
    PACKAGES.map((finding) => ({ storyId: 'US-001', finding })),
  )
})

test('ask: a judge decides whether a criterion needs the packages', () => {
  const limits = limitsWith({ newDependencies: 'ask', maxAttempts: 1 })
  const run = (verdict: Verdict) => runJob(stateOf(stories('US-001')), limits, adding(PACKAGES, verdict))
  assert.equal(run({ kind: 'verified' }).outcome, 'complete')
  const refused = run({ kind: 'reset', stories: ['US-001'], reason: 'plain code would do' })
  assert.equal(refused.outcome, 'stuck')
  assert.match(
    refused.state.records['US-001']?.failure?.summary ?? '',
    /^new package Lodahs 1\.0\.0 .*; a judge says that the story does not require this: plain code would do$/,
  )
  assert.equal(
    refused.state.records['US-001']?.failure?.detail,
    'Add no package that the acceptance criteria do not need.',
  )
  assert.equal(run({ kind: 'none', message: 'it crashed' }).outcome, 'stuck', 'no answer counts as no')
  const without = runJob(stateOf(stories('US-001')), limits)
  assert.equal(without.steps.includes('judge US-001'), false, 'nothing to ask')
})

test('ask: the question is about packages, and names them', () => {
  const state = stateOf(stories('US-001'))
  const facts = { gates: [], services: [], instructions: '', context: '', dropped: [], conflict: null }
  const packages = ['new package left-pad 1.0.0 (npm)']
  const ask = (findings: string[]) =>
    verifyParts(
      null,
      state,
      {
        stories: ['US-001'],
        gates: [],
        expectation: { findings, paths: [], from: 'a', to: 'b', packages },
      },
      facts,
    )
      .map(({ text }) => text)
      .join('')
  assert.match(ask([]), /does an acceptance criterion below need each of these packages\?[\s\S]*US-001/)
  assert.match(ask([]), /- new package left-pad 1\.0\.0 \(npm\)/)
  assert.match(
    ask(['gate test: 3 tests are skipped']),
    /do the acceptance criteria below ask for this change/,
  )
  assert.match(ask(['gate test: 3 tests are skipped']), /3 tests are skipped\n- new package left-pad/)
})

const limits = limitsWith({ newDependencies: 'refuse' })

function say(body: string): Command {
  const parsed = parseSlash(body, ['US-001'])
  if (parsed.kind !== 'command') assert.fail(JSON.stringify(parsed))
  return { ...parsed.command, id: 7, by: 'ann' }
}

test('refuse: the run waits until a person allows each package', () => {
  const waits = runJob(stateOf(stories('US-001')), limits, adding(PACKAGES))
  assert.equal(waits.outcome, 'paused')
  assert.equal(
    waits.conclusion.reason,
    'new packages are waiting until a person allows them: Lodahs (US-001), web/yarn.lock (US-001)',
  )
  assert.equal(storyOf(waits.state, 'US-001').passes, true)
  assert.equal(
    toPlainText(nextAction(waits.state, ownSituation(waits.state), 'cli', limits)),
    'Look at the new packages, then allow one with ralph allow Lodahs, or every one with ralph allow all. Then continue with ralph run.',
  )
  const one = runJob(anotherJob(waits.state), limits, saying([say('/ralph allow LODAHS')]))
  assert.equal(
    one.conclusion.reason,
    'new packages are waiting until a person allows them: web/yarn.lock (US-001)',
  )
  const all = runJob(anotherJob(one.state), limits, saying([{ ...say('/ralph allow all'), id: 8 }]))
  assert.equal(all.outcome, 'complete')
  assert.deepEqual(
    all.state.dependencies?.map(({ allowedBy }) => allowedBy),
    ['ann', 'ann'],
  )
})

test('refuse: working on the story again neither asks twice nor lets the package through', () => {
  const waits = runJob(stateOf(stories('US-001')), limits, adding(PACKAGES))
  const redo = runJob(anotherJob(waits.state), limits, saying([say('/ralph redo US-001')]))
  assert.match(redo.conclusion.reason, /^new packages are waiting .*Lodahs/)
  const allowed = runJob(anotherJob(redo.state), limits, saying([{ ...say('/ralph allow all'), id: 9 }]))
  const again = runJob(
    anotherJob(allowed.state),
    limits,
    saying([{ ...say('/ralph redo US-001'), id: 10 }], adding(PACKAGES.slice(0, 1))),
  )
  assert.equal(again.outcome, 'complete')
})

test('a command that allows nothing says why', () => {
  const waits = runJob(stateOf(stories('US-001')), limits, adding(PACKAGES)).state
  assert.equal(
    ineffectiveReason(stateOf(stories('US-001')), say('/ralph allow all')),
    'no new package is waiting for approval',
  )
  assert.equal(
    ineffectiveReason(waits, say('/ralph allow lodash')),
    'no such package is waiting. These are: Lodahs, web/yarn.lock',
  )
  assert.equal(ineffectiveReason(waits, say('/ralph allow lodahs, web/yarn.lock')), null)
  assert.deepEqual(parseSlash('/ralph allow', []), {
    kind: 'mistake',
    problem: 'allow needs the name of a new package',
    fix: '/ralph allow all',
  })
})
