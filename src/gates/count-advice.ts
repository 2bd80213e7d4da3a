// What makes a test runner say how many tests it ran. Without a number, no one sees that a change runs fewer of them. Pure.
import type { Gate } from '../engine/model/gate.ts'

/** Commands that run tests, and what makes that runner print a number. */
const RUNNERS: readonly (readonly [command: RegExp, advice: string])[] = [
  [/\bgo test\b/, 'add `-v` to `go test`'],
  [/\bpytest\b|\bpy\.test\b/, 'use `-q` at most once, and no `--no-summary`'],
  [/\bnode\b.*--test\b/, 'use `--test-reporter=spec`'],
  [/\bvitest\b/, 'use `--reporter=default`'],
  [/\bjest\b/, 'leave out `--silent`, and use no reporter other than `default`'],
  [/\bmocha\b/, 'use `--reporter spec`'],
  [/\bgradlew?\b/, 'set `report: build/test-results/**/*.xml`'],
  [/\bdotnet test\b/, 'add `--logger junit`, and set `report` to its file'],
  [/\brspec\b/, 'use `--format RspecJunitFormatter`, and set `report` to its file'],
  [/\bphpunit\b/, 'add `--log-junit junit.xml`, and set `report: junit.xml`'],
]
/** Names and commands of test runs. */
const TESTS = /\b(?:e2e|specs?|tests?|check-tests|unit|integration)\b/i
/** Gates that run no tests, whatever they check: `lint-tests`, `test-data-build`. */
const STATIC = /^(?:format|lint|typecheck|vet|docs|build)-|-(?:format|lint|typecheck|vet|docs|build)$/i
/** The shell's own `test`, as in `test -z "$(gofmt -l .)"`: it compares, and runs no tests. */
const SHELL_TEST = /(^|[;&|(!\n]|\b(?:if|while|until|then|do|else)\b)\s*test\s+(?=[-!"'$(])/g

/** What makes a gate that names no number of tests name one; null if it seems to run no tests. */
export function missingCount({ name, run }: Pick<Gate, 'name' | 'run'>): string | null {
  const [, advice = null] = RUNNERS.find(([command]) => command.test(run)) ?? []
  if (advice === null && STATIC.test(name)) return null
  if (advice === null && !TESTS.test(name) && !TESTS.test(run.replace(SHELL_TEST, '$1'))) return null
  return advice ?? 'let its runner write JUnit XML, and set `report` to that file'
}
