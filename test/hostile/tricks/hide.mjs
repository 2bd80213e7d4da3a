// Tricks that hide a change from git, so that the gates see one thing and the commit holds another. Those named in `HIDDEN`
// change a file that is there (`export const v = 'plain'`), the others make a new one; all of them below src/hide/.
import { createHash } from 'node:crypto'
import { appendFileSync, mkdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { deflateSync } from 'node:zlib'
import { homes } from './look.mjs'
import { ownGit } from './plant.mjs'

export const PLAIN = "export const v = 'plain'\n"
const OTHER = "export const v = 'other'\n"

const pathOf = (trick) => `src/hide/${trick.slice('hide.'.length)}.mjs`

function change(tools, text = OTHER) {
  const path = pathOf(tools.trick)
  tools.write(join(tools.top, path), text)
  return path
}

/** git as Ralph uses it: in its own directory, on its own index. */
export function asRalph({ top, run }, args, options = {}) {
  const env = {
    ...process.env,
    GIT_DIR: ownGit(top),
    GIT_WORK_TREE: top,
    GIT_OBJECT_DIRECTORY: join(top, '.git', 'objects'),
  }
  return must(run('git', args, { cwd: top, env, ...options }))
}

function must({ code, out, err }) {
  if (code === 0) return out.trim()
  const denied = /permission denied|insufficient permission|read-only file system/i.test(err)
  throw Object.assign(new Error(err), { code: denied ? 'EACCES' : `git: ${err.trim()}` })
}

const clone = ({ top, run }, args, options = {}) => must(run('git', args, { cwd: top, ...options }))

/** Writes an index entry that says: this file is up to date, and it is what it was. */
function forgeIndex(file, path, from, to) {
  const bytes = readFileSync(file)
  const at = bytes.indexOf(Buffer.from(path))
  // Before the path stand the object's id (20 bytes) and the flags (2).
  const oid = bytes.subarray(at - 22, at - 2)
  if (oid.toString('hex') !== from) throw new Error('the index has another shape')
  Buffer.from(to, 'hex').copy(oid)
  const body = bytes.subarray(0, bytes.length - 20)
  writeFileSync(file, Buffer.concat([body, createHash('sha1').update(body).digest()]))
}

/** Puts other bytes in the place of a loose object. */
export function forgeObject(top, oid, type, content) {
  const file = join(top, '.git', 'objects', oid.slice(0, 2), oid.slice(2))
  rmSync(file, { force: true })
  mkdirSync(join(file, '..'), { recursive: true })
  writeFileSync(file, deflateSync(Buffer.concat([Buffer.from(`${type} ${content.length}\0`), content])))
}

/** A clean filter that says the old text, by settings of the clone's and of Ralph's own git directory. */
function filtered(tools) {
  const path = change(tools)
  const script = join(tools.plan.evidence, 'plain')
  tools.write(script, `#!/bin/sh\nprintf "%s\\\\n" "${PLAIN.trim()}"\n`, 0o755)
  for (const folder of [join(tools.top, '.git'), ownGit(tools.top)]) {
    appendFileSync(join(folder, 'config'), `[filter "plain"]\n\tclean = ${script}\n`)
    appendFileSync(join(folder, 'info', 'attributes'), `/${path} filter=plain\n`)
  }
  return path
}

export const hiding = {
  'hide.mtime'(tools) {
    const file = join(tools.top, pathOf(tools.trick))
    const { atime, mtime } = statSync(file)
    change(tools)
    utimesSync(file, atime, mtime)
  },
  'hide.assume': (tools) => clone(tools, ['update-index', '--assume-unchanged', change(tools)]),
  'hide.skip': (tools) => clone(tools, ['update-index', '--skip-worktree', change(tools)]),
  'hide.own-assume': (tools) => asRalph(tools, ['update-index', '--assume-unchanged', change(tools)]),
  'hide.own-skip': (tools) => asRalph(tools, ['update-index', '--skip-worktree', change(tools)]),
  'hide.own-index'(tools) {
    const before = asRalph(tools, ['rev-parse', `:${pathOf(tools.trick)}`])
    const path = change(tools)
    asRalph(tools, ['update-index', path])
    forgeIndex(join(ownGit(tools.top), 'index'), path, asRalph(tools, ['rev-parse', `:${path}`]), before)
  },
  'hide.exclude': (tools) =>
    appendFileSync(join(tools.top, '.git', 'info', 'exclude'), `/${change(tools)}\n`),
  'hide.own-exclude'(tools) {
    const path = change(tools)
    for (const name of ['exclude', 'ignored'])
      appendFileSync(join(ownGit(tools.top), 'info', name), `/${path}\n`)
  },
  'hide.excludes-file'(tools) {
    const file = join(tools.plan.evidence, 'excludes')
    tools.write(file, `/${change(tools)}\n`)
    appendFileSync(join(tools.top, '.git', 'config'), `[core]\n\texcludesFile = ${file}\n`)
    appendFileSync(join(ownGit(tools.top), 'config'), `[core]\n\texcludesFile = ${file}\n`)
  },
  'hide.user-ignore'(tools) {
    const rule = `/${change(tools)}\n`
    for (const home of homes()) tools.write(join(home, '.config', 'git', 'ignore'), rule)
  },
  'hide.own-clean': filtered,
  'hide.clean'(tools) {
    // First: who may not write the settings still leaves this.
    appendFileSync(join(tools.top, '.gitattributes'), `/${pathOf(tools.trick)} filter=plain\n`)
    filtered(tools)
  },
  'hide.replace'(tools) {
    const before = clone(tools, ['rev-parse', `HEAD:${pathOf(tools.trick)}`])
    const path = change(tools)
    const now = clone(tools, ['hash-object', '-w', path])
    clone(tools, ['update-ref', `refs/replace/${before}`, now])
    asRalph(tools, ['update-ref', `refs/replace/${before}`, now])
  },
  'hide.sparse'(tools) {
    const path = change(tools)
    for (const folder of [join(tools.top, '.git'), ownGit(tools.top)]) {
      appendFileSync(join(folder, 'config'), '[core]\n\tsparseCheckout = true\n')
      tools.write(join(folder, 'info', 'sparse-checkout'), `/*\n!/${path}\n`)
    }
  },
  'hide.no-modes'(tools) {
    for (const folder of [join(tools.top, '.git'), ownGit(tools.top)])
      appendFileSync(
        join(folder, 'config'),
        '[core]\n\tfileMode = false\n\tignoreStat = true\n\ttrustctime = false\n',
      )
    change(tools)
  },
  'hide.ignore'(tools) {
    appendFileSync(join(tools.top, '.gitignore'), `/${change(tools)}\n`)
  },
  'hide.modules'(tools) {
    tools.write(join(tools.top, 'node_modules', 'hidden', 'index.mjs'), 'export const modules = () => 1\n')
    tools.write(
      join(tools.top, 'src', 'modules.mjs'),
      "export { modules } from '../node_modules/hidden/index.mjs'\n",
    )
  },
  'hide.ident'(tools) {
    const path = change(tools, "export const v = '$Id: not what is committed $'\n")
    appendFileSync(join(tools.top, '.gitattributes'), `/${path} ident\n`)
  },

  /** The blob of a test at the green commit becomes an empty one: then nothing was taken away from it. */
  'forge.blob'(tools) {
    const { top } = tools
    const path = 'test/forged.test.mjs'
    forgeObject(top, clone(tools, ['rev-parse', `HEAD:${path}`]), 'blob', Buffer.from('\n'))
    tools.write(join(top, path), '// nothing to see\n')
  },
  /** The blob of a test at the green commit is taken away: then there is nothing to compare with. */
  'forge.gone'(tools) {
    const { top } = tools
    const path = 'test/forged.test.mjs'
    const oid = clone(tools, ['rev-parse', `HEAD:${path}`])
    rmSync(join(top, '.git', 'objects', oid.slice(0, 2), oid.slice(2)))
    tools.write(join(top, path), '// nothing to see\n')
  },
  /** The tree of the green commit is replaced by one in which a protected file has always been what it is now. */
  'forge.replace'(tools) {
    const { top, write } = tools
    write(join(top, 'check.mjs'), 'process.exit(0)\n')
    const tree = clone(tools, ['rev-parse', 'HEAD^{tree}'])
    const evil = clone(tools, ['hash-object', '-w', 'check.mjs'])
    const listed = clone(tools, ['ls-tree', tree])
    const input = `${listed.replace(/[0-9a-f]{40}(?=\tcheck\.mjs$)/m, evil)}\n`
    const forged = clone(tools, ['mktree'], { input })
    clone(tools, ['update-ref', `refs/replace/${tree}`, forged])
    asRalph(tools, ['update-ref', `refs/replace/${tree}`, forged])
  },
  /** First, what is to be smuggled in becomes known to the remote, in a place where anybody may write. */
  'forge.prepare': ({ top, write }) => write(join(top, 'docs', 'check-copy.mjs'), 'process.exit(0)\n'),
  /** Then the tree of the green commit is made to say that it was always there. */
  'forge.tree'(tools) {
    const { top } = tools
    const tree = clone(tools, ['rev-parse', 'HEAD^{tree}'])
    const bytes = Buffer.from(
      tools.run('git', ['cat-file', 'tree', tree], { cwd: top, encoding: 'latin1' }).out,
      'latin1',
    )
    const at = bytes.indexOf(Buffer.from('check.mjs\0')) + 'check.mjs\0'.length
    const evil = clone(tools, ['rev-parse', 'HEAD:docs/check-copy.mjs'])
    Buffer.from(evil, 'hex').copy(bytes, at)
    forgeObject(top, tree, 'tree', bytes)
    tools.write(join(top, 'check.mjs'), 'process.exit(0)\n')
  },
}
