// Changes to the definition of a gate: the scripts that its command names, and the files that its tools read.
//
// Gate commands are trusted, but package.json, which the agent may change, decides what `npm test` runs. Such a change may be
// intended: it is shown to reviewers, and refused only by `protected-paths`. Of package.json the changed scripts are shown, of any
// other file only that it changed. A command is matched word by word, not parsed: a false match costs a needless remark and
// hides nothing.
import { jsonObject } from '../../engine/model/json.ts'
import { oneLine } from '../../engine/model/text.ts'
import type { FileChange } from './changed-tests.ts'
import { isMakefile, PACKAGE_KEYS, readersOf } from './gate-files.ts'

/** A change of `path` that changes what these gates' commands run. `text` is one short line, and not trusted. */
type DefinitionChange = { path: string; gates: string[]; text: string }

const MAX_CHANGES = 100
/** How many scripts, files and texts are followed for one gate, and how many characters of each text are read. */
const MAX_NAMES = 500
const LONGEST_TEXT = 100_000
/** Deeper JSON is not parsed, because it can overflow the stack. No real package.json is nested so deep. */
const DEEPEST = 100

/** Whether the text of the file says what a gate runs; of any other file it matters only whether it changed. */
export function isGateSource(path: string): boolean {
  return isPackage(path) || isMakefile(path) || isShell(path) || readersOf(path).size > 0
}

/**
 * The changes, at most 100, to what the gates' commands run: scripts of package.json (with `pre` and `post`, and the scripts that
 * they call), files that a command names, and files that its tools read. Unchanged files are passed so that names can be looked up.
 */
