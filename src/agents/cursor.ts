// Cursor's agent: stream-json close to Claude Code's (docs.cursor.com, CLI output format). Never recorded by us.

import type { AgentVendor } from './agent.ts'
import { streamJsonParser } from './stream-json.ts'

export const cursor: AgentVendor = {
  name: 'cursor',
  program: 'cursor-agent',
  install: 'curl https://cursor.com/install -fsS | bash',
  npm: null,
  writesHome: true,
  env: ['CURSOR_API_KEY', 'CURSOR_CONFIG_DIR'],
  login: {
    keys: ['CURSOR_API_KEY'],
    others: ['CURSOR_CONFIG_DIR'],
    files: ['.cursor', '.config/cursor'],
    project: [],
    check: null,
  },
  command: (options) => ({
    args: [
      '--print',
      '--force',
      '--output-format',
      'stream-json',
      ...(options.model === undefined ? [] : ['--model', options.model]),
      ...options.extraArgs,
    ],
    env: {},
    promptChannel: 'stdin',
  }),
  // A failure has no result event: exit code and stderr tell.
  parser: () =>
    streamJsonParser({
      finalText: 'last-message',
      streamed: false,
      cacheCounted: false,
      refusals: [
        /^(?:Error: )?Authentication required\. Please run /,
        /^\W*Warning: The provided API key is invalid\b/,
        /^(?:Error: )*Cannot use this model: /,
        /^(?:Error: )*(?:ConnectError: )?\[(?:unauthenticated|permission_denied)\]/,
      ],
    }),
}
