// The lines of a log on a gate that has ended.
import { CANCELLED, type GateResult, isAdvice, isToFail } from '../../engine/model/gate.ts'
import { describeTests, formatDuration } from '../figures.ts'
import { type Line, line } from './log-line.ts'

/** `[test] PASSED (14s, 40 passed)`, with the output of a failed gate, and its findings and remarks. */
export function gateLines(gate: GateResult): Line[] {
  const { name, ok, ended, ms, output, tests, flaky, findings = [], remarks = [] } = gate
  // Its counts and output are left out: they would look like a result.
  if (!ok && ended === CANCELLED) return [line(name, `${CANCELLED} (${formatDuration(ms)})`, 'yellow')]
  if (isToFail(gate.further)) return [withoutChange(gate)]
  const figures = [ok ? '' : ended, formatDuration(ms), describeTests(tests)]
    .filter((part) => part !== '')
    .join(', ')
  if (gate.further === 'base' && !ok) return [line(name, `fails (${figures})`, 'yellow')]
  const notes = [...findings, ...remarks].map((one) => line(name, `note: ${one}`, 'yellow'))
  if (ok)
    return [line(name, `PASSED${flaky ? ', FLAKY' : ''} (${figures})`, flaky ? 'yellow' : 'green'), ...notes]
  const [word, colour] = isAdvice(gate)
    ? (['failed, advisory only', 'yellow'] as const)
    : (['FAILED', 'red'] as const)
  return [{ ...line(name, `${word} (${figures})`, colour), output }, ...notes]
}

/** A gate that ran without the product of the change, or with a mistake in it. If it fails, its tests check the change. */
function withoutChange({ name, ok, tests, ms }: GateResult): Line {
  const figures = [formatDuration(ms), describeTests(tests)].filter((part) => part !== '').join(', ')
  return ok ? line(name, `also passes (${figures})`) : line(name, `fails, as it should (${figures})`)
}
