// Report and coverage files of a gate, by what they hold. Whatever cannot be read is a remark, and never ends anything.
import type { Annotation, TestCounts } from '../../model/gate.ts'
import { readCobertura } from './cobertura.ts'
import type { Finder, Found, Hits } from './found.ts'
import { readJunit } from './junit.ts'
import { readLcov } from './lcov.ts'
import { readSarif } from './sarif.ts'
import { rootOf, XmlError } from './xml.ts'

type File = { path: string; text: string }

/** What all files say together. */
export function readReports(files: readonly File[], finder: Finder): Found & { remarks: string[] } {
  const found: Found[] = []
  const remarks: string[] = []
  for (const { path, text } of files) {
    const read = attempted(path, remarks, () => {
      const root = text.trimStart().startsWith('<') ? rootOf(text) : null
      const one = root === null ? readSarif(JSON.parse(plain(text)), finder) : readJunit(root, finder)
      return one ?? fail('neither JUnit XML nor SARIF')
    })
    if (read !== null) found.push(read)
  }
  const tests = found.flatMap((one) => one.tests ?? []).reduce<TestCounts | null>(sum, null)
  const annotations: Annotation[] = found.flatMap((one) => one.annotations)
  return { tests, annotations, remarks }
}

/** Null where there is none to be read; then `remarks` say why. */
export function readCoverage({ path, text }: File, remarks: string[]): Hits | null {
  return attempted(path, remarks, () => {
    const root = text.trimStart().startsWith('<') ? rootOf(text) : null
    const hits = root === null ? readLcov(plain(text)) : readCobertura(root)
    return hits ?? fail('neither lcov nor Cobertura XML')
  })
}

function attempted<T>(path: string, remarks: string[], read: () => T): T | null {
  try {
    return read()
  } catch (error) {
    // What a parser says quotes the file.
    const why = error instanceof NotThat ? error.message : `it is damaged${placeOf(error)}`
    remarks.push(`${path}: cannot be read: ${why}`)
    return null
  }
}

function placeOf(error: unknown): string {
  return error instanceof XmlError ? ` (line ${error.line}, column ${error.column})` : ''
}

class NotThat extends Error {}

function fail(why: string): never {
  throw new NotThat(why)
}

/** Without the mark that some editors of Windows begin with. */
function plain(text: string): string {
  return text.replace(/^\ufeff/, '')
}

function sum(one: TestCounts | null, other: TestCounts): TestCounts {
  const { passed, failed, skipped } = one ?? { passed: 0, failed: 0, skipped: 0 }
  return {
    passed: passed + other.passed,
    failed: failed + other.failed,
    skipped: skipped + other.skipped,
  }
}
