// The bare repository behind the stand-in: real git, asked through its plumbing.
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { chmod, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

export interface Person {
  name: string
  email: string
}
export type Files = Record<string, string | null>
export const zero = '0'.repeat(40)

export class GitError extends Error {
  override name = 'GitError'
}

/** Runs git and returns its standard output; `input` goes to its standard input. Throws a GitError. */
export function git(
  args: string[],
  options: { cwd?: string; input?: string | Buffer; env?: Record<string, string> } = {},
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const child = spawn('git', args, {
      cwd: options.cwd,
      env: { PATH: process.env.PATH ?? '', HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1', ...options.env },
    })
    const out: Buffer[] = []
    let complaint = ''
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk))
    child.stderr.on('data', (chunk: Buffer) => {
      complaint += chunk.toString()
    })
    child.on('error', reject)
    child.on('close', (code) => {
      if (code === 0) resolve(Buffer.concat(out))
      else reject(new GitError(`git ${args.join(' ')}: ${complaint.trim() || `exit ${code}`}`))
    })
    child.stdin.on('error', () => {}) // git may end before it has read all
    child.stdin.end(options.input)
  })
}

// Told by the gateway who pushes; a refusal's exact words go into a file, because git itself would only
// report "hook declined" (git-http.ts puts them into the report).
const updateHook = `#!/bin/sh
ref=$1 old=$2 new=$3
refuse() { echo "$ref $1" >> "$STANDIN_REASONS"; [ -z "$2" ] || echo "$2" >&2; exit 1; }
IFS=,
for name in $STANDIN_PROTECTED; do
  [ "$ref" != "refs/heads/$name" ] || refuse 'protected branch hook declined' "error: GH006: Protected branch update failed for $ref."
done
unset IFS
if [ -n "$STANDIN_GUARD" ] && [ "$new" != ${zero} ]; then
  if [ "$STANDIN_GUARD" = strict ]; then merges=--diff-merges=first-parent; else merges=--diff-merges=combined; fi
  found=$(git rev-list "$new" --not --all | git diff-tree --stdin $merges --root --no-commit-id --name-only -r -- .github/workflows | head -n 1)
  [ -z "$found" ] || refuse "refusing to allow a GitHub App to create or update workflow \\\`$found\\\` without \\\`workflows\\\` permission"
fi
exit 0
`

export class Bare {
  readonly path: string
  constructor(path: string) {
    this.path = path
  }

  /** `guarded`: pushes are told of by a gateway, which may refuse them. */
  async create(defaultBranch: string, { guarded = true } = {}): Promise<void> {
    await mkdir(this.path, { recursive: true })
    await git(['init', '--quiet', '--bare', '--template=', `--initial-branch=${defaultBranch}`, this.path])
    const settings = `[http]\n\treceivepack = true\n[uploadpack]\n\tallowFilter = true\n\tallowAnySHA1InWant = true
[transfer]\n\thideRefs = refs/forks\n[receive]\n\tautogc = false\n\thideRefs = refs/pull\n\tadvertisePushOptions = true\n[gc]\n\tauto = 0\n[core]\n\tlogAllRefUpdates = false\n`
    await writeFile(join(this.path, 'config'), settings, { flag: 'a' })
    if (!guarded) return
    await mkdir(join(this.path, 'hooks'), { recursive: true })
    await writeFile(join(this.path, 'hooks', 'update'), updateHook)
    await chmod(join(this.path, 'hooks', 'update'), 0o755)
  }

  async run(
    args: string[],
    options: { input?: string | Buffer; env?: Record<string, string> } = {},
  ): Promise<string> {
    return (await git(args, { ...options, cwd: this.path })).toString().trimEnd()
  }
  async bytes(args: string[]): Promise<Buffer> {
    return git(args, { cwd: this.path })
  }
  /** Returns what git says, or null where it fails. */
  async ask(args: string[]): Promise<string | null> {
    try {
      return await this.run(args)
    } catch (error) {
      if (error instanceof GitError) return null
      throw error
    }
  }

