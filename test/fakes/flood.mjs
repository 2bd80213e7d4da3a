// A session whose agent says three million lines of one letter on either stream. Prints by how many MB our memory grew.
import { findAgent } from '../../src/agents/registry.ts'
import { runAgent } from '../../src/agents/run-session.ts'
import { createRedactor } from '../../src/isolation/redact.ts'

const before = process.memoryUsage.rss()
const ended = await runAgent({
  vendor: findAgent('custom'),
  commandLine: 'yes | head -c 3000000; yes | head -c 3000000 >&2',
  extraArgs: [],
  prompt: '',
  cwd: process.cwd(),
  env: { PATH: process.env.PATH },
  timeoutMs: 300_000,
  captureBytes: 64 * 1024,
  redactor: createRedactor(['hunter2-hunter2']),
  transcriptPath: process.argv[2],
  onEvent: () => {},
})
if (ended.status !== 'finished') throw new Error(ended.message)
process.stdout.write(String(Math.round((process.resourceUsage().maxRSS * 1024 - before) / 1e6)))
