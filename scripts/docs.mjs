// Writes docs/reference/ from the tables that the code reads, and the totals of docs/trust.md into the README. A test holds them equal.
// node scripts/docs.mjs
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: `${NAME}` is what the settings replace.
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { parse } from 'yaml'
import { CLI_COMMANDS, HELP_GROUPS, isListed } from '../src/cli/command-flags.ts'
import { commandsOn } from '../src/engine/commands/command-table.ts'
import { LABELS, labelsOf, OUTCOMES } from '../src/report/outcomes.ts'
import { EXIT_CODES } from '../src/report/outputs.ts'
import { flagTable } from '../src/settings/read-settings.ts'
import { isInputAndFlag } from '../src/settings/setting.ts'
import { settingRows } from '../src/settings/settings-table.ts'
import { schemas } from './schemas.mjs'

const ROOT = new URL('../', import.meta.url)
const NOTE = '<!-- Written by scripts/docs.mjs. -->'

const cells = (...all) => `| ${all.map((text) => text.replaceAll('|', '\\|')).join(' | ')} |`
const table = (head, rows) => [
  cells(...head),
  cells(...head.map(() => '---')),
  ...rows.map((row) => cells(...row)),
]
const code = (text) => (text === '' ? '' : `\`${text}\``)
const page = (title, ...lines) => `# ${title}\n\n${lines.flat(3).join('\n')}\n\n${NOTE}\n`

// Settings

const inputs = settingRows.filter(isInputAndFlag)
const fileOnly = settingRows.filter((row) => !isInputAndFlag(row))

/** The inputs by group. */
export function inputsTable() {
  return table(
    ['group', 'input', 'default', 'meaning'],
    inputs.map((row) => [row.group, code(row.input), code(row.defaultText), row.description]),
  )
}

/** Every key of the configuration file, those first that are inputs, too. */
export function keysTable() {
  return table(
    ['key', 'value', 'default', 'meaning'],
    [...inputs, ...fileOnly].map((row) => [
      code(row.key),
      row.values.length > 0 ? row.values.map(code).join(', ') : row.kind,
      code(row.defaultText),
      row.values.length > 0 ? row.description.replace(/ \([^()]*\)\.$/, '.') : row.description,
    ]),
  )
}

async function inputsPage() {
  const { outputs } = parse(await readFile(new URL('action.yml', ROOT), 'utf8'))
  return page(
    'Inputs and outputs of the action',
    'Everything that a step `uses: ralph/action` takes under `with:`, and what it gives back. An input wins over `ralph.config.yml`, and that',
    'file wins over the default. Each input is also a flag of [`ralph`](commands.md) and, in camelCase, a key of the',
    '[configuration file](configuration.md).',
    '',
    inputsTable(),
    '',
    'Inputs marked *later* are read and checked, and have no effect in this version. [Gates](../gates.md), [services](../services.md) and',
    '[notify](../notify.md) have pages of their own.',
    '',
    '## Outputs',
    '',
    'None is set where the job had nothing to do.',
    '',
    table(
      ['output', 'meaning'],
      Object.entries(outputs).map(([name, { description }]) => [code(name), description]),
    ),
  )
}

function configurationPage() {
  return page(
    'The configuration file',
    'Every key of `ralph.config.yml` (or `.yaml`, `.json`), which stands at the top of the repository. All keys are optional. In CI the file is read from',
    'the base branch, so that no branch of a feature can change it; the one on the default branch may name that base by `baseBranch`. On the',
    "command line the file in your checkout counts; where that is the feature's branch, and the base branch has another by now, a warning says so.",
    '',
    'An editor completes and checks it with this first line (JSON: a key `$schema`):',
    '',
    '```yaml',
    '# yaml-language-server: $schema=https://raw.githubusercontent.com/ralph/action/v1/schemas/ralph.config.schema.json',
    'gates:',
    '  test: npm test',
    '```',
    '',
    '`${NAME}` in a value is replaced from the environment of the job. A flag wins over an [input](inputs.md), an input over the file, the file over the',
    'default. `ralph validate` tells every mistake at once. An example with most keys: [ralph.config.yaml](../../examples/ralph.config.yaml).',
    '',
    keysTable(),
    '',
    `The last ${fileOnly.length} keys, from \`${fileOnly[0].key}\` on, stand in the file alone; every other one is an input and a flag, too. More on`,
    '[gates](../gates.md), [services](../services.md), [steps](../steps.md), [browser checks](../browser.md), [notify](../notify.md).',
    '',
    'A `ralph.config.json` of the agent-agnostic Ralph CLI is read, too: `provider`, `verify` and `maxRetries` as the keys that stand for them',
    '([how](../migrate/agnostic-cli.md)).',
  )
}

