// One case on a peer, driven by a stand-in for `claude` that does what the case says. Done is what the peer itself reports.
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { shell, wrongness } from './hidden.mjs'

/** `files` stand in the base beside the project's; `line` starts it; `done` says whether it counts the story as done. */
export const PEERS = {
  'ralph-tui': {
    files: ({ story }) => ({
      'prd.json': JSON.stringify({
        name: 'sample',
        branchName: 'ralph/sample',
        description: 'd',
        userStories: [
          {
            id: 'US-001',
            title: story.title,
            description: '',
            acceptanceCriteria: story.criteria,
            priority: 1,
            passes: false,
            notes: '',
          },
        ],
      }),
      '.ralph-tui/config.toml': 'autoCommit = true\n',
    }),
    line: (folder) =>
      `'${folder}/node_modules/.bin/bun' '${folder}/node_modules/ralph-tui/dist/cli.js' run --headless --no-setup --prd ./prd.json --agent claude --iterations 3 --delay 0 --no-notify`,
    done: (read) => JSON.parse(read('prd.json')).userStories[0].passes === true,
  },
  ralphy: {
    files: ({ story }) => ({ 'PRD.md': `- [ ] ${story.title}: ${story.criteria.join('; ')}\n` }),
    line: (folder) => `node '${folder}/node_modules/ralphy-cli/bin.js' --claude --prd PRD.md`,
    done: (read) => /- \[x\]/i.test(read('PRD.md')),
  },
}

/** A stand-in for claude: its version, else a turn of the agent as a stream of JSON. */
export const claude = (agent) => `#!/usr/bin/env bash
for word in "$@"; do case "$word" in --version|-v) echo '2.1.240 (Claude Code)'; exit 0;; esac; done
case "$1" in update|mcp|doctor) exit 0;; esac
said=$(${agent} < /dev/null) || exit 1
node -e '
const [text] = process.argv.slice(1)
const line = (value) => console.log(JSON.stringify(value))
line({ type: "system", subtype: "init", session_id: "s" })
line({ type: "assistant", message: { content: [{ type: "text", text }] } })
line({ type: "result", subtype: "success", is_error: false, session_id: "s", result: text, total_cost_usd: 0.01, duration_ms: 200, num_turns: 1, usage: { input_tokens: 100, output_tokens: 20 } })' "$said"
`

/** Runs the case on that peer; `folder` has the packages. */
export async function peer(place, name, folder) {
  if (folder === undefined) throw new Error(`--peers FOLDER, with ${name} in its node_modules`)
  const { one, repository, env } = place
  const { files, line, done } = PEERS[name]
  for (const [path, text] of Object.entries(files(one))) {
    mkdirSync(dirname(join(repository, path)), { recursive: true })
    writeFileSync(join(repository, path), text)
  }
  const base = place.commit('base')
  const bin = join(place.folder, 'bin')
  mkdirSync(bin)
  writeFileSync(join(bin, 'claude'), claude(place.agent))
  chmodSync(join(bin, 'claude'), 0o755)
  const started = Date.now()
  const { code, out } = await shell(line(folder), {
    cwd: repository,
    env: { ...env, PATH: `${bin}:${env.PATH}` },
    timeoutMs: 120_000,
  })
  const seconds = (Date.now() - started) / 1000
  const read = (path) =>
    existsSync(join(repository, path)) ? readFileSync(join(repository, path), 'utf8') : '{}'
  const passed = done(read)
  // What it left uncommitted is what its user would commit.
  const wrong = passed ? await wrongness(one, place, place.commit('what is left'), base) : null
  return {
    result: passed ? 'passed' : 'refused',
    wrong,
    told: '',
    why: passed ? '' : `exit ${code}: ${out.slice(-200)}`,
    seconds,
  }
}
