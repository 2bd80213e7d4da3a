// Draws frames on the whole terminal: writes only lines that changed, and restores the former screen at the end.
import { emitKeypressEvents, type Key as Keypress } from 'node:readline'
import type { ReadStream, WriteStream } from 'node:tty'

const ESC = '\u001b['
/** Switches to the alternate screen and hides the cursor. LEAVE undoes both. */
const ENTER = `${ESC}?1049h${ESC}?25l${ESC}H${ESC}2J`
const LEAVE = `${ESC}0m${ESC}?25h${ESC}?1049l`
/** Synchronized output: terminals that support it show a frame at once, others ignore it. */
const BEGIN = `${ESC}?2026h`
const END = `${ESC}?2026l`

export type Key = 'quit' | 'up' | 'down'

const KEYS: Readonly<Record<string, Key>> = {
  q: 'quit',
  'ctrl-c': 'quit',
  'ctrl-d': 'quit',
  up: 'up',
  k: 'up',
  down: 'down',
  j: 'down',
}

export class FullScreen implements Disposable {
  readonly #out: WriteStream
  readonly #input: ReadStream | null
  readonly #onResize: () => void
  readonly #onKeypress: (text: string | undefined, key: Keypress) => void
  #frame: readonly string[] = []
  #isOpen = true

  /** `input`: null if no keys are read. The terminal is restored even if the process exits without a call of `dispose`. */
  constructor(out: WriteStream, input: ReadStream | null, handlers: { key(key: Key): void; resize(): void }) {
    this.#out = out
    this.#input = input
    this.#onKeypress = (_text, { name = '', ctrl = false }) => {
      const key = KEYS[ctrl ? `ctrl-${name}` : name]
      if (key !== undefined) handlers.key(key)
    }
    this.#onResize = () => {
      this.#frame = []
      out.write(`${ESC}2J`)
      handlers.resize()
    }
    process.on('exit', this.#leave)
    out.on('resize', this.#onResize)
    if (input !== null) emitKeypressEvents(input)
    input?.setRawMode(true)
    input?.on('keypress', this.#onKeypress).resume()
    out.write(ENTER)
  }

  get size(): { width: number; height: number } {
    return { width: this.#out.columns || 80, height: this.#out.rows || 24 }
  }

  draw(lines: readonly string[]): void {
    if (!this.#isOpen) return
    const changed = lines.flatMap((line, row) =>
      line === this.#frame[row] ? [] : [`${ESC}${row + 1};1H${line}${ESC}0m${ESC}K`],
    )
    this.#frame = lines
    if (changed.length > 0) this.#out.write(BEGIN + changed.join('') + END)
  }

  [Symbol.dispose](): void {
    this.#leave()
    process.off('exit', this.#leave)
    this.#out.off('resize', this.#onResize)
    this.#input?.off('keypress', this.#onKeypress).pause()
  }

  #leave = (): void => {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#input?.setRawMode(false)
    this.#out.write(LEAVE)
  }
}
