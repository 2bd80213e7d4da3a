// Reads objects through one long-lived `git cat-file`, so that looking at fifty files does not start fifty processes.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import type { Git } from './git.ts'

export type ObjectInfo = { oid: string; type: string; size: number }

/** Ends itself when disposed. Requests are answered in order. */
export class CatFile {
  readonly #git: Git
  #child: ChildProcessWithoutNullStreams | null = null
  #buffer: Buffer = Buffer.alloc(0)
  #wake: (() => void) | null = null
  #queue: Promise<unknown> = Promise.resolve()

  constructor(git: Git) {
    this.#git = git
  }

  /** Type and size, or null where there is no such object. */
  info(name: string): Promise<ObjectInfo | null> {
    return this.#inOrder(async () => {
      this.#ask(`info ${name}`)
      return parseHeader(await this.#line())
    })
  }

  /** The bytes of a blob, or null where there is no such object. */
  contents(name: string): Promise<Buffer | null> {
    return this.#inOrder(async () => {
      this.#ask(`contents ${name}`)
      const header = parseHeader(await this.#line())
      if (header === null) return null
      const bytes = await this.#bytes(header.size + 1)
      return bytes.subarray(0, header.size)
    })
  }

  async text(name: string): Promise<string | null> {
    return (await this.contents(name))?.toString('utf8') ?? null
  }

  [Symbol.dispose](): void {
    this.#child?.kill()
    this.#child = null
  }

  #inOrder<T>(act: () => Promise<T>): Promise<T> {
    const next = this.#queue.then(act, act)
    this.#queue = next.catch(() => {})
    return next
  }

  #ask(request: string): void {
    if (request.includes('\n')) throw new Error('an object name has no line breaks')
    if (this.#child === null) this.#start()
    this.#child?.stdin.write(`${request}\n`)
  }

  #start(): void {
    const child = spawn('git', ['cat-file', '--batch-command'], {
      cwd: this.#git.clone.workTree,
      env: { ...this.#git.environment() },
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: true,
    })
    this.#buffer = Buffer.alloc(0)
    child.stdout.on('data', (chunk: Buffer) => {
      this.#buffer = Buffer.concat([this.#buffer, chunk])
      this.#wake?.()
    })
    child.on('close', () => {
      if (this.#child === child) this.#child = null
      this.#wake?.()
    })
    child.stdin.on('error', () => {})
    child.stderr.resume()
    child.unref()
    this.#child = child
  }

  async #line(): Promise<string> {
    for (;;) {
      const end = this.#buffer.indexOf(10)
      if (end >= 0) {
        const line = this.#buffer.subarray(0, end).toString('utf8')
        this.#buffer = this.#buffer.subarray(end + 1)
        return line
      }
      await this.#more()
    }
  }

  async #bytes(count: number): Promise<Buffer> {
    while (this.#buffer.length < count) await this.#more()
    const bytes = this.#buffer.subarray(0, count)
    this.#buffer = this.#buffer.subarray(count)
    return bytes
  }

  #more(): Promise<void> {
    if (this.#child === null) return Promise.reject(new Error('git cat-file ended'))
    return new Promise((resolve) => {
      this.#wake = () => {
        this.#wake = null
        resolve()
      }
    })
  }
}

function parseHeader(line: string): ObjectInfo | null {
  const [oid = '', type = '', size = ''] = line.split(' ')
  return /^\d+$/.test(size) ? { oid, type, size: Number(size) } : null
}
