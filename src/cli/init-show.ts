// How `ralph init` shows what it found and what it would write: git's own diff, so that a file is read as in a pull request.
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Keyless } from '../agents/keyless/short-key.ts'
import { findAgent } from '../agents/registry.ts'
import type { Trial } from '../app/trial.ts'
import { sanitizeText } from '../engine/model/text.ts'
import { execute, gitEnv, NO_CONFIG } from '../git/git-process.ts'
import type { OtherHost } from '../github/forges/forge.ts'
import { terminalText } from '../report/escape.ts'
import { diffColours, type Look, paint } from '../report/terminal/terminal-line.ts'
import { wrap } from '../report/terminal/width.ts'
import { toKebabCase } from '../settings/setting.ts'
import { otherHostNote, separateJobMistake } from '../setup/checks/check-server.ts'
import type { FoundFacts, ResolvedAnswers } from '../setup/init/answers.ts'
import { type FileChange, ISSUE_FORM, RESUME, toYaml, UNPINNED } from '../setup/init/init-files.ts'
import { installLine } from '../setup/init/install-lines.ts'
import { describeProduct } from '../setup/init/product-here.ts'
import { shellWord } from '../system/shell-word.ts'
import { summaryLines } from './init-summary.ts'
import type { StandIn, TrialResults } from './init-try.ts'
import { writeFiles } from './write-files.ts'

