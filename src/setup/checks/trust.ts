// Which kinds of wrong work would pass with these settings. docs/trust.md describes
// and measures each.
import type { Settings } from '../../settings/read-settings.ts'
import { type CheckResult, okResult, type Subject, warningResult } from './subject.ts'

type Loophole = { what: string; isClosed(settings: Settings): boolean; fix: string }

const CHANGED = /\bRALPH_CHANGED_FILES\b/
/** How a shell command allows for an unset variable: `${N+x}`, `${N-.}`, `${N:?}`, `-v N`, `-z "$N"`. An empty default is no files. */
const ALLOWS_UNSET =
  /\$\{RALPH_CHANGED_FILES:?(?:[+?]|[-=](?!\}))|-v\s+["']?RALPH_CHANGED_FILES\b|-[nz]\s+"?\$\{?RALPH_CHANGED_FILES\b/

const LOOPHOLES: readonly Loophole[] = [
  {
    what: 'tests that are deleted, skipped or edited, and scripts and configurations that check less',
    isClosed: ({ weakenedTests }) => weakenedTests === 'judge' || weakenedTests === 'fail',
    fix: 'weakened-tests: judge',
  },
  {
    what: 'work that only an ignored file holds',
    isClosed: ({ cleanRoom, isolation }) => cleanRoom === 'on' || isolation === 'separate-job',
    fix: 'clean-room: on',
  },
  {
    what: 'installed dependencies that the session changed',
    isClosed: ({ prepare, cleanRoom, isolation }) =>
      prepare !== null || cleanRoom === 'on' || isolation === 'separate-job',
    fix: 'prepare',
  },
  {
    what: 'a change of so many files that RALPH_CHANGED_FILES is left out, at a gate that then looks at none',
    isClosed: ({ gates }) => gates.every(({ run }) => !CHANGED.test(run) || ALLOWS_UNSET.test(run)),
    fix: 'a gate that looks at all files where it is unset (docs/gates.md)',
  },
  {
    what: 'code and settings outside of the checkout',
    isClosed: ({ isolation }) => isolation !== 'same-user',
    fix: 'isolation: other-user',
  },
]
const ALWAYS = 'answers made for the tests alone, and code that knows it is tested'

export function checkTrust({ checkout, settings: ownSettings }: Subject): CheckResult {
  const settings = ('workspace' in checkout ? checkout.ci?.settings : null) ?? ownSettings
  if (settings.gates.length === 0)
    return warningResult('whatever an agent calls done', 'gates', 'write gates')
  const open = LOOPHOLES.filter((loophole) => !loophole.isClosed(settings))
  const found = [...open.map(({ what }) => what), ALWAYS].join('; ')
  if (open.length === 0) return okResult(`would pass: ${found}`)
  return warningResult(
    `would pass: ${found}`,
    'wrong work that is found where it can be',
    `${open.map(({ fix }) => fix).join(', ')} (docs/trust.md)`,
  )
}
