// Ctrl+C, and what ends a program like it: the first one is heard, a second one ends at once.
import { EXIT_CODES } from '../report/outputs.ts'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Aborts `stop` at the first signal, which `first` is told of; before a second one ends the process, `leave` is called. */
export function onSignals(
  stop: AbortController,
  first: (signal: NodeJS.Signals) => void,
  leave: () => void = () => {},
): () => void {
  const heard = (signal: NodeJS.Signals) => {
    if (stop.signal.aborted) {
      leave()
      process.exit(EXIT_CODES.interrupted)
    }
    first(signal)
    stop.abort()
  }
  for (const signal of SIGNALS) process.on(signal, heard)
  return () => {
    for (const signal of SIGNALS) process.off(signal, heard)
  }
}
