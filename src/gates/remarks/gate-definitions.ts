// Changes to what a gate is made of: the scripts that its command names, and the files that its tools read.
//
// Gate commands come from the trusted side, but `npm test` is what package.json says it is. Such a change may well be
// wanted; it is shown, and refused only by `protected-paths`. Only package.json is read; of any other file it is said
// that it changed. Commands are no more than words here: a word too many is a remark too many, and hides nothing.
import { jsonObject } from '../../engine/model/json.ts'
import { oneLine } from '../../engine/model/text.ts'
import type { FileChange } from './changed-tests.ts'
import { isMakefile, PACKAGE_KEYS, readersOf } from './gate-files.ts'

/** A change of `path` to the definition of the gates with these commands. `text` is one bounded line, not trusted. */
type Pin = { path: string; gates: string[]; text: string }

const MAX_PINS = 100
/** No more scripts, files and texts are followed, and no more of a text is read. */
const MOST_NAMES = 500
const LONGEST_TEXT = 100_000
/** No package.json of people is nested deeper, and deep nesting overflows the stack of a reader. */
const DEEPEST = 100

/** Whether the text of a file with that name counts; for others any two texts will do. */
export function isReadForPins(path: string): boolean {
  return isPackage(path) || isMakefile(path) || isShell(path) || readersOf(path).size > 0
}

/**
 * The changes, at most 100, to what the gates' commands run; files that did not change help to look up names: package.json scripts (with `pre` and `post`, and those
 * that they call), files that a command names, and files that its tools read.
 */
