// Amp: its stream-json is Claude Code's (ampcode.com, streaming JSON). Its happy path was never recorded by us.

import { type AgentVendor, flag } from './agent.ts'
import { StreamJsonReader } from './stream-json.ts'

export const amp: AgentVendor = {
  name: 'amp',
  program: 'amp',
  install: 'npm install -g @sourcegraph/amp',
  npm: '@sourcegraph/amp',
  env: [],
  withheld: ['AMP_SETTINGS_FILE', 'AMP_TOOLBOX'],
  login: {
    keys: ['AMP_API_KEY'],
    alternatives: ['AMP_URL'],
    files: ['.local/share/amp/secrets.json', '.config/amp/settings.json'],
    projectFiles: ['.amp/settings.json'],
  },
  keyShapes: [
    {
      // `sgamp_user_`, 26 of a ULID, `_`, 64 of hex.
      what: 'an Amp key',
      starts: ['sgamp_'],
      key: /(?<![A-Za-z0-9])sgamp_[a-z]+_[A-Za-z0-9_-]{26,}/y,
      also: /\d/,
    },
  ],
  settings: ['.amp', '.agents'],
  reports: 'tokens',
  // Amp chooses models by mode.
  args: ({ model, extraArgs }) => [
    '--dangerously-allow-all',
    ...flag('--mode', model),
    ...extraArgs,
    ...['--execute', '--stream-json'],
  ],
  parser: () =>
    new StreamJsonReader({
      finalText: 'result',
      isStreamed: false,
      inputIncludesCache: true,
      // Without a key it waits in a login until the idle time-out ends it (recording no-key).
      refusals: [
        /^No API key found\. Starting login flow/,
        /^Error: Invalid or missing API key\b/,
        /^Error: API request for \w+ failed: 40[123]\b/,
      ],
    }),
}
