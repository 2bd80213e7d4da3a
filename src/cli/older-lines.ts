// Command lines of other Ralphs. If one has a clear meaning here, it runs and a note says so. Otherwise the new line is printed.
import { basename } from 'node:path'
import type { Mistake } from '../system/errors.ts'
import { shellWord } from '../system/shell-word.ts'

export type OlderLine = { argv: string[]; notes: string[] } | { mistake: Mistake }

type Option = {
  takesValue: boolean
  /** The words that `run` gets instead; null if the value does not fit. */
  inRun?: (value: string) => string[] | null
  /** The line to type. */
  line: (value: string) => string
}

const isNumber = (value: string) => /^\d{1,9}$/.test(value)
const limitFlag =
  (flag: string) =>
  (value: string): string[] | null =>
    isNumber(value) ? [flag, value] : null

const OPTIONS: Readonly<Record<string, Option>> = {
  '--config': {
    takesValue: true,
    inRun: (value) => {
      const name = /^(?:\.\/)?(?:\.ralph\/configs\/)?([\w][\w.-]*?)(?:\.json)?$/.exec(value)?.[1]
      return name === undefined ? null : ['--pipeline', name]
    },
    line: (value) =>
      `ralph run --pipeline ${shellWord(basename(value).replace(/\.json$/, '') || 'NAME')} for a pipeline in .ralph/configs/NAME.json, or --config-file FILE for settings of Ralph`,
  },
  '--calls': {
    takesValue: true,
    inRun: limitFlag('--calls-per-hour'),
    line: (value) => `ralph run --calls-per-hour ${isNumber(value) ? value : 100}`,
  },
  '--max': {
    takesValue: true,
    inRun: limitFlag('--max-iterations'),
    line: (value) => `ralph run --max-iterations ${isNumber(value) ? value : 50}`,
  },
  '--iterations': {
    takesValue: true,
    inRun: limitFlag('--max-iterations'),
    line: (value) => `ralph run --max-iterations ${isNumber(value) ? value : 50}`,
  },
  '--timeout': {
    takesValue: true,
    line: (value) => `ralph run --iteration-timeout ${isNumber(value) ? value : 15}m`,
  },
  '--reset-circuit': {
    takesValue: false,
    line: () => 'ralph retry US-001 (or ralph retry all), then ralph run',
  },
  '--circuit-status': { takesValue: false, line: () => 'ralph status' },
  '--status': { takesValue: false, line: () => 'ralph status' },
  '--monitor': { takesValue: false, line: () => 'ralph run, and ralph monitor in another terminal' },
  '--live': { takesValue: false, line: () => 'ralph run, and ralph log --follow in another terminal' },
  '--prd': { takesValue: true, line: (value) => `ralph plan --from ${shellWord(value || 'prd.json')}` },
  '--prompt': {
    takesValue: true,
    line: () => 'ralph run, with the prompt in .ralph/prompts/run.md (docs/prompts.md)',
  },
}

const DOCUMENT = /\.(?:md|markdown|txt|json|ya?ml)$/i

/**
 * The command line in the words of this Ralph, or a mistake with the line to type; null for a line of this Ralph. `isFile`: whether
 * a path, relative to the current folder, is a file.
 */
export function olderLine(argv: readonly string[], isFile: (path: string) => boolean): OlderLine | null {
  const end = argv.indexOf('--')
  const words = end === -1 ? argv : argv.slice(0, end)
  const command = words.find((word) => !word.startsWith('-'))
  if (command === 'plan' || command === 'prd') return null
  const document = documentIn(words, isFile)
  if (document !== null) return { mistake: document }
  const notes: string[] = []
  const result: string[] = []
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? ''
    const [name = '', inline] = word.split(/=(.*)/s)
    const option = Object.hasOwn(OPTIONS, name) ? OPTIONS[name] : undefined
    if (option === undefined) {
      result.push(word)
      continue
    }
    const next = option.takesValue ? (inline ?? words[at + 1] ?? '') : ''
    const replacement = command === 'run' ? (option.inRun?.(next) ?? null) : null
    const found = option.takesValue && inline === undefined ? `${name} ${next}`.trim() : word
    if (replacement === null) return { mistake: mistakeOf(found, option.line(next)) }
    notes.push(`${found} is read as ${replacement.map(shellWord).join(' ')}`)
    result.push(...replacement)
    if (option.takesValue && inline === undefined) at += 1
  }
  if (notes.length === 0) return null
  return { argv: [...result, ...argv.slice(words.length)], notes }
}

/** `ralph init requirements.md`, `ralph add work.md`: here `ralph plan --from` reads documents. */
function documentIn(words: readonly string[], isFile: (path: string) => boolean): Mistake | null {
  const [command = '', ...rest] = words.filter((word) => !word.startsWith('-'))
  const [path] = rest
  if (path === undefined || rest.length !== 1 || !DOCUMENT.test(path)) return null
  const from = `ralph plan --from ${shellWord(path)}`
  if (command === 'init') return mistakeOf(`${command} ${path}`, `ralph init, then ${from}`)
  return command === 'add' && isFile(path) ? mistakeOf(`${command} ${path}`, from) : null
}

function mistakeOf(found: string, line: string): Mistake {
  return {
    path: 'command line',
    found: `${found} belongs to another tool called Ralph.`,
    expected: '',
    fix: line,
  }
}
