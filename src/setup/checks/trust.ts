// Which kinds of wrong work these settings cannot detect. docs/trust.md describes
// and measures each.
import type { Settings } from '../../settings/read-settings.ts'
import { type CheckResult, type Subject, warningResult } from './subject.ts'

type Loophole = { what: string; isClosed(settings: Settings): boolean; fix: string }

const CHANGED = /\bRALPH_CHANGED_FILES\b/
/** How a shell command allows for an unset variable: `${N+x}`, `${N-.}`, `${N:?}`, `-v N`, `-z "$N"`. An empty default is not a file. */
const ALLOWS_UNSET =
  /\$\{RALPH_CHANGED_FILES:?(?:[+?]|[-=](?!\}))|-v\s+["']?RALPH_CHANGED_FILES\b|-[nz]\s+"?\$\{?RALPH_CHANGED_FILES\b/

const LOOPHOLES: readonly Loophole[] = [
  {
    what: 'tests that are deleted, skipped or edited, and scripts and configurations that check less',
    isClosed: ({ weakenedTests }) => weakenedTests === 'judge' || weakenedTests === 'fail',
    fix: 'set weakened-tests: judge',
  },
  {
    what: 'work that exists only in ignored files',
    isClosed: ({ cleanRoom, isolation }) => cleanRoom === 'on' || isolation === 'separate-job',
    fix: 'set clean-room: on',
  },
  {
    what: 'installed dependencies that the session changed',
    isClosed: ({ prepare, cleanRoom, isolation }) =>
      prepare !== null || cleanRoom === 'on' || isolation === 'separate-job',
    fix: 'set prepare',
  },
  {
    what: 'wrong work in a change to so many files that RALPH_CHANGED_FILES is not set, because a gate that relies on it may then check nothing',
    isClosed: ({ gates }) => gates.every(({ run }) => !CHANGED.test(run) || ALLOWS_UNSET.test(run)),
    fix: 'let that gate check all files if RALPH_CHANGED_FILES is not set (docs/gates.md)',
  },
  {
    what: 'code and settings outside of the checkout',
    isClosed: ({ isolation }) => isolation !== 'same-user',
    fix: 'set isolation: other-user',
  },
]
const ALWAYS = 'answers hard-coded for the tests, or code that behaves differently when it is tested'
const HEAD = 'these settings cannot detect'

export function checkTrust({ checkout, settings: ownSettings }: Subject): CheckResult {
  const settings = ('workspace' in checkout ? checkout.ci?.settings : null) ?? ownSettings
  if (settings.gates.length === 0)
    return warningResult(
      'no gates: a story would pass as soon as the agent says that it is done',
      '',
      'add a gate',
    )
  const open = LOOPHOLES.filter((loophole) => !loophole.isClosed(settings))
  const found = [...open.map(({ what }) => what), ALWAYS].join('; ')
  // Not `ok`: no settings protect from these, so a reviewer has to.
  if (open.length === 0)
    return warningResult(`${HEAD} ${found}`, '', 'let a person review every change (docs/trust.md)')
  return warningResult(`${HEAD}: ${found}`, '', `${open.map(({ fix }) => fix).join('; ')} (docs/trust.md)`)
}
