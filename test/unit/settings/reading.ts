// Shorthands for the tests of settings: read, and take what is right or what is wrong.
import assert from 'node:assert/strict'
import { readSettings, type Settings, type Sources } from '../../../src/settings/read-settings.ts'
import { formatMistake, type Mistake } from '../../../src/system/errors.ts'

export type Partly = Partial<Sources>

/** The settings and notes; fails when anything is wrong. */
export function right(sources: Partly): { settings: Settings; notes: string[] } {
  const result = readSettings({ env: {}, surface: 'action', ...sources })
  if (!result.ok) assert.fail(result.mistakes.map(formatMistake).join('\n'))
  return result
}

/** The mistakes; fails when nothing is wrong. */
export function wrong(sources: Partly): Mistake[] {
  const result = readSettings({ env: {}, surface: 'action', ...sources })
  if (result.ok) assert.fail('nothing was wrong')
  return result.mistakes
}

/** The only mistake. */
export function onlyWrong(sources: Partly): Mistake {
  const mistakes = wrong(sources)
  assert.equal(mistakes.length, 1, mistakes.map(formatMistake).join('\n'))
  return mistakes[0] ?? assert.fail()
}

export function paths(mistakes: readonly Mistake[]): string[] {
  return mistakes.map((mistake) => mistake.path).sort()
}

export function yml(text: string, path = 'ralph.config.yml'): Pick<Sources, 'file'> {
  return { file: { path, text } }
}

export function json(value: unknown): Pick<Sources, 'file'> {
  return { file: { path: 'ralph.config.json', text: JSON.stringify(value) } }
}
