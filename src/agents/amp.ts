// Amp: its stream-json is Claude Code's (ampcode.com, streaming JSON). We have recordings of its failures, and none of a success.

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
  // Its server passes requests on to the models (ampcode.com/security).
  modelHosts: { always: ['ampcode.com', '*.ampcode.com'] },
  keyShapes: [
    {
      // `sgamp_user_`, a ULID of 26 characters, `_`, 64 hexadecimal digits.
      what: 'an Amp key',
      starts: ['sgamp_'],
      key: /(?<![A-Za-z0-9])sgamp_[a-z]+_[A-Za-z0-9_-]{26,}/y,
      also: /\d/,
    },
  ],
  settings: ['.amp', '.agents'],
  reports: 'tokens',
  // Amp has no option for a model; its mode selects one.
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