  /** The commit that a full ref name, a branch, a tag or an id stands for; null when there is none. */
  async resolve(name: string): Promise<string | null> {
    for (const candidate of [name, `refs/heads/${name}`, `refs/tags/${name}`]) {
      if (candidate.startsWith('-')) return null
      const found = await this.ask([
        'rev-parse',
        '--verify',
        '--quiet',
        '--end-of-options',
        `${candidate}^{commit}`,
      ])
      if (found !== null) return found
    }
    return null
  }
  async refs(prefix = ''): Promise<Map<string, string>> {
    const text = await this.run([
      'for-each-ref',
      '--format=%(refname) %(objectname)',
      ...(prefix === '' ? [] : [prefix]),
    ])
    const lines = text === '' ? [] : text.split('\n')
    return new Map(lines.map((line) => line.split(' ') as [string, string]))
  }
  head(branch: string): Promise<string | null> {
    return this.ask(['rev-parse', '--verify', '--quiet', `refs/heads/${branch}`])
  }
  async isAncestor(ancestor: string, of: string): Promise<boolean> {
    return (await this.ask(['merge-base', '--is-ancestor', ancestor, of])) !== null
  }
  /** A file's text at a ref or commit; null when it is not there. */
  async read(at: string, path: string): Promise<string | null> {
    try {
      return (await this.bytes(['cat-file', 'blob', `${at}:${path}`])).toString()
    } catch (error) {
      if (error instanceof GitError) return null
      throw error
    }
  }
  async list(at: string, folder: string): Promise<string[]> {
    const text = await this.ask(['ls-tree', '--name-only', `${at}:${folder}`])
    return text === null || text === '' ? [] : text.split('\n')
  }

  /** Writes a tree: `base` with the files changed (null deletes). `entries` are index lines: mode, object id, path. */
  async writeTree(base: string | null, entries: string[]): Promise<string> {
    const index = join(this.path, `index-${randomUUID()}`)
    const env = { GIT_INDEX_FILE: index }
    try {
      if (base !== null) await this.run(['read-tree', base], { env })
      await this.run(['update-index', '--add', '--index-info'], {
        env,
        input: entries.map((line) => `${line}\n`).join(''),
      })
      return await this.run(['write-tree'], { env })
    } finally {
      await rm(index, { force: true })
    }
  }

  /** Commits files on top of a branch (or a full ref) and moves it; makes the branch from `from` when it does not exist yet. */
  async commit(
    branch: string,
    files: Files,
    message: string,
    person: Person,
    from: string | null,
  ): Promise<string> {
    const ref = branch.startsWith('refs/') ? branch : `refs/heads/${branch}`
    const parent = (await this.resolve(ref)) ?? (from === null ? null : await this.resolve(from))
    const data = (text: string): string => `data ${Buffer.byteLength(text)}\n${text}\n`
    const who = `${person.name} <${person.email}> ${Math.floor(Date.now() / 1000)} +0000`
    const changes = Object.entries(files).map(([path, text]) => {
      if (text === null) return `D ${path}\n`
      return `M ${text.startsWith('#!') ? '100755' : '100644'} inline ${path}\n${data(text)}`
    })
    const head = `commit ${ref}\nauthor ${who}\ncommitter ${who}\n${data(message)}`
    const input = [head, ...(parent === null ? [] : [`from ${parent}\n`]), ...changes].join('')
    // One process instead of one for every file: a test begins with this.
    await this.run(['fast-import', '--quiet', '--done'], { input: `${input}\ndone\n` })
    return (await this.resolve(ref)) ?? ''
  }
  async commitTree(
    tree: string,
    parents: string[],
    message: string,
    who: { author: Person & { date?: string }; committer: Person & { date?: string } },
  ): Promise<string> {
    const env: Record<string, string> = {
      GIT_AUTHOR_NAME: who.author.name,
      GIT_AUTHOR_EMAIL: who.author.email,
      GIT_COMMITTER_NAME: who.committer.name,
      GIT_COMMITTER_EMAIL: who.committer.email,
      ...(who.author.date === undefined ? {} : { GIT_AUTHOR_DATE: who.author.date }),
      ...(who.committer.date === undefined ? {} : { GIT_COMMITTER_DATE: who.committer.date }),
    }
    return this.run(['commit-tree', tree, ...parents.flatMap((parent) => ['-p', parent]), '-F', '-'], {
      env,
      input: message,
    })
  }
}
