// With real git: what somebody wrote into .git behind git's back, and what git calls unchanged though its bytes are not.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseRaw } from '../../../src/git/raw-diff.ts'
import { changesBetween } from '../../../src/git/tree-walk.ts'
import { runUntrusted } from '../../../src/system/process.ts'
import { NOW, workedIn } from '../engine/samples.ts'
import { runs } from '../runs.ts'
import { openWorked } from './worked.ts'

const BASE = `
mkdir -p src docs/deep tests; echo a >src/a.js; echo d >docs/d.txt; echo e >docs/deep/e.txt
printf 'exit 1\\n' >tests/t.sh
`

/** Puts another tree where the clone has `$1` (of `$3`): its entry `$2` names the bytes that the file has now. */
const FORGE = `
forge() { node -e '
const { execFileSync } = require("child_process"), fs = require("fs"), zlib = require("zlib")
const [folder, name, commit = "HEAD"] = process.argv.slice(1)
const git = (...a) => execFileSync("git", a)
const blob = git("hash-object", "-w", folder + "/" + name).toString().trim()
const tree = git("rev-parse", commit + ":" + folder).toString().trim()
const raw = git("cat-file", "tree", tree)
const at = raw.indexOf(name + "\\0") + name.length + 1
Buffer.from(blob, "hex").copy(raw, at)
const file = ".git/objects/" + tree.slice(0, 2) + "/" + tree.slice(2)
fs.rmSync(file, { force: true })
fs.writeFileSync(file, zlib.deflateSync(Buffer.concat([Buffer.from("tree " + raw.length + "\\0"), raw])))
' "$@"; }
`

/** Puts the bytes `$2` where the clone has the object `$1`. */
const FORGE_BLOB = `
forge_blob() { node -e '
const fs = require("fs"), zlib = require("zlib")
const [oid, text] = process.argv.slice(1)
const file = ".git/objects/" + oid.slice(0, 2) + "/" + oid.slice(2)
fs.rmSync(file, { force: true })
fs.writeFileSync(file, zlib.deflateSync(Buffer.from("blob " + text.length + "\\0" + text)))
' "$@"; }
`

