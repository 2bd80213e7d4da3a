// What a session prints, without secrets, in a file on this machine.

import { closeSync, mkdirSync, openSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { messageOf } from '../system/errors.ts'
import type { Redactor } from '../system/redact.ts'
import { withoutControls } from '../system/workflow-commands.ts'

/** Bytes. */
const LIMIT = 64 * 1024 * 1024
/** So many UTF-16 units are written at once. */
const PORTION = 64 * 1024

type Stream = 'stdout' | 'stderr'

export class Transcript {
  readonly #onError: (message: string) => void
  /** A secret of one stream may have lines of the other in it. */
  readonly #hide: Record<Stream, (lines: string) => string>
  #file: number | null = null
  #left = LIMIT
  /** Lines of one stream, and how many UTF-16 units they are. */
  #waiting: string[] = []
  #size = 0
  #from: Stream = 'stdout'

  /** A file that cannot be written is only reported. */
  constructor(path: string, redactor: Redactor, onError: (message: string) => void) {
    this.#onError = onError
    this.#hide = { stdout: redactor.lines(), stderr: redactor.lines() }
    this.#try(() => {
      mkdirSync(dirname(path), { recursive: true })
      this.#file = openSync(path, 'w')
    })
  }

  /** Lines wait for each other, for a flood has millions: they are redacted and written together. */
  write(stream: Stream, line: string): void {
    if (this.#file === null || this.#left <= 0) return
    if (stream !== this.#from || this.#size > PORTION) this.#flush()
    this.#from = stream
    if (this.#waiting.length === 0) setImmediate(() => this.#flush())
    this.#waiting.push(plain(line))
    this.#size += line.length + 1
  }

  close(): void {
    this.#flush()
    const file = this.#file
    this.#file = null
    if (file !== null) this.#try(() => closeSync(file))
  }

  #flush(): void {
    const [file, lines] = [this.#file, this.#waiting]
    this.#waiting = []
    this.#size = 0
    if (file === null || lines.length === 0) return
    const text = `${this.#hide[this.#from](lines.join('\n'))}\n`
    this.#left -= Buffer.byteLength(text)
    this.#try(() => writeFileSync(file, this.#left > 0 ? text : '... the transcript is cut here ...\n'))
  }

  #try(act: () => void): void {
    try {
      act()
    } catch (error) {
      this.#file = null
      this.#onError(`the transcript cannot be written: ${messageOf(error)}`)
    }
  }
}

/** A control sequence in the middle of a key would hide it from the redactor. Lines of a flood come together. */
function plain(lines: string): string {
  return /[^\x20-\x7e\t\n]/.test(lines) ? lines.split('\n').map(withoutControls).join('\n') : lines
}