// Commands

const groupsOf = (name) => [
  ...new Set(
    flagTable()
      .filter((flag) => isListed(flag) && CLI_COMMANDS[name].settings(flag))
      .map(({ group }) => group),
  ),
]
const allOf = (group) => flagTable().filter((flag) => isListed(flag) && flag.group === group)

/** The settings that a command takes: whole groups by their name, parts of one by their flags. */
function settingsOf(name) {
  const taken = (flag) => CLI_COMMANDS[name].settings(flag)
  return groupsOf(name).map((group) => {
    const [all, some] = [allOf(group), allOf(group).filter(taken)]
    const flags = some.map(({ flag }) => code(flag)).join(', ')
    return all.length === some.length && all.length > 3 ? `all of *${group}*` : flags
  })
}

const TEXT = { feature: ' [feature]', nothing: '', words: '' }

function command({ name, also, meaning: about, example, args }) {
  const { options, exits, takes } = CLI_COMMANDS[name]
  const usage = `ralph ${name}${TEXT[takes] && args === '' ? TEXT[takes] : args === '' ? '' : ` ${args}`}`
  const settings = settingsOf(name)
  return [
    `### ${name}`,
    '',
    `\`${usage}\`${also === null ? '' : ` (or \`ralph ${also}\`)`}: ${about}. Example: \`${example}\``,
    '',
    ...options.map(([flag, text]) => `- \`${flag}\`: ${text}`),
    ...(settings.length === 0 ? [] : [`- settings: ${settings.join('; ')}`]),
    `- exit codes: ${exits.map(([exit, text]) => `${exit} ${text}`).join('; ')}`,
    '',
  ]
}

