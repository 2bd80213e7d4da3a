// Lines of the configuration that may stop what passed. Each is tried before it is proposed.
import type { Settings } from '../../settings/read-settings.ts'

export type Remedy = {
  line: string
  /** The settings with the line; null if they have it, or something stricter. */
  change(settings: Settings): Partial<Settings> | null
}

export const REMEDIES: readonly Remedy[] = [
  {
    line: 'weakened-tests: judge',
    change: ({ weakenedTests }) =>
      weakenedTests === 'warn' || weakenedTests === 'off' ? { weakenedTests: 'judge' } : null,
  },
  {
    line: 'needs-proof: require',
    change: ({ needsProof }) => (needsProof === 'require' ? null : { needsProof: 'require' }),
  },
  {
    line: 'protected-paths: [package.json, Makefile, conftest.py]',
    change: ({ protectedPaths }) => ({
      protectedPaths: [...protectedPaths, 'package.json', 'Makefile', 'conftest.py'],
    }),
  },
]
