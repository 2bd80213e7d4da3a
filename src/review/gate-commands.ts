// What a gate's command runs, as far as its text and known scripts tell: tools, scripts, targets, files.

/** Everything that a command leads to. Names that could not be looked up are in `unknown`. */
export type Reached = {
  /** Programs by their own name, without folders (`vitest`, `tsc`, `cargo`). */
  tools: Set<string>
  /** Names in `scripts` of package.json; `test:*` stands for several. */
  scripts: Set<string>
  /** Make targets; '' for the first one in the file. */
  targets: Set<string>
  /** Files that are run, as they are named, without `./`. */
  files: Set<string>
  /** Files that are read for what a tool does: settings, code to be loaded first, makefiles; or not there at all. */
  read: Set<string>
  /** Names of scripts, targets and files whose text is not known: they may run anything. */
  unknown: Set<string>
}

/** The texts behind a name: all of them, for there may be several package.json files, before and after. */
export type Lookup = (kind: 'scripts' | 'targets' | 'files', name: string) => string[]

/** No more names than these of a kind are followed. */
export const MOST_NAMES = 500

/** Follows the command through the scripts, targets and shell files that it names. Ends on circles too. */
export function reachedBy(command: string, lookup: Lookup): Reached {
  const reached: Reached = {
    tools: new Set(),
    scripts: new Set(),
    targets: new Set(),
    files: new Set(),
    read: new Set(),
    unknown: new Set(),
  }
  const left = [command]
  const seen = new Set<string>()
  const follow = (kind: 'scripts' | 'targets' | 'files', name: string): void => {
    if (reached[kind].has(name) || reached[kind].size >= MOST_NAMES) return
    const texts = lookup(kind, name)
    reached[kind].add(name)
    if (texts.length === 0) reached.unknown.add(name)
    left.push(...texts)
  }
  for (let text = left.pop(); text !== undefined; text = left.pop()) {
    if (seen.has(text)) continue
    seen.add(text)
    for (const words of commandsIn(text)) {
      const step = stepOf(words)
      if (step === null) continue
      reached.tools.add(step.tool)
      for (const name of step.scripts) {
        follow('scripts', name)
        // Hooks are followed where they exist; where they do not, a change may make them.
        for (const hook of [`pre${name}`, `post${name}`]) {
          if (lookup('scripts', hook).length > 0) follow('scripts', hook)
          else reached.scripts.add(hook)
        }
      }
      for (const name of step.targets) follow('targets', name)
      for (const name of step.files) follow('files', name)
      for (const name of step.read.map(plainPath)) {
        if (reached.read.has(name) || reached.read.size >= MOST_NAMES) continue
        reached.read.add(name)
        left.push(...lookup('files', name))
      }
      left.push(...step.inner)
    }
  }
  return reached
}

// ---------------------------------------------------------------- shell words

/** No command line is longer; a script is read up to here. */
const LONGEST_TEXT = 100_000
/** No commands within commands are followed further down. */
const DEEPEST = 5

