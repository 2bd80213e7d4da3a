// What a step says to the runner in its output: workflow commands, and what must be hidden of it.
// Follows the runner's ActionCommand and ActionCommandManager (facts 1.6, 1.8).
import type { StepAnnotation } from '../model.ts'

interface Command {
  name: string
  properties: Record<string, string>
  data: string
}

export interface Listener {
  annotate: (annotation: StepAnnotation) => void
  mask: (value: string) => void
  output: (name: string, value: string) => void
  state: (name: string, value: string) => void
  /** A line for the log. */
  log: (line: string) => void
  /** A command went wrong: the step fails. */
  fail: () => void
}

const known = [
  'error',
  'warning',
  'notice',
  'debug',
  'group',
  'endgroup',
  'add-mask',
  'add-matcher',
  'remove-matcher',
  'echo',
  'stop-commands',
  'set-output',
  'save-state',
  'set-env',
  'add-path',
  'internal-set-repo-path',
]
const perStep = 10
const longestMessage = 4096

/** Listens to the output of one phase of one step. */
export class Commands {
  readonly #listener: Listener
  readonly #registered = new Set(known)
  readonly #counts = { error: 0, warning: 0, notice: 0 }
  #stopToken: string | null = null

  constructor(listener: Listener) {
    this.#listener = listener
  }

  /** Takes one line of standard output or standard error. */
  line(line: string): void {
    const command = parse(line, this.#registered) ?? parseLegacy(line, this.#registered)
    if (command === null || !this.#process(command, line)) this.#listener.log(line)
  }

  #process(command: Command, line: string): boolean {
    const name = command.name.toLowerCase()
    if (this.#stopToken !== null) {
      if (name !== this.#stopToken.toLowerCase()) return false
      this.#registered.delete(this.#stopToken.toLowerCase())
      this.#stopToken = null
      this.#listener.log(line)
      return true
    }
    if (name === 'stop-commands') {
      this.#stop(command.data, line)
      return true
    }
    this.#act(name, command, line)
    return true
  }

  #stop(token: string, line: string): void {
    if (token === '' || token === 'pause-logging' || this.#registered.has(token.toLowerCase())) {
      this.#refuse(line, `Invalid stop token '${token}'`)
      return
    }
    this.#stopToken = token
    this.#registered.add(token.toLowerCase())
    if (token.length > 6) this.#listener.mask(token)
    this.#listener.log(line)
  }

  #refuse(line: string, reason: string): void {
    this.#annotate('error', `Unable to process command '${line}' successfully.`, {})
    this.#annotate('error', reason, {})
    this.#listener.fail()
  }

  #act(name: string, { data, properties }: Command, line: string): void {
    const listener = this.#listener
    switch (name) {
      case 'error':
      case 'warning':
      case 'notice':
        this.#annotate(name, data, properties)
        break
      case 'add-mask':
        if (data.trim() === '')
          listener.log("Warning: Can't add secret mask for empty string in add-mask command.")
        else listener.mask(data)
        break
      case 'set-output':
      case 'save-state': {
        const { name: key } = properties
        if (!key) this.#refuse(line, `Required field 'name' is missing in ##[${name}] command.`)
        else if (name === 'set-output') listener.output(key, data)
        else listener.state(key, data)
        break
      }
      case 'set-env':
      case 'add-path':
        this.#refuse(line, `The \`${name}\` command is disabled.`)
        break
      case 'group':
        listener.log(`▸ ${data}`)
        break
      case 'endgroup':
      case 'echo':
      case 'debug':
        break
      default:
        // Problem matchers are not simulated.
        listener.log(line)
    }
  }

  #annotate(level: StepAnnotation['level'], message: string, properties: Record<string, string>): void {
    this.#listener.log(
      `${level === 'error' ? 'Error: ' : level === 'warning' ? 'Warning: ' : 'Notice: '}${message}`,
    )
    this.#counts[level] += 1
    if (this.#counts[level] > perStep) return
    this.#listener.annotate({
      level,
      message: message.slice(0, longestMessage),
      properties: fixed(properties),
    })
  }
}