async function place(base = BASE, settings: { protectedPaths?: string[] } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'forged-'))
  const top = join(folder, 'clone')
  const env = { PATH: process.env.PATH ?? '', HOME: folder }
  const shell = (script: string, cwd = top) =>
    execFileSync('bash', ['-ec', script], { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  shell(`git init -q -b main clone`, folder)
  shell(
    `git config user.name a; git config user.email a@b; ${base}\n[ -n "$done" ] || { git add -A; git commit -q -m base; }; rm .git/index; git reset -q --hard`,
  )
  const worked = await openWorked(top, env, settings)
  const { git, objects, repository, state, inspect } = worked
  await repository.checkOut(state.green, null)
  return {
    top,
    git,
    objects,
    shell,
    state,
    repository,
    inspect,
    bytes: (path: string) => readFileSync(join(top, path), 'latin1'),
    async [Symbol.asyncDispose]() {
      objects[Symbol.dispose]()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

const DAMAGED = /the clone is damaged: the object [0-9a-f]{40} holds other bytes/

test('a forged tree object of a folder hides no change in it', async () => {
  await using at = await place(BASE, { protectedPaths: ['docs/**'] })
  at.shell(`${FORGE} echo evil >docs/d.txt; forge docs d.txt; echo honest >>src/a.js`)
  await assert.rejects(at.inspect(), DAMAGED)
})

test("a forged tree object hides no change when Ralph's index is rebuilt from it", async () => {
  await using at = await place()
  at.shell(
    `${FORGE} echo true >tests/t.sh; forge tests t.sh; echo bad >src/a.js; echo x >>.git/ralph/git/index`,
  )
  await assert.rejects(at.inspect(), /the clone is damaged/)
})

test('a forged tree object hides no change when the work tree is checked out from it', async () => {
  await using at = await place()
  at.shell(
    `${FORGE} echo true >tests/t.sh; forge tests t.sh; echo exit 1 >tests/t.sh; echo '*.js text' >.gitattributes`,
  )
  await assert.rejects(at.inspect(), /the clone is damaged/)
})

test('a file is found through trees whose content matches their id', async () => {
  await using at = await place()
  at.shell(`${FORGE} echo evil >docs/d.txt; forge docs d.txt`)
  await assert.rejects(at.objects.text(`${at.state.green}:docs/d.txt`), DAMAGED)
  assert.equal(await at.objects.text(`${at.state.green}:src/a.js`), 'a\n')
  assert.equal((await at.objects.info(`${at.state.green}:tests`))?.type, 'tree')
  for (const none of ['none', 'src/a.js/b', 'src/none', 'none/a.js'])
    assert.equal(await at.objects.info(`${at.state.green}:${none}`), null)
})

test('an object removed from the clone is damage, not a file that never existed', async () => {
  for (const path of ['tests/t.sh', 'docs/d.txt']) {
    await using at = await place()
    at.shell(
      `oid=$(git rev-parse HEAD:${path}); rm -f .git/objects/\${oid:0:2}/\${oid:2}; echo weaker >${path}; echo more >src/a.js`,
    )
    await assert.rejects(at.inspect(), /the clone is damaged: there is no object [0-9a-f]{40}/)
    await assert.rejects(at.objects.text(`${at.state.green}:${path}`), /the clone is damaged/)
  }
})

const OIDS = ['1', '2'].map((digit) => digit.repeat(40))
/** Names whose order in a tree is not that of files, and one that is no UTF-8. */
const NAMES = ['a', 'a-b', 'a.txt', 'a0', 'b', 'ü', '\xff', '-rf', 'c d']
const file = fc.record({
  path: fc.array(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 3 }),
  mode: fc.constantFrom('100644', '100644', '100755', '120000', '160000'),
  oid: fc.constantFrom(...OIDS),
})

test('the tree walk equals `git diff-tree`, for random trees', async () => {
  await using at = await place()
  const treeOf = (files: { path: string[]; mode: string; oid: string }[]): string => {
    const kept = new Map<string, string>()
    for (const { path, mode, oid } of files) {
      const name = path.join('/')
      const clash = [...kept.keys()].some((one) => one.startsWith(`${name}/`) || name.startsWith(`${one}/`))
      if (!clash) kept.set(name, `${mode} ${oid}\t${name}\0`)
    }
    const run = (args: string[], input = '') =>
      execFileSync('git', args, {
        cwd: at.top,
        env: { ...process.env, GIT_INDEX_FILE: join(at.top, '.git/random') },
        input: Buffer.from(input, 'latin1'),
      })
    run(['read-tree', '--empty'])
    run(['update-index', '-z', '--index-info'], [...kept.values()].join(''))
    return run(['write-tree', '--missing-ok']).toString().trim()
  }
  const check = async (from: string, to: string) => {
    const raw = await at.git.run(['diff-tree', '-r', '--raw', '-z', '--no-renames', '--no-abbrev', from, to])
    assert.deepEqual(await changesBetween(at.objects, from, to), parseRaw(raw.stdout))
  }
  const files = fc.array(file, { maxLength: 12 })
  await fc.assert(
    fc.asyncProperty(files, files, files, async (both, left, right) => {
      await check(treeOf([...both, ...left]), treeOf([...both, ...right]))
    }),
    runs(15),
  )
  const made = (mode: string) => {
    const entry = Buffer.concat([Buffer.from(`${mode} a\0`), Buffer.from(OIDS[0] ?? '', 'hex')])
    return execFileSync('git', ['hash-object', '-t', 'tree', '-w', '--stdin', '--literally'], {
      cwd: at.top,
      input: entry,
    })
      .toString()
      .trim()
  }
  const modes = ['100664', '100644', '100755', '120000', '160000'].map(made)
  for (const one of modes) for (const other of modes) await check(one, other)
})

test('the tree walk reads only what differs: 50,000 files in 1,000 folders', async () => {
  await using at = await place('echo x >x')
  const lines = (odd: (index: number) => boolean) =>
    Array.from({ length: 50_000 }, (_, index) => {
      const oid = odd(index) ? OIDS[1] : OIDS[0]
      return `100644 ${oid}\td${index % 1000}/f${index}\n`
    }).join('')
  const treeOf = (odd: (index: number) => boolean) => {
    const env = { ...process.env, GIT_INDEX_FILE: join(at.top, '.git/many') }
    const run = (args: string[], input = '') =>
      execFileSync('git', args, { cwd: at.top, env, input }).toString()
    run(['read-tree', '--empty'])
    run(['update-index', '--index-info'], lines(odd))
    return run(['write-tree', '--missing-ok']).trim()
  }
  const base = treeOf(() => false)
  for (const odd of [(index: number) => index === 7, (index: number) => index < 1000]) {
    const other = treeOf(odd)
    const start = performance.now()
    const changes = await changesBetween(at.objects, base, other)
    console.log(`# ${changes.length} of 50,000 files: ${Math.round(performance.now() - start)} ms`)
    assert.equal(changes.length, odd(8) ? 1000 : 1)
  }
})

/** Says in the clone's commit graph that `parent` is the parent of `commit`. */
function forgeGraph(file: string, commit: string, parent: string): void {
  const graph = readFileSync(file)
  const chunk = (id: string) => {
    const at = graph.indexOf(id)
    return Number(graph.readBigUInt64BE(at + 4))
  }
  const position = (oid: string) => (graph.indexOf(oid, chunk('OIDL'), 'hex') - chunk('OIDL')) / 20
  graph.writeUInt32BE(position(parent), chunk('CDAT') + 36 * position(commit) + 20)
  writeFileSync(file, graph)
}

test('a forged commit graph makes no commit an ancestor', async () => {
  await using at = await place()
  // git reads what it is asked for itself; of what lies behind, it asks the graph.
  const [theirs = '', between = '', green = ''] = at
    .shell(
      `commit() { git commit-tree "$2^{tree}" -p $2 -m $1; }; a=$(commit a HEAD); b=$(commit b $(commit first HEAD)); c=$(commit c $b); git branch a $a; git branch c $c; git commit-graph write --reachable; chmod u+w .git/objects/info/commit-graph; echo $a; echo $b; echo $c`,
    )
    .split('\n')
  forgeGraph(join(at.top, '.git/objects/info/commit-graph'), between, theirs)
  assert.equal(at.shell(`git merge-base --is-ancestor ${theirs} ${green} && echo forged`), 'forged\n')
  const joined = await at.repository.join({ ...at.state, green }, theirs)
  assert.ok('green' in joined)
  const ask = ['merge-base', '--is-ancestor', theirs, joined.green]
  assert.equal((await at.git.run(ask, { accept: [1] })).code, 0)
  assert.notEqual(joined.green, green)
  const asked = await at.git.runOnClone(['merge-base', '--is-ancestor', theirs, green], { accept: [1] })
  assert.equal(asked.code, 1)
})

for (const where of ['.ralph/', 'its own folder'])
  test(`attributes in ${where} change no byte of Ralph's own files`, async () => {
    await using at = await place()
    const said = 'it says +ACIAXQB9- and more'
    const state = { ...at.state, progress: [`## Iteration 1\n\n${said}`] }
    const { folder } = state
    const odd = where === '.ralph/' ? '.ralph' : folder
    at.shell(
      `echo new >>src/a.js; mkdir -p ${odd}; printf '* working-tree-encoding=UTF-7\\n' >${odd}/.gitattributes`,
    )
    const seen = await at.repository.inspect(state, workedIn(state), NOW)
    assert.equal(seen.kind, 'candidate', JSON.stringify(seen))
    if (seen.kind !== 'candidate') return
    const names = at.shell(`git diff --name-only ${state.green} ${seen.candidate.commit}`)
    assert.equal(names, `${folder}/prd.json\n${folder}/progress.txt\nsrc/a.js\n`)
    assert.ok(at.shell(`git show ${seen.candidate.commit}:${folder}/progress.txt`).includes(said))
    assert.ok(JSON.parse(at.shell(`git show ${seen.candidate.commit}:${folder}/prd.json`)))
    assert.equal(
      at.bytes(`${folder}/progress.txt`),
      at.shell(`git show ${seen.candidate.commit}:${folder}/progress.txt`),
    )
    await at.repository.restore(state.green)
    assert.equal(at.shell('git status --porcelain --ignored -- :/.ralph'), '')
  })

/** What git stores of a file stays the same, and what gates see does not. */
const BENT: Record<string, { base: string; script: string; path: string }> = {
  'line ends': {
    base: `printf '* text=auto\\n' >.gitattributes; echo x >want.txt; echo a >a.js`,
    script: `printf 'x\\r\\n' >want.txt`,
    path: 'want.txt',
  },
  'what stands in `$Id$`': {
    base: `printf '*.js ident\\n' >.gitattributes; printf '$Id$\\n' >id.js; echo a >a.js`,
    script: `printf '$Id: */ process.exit(0) /* $\\n' >id.js`,
    path: 'id.js',
  },
  'a file of the same size, at once, its time put back': {
    base: `printf '*.js ident\\n' >.gitattributes; printf '$Id$\\n' >id.js; echo a >a.js`,
    script: `touch -r id.js was; node -e 'const f = require("fs"), t = f.readFileSync("id.js", "utf8"); f.writeFileSync("id.js", t.replace(/[0-9a-f]{40}/, "x".repeat(40)))'; touch -r was id.js; rm was`,
    path: 'id.js',
  },
  'a file in a folder that may not be written to': {
    base: `printf '* text=auto\\n' >.gitattributes; mkdir d; echo x >d/want.txt; echo a >a.js`,
    script: `printf 'x\\r\\n' >d/want.txt; chmod 0555 d`,
    path: 'd/want.txt',
  },
  'a file with a name that is no UTF-8': {
    base: `printf '* text=auto\\n' >.gitattributes; echo x >"$(printf 'n\\377')"; cp n* plain; echo a >a.js`,
    script: `printf 'x\\r\\n' >"$(printf 'n\\377')"; printf 'x\\r\\n' >plain`,
    path: 'plain',
  },
}

for (const [name, { base, script, path }] of Object.entries(BENT))
  for (const refused of [false, true])
    test(`${name}: ${refused ? 'a refused attempt leaves' : 'gates see'} the files of a clean checkout`, async () => {
      await using at = await place(base, { protectedPaths: ['never'] })
      const fresh = at.bytes(path)
      const others = at.shell('cat n* || true')
      at.shell(script)
      assert.notEqual(at.bytes(path), fresh)
      at.shell(`echo b >>a.js; ${refused ? 'echo x >never' : ''}`)
      assert.equal((await at.inspect()).kind, refused ? 'refused' : 'candidate')
      if (refused) {
        const kept = await at.repository.saveWork(at.state, 'US-001')
        await at.repository.checkOut(at.state.green, kept)
      }
      assert.equal(at.bytes(path), fresh)
      assert.equal(at.shell('cat n* || true'), others)
    })

test('CRLF that people committed stays, whatever the attributes say', async () => {
  const base = `echo a >a.js; printf 'x\\r\\n' >crlf.txt; git add -A; git commit -q -m crlf; printf '*.txt text\\n' >.gitattributes; git add .gitattributes; git commit -q -m text; done=1`
  await using at = await place(base)
  for (const script of ['echo b >>a.js', 'touch crlf.txt; echo c >>a.js']) {
    at.shell(script)
    const seen = await at.inspect()
    assert.equal(seen.kind, 'candidate')
    assert.equal(at.bytes('crlf.txt'), 'x\r\n')
  }
})

test('a file that a gate changed, and that git calls unchanged, is restored before the final verification', async () => {
  await using at = await place(
    `printf '*.js ident\\n' >.gitattributes; printf '$Id$\\n' >id.js; echo a >a.txt`,
  )
  at.shell('echo b >>a.txt')
  const seen = await at.inspect()
  assert.equal(seen.kind, 'candidate')
  if (seen.kind !== 'candidate') return
  const before = at.bytes('id.js')
  at.shell(
    `touch -r id.js ../time; sed -Ei 's/[0-9a-f]{40}/${'f'.repeat(40)}/' id.js; touch -r ../time id.js`,
  )
  assert.notEqual(at.bytes('id.js'), before)
  await at.repository.restore(seen.candidate.commit)
  await at.repository.renew(seen.candidate.commit)
  assert.equal(at.bytes('id.js'), before)
  assert.equal(at.bytes('a.txt'), 'a\nb\n')
})

test('changes that a judge made right after the gates are undone, however short it ran', async () => {
  await using at = await place()
  assert.equal(await at.repository.restore(at.state.green), false)
  at.shell('echo judge >src/a.js; echo left >new.txt')
  assert.equal(await at.repository.restore(at.state.green), true)
  at.shell('[ "$(cat src/a.js)" = a ]; [ ! -e new.txt ]')
  assert.equal(await at.repository.restore(at.state.green), false)
  at.shell('echo judge >src/a.js')
  await at.repository.renew(at.state.green)
  assert.equal(at.bytes('src/a.js'), 'a\n')
})

test('changes that a program made right after a checkout are undone, also while it still runs', async () => {
  await using at = await place()
  const ended = new AbortController()
  const write = (text: string, then = ':') => {
    const args = ['-ec', `echo ${text} >src/a.js; echo left >new.txt; ${then}`]
    const env = { PATH: process.env.PATH ?? '' }
    return {
      file: 'bash',
      args,
      cwd: at.top,
      env,
      timeoutMs: 60_000,
      captureBytes: 100,
      signal: ended.signal,
    }
  }
  await at.repository.checkOut(at.state.green, null)
  await runUntrusted(write('prepared'))
  await at.repository.checkOut(at.state.green, null)
  at.shell('[ "$(cat src/a.js)" = a ]; [ ! -e new.txt ]')
  const program = write('served', 'echo ready; read -t 60 <> <(:) || :')
  let lives: Promise<unknown> = Promise.resolve()
  await new Promise<void>((ready) => {
    lives = runUntrusted({ ...program, onLine: () => ready() })
  })
  await at.repository.checkOut(at.state.green, null)
  at.shell('echo later >src/a.js')
  await at.repository.checkOut(at.state.green, null)
  assert.equal(at.bytes('src/a.js'), 'a\n')
  ended.abort()
  await lives
})

for (const [which, attributes] of [
  ['', ''],
  [', of which attributes turn the line ends', "echo '*.sh text' >.gitattributes"],
])
  test(`other bytes in place of a file${which}: a checkout that writes them is reported as damage`, async () => {
    await using at = await place(`${BASE}${attributes}`)
    at.shell(`${FORGE_BLOB} forge_blob $(git rev-parse HEAD:tests/t.sh) $'exit 0\\n'; echo x >tests/t.sh`)
    await assert.rejects(at.repository.restore(at.state.green), DAMAGED)
  })

test('saved work is checked out as it was saved, whatever replaced its trees', async () => {
  await using at = await place()
  at.shell('echo work >src/a.js')
  const kept = await at.repository.saveWork(at.state, 'US-001')
  await at.repository.checkOut(at.state.green, null)
  at.shell(`${FORGE} echo other >src/a.js; forge src a.js ${kept?.tree}`)
  await assert.rejects(at.repository.checkOut(at.state.green, kept), /a checkout of \w+ gives other files/)
})
