// An agent that cannot be installed here, as its documentation describes its command line: `documented-agent.mjs NAME ARGS...`.
// It refuses every option that the documentation does not have, takes the prompt where the documentation says, writes hello.txt in
// a session that works, and prints its answer as the documentation shows it.
//
// crush: internal/cmd/run.go and root.go. goose: documentation/docs/guides/goose-cli-commands.md. kiro: its pages about headless
// mode and exit codes.
import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'

const text = { type: 'string' }
const flag = { type: 'boolean' }
const agents = {
  crush: {
    command: ['run'],
    options: {
      quiet: { ...flag, short: 'q' },
      verbose: { ...flag, short: 'v' },
      model: { ...text, short: 'm' },
      'small-model': text,
      'data-dir': { ...text, short: 'D' },
      yolo: { ...flag, short: 'y' },
    },
    prompt: ({ words }) => [...words, readFileSync(0, 'utf8')].join(' '),
    key: 'ANTHROPIC_API_KEY',
    show: (answer) => `${answer}\n\n`,
  },
  goose: {
    command: ['run'],
    options: {
      instructions: { ...text, short: 'i' },
      'no-session': flag,
      quiet: { ...flag, short: 'q' },
      'with-builtin': { ...text, multiple: true },
      provider: text,
      model: text,
      'max-turns': text,
    },
    prompt: ({ values }) => readFileSync(values.instructions === '-' ? 0 : values.instructions, 'utf8'),
    key: 'ANTHROPIC_API_KEY',
    show: (answer) => `${answer}\n`,
  },
  kiro: {
    command: ['chat'],
    options: {
      'no-interactive': flag,
      'trust-all-tools': flag,
      'trust-tools': text,
      agent: text,
      model: text,
      wrap: text,
    },
    prompt: ({ words }) => words.join(' '),
    key: 'KIRO_API_KEY',
    show: (answer) => `> ${answer}\n`,
  },
}

const [name = '', command, ...args] = process.argv.slice(2)
const agent = agents[name]
if (agent === undefined || !agent.command.includes(command)) fail(`unknown command ${command}`)
if (!process.env[agent.key]) fail(`${agent.key} is not set`)
const given = parsed()
const prompt = agent.prompt(given)
if (prompt.trim() === '') fail('no prompt')
const isJudge = process.env.RALPH_MODE === 'verify'
if (!isJudge) writeFileSync('hello.txt', 'hello\n')
const verdict = '<ralph>EVIDENCE:US-001#1 hello.txt:1 says hello</ralph>\n<ralph>VERIFIED</ralph>'
const story = prompt.includes('hello.txt says hello') ? '<ralph>DONE</ralph>' : 'Which story?'
process.stdout.write(agent.show(isJudge ? verdict : story))

function parsed() {
  try {
    const { values, positionals: words } = parseArgs({ args, options: agent.options, allowPositionals: true })
    return { values, words }
  } catch (error) {
    return fail(error.message)
  }
}

function fail(why) {
  process.stderr.write(`${name}: ${why}\n`)
  process.exit(1)
}