function commandsPage() {
  const comments = commandsOn('comment')
  const onCli = new Map(commandsOn('cli').map((row) => [row.name, row]))
  return page(
    'Commands',
    'What can be typed as a comment on the pull request, and what `ralph` takes on a command line. They are the same commands by the same names.',
    '`ralph help <command>` prints the same text, with every flag.',
    '',
    '## In comments',
    '',
    'The first line of a comment on the pull request, by a person with write permission, which is looked up. [How Ralph answers](../pull-request.md).',
    '',
    table(
      ['comment', 'meaning'],
      comments.map(({ name, args, meaning: about }) => [code(`/ralph ${name} ${args}`.trim()), about]),
    ),
    '',
    '## On the command line',
    '',
    '`-C <path>` works in another folder. `--json` prints exactly one line of JSON on stdout; everything else goes to stderr. Settings are the',
    '[inputs](inputs.md) as flags, which come in groups: *agent* and *gates* stand for every flag of that group.',
    '',
    HELP_GROUPS.flatMap(([title, names]) => [
      `**${title.replace(':', '')}**: ${names.map((name) => `[\`${name}\`](#${name})`).join(', ')}`,
      '',
    ]),
    HELP_GROUPS.flatMap(([, names]) => names)
      .flatMap((name) => command(onCli.get(name)))
      .slice(0, -1),
  )
}

// Outcomes

/** When a job ends so, in words; whether the job is green, as src/action/start-job.ts has it (`FAILING`). */
const WHEN = {
  complete: ['every story passed (or a person skipped it), and the final verification agrees', 'success'],
  stuck: ['all stories that are left are blocked, or wait for blocked ones', 'failure'],
  'max-iterations': ['the limit of iterations (or `max-jobs`) is reached', 'failure'],
  budget: ['the budget of cost, tokens or agent time is spent', 'failure'],
  paused: [
    'a person paused or stopped it, a plan waits for its approval, or it waits for a limit (in CI, or with `--no-wait`)',
    'success',
  ],
  continued: ['the batch is over and work is left: the next job was dispatched', 'success'],
  error: [
    'bad configuration, bad prd.json, a red base, no agent, no permission; nothing was charged',
    'failure',
  ],
  interrupted: ['cancelled, or Ctrl+C; the state is saved', 'cancelled'],
}

const labelOf = (outcome) =>
  labelsOf({ outcome, isOver: outcome !== 'continued', counts: { blocked: 0 } })
    .map(code)
    .join(', ')

function exitCodesPage() {
  const exits = new Map()
  for (const [name, { exits: all }] of Object.entries(CLI_COMMANDS)) {
    const text = all.map(([exit, about]) => `${exit} ${about}`).join('; ')
    exits.set(text, [...(exits.get(text) ?? []), code(name)])
  }
  return page(
    'Outcomes and exit codes',
    'How a run ends: the output `outcome` of the action, the exit code of `ralph run`, the conclusion of the job and of the check `ralph`, and the labels of the',
    'pull request. The check is green for `complete` alone.',
    '',
    table(
      ['outcome', 'when', 'exit code', 'job', 'check `ralph`', 'labels'],
      Object.entries(EXIT_CODES).map(([outcome, exit]) => {
        const [when, job] = WHEN[outcome]
        return [code(outcome), when, String(exit), job, OUTCOMES[outcome].check, labelOf(outcome)]
      }),
    ),
    '',
    'While a chain goes on the check is in progress; `continued` ends it only where no next job could be dispatched. A pull request has at most two of these',
    'labels of Ralph at a time:',
    `${LABELS.map(code).join(', ')}. [What a commented command does](commands.md) · [Troubleshooting](../troubleshooting.md)`,
    '',
    '## Exit codes of each command',
    '',
    table(
      ['command', 'exit codes'],
      [...exits].map(([text, names]) => [names.join(', '), text]),
    ),
  )
}

// Files

const OWN = '.ralph/<yyyy-mm-dd>-<feature>'
const FILES = [
  [
    'In the repository',
    [
      [
        'ralph.config.yml',
        'people',
        'settings; in CI as it stands on the base branch ([keys](configuration.md))',
      ],
      [
        '.github/workflows/ralph.yml',
        'people, `init`',
        'the workflow; `ralph-resume.yml` and `ralph-required.yml` beside it',
      ],
      ['.github/ISSUE_TEMPLATE/ralph.yml', 'people, `init`', 'an issue form whose issues become plans'],
      [
        '.ralph/prompts/run.md',
        'people',
        'a prompt of your own; also `plan.md`, `verify.md`, `setup.md` ([prompts](../prompts.md))',
      ],
      [
        '.ralph/configs/NAME.json',
        'people',
        'steps of the Ralph with steps, by `pipeline: NAME` ([steps](../steps.md))',
      ],
      [
        `${OWN}/prd.json`,
        'people and Ralph',
        'the stories; fields of people and fields of Ralph ([fields](prd.md))',
      ],
      [`${OWN}/prd.md`, '`plan`', 'the same as a page for people'],
      [`${OWN}/context.md`, 'people, `plan`', 'what every prompt says of the project'],
      [`${OWN}/progress.txt`, 'Ralph', 'a line for each iteration'],
      [`${OWN}/done.json`, 'Ralph', 'stories that `archive` took out of prd.json'],
      [
        '.ralph/archive/',
        'Ralph',
        'runs that newer runs replaced ([the archive](../outcome.md#the-archive))',
      ],
      ['AGENTS.md', 'people and Ralph', 'one section of learnings, with the commit that ends a complete run'],
      [
        'documents of a plan',
        'people and Ralph',
        'a mark for each story that passed ([which](../documents.md#what-goes-back-on-an-outcome))',
      ],
    ],
  ],
  [
    'In `.git`',
    [
      [
        'refs/ralph/<yyyy-mm-dd>-<feature>',
        'Ralph',
        'the state of the run, also on the remote: `state.json`, saved work, the green commit',
      ],
      ['.git/ralph/git', 'Ralph', "Ralph's own git directory"],
      ['.git/ralph/transcripts', 'Ralph', 'what agents said: a folder a run, a file an attempt'],
      ['.git/ralph/logs', 'Ralph', 'what gates and services said; also of `ralph doctor`'],
      ['.git/ralph/report', 'Ralph', 'the [report](../report.md), one HTML file a feature'],
      ['.git/ralph/screenshots', 'Ralph', 'pictures of [pages](../browser.md)'],
      [
        '.git/ralph/aside',
        'Ralph',
        'ignored files that are put aside while gates or a judge run; they come back',
      ],
      ['.git/ralph/plan', 'Ralph', 'a plan that was not taken, though a session was paid for it'],
    ],
  ],
  [
    'On your machine',
    [
      [
        '~/.ralph.env',
        'people, `init --notify`',
        'who is notified of runs ([notify](../notify.md#on-your-own-machine)); mode 600',
      ],
      ['~/.cache/ralph', 'Ralph', 'clones of the [clean room](../gates.md#the-clean-room), while one runs'],
    ],
  ],
]

/** Every path that the page names. */
export const FILE_NAMES = FILES.flatMap(([, rows]) => rows.map(([path]) => path))

function filesPage() {
  return page(
    'Files',
    'Every file and ref that Ralph reads or writes, and who writes it. Whatever an agent does to `.ralph/` or to the refs is put back, and an attempt that',
    'changes a workflow is rejected.',
    '',
    FILES.flatMap(([title, rows]) => [
      `## ${title}`,
      '',
      table(
        ['path', 'written by', 'what it is'],
        rows.map(([path, who, what]) => [code(path), who, what]),
      ),
      '',
    ]).slice(0, -1),
  )
}