/** The simple commands of a shell text, as words without quotes. Not a shell: enough to see what is named. */
export function commandsIn(text: string, depth = 0): string[][] {
  const commands: string[][] = []
  let words: string[] = []
  let word: string | null = null
  const endWord = (): void => {
    if (word !== null) words.push(word)
    word = null
  }
  const endCommand = (): void => {
    endWord()
    if (words.length > 0) commands.push(words)
    words = []
  }
  const end = Math.min(text.length, LONGEST_TEXT)
  for (let at = 0; at < end; at += 1) {
    const c = text[at] as string
    if (c === '\\') {
      if (text[at + 1] !== '\n') word = (word ?? '') + (text[at + 1] ?? '')
      at += 1
    } else if (c === "'" || c === '"') {
      const close = closingQuote(text, at, c)
      const inner = text.slice(at + 1, close)
      if (c === '"' && depth < DEEPEST) commands.push(...substitutions(inner, depth + 1))
      word = (word ?? '') + inner.replace(c === '"' ? /\\(["\\$`])/g : /(?!)/g, '$1')
      at = close
    } else if (c === '$' && text[at + 1] === '(' && depth < DEEPEST) {
      const close = closingParenthesis(text, at + 1)
      const inner = text.slice(at, close + 1)
      commands.push(...substitutions(inner, depth + 1))
      word = (word ?? '') + inner
      at = close
    } else if (c === '#' && word === null) {
      const line = text.indexOf('\n', at)
      at = (line === -1 ? end : line) - 1
    } else if (c === ' ' || c === '\t' || c === '\r') endWord()
    else if (';|&\n()`'.includes(c)) endCommand()
    else word = (word ?? '') + c
  }
  endCommand()
  return commands
}

function closingQuote(text: string, open: number, quote: string): number {
  for (let at = open + 1; at < text.length; at += 1) {
    if (text[at] === '\\' && quote === '"') at += 1
    else if (text[at] === quote) return at
    else if (quote === '"' && text.startsWith('$(', at)) at = closingParenthesis(text, at + 1)
  }
  return text.length
}

function closingParenthesis(text: string, open: number): number {
  let depth = 0
  for (let at = open; at < text.length; at += 1) {
    if (text[at] === '(') depth += 1
    else if (text[at] === ')') depth -= 1
    if (depth === 0) return at
  }
  return text.length
}

/** The commands in every `$(...)` of the text. */
function substitutions(text: string, depth: number): string[][] {
  const commands: string[][] = []
  for (let at = text.indexOf('$('); at !== -1; at = text.indexOf('$(', at)) {
    const close = closingParenthesis(text, at + 1)
    commands.push(...commandsIn(text.slice(at + 2, close), depth))
    at = close
  }
  return commands
}

// ---------------------------------------------------------------- one command

type Step = {
  tool: string
  scripts: string[]
  targets: string[]
  files: string[]
  read: string[]
  inner: string[]
}

/** Programs that run the program after them. A number or a flag's value may stand between. */
const WRAPPERS = new Set(
  'env command exec time timeout nice nohup sudo xvfb-run dotenv dotenvx cross-env npx bunx uvx corepack poetry pipenv uv hatch pdm rye conda bundle stdbuf setsid unbuffer c8 nyc then do else if while until ! {'.split(
    ' ',
  ),
)
/** Flags of wrappers and package managers whose value is a word of its own. */
const VALUE_FLAG =
  /^--(?:(?:only-|no-)?group|(?:no-)?extra|with(?:-editable|-requirements)?|python|package|project|directory|env-file|config-file|index(?:-url)?|prefix|workspace|filter|cwd|dir|signal|kill-after|reporter)$/
const RUN_WORDS = new Set(['run', 'exec', 'dlx', 'x', 'tool'])
const PACKAGE_MANAGERS = new Set(['npm', 'pnpm', 'yarn', 'bun', 'cnpm'])
/** Commands of package managers that are no scripts. */
const NOT_SCRIPTS = new Set(
  'install i ci add remove rm uninstall update up upgrade outdated audit pack publish link unlink config cache init create view info list ls why dedupe prune rebuild version login logout whoami set get store fetch import patch plugin workspaces node help pm build-bin x'.split(
    ' ',
  ),
)
const SHELLS = /^(?:ba|z|da|k)?sh$/
const INTERPRETERS =
  /^(?:node|nodejs|deno|bun|tsx|ts-node|python[\d.]*|pypy[\d.]*|ruby|perl|php|java|bash|sh|zsh|dash|ksh|source|\.)$/

/** Programs that are not the project's own text. */
const INSTALLED = /^\/|(?:^|\/)(?:node_modules|\.?venv|vendor)\//

function stepOf(all: string[]): Step | null {
  const step = programStep(all)
  // What is to be installed is no part of what is run.
  return step === null || all.some((it) => /^pip[\d.]*$/.test(it))
    ? step
    : { ...step, read: [...step.read, ...readByFlags(all)] }
}

function programStep(all: string[]): Step | null {
  let words = all
  const wrapped: string[] = []
  for (;;) {
    const first = words[0]
    if (first === undefined) return wrapped.length === 0 ? null : named(wrapped[0] as string)
    const name = baseName(first)
    if (/^[A-Za-z_]\w*\+?=/.test(first)) words = words.slice(1)
    else if (WRAPPERS.has(name)) {
      wrapped.push(name)
      words = afterWrapper(words.slice(1))
    } else break
  }
  // As in `npx -c "vitest run"`: less than it was, without its quotes.
  if (/^(?!.*\$\().*[ \t\n]/s.test(words[0] as string))
    return { ...named('sh'), inner: [...wrapped, words[0] as string] }
  const tool = baseName(words[0] as string)
  const args = words.slice(1)
  // A wrapper may have a configuration of its own (nyc, npx, hatch): each is a step too.
  const step = { ...named(tool), inner: wrapped }
  if (SHELLS.test(tool)) return { ...step, ...shellStep(tool, args, step.inner) }
  if (PACKAGE_MANAGERS.has(tool)) {
    const isMany = args.some((it) =>
      /^(?:-ws?|-r|-F|--(?:recursive|filter|workspaces?)(?:=.*)?|workspaces?)$/.test(it),
    )
    const inner = isMany ? [...step.inner, 'workspaces'] : step.inner
    return { ...step, inner, ...managerStep(tool, args, inner) }
  }
  if (/^(?:run-s|run-p|npm-run-all2?|turbo|lerna|wireit|nps)$/.test(tool)) {
    return { ...step, scripts: args.filter((it) => !it.startsWith('-') && it !== 'run') }
  }
  if (tool === 'concurrently') {
    const inner = args
      .filter((it) => !it.startsWith('-'))
      .map((it) => it.replace(/^(?:npm|pnpm|yarn|bun):/, 'npm run '))
    return { ...step, inner: [...step.inner, ...inner] }
  }
  if (tool === 'cargo') {
    const command = args.find((it) => !/^[-+]/.test(it))
    return { ...step, inner: [...step.inner, ...(command === undefined ? [] : [`cargo-${command}`])] }
  }
  if (/^g?make$/.test(tool)) return { ...step, ...makeStep(args) }
  if (/^[-s]?include$/.test(tool)) return { ...step, read: args }
  if (INTERPRETERS.test(tool)) return { ...step, ...interpreterStep(tool, args, step.inner) }
  const path = words[0] as string
  return { ...step, files: path.includes('/') && !INSTALLED.test(path) ? [plainPath(path)] : [] }
}

function named(tool: string): Step {
  return { tool, scripts: [], targets: [], files: [], read: [], inner: [] }
}

/** Without folders and, as in `vitest@3`, without a version. */
function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1).replace(/(?<=.)@.*$/, '')
}

/** A file is looked for in every folder, so that those before it count where they have names: not in `$(pwd)/../a`. */
function plainPath(path: string): string {
  return path.replace(/^\$(?:\(.*\)|\{.*\}|\w+)\//, '').replace(/^(?:\.{1,2}\/)+/, '')
}

/** Flags with a file that says what a tool does; what is tested or checked is named without them. */
const READ_FLAG =
  /^(?:-[cprR]|--?[\w-]*(?:conf|rcfile|env-file|project|require|import|load|setup|reporter|runner|plugin|preset|transform|resolver|environment|settings|overlay|exec|init-script)[\w-]*)$/i

function readByFlags(words: string[]): string[] {
  return words.flatMap((word, at) => {
    const [flag = '', value = words[at + 1]] = word.startsWith('-')
      ? (/^([^=]*)=?(.+)?/.exec(word)?.slice(1) ?? [])
      : []
    return value !== undefined && READ_FLAG.test(flag) ? [value] : []
  })
}

function afterWrapper(words: string[]): string[] {
  let at = 0
  for (; at < words.length; at += 1) {
    const word = words[at] as string
    if (/^-[euspfk]$/.test(word) || VALUE_FLAG.test(word)) at += 1
    else if (!/^-|^[\d.]+[smhd]?$/.test(word) && !RUN_WORDS.has(word)) break
  }
  return words.slice(at)
}

function shellStep(tool: string, args: string[], inner: string[]): Partial<Step> {
  const flag = args.findIndex((it) => /^-\w*c$/.test(it))
  if (flag !== -1) return { tool, inner: [...inner, args[flag + 1] ?? ''] }
  const file = args.find((it) => !/^[-+]/.test(it))
  return { tool, files: file === undefined ? [] : [plainPath(file)] }
}

/** `npm test`, `npm run x`, `yarn x`, `pnpm -r x`, `bun run x`; `npm exec x` runs a program. */
function managerStep(manager: string, args: string[], inner: string[]): Partial<Step> {
  const words: string[] = []
  for (let at = 0; at < args.length && args[at] !== '--'; at += 1) {
    const word = args[at] as string
    if (/^-[wCF]$/.test(word) || VALUE_FLAG.test(word)) at += 1
    else if (!word.startsWith('-')) words.push(word)
  }
  let [first, second] = words
  if (manager === 'yarn' && first === 'workspace') [first, second] = words.slice(2)
  if (manager === 'yarn' && first === 'workspaces') [first, second] = words.slice(words.indexOf('run'))
  if (first === undefined) return {}
  if (/^(?:run|run-script|rum|urn)$/.test(first)) return second === undefined ? {} : { scripts: [second] }
  if (/^(?:exec|x|dlx)$/.test(first)) {
    const command = args.slice(args.indexOf(first) + 1).filter((it) => it !== '--')
    return { inner: [...inner, `npx ${command.map(quoted).join(' ')}`] }
  }
  // Over several packages it is their script.
  if (manager === 'bun' && /^(?:test|build)$/.test(first) && !args.some((it) => /^(?:-F|--filter)/.test(it)))
    return {}
  if (manager === 'bun' && /[/.]/.test(first)) return { files: [plainPath(first)] }
  if (/^(?:t|tst|it|cit|sit|(?:clean-)?install(?:-ci)?-test)$/.test(first)) return { scripts: ['test'] }
  if (NOT_SCRIPTS.has(first)) return {}
  // yarn, pnpm and bun run a program of the packages when there is no such script.
  return manager === 'npm'
    ? { scripts: [first] }
    : {
        scripts: [first],
        inner: [...inner, `npx ${words.slice(words.indexOf(first)).map(quoted).join(' ')}`],
      }
}

export function quoted(word: string): string {
  return `'${word.replace(/'/g, `'\\''`)}'`
}

function makeStep(args: string[]): Partial<Step> {
  const [targets, read]: [string[], string[]] = [[], []]
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at] as string
    const file = /^(?:-f|--(?:make)?file=?)(.*)$/.exec(word)?.[1]
    if (file !== undefined) read.push(file === '' ? (args[at + 1] ?? '') : file)
    if (
      /^-[CIof]$|^--(?:make)?file$/.test(word) ||
      (/^-[jl]$/.test(word) && /^[\d.]+$/.test(args[at + 1] ?? ''))
    )
      at += 1
    else if (!word.startsWith('-') && !word.includes('=')) targets.push(word)
  }
  return { tool: 'make', targets: targets.length === 0 ? [''] : targets, read }
}

function interpreterStep(tool: string, args: string[], inner: string[]): Partial<Step> {
  const run =
    args.find((it) => it.startsWith('--run='))?.slice(6) ??
    (args.includes('--run') ? args[args.indexOf('--run') + 1] : undefined)
  if (run !== undefined) return { scripts: [run] }
  const module = args.indexOf('-m')
  if (/^py/.test(tool) && module !== -1)
    return {
      inner: [
        ...inner,
        args
          .slice(module + 1)
          .map(quoted)
          .join(' '),
      ],
    }
  // What stands behind `--test` or `--check` is what is looked at, and `-e` has no file.
  if (args.some((it) => /^(?:--test|--check|-e|--eval|-c)$/.test(it))) return {}
  if (tool === 'deno' && /^(?:test|check|lint|fmt)$/.test(args[0] ?? '')) return {}
  const words = /^deno$/.test(tool) ? args.filter((it) => it !== 'run') : args
  const file = words.find((it, at) => !it.startsWith('-') && !LOADING.test(words[at - 1] ?? ''))
  return { files: file === undefined ? [] : [plainPath(file)] }
}

const LOADING = /^(?:-r|--require|--import|--(?:experimental-)?loader|--env-file)$/
