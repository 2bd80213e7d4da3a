// Writes docs/reference/ from the tables that the code reads, and the table of sealed sets of docs/trust.md into the README. A test holds
// them equal.
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
/** A default as it is written; or in words, which are not code. */
const defaultOf = (row) => (row.defaultText === String(row.default) ? code(row.defaultText) : row.defaultText)
const page = (title, ...lines) => `# ${title}\n\n${lines.flat(3).join('\n')}\n\n${NOTE}\n`

// Settings

const inputs = settingRows.filter(isInputAndFlag)
const fileOnly = settingRows.filter((row) => !isInputAndFlag(row))

/** The inputs by group. */
export function inputsTable() {
  return table(
    ['group', 'input', 'default', 'meaning'],
    inputs.map((row) => [row.group, code(row.input), defaultOf(row), row.description]),
  )
}

/** Every key of the configuration file, those first that are inputs, too. */
export function keysTable() {
  return table(
    ['key', 'value', 'default', 'meaning'],
    [...inputs, ...fileOnly].map((row) => [
      code(row.key),
      row.values.length > 0 ? row.values.map(code).join(', ') : row.kind,
      defaultOf(row),
      row.values.length > 0 ? `${row.about}.` : row.description,
    ]),
  )
}

async function inputsPage() {
  const { outputs } = parse(await readFile(new URL('action.yml', ROOT), 'utf8'))
  return page(
    'Inputs and outputs of the action',
    'This page lists the inputs that you can write under `with:` in a step `uses: ralph/action`, and the outputs that the step gives to later steps. Each input is also a',
    'flag of [`ralph`](commands.md) and, in camelCase, a key of the [configuration file](configuration.md). An input takes precedence over that file.',
    '',
    inputsTable(),
    '',
    '[Gates](../gates.md), [services](../services.md) and [notify](../notify.md) have their own pages.',
    '',
    '## Outputs',
    '',
    'If the job had nothing to do, all outputs are empty.',
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
    'This page lists the keys of `ralph.config.yml` (or `.yaml`, `.json`), the file with your settings at the top of the repository. All keys are optional.',
    '',
    "- **In CI,** Ralph reads the file from the base branch, so a feature's branch cannot change it. The file on the default branch can name another base branch with `baseBranch`.",
    "- **On the command line,** Ralph reads the file in your checkout. On the feature's branch, Ralph warns you if the base branch has another version of the file.",
    '',
    'With this first line, an editor completes and checks the file (in JSON, use a key `$schema`):',
    '',
    '```yaml',
    '# yaml-language-server: $schema=https://raw.githubusercontent.com/ralph/action/v1/schemas/ralph.config.schema.json',
    'gates:',
    '  test: npm test',
    '```',
    '',
    "If a value has `${NAME}`, Ralph replaces it by the variable of the job's environment. A flag takes precedence over an [input](inputs.md), an input over the file, and the file over the",
    'default. `ralph validate` lists all mistakes in the file. [ralph.config.yaml](../../examples/ralph.config.yaml) is an example with most keys.',
    '',
    keysTable(),
    '',
    `You can write the last ${fileOnly.length} keys, from \`${fileOnly[0].key}\` on, only in this file. Every other key is also an input and a flag. These settings have their own pages:`,
    '[gates](../gates.md), [services](../services.md), [steps](../steps.md), [browser checks](../browser.md), [notify](../notify.md).',
    '',
    'Ralph also reads the `ralph.config.json` of the agent-agnostic Ralph CLI, with its `provider`, `verify` and `maxRetries` ([how](../migrate/agnostic-cli.md)).',
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

/** The settings that a command takes: parts of a group by their flags, and whole groups by their name. */
function settingsOf(name) {
  const taken = (flag) => CLI_COMMANDS[name].settings(flag)
  const isWhole = (group) => allOf(group).length > 3 && allOf(group).every(taken)
  const [groups, parts] = [groupsOf(name).filter(isWhole), groupsOf(name).filter((one) => !isWhole(one))]
  const flags = parts.flatMap((group) => allOf(group).filter(taken)).map(({ flag }) => code(flag))
  const whole = new Intl.ListFormat('en-US').format(groups.map((group) => `*${group}*`))
  return [flags.join(', '), whole === '' ? '' : `all of ${whole}`].filter(Boolean)
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
    'You can steer Ralph with comments on the pull request, and with `ralph` on a command line. Most commands exist in both places, with the same name and meaning.',
    '`ralph help <command>` prints what this page says about that command, with every flag.',
    '',
    '## In comments',
    '',
    'Write the command as the first line of a comment on the pull request. Only people with write permission can give commands; Ralph checks this for every comment.',
    '[The page on the pull request](../pull-request.md) says how Ralph answers.',
    '',
    table(
      ['comment', 'meaning'],
      comments.map(({ name, args, meaning: about }) => [code(`/ralph ${name} ${args}`.trim()), about]),
    ),
    '',
    '## On the command line',
    '',
    'With `-C <path>`, Ralph works in another folder. With `--json`, it prints exactly one line of JSON on stdout, and everything else on stderr.',
    '',
    'The [inputs](inputs.md) of the action are the flags of `ralph`. Below, *settings* says which of them a command takes. A word in italics, such as *agent*, stands for all',
    'inputs of this group.',
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
  stuck: ['all remaining stories are blocked, or depend on blocked stories', 'failure'],
  'max-iterations': ['the limit of iterations (or `max-jobs`) is reached', 'failure'],
  budget: ['the budget of cost, tokens or agent time is spent', 'failure'],
  paused: [
    'a person paused or stopped the run, a plan waits for approval, or the run waits for a limit (in CI, or with `--no-wait`)',
    'success',
  ],
  continued: ['the job has done its iterations, work is left, and the next job was dispatched', 'success'],
  error: [
    'something is wrong that a person has to fix, such as the configuration, prd.json, a red base, no agent or a missing permission',
    'failure',
  ],
  interrupted: ['a person cancelled the job or pressed Ctrl+C; the state is saved', 'cancelled'],
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
    'This page lists the outcomes, which say how a job or a run ended. The action has the outcome in its output `outcome`. It decides the exit code of `ralph run`, the result of the job,',
    'the check `ralph`, and the labels of the pull request. The check is green only for `complete`.',
    '',
    table(
      ['outcome', 'when', 'exit code', 'job', 'check `ralph`', 'labels'],
      Object.entries(EXIT_CODES).map(([outcome, exit]) => {
        const [when, job] = WHEN[outcome]
        return [code(outcome), when, String(exit), job, OUTCOMES[outcome].check, labelOf(outcome)]
      }),
    ),
    '',
    'As long as a chain continues, the check is in progress. It becomes `continued` only if Ralph could not dispatch the next job.',
    '',
    `Ralph's labels are ${LABELS.map(code).join(', ')}. A pull request has at most two of them at a time.`,
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
        'settings; in CI, Ralph reads them from the base branch ([keys](configuration.md))',
      ],
      [
        '.github/workflows/ralph.yml',
        'people, `init`',
        'the workflow; next to it `ralph-resume.yml` and `ralph-required.yml`',
      ],
      ['.github/ISSUE_TEMPLATE/ralph.yml', 'people, `init`', 'an issue form whose issues become plans'],
      [
        '.ralph/prompts/run.md',
        'people',
        'your own prompt; also `plan.md`, `verify.md`, `setup.md` ([prompts](../prompts.md))',
      ],
      [
        '.ralph/configs/NAME.json',
        'people',
        'pipelines of the Ralph with steps; `pipeline: NAME` chooses one ([steps](../steps.md))',
      ],
      [
        `${OWN}/prd.json`,
        'people and Ralph',
        'the stories; people write some fields and Ralph writes the others ([fields](prd.md))',
      ],
      [`${OWN}/prd.md`, '`plan`', 'the same as a page for people'],
      [`${OWN}/context.md`, 'people, `plan`', 'a description of the project, which every prompt contains'],
      [`${OWN}/progress.txt`, 'Ralph', 'a line for each iteration'],
      [`${OWN}/done.json`, 'Ralph', 'stories that `archive` moved out of prd.json'],
      [
        '.ralph/archive/',
        'Ralph',
        'runs that newer runs replaced ([the archive](../outcome.md#the-archive))',
      ],
      [
        'AGENTS.md',
        'people and Ralph',
        'Ralph adds a section of learnings, in the last commit of a complete run',
      ],
      [
        'documents of a plan',
        'people and Ralph',
        'Ralph marks each story that passed ([how](../documents.md#what-ralph-marks-when-a-run-ends))',
      ],
    ],
  ],
  [
    'In `.git`',
    [
      [
        'refs/ralph/<yyyy-mm-dd>-<feature>',
        'Ralph',
        'the state of the run: `state.json`, saved work and the green commit. It is also on the remote',
      ],
      ['.git/ralph/git', 'Ralph', "Ralph's own git directory"],
      ['.git/ralph/transcripts', 'Ralph', 'the output of agents: one folder per run, one file per attempt'],
      ['.git/ralph/logs', 'Ralph', 'the output of gates and services, also from `ralph doctor`'],
      ['.git/ralph/report', 'Ralph', 'the [report](../report.md), one HTML file per feature'],
      ['.git/ralph/screenshots', 'Ralph', 'screenshots of [pages](../browser.md)'],
      [
        '.git/ralph/aside',
        'Ralph',
        'ignored files that Ralph moves away while gates or a judge run, and then moves back',
      ],
      ['.git/ralph/plan', 'Ralph', 'a plan that a session made and you did not take'],
    ],
  ],
  [
    'On your machine',
    [
      [
        '~/.ralph.env',
        'people, `init --notify`',
        'where to send notifications ([notify](../notify.md#on-your-own-machine)); mode 600',
      ],
      [
        '~/.cache/ralph',
        'Ralph',
        'the clone of a [clean room](../gates.md#the-clean-room), while it is used',
      ],
    ],
  ],
]

