// What a session prints, without secrets, in a file on this machine.

import { closeSync, mkdirSync, openSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { messageOf } from '../system/errors.ts'
import type { Redactor } from '../system/redact.ts'

/** Bytes. */
const LIMIT = 64 * 1024 * 1024
/** So many UTF-16 units are written at once. */
const PORTION = 64 * 1024

export class Transcript {
  readonly #onError: (message: string) => void
  /** A secret of one stream may have lines of the other in it. */
  readonly #hide: Record<'stdout' | 'stderr', (line: string) => string>
  #file: number | null = null
  #left = LIMIT
  #waiting = ''

  /** A file that cannot be written is only reported. */
  constructor(path: string, redactor: Redactor, onError: (message: string) => void) {
    this.#onError = onError
    this.#hide = { stdout: redactor.lines(), stderr: redactor.lines() }
    this.#try(() => {
      mkdirSync(dirname(path), { recursive: true })
      this.#file = openSync(path, 'w')
    })
  }

  write(stream: 'stdout' | 'stderr', line: string): void {
    if (this.#file === null || this.#left <= 0) return
    const text = `${this.#hide[stream](line)}\n`
    this.#left -= Buffer.byteLength(text)
    if (this.#waiting === '') setImmediate(() => this.#flush())
    this.#waiting += this.#left > 0 ? text : '... the transcript is cut here ...\n'
    if (this.#waiting.length > PORTION) this.#flush()
  }

  close(): void {
    this.#flush()
    const file = this.#file
    this.#file = null
    if (file !== null) this.#try(() => closeSync(file))
  }

  /** At once, and not by a stream: what waits there takes a hundred times its size where lines are short. */
  #flush(): void {
    const [file, text] = [this.#file, this.#waiting]
    this.#waiting = ''
    if (file !== null && text !== '') this.#try(() => writeFileSync(file, text))
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