export function changedGateDefinitions(files: FileChange[], gateCommands: string[]): Pin[] {
  const relevant = files.filter((file) => !/(?:^|\/)node_modules\//.test(file.path))
  const changed = relevant.filter((file) => isOther(file))
  const sources = sourcesOf(relevant)
  const gates = gateCommands.map((gate) => ({ gate, reached: reachedBy(gate, sources) }))
  const pins = new Map<string, Pin>()
  // What stood before comes first: any number of new files must not hide what became of it.
  for (const file of changed.toSorted((a, b) => Number(a.before === null) - Number(b.before === null))) {
    for (const { gate, reached } of pins.size < MAX_PINS ? gates : []) {
      for (const text of changesIn(file, reached).map((one) => oneLine(one))) {
        const key = `${file.path}\0${text}`
        const pin = pins.get(key) ?? { path: file.path, gates: [], text }
        pins.set(key, pin)
        if (!pin.gates.includes(gate)) pin.gates.push(gate)
      }
    }
  }
  return [...pins.values()].slice(0, MAX_PINS)
}

/** Names of scripts that the gates lead to and that are not among the files, whether they are there or not. */
export function namedElsewhere(files: FileChange[], gateCommands: string[]): string[] {
  const sources = sourcesOf(files)
  const named = gateCommands.flatMap((gate) => [...reachedBy(gate, sources).files])
  return [...new Set(named)].filter((name) => !sources.byName.has(name))
}

/** What the gates' commands lead to: the texts of commands, scripts and makefiles, and those of the files that a command names. */
export function followed(files: FileChange[], gateCommands: string[]): { texts: string[]; paths: string[] } {
  const sources = sourcesOf(files)
  const reached = gateCommands.map((gate) => reachedBy(gate, sources))
  const isNamed = (path: string) => namesOf(path).some((name) => reached.some((one) => one.files.has(name)))
  return {
    texts: [...new Set(reached.flatMap(({ texts }) => [...texts]))],
    paths: files.map(({ path }) => path).filter(isNamed),
  }
}

/** The paths that one of the texts names, as a word of it. */
export function namedIn(texts: readonly string[], paths: readonly string[]): string[] {
  const words = new Set<string>()
  for (const text of texts)
    for (const [word] of text.slice(0, LONGEST_TEXT).matchAll(/[\w@.+][\w@./+-]*/g))
      words.add(word.replace(/^(?:\.{0,2}\/)+/, ''))
  return paths.filter((path) => namesOf(path).some((name) => words.has(name)))
}

/** Blanks in a text do not count. */
function isOther({ before, after }: FileChange): boolean {
  if (before === null || after === null) return before !== after
  return before !== after && before.replace(/\s+/g, '') !== after.replace(/\s+/g, '')
}

function changesIn(file: FileChange, reached: Reached): string[] {
  const name = file.path.slice(file.path.lastIndexOf('/') + 1)
  const happened = file.before === null ? 'added' : file.after === null ? 'removed' : 'changed'
  if (isPackage(file.path)) return packageChanges(file, reached)
  const isNamed = namesOf(file.path).some(
    (it) => reached.files.has(it) || reached.files.has(it.replace(/(?<=\/.*)\.[cm]?[jt]sx?$/, '')),
  )
  return isNamed || reached.uses(readersOf(file.path)) ? [`${name} was ${happened}`] : []
}

// ---------------------------------------------------------------- what a command leads to

type Reached = {
  scripts: Set<string>
  files: Set<string>
  texts: Set<string>
  uses(tools: Iterable<string>): boolean
}
type Sources = { packages: Package[]; makefiles: string[]; byName: Map<string, FileChange[]> }

function sourcesOf(files: FileChange[]): Sources {
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

/** What an interpreter runs, what stands in this folder, what a flag says is read. */
const NAMED = new RegExp(
  [
    String.raw`(?:(?<![\w./-])(?:node|deno(?: run)?|bun|tsx|ts-node|python[\d.]*|ruby|perl|php|(?:ba|z|da|k)?sh|source|-?include|\.)((?:\s+-[\w-]+){0,9})\s+`,
    String.raw`(?<![\w./])\.\/`,
    String.raw`\s(?:-[cfprR]|--?[\w-]*(?:conf|rcfile|file|project|require|import|load|setup|reporter|runner|plugin|preset)[\w-]*)(?:=|\s)\s*)([\w@./+][\w@./+-]*)`,
  ].join('|'),
  'g',
)
/** With these an interpreter takes what is looked at, or a text. */
const LOOKED_AT = /\s(?:--test|--check|-e|--eval)(?!\S)/

/** Follows the words of the command through the texts behind them. Ends on circles, too. */
function reachedBy(gate: string, { packages, makefiles, byName }: Sources): Reached {
  const tools = new Set<string>()
  const scripts = new Set<string>()
  const files = new Set<string>()
  const seen = new Set<string>()
  const left = [gate]
  let isOpaque = false
  for (let raw = left.pop(); raw !== undefined && seen.size < MOST_NAMES; raw = left.pop()) {
    if (seen.has(raw)) continue
    seen.add(raw)
    const text = plainText(raw)
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
      if (plain === '' || files.has(plain) || files.size >= MOST_NAMES) continue
      files.add(plain)
      for (const file of byName.get(plain) ?? [])
        left.push(...textsOf(file).filter((it) => isRead(plain, it)))
    }
  }
  // Where a text that says what is run is not known, any tool may be.
  const uses = (wanted: Iterable<string>) => [...wanted].some((it) => isOpaque || tools.has(it))
  return { scripts, files, texts: seen, uses }
}

/** Without comments, and with `./` for folders that are computed. */
function plainText(text: string): string {
  const plain = text.replace(/(^|\s)#.*$/gm, '$1')
  return plain.replace(/\$(?:\w+|\{[^}\n]{0,100}\}|\([^()\n]{0,100}\))\//g, './')
}

function filesNamedIn(text: string): string[] {
  const named = [...text.matchAll(NAMED)].filter(([, flags = '']) => !LOOKED_AT.test(flags))
  return [...named.map(([, , name = '']) => name), ...(text.match(/[\w@./+-]+\.(?:ba|z)?sh(?![\w.])/g) ?? [])]
}

function wordsOf(text: string): string[] {
  const words = text.match(/[^\s"'`;|&()<>=,$\\{}]+/g) ?? []
  return [...new Set(words.map((it) => it.replace(/^(?:npm|pnpm|yarn|bun):(?=.)/, '')))]
}

/** The texts of the scripts that the word names, hooks included; `test:*` names several. */
function scriptsOf(word: string, packages: Package[], scripts: Set<string>): string[] {
  const [start = '', end] = word.split('*', 2)
  const fits = (key: string) =>
    end === undefined
      ? [word, `pre${word}`, `post${word}`].includes(key)
      : key.startsWith(start) && key.endsWith(end) && key.length >= start.length + end.length
  if (end === undefined) for (const name of [word, `pre${word}`, `post${word}`]) scripts.add(name)
  return packages.flatMap((it) =>
    [...it.scripts].flatMap(([key, text]) => {
      if (!fits(key)) return []
      scripts.add(key)
      return [text]
    }),
  )
}

/** Only shell scripts and makefiles are read on: other languages name what they run in other ways. */
function isRead(name: string, text: string): boolean {
  return isMakefile(name) || isShell(name) || /^#!.*\b(?:ba|z|da|k)?sh\b/.test(text.slice(0, 200))
}

function isShell(path: string): boolean {
  return /\.(?:ba|z)?sh$|(?:^|\/)[^./]+$/.test(path)
}

/** How a command may name the file: from the root or from any folder; only a folder or a dot then says enough. */
function namesOf(path: string): string[] {
  const names = [path]
  for (let at = path.indexOf('/'); at !== -1 && names.length < 20; at = path.indexOf('/', at + 1)) {
    const rest = path.slice(at + 1)
    if (/[/.]/.test(rest)) names.push(rest)
  }
  return names
}

// ---------------------------------------------------------------- package.json

type Package = { scripts: Map<string, string>; own: Map<string, string> }

function isPackage(path: string): boolean {
  return /(?:^|\/)package\.json$/.test(path)
}

/** What is no package.json, or no longer one, has no scripts. */
function readPackage(text: string): Package {
  const fields = new Map(Object.entries(isDeep(text, DEEPEST) ? {} : (jsonObject(text) ?? {})))
  const scripts = Object.entries(fields.get('scripts') ?? {})
  const own = [...fields].filter(([key]) => Object.hasOwn(PACKAGE_KEYS, key))
  return {
    scripts: new Map(scripts.filter((pair): pair is [string, string] => typeof pair[1] === 'string')),
    own: new Map(own.map(([key, value]) => [key, JSON.stringify(value)])),
  }
}

/** Whether brackets stand deeper in each other; those in strings count too. */
function isDeep(text: string, deepest: number): boolean {
  let depth = 0
  for (const [bracket] of text.matchAll(/[[\](){}]/g)) {
    depth = Math.max(0, depth + ('[({'.includes(bracket) ? 1 : -1))
    if (depth > deepest) return true
  }
  return false
}

function packageChanges(file: FileChange, reached: Reached): string[] {
  const [before, after] = [readPackage(file.before ?? '{}'), readPackage(file.after ?? '{}')]
  const changes: string[] = []
  for (const key of new Set([...before.scripts.keys(), ...after.scripts.keys()])) {
    const [old, now] = [before.scripts.get(key), after.scripts.get(key)]
    if (old !== now && reached.scripts.has(key))
      changes.push(`scripts.${key}: ${shown(old)} -> ${shown(now)}`)
  }
  for (const [key, tools] of Object.entries(PACKAGE_KEYS)) {
    const [old, now] = [before.own.get(key), after.own.get(key)]
    if (old === now || !reached.uses(tools.split(' '))) continue
    changes.push(`"${key}" was ${old === undefined ? 'added' : now === undefined ? 'removed' : 'changed'}`)
  }
  return changes
}

function shown(text: string | undefined): string {
  if (text === undefined) return 'nothing'
  return JSON.stringify(text.length > 120 ? `${text.slice(0, 117)}...` : text)
}
