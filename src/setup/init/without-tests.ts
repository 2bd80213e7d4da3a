// The same command without the tests that are red on the project as it is: for a base with a few red tests. Pure.
import { shellWord } from '../../system/shell-word.ts'

/** `what`: whether single tests are left out, or whole files of tests. */
export type Reduced = { run: string; tests: string[]; what: 'test' | 'test file' }

type Runner = {
  /** What starts it, in the command. */
  command: RegExp
  /** A failed test in its output, by name. */
  failed: RegExp
  without(run: string, tests: readonly string[]): string | null
}

/** With more red tests the base is broken, and not only a few of its tests. */
export const MAX_RED = 10
const MAX_NAME = 200

const RUNNERS: readonly Runner[] = [
  {
    command: /\bpytest\b/,
    failed: /^(?:FAILED|ERROR) (\S+::.+?)(?: - .*)?$/gm,
    without: (run, tests) => `${run} ${tests.map((name) => shellWord(`--deselect=${name}`)).join(' ')}`,
  },
  {
    command: /\bgo test\b/,
    failed: /^--- FAIL: (Test\w+)/gm,
    without: (run, tests) => run.replace(/\bgo test\b/, () => `go test -skip '^(?:${tests.join('|')})$'`),
  },
  {
    command: /^cargo (?:\S+ )*test\b(?!.* -- )/,
    failed: /^test (\S+)(?: - should panic)? \.\.\. FAILED$/gm,
    without: (run, tests) =>
      `${run} -- --exact ${tests.map((name) => `--skip ${shellWord(name)}`).join(' ')}`,
  },
  {
    command: /^\S*mvnw?\b(?!.*-Dtest=)/,
    failed: /^\[ERROR\] {2,}(?:\w+\.)*(\w+\.\w+):\d+/gm,
    without: (run, tests) =>
      `${run} ${shellWord(`-Dtest=${tests.map((name) => `!${name.replace('.', '#')}`).join(',')}`)}`,
  },
]

/** A runner that a script of the project may start: its output shows which one it is. */
type FileRunner = {
  program: RegExp
  output: RegExp
  /** A file with failed tests, or one that could not be loaded. */
  failed: RegExp
  without(files: readonly string[], output: string): string[]
}

const FILE_RUNNERS: readonly FileRunner[] = [
  // https://vitest.dev/config/exclude: the flag adds to the configured patterns. A file that cannot be loaded has its path in brackets.
  {
    program: /\bvitest\b/,
    output: /^ ?RUN {2}v\d/m,
    failed: /^ ?FAIL {1,2}(?=\S| )(?:.*\[ (\S+) \]|(?: {0,2}\S+ {1,2})?(\S+\.[cm]?[jt]sx?)(?: > .*)?)$/gm,
    // Within a project of a workspace, the pattern is relative to that project.
    without: (files, output) => files.map((file) => `--exclude=${inProject(file, output)}`),
  },
  // https://jestjs.io/docs/cli#--testpathignorepatternsregexarray: the flag replaces the configured patterns, and several are one expression.
  {
    program: /\bjest\b/,
    output: /^Test Suites: /m,
    failed: /^ ?FAIL (?:\S+ )?(\S+\.[cm]?[jt]sx?)(?: \([\d.]+ m?s\))?$/gm,
    without: (files) => [
      `--testPathIgnorePatterns=${['/node_modules/', ...files.map((file) => `/${escapeRegExp(file)}$`)].join('|')}`,
    ],
  },
  // https://docs.pytest.org/en/stable/how-to/usage.html: errors while it collects tests end the run.
  {
    program: /\bpytest\b/,
    output: /^=+ short test summary info =+$/m,
    failed: /^ERROR (\S+\.py)(?: - .*)?$/gm,
    without: (files) => files.map((file) => `--ignore=${file}`),
  },
]

/** Null if the runner is not known, names no failed test, or names more than a few. */
export function withoutRedTests(run: string, output: string): Reduced | null {
  const runner = RUNNERS.find(({ command }) => command.test(run))
  if (runner === undefined) return null
  const tests = namesIn(output, runner.failed)
  if (tests === null) return null
  const reduced = runner.without(run, tests)
  return reduced === null ? null : { run: reduced, tests, what: 'test' }
}

/**
 * For tests that cannot be named, such as those of a file that cannot be loaded: the command without their files. Null if the runner is
 * not known, or takes no arguments this way.
 */
export function withoutRedFiles(run: string, output: string): Reduced | null {
  for (const runner of FILE_RUNNERS) {
    if (!runner.program.test(run) && !runner.output.test(output)) continue
    const files = namesIn(output, runner.failed)
    const reduced = files === null ? null : withArguments(run, runner.program, runner.without(files, output))
    if (files !== null && reduced !== null) return { run: reduced, tests: files, what: 'test file' }
  }
  return null
}

/** The names that the expression captures; null if there are none, more than a few, or if one is not plain text. */
function namesIn(output: string, failed: RegExp): string[] | null {
  const all = [...output.matchAll(failed)].map(([, one, other]) => (one ?? other ?? '').trim())
  const names = [...new Set(all)]
  const isPlain = names.every((name) => name !== '' && name.length <= MAX_NAME && !/[$`\\\n]/.test(name))
  return names.length === 0 || names.length > MAX_RED || !isPlain ? null : names
}

/** npm hands over only what comes after `--`; yarn, pnpm and bun hand over every argument after the name of the script. */
const NPM = /^(?:cd \S+ && )?npm (?:test|run(?:-script)? [\w:.-]+)(?<given> -- .*)?$/
const OTHER_MANAGERS = /^(?:cd \S+ && )?(?:yarn|pnpm|bun)(?: run)? [\w:.-]+(?: --?[\w-]+(?:=\S+)?)*$/

function withArguments(run: string, program: RegExp, words: readonly string[]): string | null {
  const line = words.map(shellWord).join(' ')
  const npm = NPM.exec(run)
  if (npm !== null) return `${run}${npm.groups?.given === undefined ? ' --' : ''} ${line}`
  const last = run.split('&&').at(-1) ?? ''
  const isDirect = program.test(last) && !/[|;]/.test(run)
  return OTHER_MANAGERS.test(run) || isDirect ? `${run} ${line}` : null
}

/** What `go vet` finds in a package fails its tests before they run (`go help test`). The same tests without it. */
export function withoutVet(run: string, output: string): string | null {
  const isOfVet = /^FAIL\t\S+ \[build failed\]$/m.test(output) && /^(?:# \[\S+\]|vet: .+)$/m.test(output)
  if (!isOfVet || !/\bgo test\b/.test(run) || / -vet\b/.test(run)) return null
  return run.replace(/\bgo test\b/, 'go test -vet=off')
}

/** vitest names a file of a project by its path there, and then by its whole path in brackets. */
function inProject(file: string, output: string): string {
  const [, name] =
    new RegExp(`^ ?FAIL {1,5}\\S+ {1,2}(\\S+) \\[ ${escapeRegExp(file)} \\]$`, 'm').exec(output) ?? []
  return name === undefined ? file : `**/${name}`
}

function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}