export function changedGateDefinitions(files: FileChange[], gateCommands: string[]): DefinitionChange[] {
  const relevant = files.filter((file) => !/(?:^|\/)node_modules\//.test(file.path))
  const changed = relevant.filter((file) => isChanged(file))
  const sources = readSources(relevant)
  const gates = gateCommands.map((gate) => ({ gate, reached: followCommand(gate, sources) }))
  const found = new Map<string, DefinitionChange>()
  // Files that existed before come first: any number of new files must not push them out of the list.
  for (const file of changed.toSorted((a, b) => Number(a.before === null) - Number(b.before === null))) {
    for (const { gate, reached } of found.size < MAX_CHANGES ? gates : []) {
      for (const text of describeChanges(file, reached).map((one) => oneLine(one))) {
        const key = `${file.path}\0${text}`
        const change = found.get(key) ?? { path: file.path, gates: [], text }
        found.set(key, change)
        if (!change.gates.includes(gate)) change.gates.push(gate)
      }
    }
  }
  return [...found.values()].slice(0, MAX_CHANGES)
}

/** Names of files that the gates' commands lead to and that are not among `files`. They need not exist. */
export function findUnreadGateFiles(files: FileChange[], gateCommands: string[]): string[] {
  const sources = readSources(files)
  const named = gateCommands.flatMap((gate) => [...followCommand(gate, sources).files])
  return [...new Set(named)].filter((name) => !sources.byName.has(name))
}

/** What the gates' commands lead to: `texts` of commands, scripts and makefiles, and `paths` of the files that these name. */
export function collectGateTexts(
  files: FileChange[],
  gateCommands: string[],
): { texts: string[]; paths: string[] } {
  const sources = readSources(files)
  const reached = gateCommands.map((gate) => followCommand(gate, sources))
  const isNamed = (path: string) => namesOf(path).some((name) => reached.some((one) => one.files.has(name)))
  return {
    texts: [...new Set(reached.flatMap(({ texts }) => [...texts]))],
    paths: files.map(({ path }) => path).filter(isNamed),
  }
}

/** The paths that occur as a word in one of the texts. */
export function pathsNamedIn(texts: readonly string[], paths: readonly string[]): string[] {
  const words = new Set<string>()
  for (const text of texts)
    for (const [word] of text.slice(0, LONGEST_TEXT).matchAll(/[\w@.+][\w@./+-]*/g))
      words.add(word.replace(/^(?:\.{0,2}\/)+/, ''))
  return paths.filter((path) => namesOf(path).some((name) => words.has(name)))
}

/** A change of blanks alone does not count. */
function isChanged({ before, after }: FileChange): boolean {
  if (before === null || after === null) return before !== after
  return before !== after && before.replace(/\s+/g, '') !== after.replace(/\s+/g, '')
}

function describeChanges(file: FileChange, reached: ReachedByGate): string[] {
  const name = file.path.slice(file.path.lastIndexOf('/') + 1)
  const happened = file.before === null ? 'added' : file.after === null ? 'removed' : 'changed'
  if (isPackage(file.path)) return packageChanges(file, reached)
  const isNamed = namesOf(file.path).some(
    (it) => reached.files.has(it) || reached.files.has(it.replace(/(?<=\/.*)\.[cm]?[jt]sx?$/, '')),
  )
  return isNamed || reached.uses(readersOf(file.path)) ? [`${name} was ${happened}`] : []
}

// ---------------------------------------------------------------- what a command leads to

type ReachedByGate = {
  scripts: Set<string>
  files: Set<string>
  texts: Set<string>
  uses(tools: Iterable<string>): boolean
}
type GateSources = { packages: Package[]; makefiles: string[]; byName: Map<string, FileChange[]> }

function readSources(files: FileChange[]): GateSources {
  const byName = new Map<string, FileChange[]>()
  for (const file of files)
    for (const name of namesOf(file.path)) byName.set(name, [...(byName.get(name) ?? []), file].slice(0, 10))
  const texts = (fits: (path: string) => boolean) => files.filter(({ path }) => fits(path)).flatMap(textsOf)
  return { packages: texts(isPackage).map(readPackage), makefiles: texts(isMakefile), byName }
}

function textsOf({ before, after }: FileChange): string[] {
  const texts = before === after ? [before] : [before, after]
  return texts.filter((it) => it !== null).map((it) => it.slice(0, LONGEST_TEXT))
}

/** Words that run scripts of package.json. */
const MANAGERS = /^(?:npm|pnpm|yarn|bun|cnpm)$/
const RUNNERS = /^(?:run-[sp]|npm-run-all2?|turbo|lerna|nx|wireit|nps|concurrently|node|--run)$/
const TEST_ALIASES = /^(?:t|tst|i?t|cit|sit|(?:clean-)?install(?:-ci)?-test)$/

/** A file that an interpreter runs, one that starts with `./`, or one that a flag names for a tool to read. */
const NAMED = new RegExp(
  [
    String.raw`(?:(?<![\w./-])(?:node|deno(?: run)?|bun|tsx|ts-node|python[\d.]*|ruby|perl|php|(?:ba|z|da|k)?sh|source|-?include|\.)((?:\s+-[\w-]+){0,9})\s+`,
    String.raw`(?<![\w./])\.\/`,
    String.raw`\s(?:-[cfprR]|--?[\w-]*(?:conf|rcfile|file|project|require|import|load|setup|reporter|runner|plugin|preset)[\w-]*)(?:=|\s)\s*)([\w@./+][\w@./+-]*)`,
  ].join('|'),
  'g',
)
/** With these flags the next word is code or a file to be checked, not a script to be run. */
const TAKES_NO_SCRIPT = /\s(?:--test|--check|-e|--eval)(?!\S)/

/** Follows the words of a command through the scripts, makefiles and files that they name. Ends where these name each other as well. */
function followCommand(gate: string, { packages, makefiles, byName }: GateSources): ReachedByGate {
  const tools = new Set<string>()
  const scripts = new Set<string>()
  const files = new Set<string>()
  const seen = new Set<string>()
  const left = [gate]
  let isOpaque = false
  for (let raw = left.pop(); raw !== undefined && seen.size < MAX_NAMES; raw = left.pop()) {
    if (seen.has(raw)) continue
    seen.add(raw)
    const text = normalizeCommand(raw)
    const words = wordsOf(text)
    for (const word of words) tools.add(word.slice(word.lastIndexOf('/') + 1).replace(/(?<=.)@.*$/, ''))
    const usesManager = words.some((it) => MANAGERS.test(it))
    if (usesManager || words.some((it) => RUNNERS.test(it))) {
      isOpaque ||= usesManager && packages.length === 0
      for (const word of usesManager && words.some((it) => TEST_ALIASES.test(it))
        ? [...words, 'test']
        : words)
        left.push(...scriptsOf(word, packages, scripts))
    }
    if (words.some((it) => /^(?:make|gmake)$/.test(it))) {
      isOpaque ||= makefiles.length === 0
      left.push(...makefiles)
    }
    for (const name of filesNamedIn(text)) {
      const plain = name.replace(/^(?:.*\.\.\/|[./]+)/, '')
      if (plain === '' || files.has(plain) || files.size >= MAX_NAMES) continue
      files.add(plain)
      for (const file of byName.get(plain) ?? [])
        left.push(...textsOf(file).filter((it) => isFollowed(plain, it)))
    }
  }
  // Where a package.json or a makefile is named and its text is not known, it may run any tool.
  const uses = (readers: Iterable<string>) => [...readers].some((it) => isOpaque || tools.has(it))
  return { scripts, files, texts: seen, uses }
}

/** The text without comments, and with `./` instead of a computed folder such as `$DIR/`. */
function normalizeCommand(text: string): string {
  const plain = text.replace(/(^|\s)#.*$/gm, '$1')
  return plain.replace(/\$(?:\w+|\{[^}\n]{0,100}\}|\([^()\n]{0,100}\))\//g, './')
}

function filesNamedIn(text: string): string[] {
  const named = [...text.matchAll(NAMED)].filter(([, flags = '']) => !TAKES_NO_SCRIPT.test(flags))
  return [...named.map(([, , name = '']) => name), ...(text.match(/[\w@./+-]+\.(?:ba|z)?sh(?![\w.])/g) ?? [])]
}

function wordsOf(text: string): string[] {
  const words = text.match(/[^\s"'`;|&()<>=,$\\{}]+/g) ?? []
  return [...new Set(words.map((it) => it.replace(/^(?:npm|pnpm|yarn|bun):(?=.)/, '')))]
}

/** The texts of the package.json scripts that the word names, with `pre` and `post`; `test:*` names several. Adds their names to `scripts`. */
function scriptsOf(word: string, packages: Package[], scripts: Set<string>): string[] {
  const [start = '', end] = word.split('*', 2)
  const isWanted = (key: string) =>
    end === undefined
      ? [word, `pre${word}`, `post${word}`].includes(key)
      : key.startsWith(start) && key.endsWith(end) && key.length >= start.length + end.length
  if (end === undefined) for (const name of [word, `pre${word}`, `post${word}`]) scripts.add(name)
  return packages.flatMap((it) =>
    [...it.scripts].flatMap(([key, text]) => {
      if (!isWanted(key)) return []
      scripts.add(key)
      return [text]
    }),
  )
}

/** Only shell scripts and makefiles are followed: other languages name what they run in other ways. */
function isFollowed(name: string, text: string): boolean {
  return isMakefile(name) || isShell(name) || /^#!.*\b(?:ba|z|da|k)?sh\b/.test(text.slice(0, 200))
}

function isShell(path: string): boolean {
  return /\.(?:ba|z)?sh$|(?:^|\/)[^./]+$/.test(path)
}

/**
 * How a command may name the file: by its path from the root, or from any folder on the way. A short name counts only where it has
 * a folder or an extension: a bare word is too common.
 */
function namesOf(path: string): string[] {
  const names = [path]
  for (let at = path.indexOf('/'); at !== -1 && names.length < 20; at = path.indexOf('/', at + 1)) {
    const rest = path.slice(at + 1)
    if (/[/.]/.test(rest)) names.push(rest)
  }
  return names
}

// ---------------------------------------------------------------- package.json

type Package = { scripts: Map<string, string>; toolSettings: Map<string, string> }

function isPackage(path: string): boolean {
  return /(?:^|\/)package\.json$/.test(path)
}

/** Text that is not a JSON object gives no scripts. */
function readPackage(text: string): Package {
  const fields = new Map(Object.entries(isDeep(text, DEEPEST) ? {} : (jsonObject(text) ?? {})))
  const scripts = Object.entries(fields.get('scripts') ?? {})
  const own = [...fields].filter(([key]) => Object.hasOwn(PACKAGE_KEYS, key))
  return {
    scripts: new Map(scripts.filter((pair): pair is [string, string] => typeof pair[1] === 'string')),
    toolSettings: new Map(own.map(([key, value]) => [key, JSON.stringify(value)])),
  }
}

/** Whether brackets are nested deeper than that; brackets in strings count as well. */
function isDeep(text: string, deepest: number): boolean {
  let depth = 0
  for (const [bracket] of text.matchAll(/[[\](){}]/g)) {
    depth = Math.max(0, depth + ('[({'.includes(bracket) ? 1 : -1))
    if (depth > deepest) return true
  }
  return false
}

function packageChanges(file: FileChange, reached: ReachedByGate): string[] {
  const [before, after] = [readPackage(file.before ?? '{}'), readPackage(file.after ?? '{}')]
  const changes: string[] = []
  for (const key of new Set([...before.scripts.keys(), ...after.scripts.keys()])) {
    const [old, now] = [before.scripts.get(key), after.scripts.get(key)]
    if (old !== now && reached.scripts.has(key))
      changes.push(`scripts.${key}: ${quoteScript(old)} -> ${quoteScript(now)}`)
  }
  for (const [key, tools] of Object.entries(PACKAGE_KEYS)) {
    const [old, now] = [before.toolSettings.get(key), after.toolSettings.get(key)]
    if (old === now || !reached.uses(tools.split(' '))) continue
    changes.push(`"${key}" was ${old === undefined ? 'added' : now === undefined ? 'removed' : 'changed'}`)
  }
  return changes
}

function quoteScript(text: string | undefined): string {
  if (text === undefined) return 'nothing'
  return JSON.stringify(text.length > 120 ? `${text.slice(0, 117)}...` : text)
}
