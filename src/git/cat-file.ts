// Reads git objects through one long-lived `git cat-file`, so that reading fifty files does not start fifty processes.

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { DamagedClone } from '../system/errors.ts'
import { toLatin1 } from '../system/path-text.ts'
import type { Git } from './git.ts'
import { gitProgram } from './git-process.ts'

export type ObjectInfo = { oid: string; type: string; size: number }

/** One entry of a tree; the mode as git shows it. */
export type TreeEntry = { mode: string; oid: string }

/** Name to entry. Names are bytes (`latin1`): two that differ stay two, whatever their encoding. */
export type Tree = ReadonlyMap<string, TreeEntry>

type Content = ObjectInfo & { content: Buffer }

/** The mode of a folder. */
export const TREE = '040000'
/** The mode of a submodule. Its object id is a commit of another repository. */
export const GITLINK = '160000'
const OBJECT_ID = /^[0-9a-f]{40,64}$/
/** How many trees are cached. */
const TREES = 256

/**
 * Disposing it ends the process. Requests are answered in order. `<commit>:<path>` is resolved here, since git gives the same answer
 * for a path that does not exist and for an object that is missing.
 */
export class CatFile {
  readonly git: Git
  #child: ChildProcessWithoutNullStreams | null = null
  #chunks: Buffer[] = []
  #wake: (() => void) | null = null
  #stderr = ''
  #queue: Promise<unknown> = Promise.resolve()
  /** Trees by id. The bytes of an id never change. */
  readonly #trees = new Map<string, Tree>()
  readonly #roots = new Map<string, string>()

  constructor(git: Git) {
    this.git = git
  }

  /**
   * Type and size; null if there is no such path or commit, or it is a submodule. Rejects if an object is missing that a tree
   * names: an object removed from .git/objects must not look as if it had never existed.
   */
  async info(name: string): Promise<ObjectInfo | null> {
    const found = await this.#find(name)
    if (found === null) return null
    const info = await this.#info(found)
    return name.endsWith('^{tree}') ? info : requireObject(info, found)
  }

