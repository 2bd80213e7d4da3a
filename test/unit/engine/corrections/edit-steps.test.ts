// Edits of the branch without a session, where they must not be made.
import assert from 'node:assert/strict'
import test from 'node:test'
import { limitsOf } from '../../../../src/app/loop-limits.ts'
import type { StepContext } from '../../../../src/engine/attempt-steps.ts'
import { editBranch } from '../../../../src/engine/edit-steps.ts'
import type { Ports } from '../../../../src/engine/model/ports.ts'
import { readSettings } from '../../../../src/settings/read-settings.ts'
import { limitsWith, NOW, stateOf, stories } from '../samples.ts'

test('at separate-job no gate runs in the job that may push: an edit is refused before anything is built', async () => {
  const untouched = new Proxy({}, { get: (_, name) => assert.fail(`${String(name)} is used`) })
  const ports = untouched as Ports
  const context: StepContext = {
    state: stateOf(stories('US-001')),
    limits: limitsWith({ neverEdits: true }),
    ports,
    now: NOW,
  }
  for (const edit of [
    { kind: 'drop', stories: ['US-001'] },
    { kind: 'update', theirs: 'a', isAsked: true },
  ] as const) {
    const result = await editBranch(edit, context)
    assert.ok(result.kind === 'edited' && result.green === undefined)
    assert.match(result.refused ?? '', /^with isolation: separate-job, Ralph neither reverts/)
  }
})

test('at separate-job the base is not merged, whatever update-base says', () => {
  const read = (isolation: string) => {
    const found = readSettings({
      inputs: { isolation, gates: 'test: npm test', 'update-base': 'always' },
      env: {},
      surface: 'action',
    })
    assert.ok(found.ok, JSON.stringify(found))
    const { neverEdits, updateBase } = limitsOf(found.settings)
    return [neverEdits, updateBase]
  }
  assert.deepEqual(read('separate-job'), [true, undefined])
  assert.deepEqual(read('other-user'), [undefined, 'always'])
})
