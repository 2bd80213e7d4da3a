// JUnit XML, as surefire, gradle, pytest, jest, vitest, node --test, gotestsum and many more write it. Pure.
import type { Annotation, TestCounts } from '../../model/gate.ts'
import { type Finder, type Found, lineOf, MOST_FOUND } from './found.ts'
import { childrenOf, elements, type XmlElement } from './xml.ts'

/** Null where it is no JUnit. */
export function readJunit(root: XmlElement, finder: Finder): Found | null {
  if (root.name !== 'testsuites' && root.name !== 'testsuite') return null
  const tests: TestCounts = { passed: 0, failed: 0, skipped: 0 }
  const annotations: Annotation[] = []
  for (const test of elements(root, ['testcase'])) {
    const ends = childrenOf(test)
    const bad = ends.find(({ name }) => name === 'failure' || name === 'error')
    if (bad === undefined) tests[ends.some(({ name }) => name === 'skipped') ? 'skipped' : 'passed'] += 1
    else {
      tests.failed += 1
      const found = annotations.length < MOST_FOUND ? annotationOf(test, bad, finder) : null
      if (found !== null) annotations.push(found)
    }
  }
  return { tests, annotations }
}

/** Where the failure's own words say it, else where the test stands. */
function annotationOf(test: XmlElement, bad: XmlElement, finder: Finder): Annotation | null {
  const { name = 'a test', file = '', line = '1' } = test.attributes
  const said = bad.attributes.message?.trim() || bad.text.trim()
  const own = finder.resolve(file)
  const place =
    finder.placeIn(`Error: ${said}\n${bad.text}`) ?? (own === null ? null : { path: own, line: lineOf(line) })
  return place && { ...place, message: `${name}: ${said}`, level: 'failure' }
}
