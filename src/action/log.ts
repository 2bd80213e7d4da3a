// The job's log: every line is made harmless, so that nothing untrusted can speak to the runner.
import { muted, withoutControls } from '../system/workflow-commands.ts'

export type Log = {
  /** For the plain renderer. */
  screen: { write(text: string): void; isTTY: false }
  /** A folded block. */
  group(title: string, lines: readonly string[]): void
}

export function createLog(write: (text: string) => void, redact: (text: string) => string): Log {
  const emit = (text: string) => {
    const lines = text
      .replace(/\n$/, '')
      .split('\n')
      // A control sequence in the middle of a key would hide it from the redactor, and be gone afterwards.
      .map((line) => muted(redact(withoutControls(line))))
    write(`${lines.join('\n')}\n`)
  }
  return {
    screen: { write: emit, isTTY: false },
    group(title, lines) {
      write(`::group::${muted(title)}\n`)
      emit(lines.join('\n'))
      write('::endgroup::\n')
    },
  }
}
