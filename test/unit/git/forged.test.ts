// With real git: objects that are gone, a forged commit graph, and what git calls unchanged though its bytes are not.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { runUntrusted } from '../../../src/system/process.ts'
import { NOW, workedIn } from '../engine/samples.ts'
import { openWorked } from './worked.ts'

const BASE = `
mkdir -p src docs/deep tests; echo a >src/a.js; echo d >docs/d.txt; echo e >docs/deep/e.txt
printf 'exit 1\\n' >tests/t.sh
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