/** Columns need one line; an end before the start is dropped. */
function fixed(given: Record<string, string>): Record<string, string> {
  const { file, line, endLine, col, endColumn, title } = given
  const isReversed = line !== undefined && endLine !== undefined && Number(endLine) < Number(line)
  const isOneLine = line !== undefined && (endLine === undefined || endLine === line)
  const kept = {
    file,
    title,
    ...(isReversed ? {} : { line, endLine }),
    ...(isOneLine ? { col, endColumn } : {}),
  }
  return Object.fromEntries(
    Object.entries(kept).filter((pair): pair is [string, string] => pair[1] !== undefined),
  )
}

function unescapeData(text: string): string {
  return text.replaceAll('%0D', '\r').replaceAll('%0A', '\n').replaceAll('%25', '%')
}
function unescapeProperty(text: string): string {
  return text
    .replaceAll('%0D', '\r')
    .replaceAll('%0A', '\n')
    .replaceAll('%3A', ':')
    .replaceAll('%2C', ',')
    .replaceAll('%25', '%')
}
function split(info: string, separator: string, decode: (text: string) => string): Omit<Command, 'data'> {
  const space = info.indexOf(' ')
  if (space < 0) return { name: info, properties: {} }
  const pairs = info
    .slice(space + 1)
    .trim()
    .split(separator)
    .filter((one) => one.includes('='))
    .map((one) => [one.slice(0, one.indexOf('=')).trim(), decode(one.slice(one.indexOf('=') + 1))])
  return { name: info.slice(0, space), properties: Object.fromEntries(pairs) }
}

/** `::name key=value,key=value::data`, at the start of a line. */
function parse(line: string, registered: Set<string>): Command | null {
  const text = line.trimStart()
  if (!text.startsWith('::')) return null
  const end = text.indexOf('::', 2)
  if (end < 0) return null
  const head = split(text.slice(2, end), ',', unescapeProperty)
  if (!registered.has(head.name.toLowerCase())) return null
  return { ...head, data: unescapeData(text.slice(end + 2)) }
}
/** `##[name key=value;key=value]data`, anywhere in a line. */
function parseLegacy(line: string, registered: Set<string>): Command | null {
  const start = line.indexOf('##[')
  if (start < 0) return null
  const end = line.indexOf(']', start)
  if (end < 0) return null
  const decode = (text: string): string =>
    text
      .replaceAll('%3B', ';')
      .replaceAll('%0D', '\r')
      .replaceAll('%0A', '\n')
      .replaceAll('%5D', ']')
      .replaceAll('%25', '%')
  const head = split(line.slice(start + 3, end), ';', decode)
  if (!registered.has(head.name.toLowerCase())) return null
  return { ...head, data: decode(line.slice(end + 1)) }
}

/** Hides every known secret, the longest first. */
export class Masks {
  /** The longest first, so that a secret inside another does not leave the rest of it. */
  #values: string[] = []

  /** Also its lines, and the forms in which a secret usually travels. */
  add(value: string): void {
    if (value === '') return
    const parts = [value, ...value.split(/\r?\n/)].filter((part) => part.trim() !== '')
    for (const part of parts) {
      const base64 = [0, 1, 2].map((shift) => {
        const encoded = Buffer.concat([Buffer.alloc(shift), Buffer.from(part)]).toString('base64')
        return encoded
          .slice(shift === 0 ? 0 : shift + 1)
          .replace(/=+$/, '')
          .slice(0, shift === 0 ? undefined : -1)
      })
      const forms = [part, encodeURIComponent(part), JSON.stringify(part).slice(1, -1), ...base64]
      // A very short form would garble the whole log; a very short secret does so on GitHub, too.
      this.#values.push(...forms.filter((form) => form === part || form.length >= 6))
    }
    this.#values = [...new Set(this.#values)].sort((a, b) => b.length - a.length)
  }
  has(text: string): boolean {
    return this.#values.some((value) => text.includes(value))
  }
  apply(text: string): string {
    let masked = text
    for (const value of this.#values) masked = masked.replaceAll(value, '***')
    return masked
  }
}