/** The files as they are and as they would be, as lines. */
export async function diffLines(
  changes: readonly FileChange[],
  env: Readonly<Record<string, string>>,
  look: Look,
): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'ralph-init-'))
  try {
    for (const { path, before, text } of changes)
      await writeFiles(
        folder,
        before === null ? { [`b/${path}`]: text } : { [`b/${path}`]: text, [`a/${path}`]: before },
      )
    await mkdir(join(folder, 'a'), { recursive: true })
    const how = { directory: folder, env: { ...gitEnv(env), ...NO_CONFIG }, accept: [1] }
    const { stdout } = await execute([...DIFF, 'a', 'b'], how)
    const lines = sanitizeText(stdout).trimEnd().split('\n')
    return lines.filter((line) => !NOISE.test(line)).map((line) => paint(line, diffColours(line), look))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const DIFF = ['diff', '--no-index', '--no-ext-diff', '--no-textconv', '--no-prefix', '--no-color']
const NOISE = /^(?:index |new file mode |--- |\+\+\+ |@@ -0,0)/

/** What was found, a line each; `chosen`: the agent that a flag or a file names already. */
export function foundLines(
  {
    project,
    isEmpty,
    agent,
    installedAgents,
    olderGates,
    olderSettings,
    olderNotes,
    baseBranch,
    product,
  }: FoundFacts,
  chosen: string | null,
  look: Look,
): string[] {
  const name = chosen ?? agent.name
  const vendor = findAgent(name)
  const isOfUser = vendor?.npm === null && vendor.login === null
  const version = name === agent.name && agent.version !== null ? ` ${agent.version}` : ''
  const elsewhere = isOfUser ? '' : ', not on this machine'
  const rows = [
    ['project', isEmpty ? 'no code yet' : project.languages.join(', ') || 'an unknown kind'],
    ['tools', project.managers.join(', ')],
    ['product', product === undefined ? '' : describeProduct(product)],
    ['prepare', project.prepare ?? ''],
    ...Object.entries(project.gates).flatMap(([name, run]) =>
      name in olderGates ? [] : [[`gate ${name}`, run]],
    ),
    ...Object.entries(olderGates).map(([name, { run, path }]) => [`gate ${name}`, `${run} (${path})`]),
    ...Object.entries(olderSettings).map(([key, { value, path }]) => [
      toKebabCase(key),
      `${valueText(value)} (${path})`,
    ]),
    ['agent', `${name}${installedAgents.includes(name) ? version : elsewhere}`],
    ['base branch', baseBranch ?? ''],
  ]
  const filled = rows.filter(([, text]) => text !== '')
  const labelWidth = Math.max(...filled.map(([name = '']) => name.length))
  const lines = filled.flatMap(([name = '', text = '']) => {
    const parts = wrapToWidth(terminalText(text), look, labelWidth + 4)
    return parts.map((part, at) => `  ${(at === 0 ? name : '').padEnd(labelWidth)}  ${part}`)
  })
  return [
    paint('Found:', ['bold'], look),
    ...lines,
    ...[...project.notes, ...olderNotes].flatMap((note) => wrapToWidth(`note: ${terminalText(note)}`, look)),
  ]
}

/** A value in one line, much as YAML writes it. */
function valueText(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** In lines as wide as the terminal; one line if there is no terminal. */
function wrapToWidth(text: string, { width }: Look, indent = 0): string[] {
  return wrap(text, Math.max(20, width - indent))
}

export function isWritten({ kind }: FileChange): boolean {
  return kind === 'new' || kind === 'completed'
}

type Done = {
  changes: readonly FileChange[]
  answers: ResolvedAnswers
  isRepository: boolean
  /** What a person has to do by hand, alongside all that follows from the files. */
  note: string | null
  tried: TrialResults
  /** Those of the written files that git ignores. */
  ignored: readonly string[]
  /** How the commands of Ralph are started here: npx leaves no `ralph` on the PATH. */
  program: string
  /** The secrets that the workflow hands to the agent. */
  keys: readonly string[]
  /** How the job's identity is exchanged, instead of keys; null for stored keys. */
  keyless: Keyless | null
  defaultBranch: string
  /** The host of the remote, if it is not GitHub's own. */
  otherHost: OtherHost | null
}

/** What was done, what a person has to know, and the next commands. */
export function closingLines(done: Done, look: Look): string[] {
  const { changes, answers, tried, program, otherHost } = done
  const written = changes.filter(isWritten)
  const left = changes.filter(({ kind }) => kind === 'there').map(({ path }) => path)
  const missing = findMissing(done).flatMap(([isSo, short]) => (isSo ? [short] : []))
  const next = [
    ...(written.length === 0 ? [] : [`${addCommand(done)} && git commit -m "ci: Ralph"`]),
    // Without code there is nothing that a drill could change.
    tried.found.isEmpty ? `${program} doctor` : `${program} doctor && ${program} drill`,
    `${program} plan my-feature -- "what you want" && ${program} run my-feature`,
  ]
  return [
    '',
    ...(written.length > 0 ? [paint('Written:', ['bold'], look)] : [paint(NOTHING_WRITTEN, ['bold'], look)]),
    ...written.map(({ path }) => `  ${path}`),
    ...(left.length > 0 ? wrapToWidth(`Already there and left unchanged: ${left.join(', ')}`, look) : []),
    ...warningsOn(done).flatMap((text) =>
      wrapToWidth(`warning: ${text}`, look).map((line) => paint(line, ['yellow'], look)),
    ),
    ...(otherHost?.isAlias ? wrapToWidth(`note: ${otherHostNote(otherHost)}`, look) : []),
    ...leftOutLines(tried.leftOut, look),
    ...onceLines(done, look),
    '',
    ...summaryLines(
      { written: written.map(({ path }) => path), answers: answers, tried, missing, next },
      look,
    ),
  ]
}

const NOTHING_WRITTEN = 'Nothing was written: every file is already there.'

function isUnpinned({ text, before, kind }: FileChange): boolean {
  return (kind === 'there' ? (before ?? text) : text).includes(UNPINNED)
}

function addCommand({ changes, isRepository, ignored }: Done): string {
  const written = changes.filter(isWritten).map(({ path }) => path)
  // A file in a hidden folder, such as .github, is added with that whole folder.
  const rootsOf = (paths: readonly string[]) =>
    [...new Set(paths.map((path) => /^\.[^/]+(?=\/)/.exec(path)?.[0] ?? path))].join(' ')
  const forced = ignored.length === 0 ? '' : `git add --force ${ignored.join(' ')}`
  const tracked = written.filter((path) => !ignored.includes(path))
  const usual = isRepository ? `git add ${rootsOf(tracked)}` : 'git add --all'
  return [...(tracked.length === 0 ? [] : [usual]), ...(forced === '' ? [] : [forced])].join(' && ')
}

/** Gates that are left out, and how each comes back. */
function leftOutLines(leftOut: readonly Trial[], look: Look): string[] {
  if (leftOut.length === 0) return []
  const lines = leftOut.flatMap(({ name, run, ended, line }) => [
    ...wrapToWidth(terminalText(`${name}: ${ended}${line && `: ${line}`}`, 400), look, 2),
    `    ${terminalText(toYaml({ [name]: run }), 400)}`,
  ])
  const head =
    'These gates fail here, so they are left out. When they pass, add these lines under gates: in ralph.config.yml and the workflow:'
  return [paint(head, ['yellow'], look), ...lines.map((line) => `  ${line}`)]
}

/** The provider's side of `auth: oidc`. The environment limits the identity to the default branch. */
function keylessStep({ name, needs }: Keyless, branch: string): [string, ...string[]] {
  return [
    `${name}: set up the provider as docs/how-to/keyless.md says. Then store the ids; they are not secret.`,
    `gh api -X PUT ${ENVIRONMENT} -F 'deployment_branch_policy[protected_branches]=false' -F 'deployment_branch_policy[custom_branch_policies]=true'`,
    `gh api -X POST ${ENVIRONMENT}/deployment-branch-policies -f name=${branch}`,
    ...needs.map((variable) => `gh variable set ${variable}`),
  ]
}

/**
 * What a person does once at GitHub, as commands. GitHub creates an environment when a job first uses it, and leaves it open to every
 * branch. It silently drops a form's label that does not exist.
 */
function onceLines(
  { answers: { inputs }, changes, keys, keyless, defaultBranch }: Done,
  look: Look,
): string[] {
  const branch = shellWord(defaultBranch)
  const opensPulls = inputs.pullRequest !== 'none' && inputs.publishToken === undefined
  const hasForm = changes.some(({ path }) => path === ISSUE_FORM)
  const steps: [what: string, ...commands: string[]][] = [
    ...(keyless === null ? [] : [keylessStep(keyless, branch)]),
    ...(keys.length === 0
      ? []
      : [
          [
            `Store the agent's key in an environment that only ${defaultBranch} may use. On GitHub Free, a private repository has no environments: skip the first two commands, and leave out --env ralph.`,
            `gh api -X PUT ${ENVIRONMENT} -F 'deployment_branch_policy[protected_branches]=false' -F 'deployment_branch_policy[custom_branch_policies]=true'`,
            `gh api -X POST ${ENVIRONMENT}/deployment-branch-policies -f name=${branch}`,
            ...keys.map((key) => `gh secret set ${key} --env ralph`),
          ] as [string, ...string[]],
        ]),
    ...(inputs.examples === 'sealed'
      ? [
          [
            "The key for sealed examples. Add this input to Ralph's step in the workflow: examples-key: $" +
              '{{ secrets.RALPH_EXAMPLES_KEY }}.',
            'openssl rand -hex 32 | gh secret set RALPH_EXAMPLES_KEY',
          ] as [string, string],
        ]
      : []),
    ...(opensPulls
      ? [
          [
            'Let Actions open the pull request ("Allow GitHub Actions to create and approve pull requests").',
            `gh api -X PUT ${REPOSITORY}/actions/permissions/workflow -F can_approve_pull_request_reviews=true`,
          ] as [string, string],
        ]
      : []),
    ...(hasForm
      ? [
          [
            'The label of the issue form. If it does not exist, no issue becomes a plan.',
            'gh label create ralph-plan',
          ] as [string, string],
        ]
      : []),
  ]
  const lines = steps.flatMap(([what, ...commands]) => [
    ...wrapToWidth(what, look, 2).map((line) => `  ${line}`),
    ...commands.map((command) => `    ${command}`),
  ])
  const price = changes.some(({ path, kind }) => path === RESUME && kind === 'new') ? RESUME_PRICE : ''
  return [
    ...(lines.length === 0
      ? []
      : ['', paint('Once for the repository, with the GitHub CLI:', ['bold'], look)]),
    ...lines,
    ...(price === '' ? [] : ['', ...wrapToWidth(price, look)]),
  ]
}

const REPOSITORY = 'repos/{owner}/{repo}'
const ENVIRONMENT = `${REPOSITORY}/environments/ralph`
const RESUME_PRICE = `note: ${RESUME} runs every hour to restart lost jobs. GitHub bills each run as a minute: about 720 minutes a month in a private repository, none in a public one. To save minutes, let it run less often, or delete the file and comment \`/ralph run\` yourself.`

const UNGATED =
  '`gates: none` means that no command checks the work. As soon as there is a test, add a gate to ralph.config.yml and the workflow'
const UNTESTED =
  'no gate runs tests, so work that passes may still be broken. Add a gate to ralph.config.yml and the workflow (gates: test: COMMAND)'
/** Names of gates that show nothing of what the code does. */
const STATIC = /(?:^|-)(?:typecheck|lint|format|vet|build)$/
const UNKNOWN_COMMIT =
  'Ralph could not look up the commit of the action, so the workflow has <sha> instead, and no run starts in CI. Run `ralph init` again when you are online, or give the commit that `git ls-remote https://github.com/ralph/action v1` prints: ralph init --pin COMMIT'

function isUntested(gates: unknown): boolean {
  return typeof gates === 'object' && gates !== null && Object.keys(gates).every((name) => STATIC.test(name))
}

/** Test gates that name no number of tests, each with what makes its runner name one. */
function uncountedTests(gates: unknown, { trials }: TrialResults): { name: string; advice: string }[] {
  if (typeof gates !== 'object' || gates === null) return []
  const last = new Map(trials.map((trial) => [trial.name, trial]))
  return Object.keys(gates).flatMap((name) => {
    const advice = last.get(name)?.countAdvice ?? null
    return advice === null ? [] : [{ name, advice }]
  })
}

type Missing = [isSo: boolean, short: string, ...long: string[]]

/** What keeps a run from working, or from proving anything, the most important one first: in a few words, and in a warning. */
function findMissing({ changes, answers, tried, ignored, note, otherHost, keys: [key] }: Done): Missing[] {
  const { agent, gates, isolation } = answers.inputs
  const vendor = findAgent(String(agent))
  const uncounted = uncountedTests(gates, tried)
  const { product } = tried.found
  const paths = ignored.join(', ')
  // Ralph cannot install it, and it is not the user's own command (`custom`).
  const isByHand = vendor !== null && vendor.npm === null && vendor.login !== null
  return [
    [
      product !== undefined && product.code > 0 && product.product === 0 && !('product' in answers.inputs),
      'the setting `product`: Ralph cannot tell which code you ship (see the warning above)',
      'Ralph found no code that you ship, so it cannot tell whether a story weakens its own checks. Name the files with `product: [FOLDER/**]` in ralph.config.yml',
    ],
    [gates === 'none', 'a gate: no command checks what the agent does', UNGATED],
    [isUntested(gates), 'a gate that runs tests', UNTESTED],
    [changes.some(isUnpinned), 'in CI: the commit of the action (see the warning above)', UNKNOWN_COMMIT],
    [key !== undefined, `in CI: the secret ${key}, if it is not set (see above)`],
    [
      uncounted.length > 0,
      `the test count in the output of gate ${uncounted.map(({ name }) => name).join(', ')}`,
      ...uncounted.map(
        ({ name, advice }) =>
          `gate ${name} does not say how many tests it ran, so Ralph cannot notice missing tests: ${advice}`,
      ),
    ],
    ...(tried.standIns ?? []).map(missingOwn),
    ...missingPrograms(tried.leftOut),
    [
      isByHand,
      `a step of the workflow that installs ${agent}`,
      `Ralph cannot install ${agent}: add a step to the workflow: ${vendor?.install}`,
    ],
    [
      paths !== '',
      `in git: ${paths} (ignored by .gitignore)`,
      `git ignores ${paths}: a run reads only what is committed`,
    ],
    [
      otherHost !== null && !otherHost.isAlias,
      `a workflow for ${otherHost?.host}: those in .github/workflows are for GitHub (warning above)`,
      ...(otherHost === null ? [] : serverNotes(otherHost, isolation === 'separate-job')),
    ],
    [note !== null, "the project's actionlint does not know `queue` (warning above)", note ?? ''],
    [tried.warnings.length > 0, 'a fix for the gates (warnings above)', ...tried.warnings],
  ]
}

function serverNotes(other: OtherHost, isSeparate: boolean): string[] {
  const { found, fix } = separateJobMistake(other.host)
  return [
    `the workflows in .github/workflows are for GitHub. ${otherHostNote(other)}`,
    ...(isSeparate ? [`${found} Fix: ${fix}`] : []),
  ]
}

/** Programs of gates that are left out, each with what installs it. */
function missingPrograms(leftOut: readonly Trial[]): Missing[] {
  // A path is a file of the project, which no one installs.
  const named = leftOut.flatMap(({ program }) => program ?? []).filter((name) => !/^$|\//.test(name))
  const programs = [...new Set(named)]
  return programs.map((program) => {
    const gates = leftOut.filter((one) => one.program === program).map(({ name }) => name)
    const [gate, are] = gates.length === 1 ? ['gate', 'is'] : ['gates', 'are']
    const install = installLine(program)
    const how = install === null ? `Install ${program}` : `Run \`${install}\``
    return [
      true,
      terminalText(
        `${program}, for ${gate} ${gates.join(', ')}${install === null ? '' : `: ${install}`}`,
        200,
      ),
      terminalText(
        `${gate} ${gates.join(', ')} ${are} left out, because ${program} is not on this machine. ${how}, then add the lines below`,
        600,
      ),
    ]
  })
}

/** The project's own command for a gate, in whose place another one is written. */
function missingOwn({ first, chosen }: StandIn): Missing {
  const { passed = 0 } = chosen.tests ?? {}
  const count = passed === 0 ? '' : ` (${passed} ${passed === 1 ? 'test' : 'tests'})`
  const why = first.line === '' ? first.ended : `${first.ended}: ${first.line}`
  return [
    true,
    terminalText(
      `a passing \`${first.run}\`: it fails here, so gate ${first.name} runs \`${chosen.run}\` instead${count}`,
      200,
    ),
    terminalText(
      `\`${first.run}\` fails here (${why}), so gate ${first.name} runs \`${chosen.run}\`${count} instead. If that is not enough, fix \`${first.run}\` and put it into the gate`,
      600,
    ),
  ]
}

export function warningsOn(done: Done): string[] {
  return findMissing(done).flatMap(([isSo, _short, ...long]) => (isSo ? long : []))
}
