// Amp: its stream-json is Claude Code's (ampcode.com, streaming JSON). Its happy path was never recorded by us.

import type { AgentVendor } from './agent.ts'
import { streamJsonParser } from './stream-json.ts'

export const amp: AgentVendor = {
  name: 'amp',
  program: 'amp',
  install: 'npm install -g @sourcegraph/amp',
  npm: '@sourcegraph/amp',
  writesHome: true,
  env: ['AMP_API_KEY', 'AMP_URL', 'AMP_SETTINGS_FILE', 'AMP_TOOLBOX'],
  login: {
    keys: ['AMP_API_KEY'],
    others: ['AMP_URL', 'AMP_SETTINGS_FILE'],
    files: ['.local/share/amp/secrets.json', '.config/amp/settings.json'],
    project: ['.amp/settings.json'],
    check: null,
  },
  command: (options) => ({
    args: [
      '--dangerously-allow-all',
      // Amp chooses models by mode.
      ...(options.model === undefined ? [] : ['--mode', options.model]),
      ...options.extraArgs,
      '--execute',
      '--stream-json',
    ],
    env: {},
    promptChannel: 'stdin',
  }),
  parser: () =>
    streamJsonParser({
      finalText: 'result',
      streamed: false,
      cacheCounted: true,
      // Without a key it waits in a login until the idle time-out ends it (recording no-key).
      refusals: [
        /^No API key found\. Starting login flow/,
        /^Error: Invalid or missing API key\b/,
        /^Error: API request for \w+ failed: 40[123]\b/,
      ],
    }),
}
