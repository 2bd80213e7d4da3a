// What the tests of documents share: samples as files, a reading that must succeed, the mistakes of one that must not.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import type { Prd } from '../../../src/engine/model/feature.ts'
import { type Documents, readDocuments } from '../../../src/plan/documents.ts'
import type { DocumentFile } from '../../../src/plan/types.ts'
import type { Mistake } from '../../../src/system/errors.ts'

export function sample(name: string): string {
  return readFileSync(new URL(`samples/${name}`, import.meta.url), 'utf8')
}

/** What the files say; a test that gives broken ones fails with all of their mistakes. */
export function documentsOf(...files: DocumentFile[]): Documents {
  const result = readDocuments(files)
  assert.ok(result.ok, JSON.stringify(result, null, 1))
  return result.documents
}

/** One file as a feature. */
export function parsed(text: string, path = 'plan.md'): { prd: Prd; notes: string[] } {
  return documentsOf({ path, text })
}

export function mistakesOf(...files: DocumentFile[]): readonly Mistake[] {
  const result = readDocuments(files)
  assert.ok(!result.ok, 'expected mistakes')
  for (const mistake of result.mistakes) {
    const { path, found, expected, fix } = mistake
    for (const said of [path, found, fix]) assert.ok(said.length > 0, JSON.stringify(mistake))
    // Without `expected`, `found` is a whole sentence.
    assert.ok(expected !== '' || /[.…]$/.test(found), found)
    assert.ok(mistake.found.length <= 80, mistake.found)
    assert.doesNotMatch(Object.values(mistake).join(''), /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
  }
  return result.mistakes
}

export function mistakesIn(text: string, path: string): readonly Mistake[] {
  return mistakesOf({ path, text })
}
