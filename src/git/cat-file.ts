// Reads objects through one long-lived `git cat-file`, so that looking at fifty files does not start fifty processes.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { type Git, gitProgram } from './git.ts'

export type ObjectInfo = { oid: string; type: string; size: number }

/** Ends itself when disposed. Requests are answered in order. */
export class CatFile {
  readonly #git: Git
  #child: ChildProcessWithoutNullStreams | null = null
  #chunks: Buffer[] = []
  #held = 0
  #wake: (() => void) | null = null
  #said = ''
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

  /** The bytes of an object, or null where there is none. Rejects when they are not those that its name is the hash of. */
  contents(name: string): Promise<Buffer | null> {
    return this.#inOrder(async () => {
      this.#ask(`contents ${name}`)
      const header = parseHeader(await this.#line())
      if (header === null) return null
      const bytes = await this.#bytes(header.size + 1)
      const content = bytes.subarray(0, header.size)
      // git does not look: an agent that writes into .git/objects could show us another file.
      if (hashOf(header, content) !== header.oid)
        throw new Error(`the clone is damaged: the object ${header.oid} holds other bytes`)
      return content
    })
  }

  async text(name: string): Promise<string | null> {
    return (await this.contents(name))?.toString('utf8') ?? null
  }

  [Symbol.dispose](): void {
    this.#child?.kill('SIGKILL')
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
    const env = this.#git.environment()
    const child = spawn(gitProgram(env.PATH), ['cat-file', '--batch-command'], {
      cwd: this.#git.clone.workTree,
      env: { ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: true,
    })
    this.#chunks = []
    this.#held = 0
    child.stdout.on('data', (chunk: Buffer) => {
      this.#chunks.push(chunk)
      this.#held += chunk.length
      this.#wake?.()
    })
    this.#said = ''
    child.on('close', () => {
      if (this.#child === child) this.#child = null
      this.#wake?.()
    })
    child.stdin.on('error', () => {})
    child.on('error', (error) => {
      this.#said = error.message
      if (this.#child === child) this.#child = null
      this.#wake?.()
    })
    child.stderr.on('data', (chunk: Buffer) => {
      this.#said = `${this.#said}${chunk.toString('utf8')}`.slice(-1000)
    })
    child.unref()
    this.#child = child
  }

  async #line(): Promise<string> {
    for (;;) {
      const held = this.#take(this.#held)
      const end = held.indexOf(10)
      if (end >= 0) {
        this.#giveBack(held.subarray(end + 1))
        return held.subarray(0, end).toString('utf8')
      }
      this.#giveBack(held)
      await this.#more()
    }
  }

  async #bytes(count: number): Promise<Buffer> {
    while (this.#held < count) await this.#more()
    return this.#take(count)
  }

  /** The first bytes that have come; joined once, however many pieces they came in. */
  #take(count: number): Buffer {
    const held = this.#chunks.length === 1 ? this.#chunks[0] : Buffer.concat(this.#chunks)
    const all = held ?? Buffer.alloc(0)
    this.#chunks = []
    this.#held = 0
    this.#giveBack(all.subarray(count))
    return all.subarray(0, count)
  }

  #giveBack(rest: Buffer): void {
    if (rest.length === 0) return
    this.#chunks.unshift(rest)
    this.#held += rest.length
  }

  #more(): Promise<void> {
    if (this.#child === null)
      return Promise.reject(new Error(`the clone is damaged: git cat-file ended: ${this.#said.trim()}`))
    // While we wait the process must hold us: it may end without a word, and nobody would be left to hear of it.
    const child = this.#child
    child.ref()
    return new Promise((resolve) => {
      this.#wake = () => {
        this.#wake = null
        child.unref()
        resolve()
      }
    })
  }
}

function hashOf({ oid, type, size }: ObjectInfo, content: Buffer): string {
  const hash = createHash(oid.length === 64 ? 'sha256' : 'sha1')
  return hash.update(`${type} ${size}\0`).update(content).digest('hex')
}

function parseHeader(line: string): ObjectInfo | null {
  const [oid = '', type = '', size = ''] = line.split(' ')
  return /^\d+$/.test(size) ? { oid, type, size: Number(size) } : null
}