  #info(name: string): Promise<ObjectInfo | null> {
    return this.#queued(async () => {
      this.#request(`info ${name}`)
      return parseHeader(await this.#line())
    })
  }

  /** The bytes of an object; null and rejections as for `info`. */
  async contents(name: string): Promise<Buffer | null> {
    const found = await this.#find(name)
    if (found === null) return null
    return requireObject(await this.#content(found), found).content
  }

  /** The id of a commit's tree; of a tree, its own id. Null if there is no such object. */
  async root(name: string): Promise<string | null> {
    const known = this.#roots.get(name)
    if (known !== undefined) return known
    const root = (await this.#info(`${name}^{tree}`))?.oid ?? null
    if (this.#roots.size >= TREES) this.#roots.clear()
    if (root !== null && OBJECT_ID.test(name)) this.#roots.set(name, root)
    return root
  }

  /** The id of a folder in a commit or tree; null if there is none. */
  async folder(name: string, path: string): Promise<string | null> {
    const entry = await this.entry(name, path)
    return entry?.mode === TREE ? entry.oid : null
  }

  /** The tree with this id. Rejects if it is missing. */
  async tree(oid: string): Promise<Tree> {
    const known = this.#trees.get(oid)
    if (known !== undefined) return known
    const tree = parseTree(oid, await this.#content(oid))
    if (this.#trees.size >= TREES) this.#trees.clear()
    this.#trees.set(oid, tree)
    return tree
  }

  async text(name: string): Promise<string | null> {
    return (await this.contents(name))?.toString('utf8') ?? null
  }

  [Symbol.dispose](): void {
    this.#child?.kill('SIGKILL')
    this.#child = null
  }

  /** Resolves `<commit>:<path>` and `<commit>^{tree}` to an id; other names stay as they are. */
  async #find(name: string): Promise<string | null> {
    const [, commit, path] = /^([0-9a-f]{40,64})(?::(.+)|\^\{tree\})$/s.exec(name) ?? []
    if (commit === undefined) return name
    if (path === undefined) return this.root(commit)
    const entry = await this.entry(commit, path)
    return entry === null || entry.mode === GITLINK ? null : entry.oid
  }

  /** A file, folder, link or submodule of a commit or tree; null if there is none. Links are not followed. */
  async entry(commit: string, path: string): Promise<TreeEntry | null> {
    const root = await this.root(commit)
    let at: TreeEntry | null = root === null ? null : { mode: TREE, oid: root }
    for (const part of toLatin1(path).split('/')) {
      if (at?.mode !== TREE) return null
      at = (await this.tree(at.oid)).get(part) ?? null
    }
    return at
  }

  #content(name: string): Promise<Content | null> {
    return this.#queued(async () => {
      this.#request(`contents ${name}`)
      const header = parseHeader(await this.#line())
      if (header === null) return null
      const pieces: Buffer[] = []
      for (let left = header.size; left > 0; ) {
        const piece = await this.#piece(left)
        pieces.push(piece)
        left -= piece.length
      }
      await this.#piece(1)
      const [content = Buffer.alloc(0), ...more] = pieces
      return { ...header, content: more.length === 0 ? content : Buffer.concat(pieces) }
    })
  }

  #queued<T>(act: () => Promise<T>): Promise<T> {
    const next = this.#queue.then(act, act)
    this.#queue = next.catch(() => {})
    return next
  }

  #request(request: string): void {
    if (request.includes('\n')) throw new Error('an object name has no line breaks')
    if (this.#child === null) this.#start()
    this.#child?.stdin.write(`${request}\n`)
  }

  #start(): void {
    const env = this.git.environment()
    const child = spawn(gitProgram(env.PATH), ['cat-file', '--batch-command'], {
      cwd: this.git.clone.workTree,
      env: { ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: true,
    })
    this.#chunks = []
    child.stdout.on('data', (chunk: Buffer) => {
      this.#chunks.push(chunk)
      this.#wake?.()
    })
    this.#stderr = ''
    child.on('close', () => {
      if (this.#child === child) this.#child = null
      this.#wake?.()
    })
    child.stdin.on('error', () => {})
    child.on('error', (error) => {
      this.#stderr = error.message
      if (this.#child === child) this.#child = null
      this.#wake?.()
    })
    child.stderr.on('data', (chunk: Buffer) => {
      this.#stderr = `${this.#stderr}${chunk.toString('utf8')}`.slice(-1000)
    })
    child.unref()
    this.#child = child
  }

  async #line(): Promise<string> {
    for (;;) {
      const buffered = this.#chunks.length === 1 ? this.#chunks[0] : Buffer.concat(this.#chunks)
      const end = buffered?.indexOf(10) ?? -1
      this.#chunks = []
      this.#unshift(buffered?.subarray(end + 1) ?? Buffer.alloc(0))
      if (buffered !== undefined && end >= 0) return buffered.toString('utf8', 0, end)
      await this.#more()
    }
  }

  /** The next piece of git's output, at most `most` bytes. */
  async #piece(most: number): Promise<Buffer> {
    while (this.#chunks.length === 0) await this.#more()
    const first = this.#chunks.shift() ?? Buffer.alloc(0)
    this.#unshift(first.subarray(most))
    return first.subarray(0, most)
  }

  #unshift(rest: Buffer): void {
    if (rest.length > 0) this.#chunks.unshift(rest)
  }

  #more(): Promise<void> {
    if (this.#child === null)
      return Promise.reject(new DamagedClone(`git cat-file ended: ${this.#stderr.trim()}`))
    // While Ralph waits, the child process must keep it running: otherwise Ralph would exit before it sees the child end.
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

function requireObject<T>(found: T | null, oid: string): T {
  if (found === null) throw new DamagedClone(`there is no object ${oid}`)
  return found
}

function parseHeader(line: string): ObjectInfo | null {
  const [oid = '', type = '', size = ''] = line.split(' ')
  return /^\d+$/.test(size) ? { oid, type, size: Number(size) } : null
}

/** Modes as git shows them, also those that only old versions wrote. */
function parseTree(oid: string, found: Content | null): Tree {
  if (found?.type !== 'tree') throw new DamagedClone(`there is no tree ${oid}`)
  const { content } = found
  const tree = new Map<string, TreeEntry>()
  for (let at = 0; at < content.length; ) {
    const [blank, end] = [content.indexOf(0x20, at), content.indexOf(0, at)]
    const after = end + 1 + oid.length / 2
    const mode = normalizeMode(Number.parseInt(content.toString('latin1', at, blank), 8))
    tree.set(content.toString('latin1', blank + 1, end), {
      mode,
      oid: content.toString('hex', end + 1, after),
    })
    at = after
  }
  return tree
}

function normalizeMode(mode: number): string {
  const type = mode & 0o170000
  if (type === 0o040000) return TREE
  if (type === 0o100000) return mode & 0o100 ? '100755' : '100644'
  return type === 0o120000 ? '120000' : GITLINK
}
