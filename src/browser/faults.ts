// What is wrong with a page, in plain words: each once, bounded, without what could hide something in it.
import { oneLine } from '../model/text.ts'

/** So many lines of a page are told. */
const MOST = 20
const LENGTH = 400

export class Faults {
  readonly #lines = new Map<string, number>()
  #more = 0

  add(what: string, text: string): void {
    const line = `${what}: ${oneLine(text, LENGTH) || '(no text)'}`
    const times = this.#lines.get(line)
    if (times !== undefined || this.#lines.size < MOST) this.#lines.set(line, (times ?? 0) + 1)
    else this.#more += 1
  }

  get isEmpty(): boolean {
    return this.#lines.size === 0
  }

  get lines(): string[] {
    const told = [...this.#lines].map(([line, times]) => (times === 1 ? line : `${line} (${times} times)`))
    return this.#more === 0 ? told : [...told, `and ${this.#more} more`]
  }
}