// prd.json

function fields(properties, about) {
  return table(
    ['field', 'meaning'],
    Object.entries(properties).map(([name, { description }]) => [
      code(name),
      description ?? about[name] ?? '',
    ]),
  )
}

/** What the schema has no description for. */
const ABOUT = {
  $schema: 'The address of the schema, for editors.',
  schemaVersion: '2.',
  project: 'The name of the project.',
  description: 'What it is for; a part of the prompt.',
  userStories: 'The stories, at least one.',
  epicId: 'The epic that the story belongs to; `--epic` takes those of one.',
  retries: 'Ralph writes it: rejected attempts since the story was last unblocked.',
  lastResult: 'Ralph writes it: how the last attempt ended.',
}

async function prdPage() {
  const [, text] = schemas.find(([name]) => name === 'prd.schema.json')
  const { properties } = JSON.parse(text)
  const example = (await readFile(new URL('examples/prd.json', ROOT), 'utf8')).trim()
  return page(
    'prd.json',
    `The stories of a feature: \`${OWN}/prd.json\`. Only \`userStories\` with a title and criteria is required; \`ralph validate\` tells every mistake at`,
    'once, `ralph plan` writes the file from [documents](../documents.md), a sentence or an issue.',
    '',
    '```json',
    example,
    '```',
    '',
    fields(properties, ABOUT),
    '',
    '## Of a story',
    '',
    fields(properties.userStories.items.properties, ABOUT),
    '',
    'Other fields are kept as they are. One of them, `touches`, says which files and folders a story will change: [stories side by side](../how-to/parallel.md)',
    'that name the same are not worked on together. What people change in prd.json while a run is on is merged with what Ralph writes; no agent can change it.',
    '',
    'Also found are `.ralph/prd.json`, `ralph/prd.json`, `prd.json` and `scripts/ralph/prd.json`; the first commit of a run moves them into',
    `\`${OWN}/\`. The shapes of [other Ralph tools](../README.md#coming-from-another-tool) are read there, too, and so is Markdown in such a file: a`,
    'check list, or a heading for each story (`### US-001: …`) with its boxes as criteria.',
  )
}

/** The pages by path, as they have to stand in docs/. */
export async function referencePages() {
  return {
    'docs/reference/inputs.md': await inputsPage(),
    'docs/reference/configuration.md': configurationPage(),
    'docs/reference/commands.md': commandsPage(),
    'docs/reference/exit-codes.md': exitCodesPage(),
    'docs/reference/files.md': filesPage(),
    'docs/reference/prd.md': await prdPage(),
  }
}

const TOTALS = /(?<=<!-- trust:totals -->\n)[\s\S]*?(?=<!-- \/trust:totals -->)/

/** The README with the totals that docs/trust.md has. */
export function withTotals(readme, trust) {
  const [totals] = TOTALS.exec(trust) ?? []
  if (totals === undefined || !TOTALS.test(readme)) throw new Error('no part trust:totals')
  return readme.replace(TOTALS, () => totals)
}

if (import.meta.main) {
  await mkdir(new URL('docs/reference/', ROOT), { recursive: true })
  for (const [path, text] of Object.entries(await referencePages()))
    await writeFile(new URL(path, ROOT), text)
  const [readme, trust] = await Promise.all(
    ['README.md', 'docs/trust.md'].map((path) => readFile(new URL(path, ROOT), 'utf8')),
  )
  await writeFile(new URL('README.md', ROOT), withTotals(readme, trust))
}