/** Every path that the page names. */
export const FILE_NAMES = FILES.flatMap(([, rows]) => rows.map(([path]) => path))

function filesPage() {
  return page(
    'Files',
    'This page lists every file and ref that Ralph reads or writes, and says who writes it. If an agent changes something in `.ralph/` or in the refs, Ralph undoes it. If an agent',
    'changes a workflow, Ralph rejects the attempt.',
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
      about[name] ?? description ?? '',
    ]),
  )
}

/** Fields that the schema describes too briefly, or not at all. */
const ABOUT = {
  $schema: 'The address of the schema, for editors.',
  schemaVersion: 'The version of this format: 2.',
  project: 'The name of the project.',
  description: 'What the feature, or the story, is for. The prompt contains it.',
  userStories: 'The stories, at least one.',
  epicId: 'The epic that the story belongs to. `--epic` works on the stories of one epic.',
  passes: 'Ralph writes it: whether the story has passed.',
  retries: 'Ralph writes it: rejected attempts since the story was last unblocked.',
  blocked: 'Ralph writes it: whether the story is blocked.',
  skipped: 'Ralph writes it: whether a person has skipped the story.',
  lastResult: 'Ralph writes it: how the last attempt ended.',
}

async function prdPage() {
  const [, text] = schemas.find(([name]) => name === 'prd.schema.json')
  const { properties } = JSON.parse(text)
  const example = (await readFile(new URL('examples/prd.json', ROOT), 'utf8')).trim()
  return page(
    'prd.json',
    `The file \`${OWN}/prd.json\` has the stories of a feature. \`ralph plan\` writes it from [documents](../documents.md), a sentence or an issue. You can also write`,
    'it yourself: only `userStories` is required, and each story needs a title and criteria. `ralph validate` lists all mistakes in the file.',
    '',
    '```json',
    example,
    '```',
    '',
    fields(properties, ABOUT),
    '',
    'Each entry of `userStories` has these fields:',
    '',
    fields(properties.userStories.items.properties, ABOUT),
    '',
    'You can add `touches` to a story, a list of the files and folders that it will change. Ralph does not work [at the same time](../how-to/parallel.md) on stories that list the same',
    'paths. Ralph keeps all other fields as they are.',
    '',
    'You can change prd.json during a run: Ralph merges your changes with its own. An agent cannot change it.',
    '',
    'Ralph also finds `.ralph/prd.json`, `ralph/prd.json`, `prd.json` and `scripts/ralph/prd.json`. The first commit of a run moves such a file into',
    `\`${OWN}/\`. The file may have the format of [another Ralph tool](../README.md#coming-from-another-tool). It may also`,
    'contain Markdown: a check list, or a heading for each story (`### US-001: …`) with its boxes as criteria.',
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

const SEALED = /(?<=<!-- trust:sealed -->\n)[\s\S]*?(?=<!-- \/trust:sealed -->)/

/** The README with the table of sealed sets that docs/trust.md has. */
export function withSealed(readme, trust) {
  const [sealed] = SEALED.exec(trust) ?? []
  if (sealed === undefined || !SEALED.test(readme)) throw new Error('no part trust:sealed')
  return readme.replace(SEALED, () => sealed)
}

if (import.meta.main) {
  await mkdir(new URL('docs/reference/', ROOT), { recursive: true })
  for (const [path, text] of Object.entries(await referencePages()))
    await writeFile(new URL(path, ROOT), text)
  const [readme, trust] = await Promise.all(
    ['README.md', 'docs/trust.md'].map((path) => readFile(new URL(path, ROOT), 'utf8')),
  )
  await writeFile(new URL('README.md', ROOT), withSealed(readme, trust))
}
