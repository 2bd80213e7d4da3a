// Cursor's agent: stream-json close to Claude Code's (docs.cursor.com, CLI output format). We have no recordings of it.

import { type AgentVendor, flag, words } from './agent.ts'
import { StreamJsonReader } from './stream-json.ts'

export const cursor: AgentVendor = {
  name: 'cursor',
  program: 'cursor-agent',
  install: 'curl https://cursor.com/install -fsS | bash',
  npm: null,
  env: [],
  login: {
    keys: ['CURSOR_API_KEY'],
    alternatives: ['CURSOR_CONFIG_DIR'],
    files: ['.cursor/cli-config.json', '.config/cursor/auth.json'],
    projectFiles: [],
  },
  home: {
    files: [],
    renewedFiles: ['.config/cursor/auth.json'],
    folderVariable: ['CURSOR_CONFIG_DIR', '.cursor'],
  },
  // cursor.com/docs/enterprise/network-configuration
  modelHosts: { always: ['*.cursor.sh'] },
  keyShapes: [
    { what: 'a Cursor key', starts: ['crsr_'], key: /(?<![A-Za-z0-9_])crsr_[A-Za-z0-9]{32,}/y, also: /\d/ },
  ],
  settings: ['.cursor', '.cursorrules', '.claude'],
  slashCommands: '.cursor/commands/*.md',
  reports: 'nothing',
  args: ({ model, extraArgs }) => [
    ...words('--print --force --output-format stream-json'),
    ...flag('--model', model),
    ...extraArgs,
  ],
  // After a failure there is no result event, only the exit code and stderr.
  parser: () =>
    new StreamJsonReader({
      finalText: 'last-message',
      isStreamed: false,
      inputIncludesCache: false,
      refusals: [
        /^(?:Error: )?Authentication required\. Please run /,
        /^\W*Warning: The provided API key is invalid\b/,
        /^(?:Error: )*Cannot use this model: /,
        /^(?:Error: )*(?:ConnectError: )?\[(?:unauthenticated|permission_denied)\]/,
      ],
    }),
}
