// What a dispatch may name: a feature as folders are called, or an issue; nothing else gets as far as a ref.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readEvent } from '../../../src/action/github-event.ts'
import { refuseFeatureName } from '../../../src/action/open.ts'
import { UserError } from '../../../src/system/errors.ts'
import { hostileStrings } from '../../fixtures/hostile-strings.ts'

const named = (feature: string) => () =>
  refuseFeatureName({ event: readEvent('workflow_dispatch', { inputs: { feature } }) })

test('feature names accept folder names and issue numbers', () => {
  for (const name of ['', 'auth', ' auth ', 'Auth_v2.1', 'gr\u00f6\u00dfe', '#12'])
    assert.doesNotThrow(named(name))
})

test('an invalid feature name is refused with the fix', () => {
  const wrong = ['Team Login', 'a/b', '..', '.', 'a\nb', '-x', 'HEAD', 'a.lock', 'a..b', '\u202ea', '@']
  for (const name of wrong)
    assert.throws(named(name), (error) => {
      assert.ok(error instanceof UserError, name)
      const [mistake] = error.mistakes
      assert.equal(mistake?.path, 'input feature')
      assert.match(mistake?.fix ?? '', /such as auth/)
      return true
    })
  for (const { text } of hostileStrings)
    try {
      named(text)()
    } catch (error) {
      assert.ok(error instanceof UserError)
      // biome-ignore lint/suspicious/noControlCharactersInRegex: what a log would obey.
      assert.doesNotMatch(error.mistakes[0]?.found ?? '', /[\u0000-\u001f\u202a-\u202e]/)
    }
})
