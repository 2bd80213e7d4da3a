// Messages of the DevTools protocol over a pipe, each ended by a NUL; what a page can make of them is bounded.
import type { Readable, Writable } from 'node:stream'
import type { ConnectionTransport } from 'puppeteer-core/internal/common/ConnectionTransport.js'

/** A larger one is dropped: no answer that we ask for is. */
const MOST_BYTES = 8 * 1024 * 1024
/** What a page can send without end, and what of that nobody looks at. */
const CONSOLE = /^\{"method":"(?:Runtime\.consoleAPICalled|Runtime\.exceptionThrown|Log\.entryAdded)"/
const NOISE = /^\{"method":"Runtime\.consoleAPICalled","params":\{"type":"(?!error"|assert")/

export class PipeTransport implements ConnectionTransport {
  onmessage?: (message: string) => void
  onclose?: () => void
  /** What came of the console; of those that could be errors only so many are heard as are `left`, and none that is too large. */
  readonly console = { noise: 0, left: 0, lost: 0 }
  readonly #to: Writable
  #chunks: Buffer[] = []
  #bytes = 0

  constructor(to: Writable, from: Readable) {
    this.#to = to
    from.on('data', (chunk: Buffer) => this.#take(chunk))
    // Who hears of the program's end closes us.
    from.on('error', () => {})
    to.on('error', () => {})
  }

  send(message: string): void {
    this.#to.write(`${message}\0`)
  }

  close(): void {
    this.onclose?.()
  }

  #take(chunk: Buffer): void {
    let start = 0
    for (let end = chunk.indexOf(0); end >= 0; end = chunk.indexOf(0, start)) {
      this.#keep(chunk.subarray(start, end))
      this.#deliver()
      start = end + 1
    }
    this.#keep(chunk.subarray(start))
  }

  #keep(piece: Buffer): void {
    this.#bytes += piece.length
    // The first one tells what it is.
    if (this.#bytes > MOST_BYTES) this.#chunks.length = Math.min(this.#chunks.length, 1)
    else if (piece.length > 0) this.#chunks.push(piece)
  }

  #deliver(): void {
    const isWhole = this.#bytes <= MOST_BYTES
    const chunks = this.#chunks
    this.#chunks = []
    this.#bytes = 0
    const head = chunks[0]?.toString('latin1', 0, 100) ?? ''
    if (NOISE.test(head)) this.console.noise += 1
    else if (!isWhole || (CONSOLE.test(head) && this.console.left-- <= 0)) this.console.lost += 1
    else this.#hand(Buffer.concat(chunks).toString('utf8'))
  }

  /** What cannot be read, or is not as we know it, is as if it had not come: a browser ends nobody else. */
  #hand(message: string): void {
    Promise.resolve(message)
      .then((text) => this.onmessage?.(text))
      .catch(() => {})
  }
}
