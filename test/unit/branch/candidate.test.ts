// With real git: what the gates see is what is committed, whatever an agent leaves in the work tree.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { test } from 'node:test'
import { openWorked } from '../git/worked.ts'

const BASE = `
printf 'old\\n' >src/a.js
printf 'one\\r\\ntwo\\r\\n' >src/crlf.txt
printf '#!/bin/sh\\necho hi\\n' >run.sh; chmod +x run.sh
printf 'dist/\\n*.log\\n' >.gitignore
printf '$Id$\\n' >src/id.js
mkdir -p lib/deep; echo x >lib/deep/x.js
`

/** git as somebody whom permissions bind, whoever runs the tests. */
const BOUND = `#!/bin/sh\nexec setpriv --bounding-set=-dac_override,-dac_read_search --inh-caps=-dac_override,-dac_read_search "$(command -v /usr/bin/git || command -v /bin/git)" "$@"\n`

/** `index`: an index of ours from before the job calls that file unchanged. */
async function place(base = BASE, odd: { asUser?: boolean; index?: string } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'candidate-'))
  const top = join(folder, 'clone')
  mkdirSync(join(top, 'src'), { recursive: true })
  const env = { PATH: process.env.PATH ?? '', HOME: folder }
  const shell = (script: string, cwd = top) =>
    execFileSync('bash', ['-c', script], { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  shell(
    `${base}\ngit init -q -b main . && printf '[user]\\n\\tname = a\\n\\temail = a@b\\n' >>.git/config && git add -A && git commit -q -m base`,
  )
  if (odd.index !== undefined) {
    const own = `GIT_DIR=.git GIT_INDEX_FILE=$PWD/.git/ralph/git/index`
    shell(
      `mkdir -p .git/ralph/git; cp .git/index .git/ralph/git/index; ${own} git update-index --assume-unchanged ${odd.index}`,
    )
  }
  if (odd.asUser === true && process.getuid?.() === 0) {
    mkdirSync(join(folder, 'bin'))
    writeFileSync(join(folder, 'bin/git'), BOUND, { mode: 0o755 })
    env.PATH = `${join(folder, 'bin')}:${env.PATH}`
  }
  const { objects, repository, state, inspect } = await openWorked(top, env)
  await repository.checkOut(state.green, null)
  return {
    top,
    folder,
    shell,
    state,
    repository,
    inspect,
    /** What somebody gets who checks the commit out anew. */
    anew(commit: string) {
      const other = join(folder, 'anew')
      shell(
        `rm -rf ${other}; git init -q --template= ${other} && cd ${other} && mkdir -p .git/objects/info && echo ${top}/.git/objects >.git/objects/info/alternates && git checkout -q ${commit}`,
      )
      return filesOf(other)
    },
    async [Symbol.asyncDispose]() {
      objects[Symbol.dispose]()
      shell(`chmod -R u+rwx ${top}; rm -rf ${folder}`, '/')
    },
  }
}

/** Path to content and mode, but for git's own folder at the top and what was ignored from the start. */
function filesOf(top: string): Map<string, string> {
  const found = new Map<string, string>()
  const walk = (folder: string): void => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name)
      const name = relative(top, path)
      if (/^(?:\.git|dist|node_modules|\.env)$|\.log$/.test(name)) continue
      if (entry.isDirectory()) walk(path)
      else if (!entry.isFile() && !entry.isSymbolicLink()) continue
      else if (entry.isSymbolicLink()) found.set(name, `-> ${readlinkSync(path)}`)
      else found.set(name, `${lstatSync(path).mode & 0o100 ? 'x' : '-'} ${readFileSync(path, 'latin1')}`)
    }
  }
  walk(top)
  return found
}

/** Scripts of an agent, each with what the refusal must name; without it the attempt may become a candidate. */
const TRICKS: Record<string, { script: string; base?: string; refused?: RegExp }> = {
  'an honest change': { script: `echo new >src/a.js; echo b >src/b.js; rm lib/deep/x.js` },
  'line ends that git turns': {
    script: `printf '* text=auto eol=lf\\n' >.gitattributes; printf 'a\\r\\nb\\r\\n' >src/new.js`,
  },
  'line ends that a checkout turns': {
    script: `printf '*.js text eol=crlf\\n' >.gitattributes; echo x >src/new.js`,
  },
  'line ends of files that nobody changed': { script: `printf '*.js text eol=crlf\\n' >.gitattributes` },
  'attributes in a folder': {
    script: `printf '*.js text eol=crlf\\n' >src/.gitattributes; echo x >src/new.js`,
  },
  'an encoding of the work tree': {
    script: `printf '*.js working-tree-encoding=UTF-7\\n' >.gitattributes; printf 'a+ADw-b\\n' >src/new.js`,
    refused: /gitattributes/,
  },
  'an encoding for files that nobody changed': {
    script: `printf '*.js working-tree-encoding=UTF-16LE\\n' >.gitattributes`,
    refused: /gitattributes|failed to encode/,
  },
  'keywords that git takes out': {
    script: `printf '*.js ident\\n' >.gitattributes; printf '$Id: all of the work$\\n' >src/new.js`,
    refused: /gitattributes/,
  },
  'a filter': {
    script: `printf '*.js filter=lfs\\n' >.gitattributes; echo x >src/new.js`,
    refused: /gitattributes/,
  },
  'a filter by a macro': {
    script: `printf '[attr]big filter=lfs\\n*.js big\\n' >.gitattributes; echo x >src/new.js`,
    refused: /gitattributes/,
  },
  'a filter with a driver in the clone': {
    script: `git config filter.x.clean 'sed s/evil/good/'; printf '*.js filter=x\\n' >.gitattributes; echo evil >src/new.js`,
    refused: /gitattributes/,
  },
  'attributes that a new rule hides': {
    script: `echo .gitattributes >>.gitignore; printf '*.js text eol=crlf\n' >.gitattributes; printf 'x\r\n' >src/new.js`,
    refused: /gitattributes/,
  },
  'attributes behind a link': {
    script: `printf '*.js ident\\n' >attr.txt; ln -s attr.txt .gitattributes`,
    refused: /gitattributes/,
  },
  'a rule that hides a source file': {
    script: `echo impl.js >>.gitignore; echo x >src/impl.js; echo "require('./impl')" >src/a.js`,
    refused: /src\/impl\.js/,
  },
  'a rule in a folder that hides a folder': {
    script: `mkdir -p src/own; echo x >src/own/impl.js; echo 'own/' >src/.gitignore`,
    refused: /src\/own/,
  },
  'an honest rule for what tools write': {
    script: `printf 'node_modules/\\n__pycache__/\\n.env\\n' >>.gitignore; mkdir -p node_modules/a; echo x >node_modules/a/index.js; echo new >src/a.js`,
  },
  'a `.git` folder that is no repository': {
    script: `mkdir -p lib/.git; echo x >lib/.git/impl.js; echo new >src/a.js`,
    refused: /lib\/\.git/,
  },
  'a `.git` folder in a new folder with nothing else': {
    script: `mkdir -p other/.git; echo x >other/.git/impl.js; echo new >src/a.js`,
    refused: /other\/\.git/,
  },
  'a `.git` file that leads nowhere': {
    script: `mkdir other; echo 'gitdir: nowhere' >other/.git; echo x >other/a.js`,
    refused: /other/,
  },
  'a `.git` link': { script: `mkdir other; ln -s ../src other/.git; echo x >other/a.js`, refused: /other/ },
  'a repository with a commit': {
    script: `mkdir sub; cd sub; git init -q .; echo x >x; git add -A; git -c user.name=a -c user.email=a@b commit -q -m x`,
    refused: /sub/,
  },
  'a repository without a commit': { script: `mkdir sub; cd sub; git init -q .; echo x >x`, refused: /sub/ },
  'a bare repository': { script: `git init -q --bare sub; echo x >sub/impl.js` },
  'rules and attributes of our own directory': {
    script: `mkdir -p .git/ralph/git/info; echo '*.js' >>.git/ralph/git/info/exclude; echo '*.js ident' >.git/ralph/git/info/attributes; printf '$Id: x$' >src/new.js`,
  },
  'a hard link to a file of the clone': {
    script: `ln .git/config src/config; ln src/a.js src/twin.js; echo both >src/a.js`,
  },
  'a hard link to an ignored file': {
    script: `mkdir -p dist; echo x >dist/out.js; ln dist/out.js src/out.js`,
  },
  'case that differs': {
    script: `git mv src/a.js src/A.js 2>/dev/null || mv src/a.js src/A.js; echo x >>src/A.js`,
  },
  'a mode alone': { script: `chmod +x src/a.js; chmod -x run.sh` },
  'setuid and writable by all': { script: `echo x >src/s.js; chmod 6777 src/s.js; chmod 0777 src/a.js` },
  'a pipe and a socket': { script: `mkfifo src/pipe; echo new >src/a.js` },
  'a file in the place of a folder': { script: `rm -r lib; echo x >lib` },
  'a link in the place of a folder': { script: `mv lib real; ln -s real lib` },
  'an empty folder': { script: `mkdir -p src/empty/deep; echo new >src/a.js` },
  'names that are hard': { script: `echo x >'src/a b "c" ü.js'; echo y >src/-rf; echo z >'src/*.js'` },
}

for (const [name, trick] of Object.entries(TRICKS)) {
  test(`${name}: ${trick.refused === undefined ? 'the committed tree is the one that was seen' : 'is refused'}`, async () => {
    await using at = await place(trick.base)
    at.shell(trick.script)
    const seen = await at.inspect()
    if (trick.refused !== undefined) {
      assert.equal(seen.kind, 'refused', name)
      assert.match(
        seen.kind === 'refused' ? `${seen.failure.summary}\n${seen.failure.detail}` : '',
        trick.refused,
      )
      await at.repository.restore(at.state.green)
      assert.deepEqual(filesOf(at.top), at.anew(at.state.green))
      return
    }
    assert.equal(seen.kind, 'candidate', JSON.stringify(seen))
    if (seen.kind !== 'candidate') return
    assert.ok(!seen.candidate.empty)
    const [now, anew] = [filesOf(at.top), at.anew(seen.candidate.commit)]
    for (const odd of ['src/pipe']) now.delete(odd)
    assert.deepEqual(now, anew)
    await at.repository.restore(at.state.green)
    assert.ok(existsSync(join(at.top, 'src/a.js')))
    assert.deepEqual(filesOf(at.top), at.anew(at.state.green))
  })
}

test('a folder without permissions is refused, and made accessible again', async () => {
  await using at = await place(BASE, { asUser: true })
  at.shell('echo evil >lib/deep/x.js; mkdir more; echo x >more/x; chmod 000 lib more')
  const seen = await at.inspect()
  assert.equal(seen.kind, 'refused')
  assert.match(
    seen.kind === 'refused' ? seen.failure.detail : '',
    /could not open directory '(?:lib|more)\/'/,
  )
  await at.repository.restore(at.state.green)
  assert.deepEqual(filesOf(at.top), at.anew(at.state.green))
})

/** Folders in each other at a place of the tree; a thousand are a path longer than any that a system takes. */
const chain = (where: string, levels: number) =>
  `mkdir -p ${where} && node -e 'process.chdir(process.argv[1]); for (let i = 0; i < ${levels}; i++) { fs.mkdirSync("deep", { recursive: true }); process.chdir("deep") } fs.writeFileSync("a.txt", "x")' ${where}`

for (const [where, before] of [
  ['lib/deep/x.js', 'rm lib/deep/x.js'],
  ['x/.git', 'mkdir -p x && git init -q x'],
  ['.git/refs/heads', ''],
  ['.git/index.lock', ''],
] as const) {
  test(`1,000 nested folders in ${where} do not end the run, and are removed`, async () => {
    await using at = await place()
    at.shell(`${before || ':'}\n${chain(where, 1000)}`)
    const seen = await at.inspect()
    if (where.startsWith('.git/')) assert.equal(seen.kind, 'candidate')
    else assert.equal(seen.kind, 'refused')
    if (seen.kind === 'refused' && !where.endsWith('.git'))
      assert.match(`${seen.failure.summary} ${seen.failure.detail}`, /deep/)
    await at.repository.saveWork(at.state, 'US-001')
    at.shell(chain(`${where.startsWith('.git') ? 'src' : where}`, 1000))
    await at.repository.restore(at.state.green)
    await at.repository.checkOut(at.state.green, null)
    assert.equal(at.shell('git status --porcelain --ignored; find * -path "*deep/deep*" | head -1'), '')
  })
}

test('deep ignored folders are removed before the final verification', async () => {
  await using at = await place()
  await at.repository.rememberIgnored()
  at.shell(chain('dist', 1000))
  assert.equal((await at.inspect()).kind, 'candidate')
  await at.repository.renew(at.state.green)
  assert.equal(existsSync(join(at.top, 'dist')), false)
})

test('a nested `.git` folder that people had before is kept', async () => {
  await using at = await place(`${BASE}\nmkdir lib/.git; echo mine >lib/.git/notes`)
  at.shell('echo new >src/a.js; mkdir -p src/.git; echo x >src/.git/impl.js')
  const seen = await at.inspect()
  assert.match(seen.kind === 'refused' ? seen.failure.detail : '', /src\/\.git/)
  assert.ok(!existsSync(join(at.top, 'src/.git')) && existsSync(join(at.top, 'lib/.git/notes')))
  assert.equal((await at.inspect()).kind, 'candidate')
})

test('after a refusal the next attempt gets the work without the refused files', async () => {
  await using at = await place()
  at.shell(
    `printf '*.js text eol=crlf\\n' >.gitattributes; mkdir -p src/.git; echo x >src/.git/i; echo new >src/b.js`,
  )
  assert.equal((await at.inspect()).kind, 'refused')
  const kept = await at.repository.saveWork(at.state, 'US-001')
  await at.repository.checkOut(at.state.green, null)
  assert.deepEqual(filesOf(at.top), at.anew(at.state.green))
  await at.repository.checkOut(at.state.green, kept)
  const seen = await at.inspect()
  assert.equal(seen.kind, 'candidate')
  if (seen.kind === 'candidate') assert.deepEqual(filesOf(at.top), at.anew(seen.candidate.commit))
})

test('files that a gate writes into .git/ralph are not run during the clean-up', async () => {
  await using at = await place()
  const evil = join(at.folder, 'evil')
  at.shell(
    `printf '#!/bin/sh\\ntouch ${at.folder}/ran\\n' >${evil}; chmod +x ${evil}; mkdir -p ${at.folder}/other; cp -r .git/ralph/git/. ${at.folder}/other; printf '[core]\\n\\tfsmonitor = ${evil}\\n' | tee -a .git/ralph/git/config >>${at.folder}/other/config; echo ${at.folder}/other >.git/ralph/git/commondir; echo x >src/a.js`,
  )
  await at.repository.restore(at.state.green)
  assert.ok(!existsSync(join(at.folder, 'ran')))
  assert.deepEqual(filesOf(at.top), at.anew(at.state.green))
})

test('an index that was in .git/ralph before the job is not trusted', async () => {
  await using at = await place(`${BASE}\n`, { index: 'src/a.js' })
  at.shell('echo evil >src/a.js')
  const seen = await at.inspect()
  assert.ok(seen.kind === 'candidate' && !seen.candidate.empty)
})

test('ignored files that are newer than the job are removed before the final verification, older ones stay', async () => {
  await using at = await place(`${BASE}\nprintf 'build/\\nnode_modules/\\n*.env\\n' >>.gitignore`)
  at.shell('mkdir build; echo mine >build/mine; echo mine >.env')
  const before = at.shell('find . -path ./.git -prune -o -print | sort')
  await at.repository.rememberIgnored()
  at.shell(
    'mkdir -p node_modules/hidden src/build; echo x >node_modules/hidden/x.js; chmod 0555 node_modules/hidden; echo x >src/build/x; echo x >src/b.env; ln -s /etc node_modules/etc; ln -s /etc c.env; echo x >build/x; echo x >src/new.js',
  )
  await at.repository.renew(at.state.green)
  // In a folder that was there before, nobody can tell what is whose.
  at.shell('test -e /etc/hosts && rm build/x')
  assert.equal(at.shell('find . -path ./.git -prune -o -print | sort'), before)
})

test('the message of a commit that the agent made itself is kept with the candidate', async () => {
  await using at = await place()
  const commit = `git -c user.name=x -c user.email=x@y commit -qam`
  at.shell(
    `echo one >src/a.js; ${commit} 'wip'; echo two >src/a.js; ${commit} "feat: two" -m 'because of ::error::x'`,
  )
  const seen = await at.inspect()
  assert.ok(seen.kind === 'candidate')
  assert.equal(seen.candidate.summary, 'feat: two because of ::error::x')
  const message = at.shell(`git log -1 --format=%B ${seen.candidate.commit}`)
  assert.match(message, /^In the agent's words:\n> feat: two because/m)
})

test("the message of a HEAD commit that is not the agent's is not used", async () => {
  await using at = await place()
  at.shell('git checkout -q --orphan other && git commit -q -m "somebody else"; echo two >src/a.js')
  const seen = await at.inspect()
  assert.ok(seen.kind === 'candidate')
  assert.equal(seen.candidate.summary, undefined)
  await using still = await place()
  still.shell('echo two >src/a.js')
  const plain = await still.inspect()
  assert.ok(plain.kind === 'candidate')
  assert.equal(plain.candidate.summary, undefined)
})

test("on a person's machine only tracked files are restored", async () => {
  await using at = await place()
  at.shell('echo mine >mine.log; echo evil >src/a.js')
  await at.repository.renew(at.state.green)
  assert.equal(readFileSync(join(at.top, 'mine.log'), 'utf8'), 'mine\n')
  assert.equal(readFileSync(join(at.top, 'src/a.js'), 'utf8'), 'old\n')
})

test('5,000 files in one diff take limited time and memory, and one refusal summarises them', async () => {
  await using at = await place()
  at.shell(
    `mkdir -p many .github/workflows; for i in $(seq 25); do mkdir -p many/$i; for j in $(seq 200); do echo "line $i $j" >many/$i/$j.js; done; done; for i in $(seq 300); do echo x >.github/workflows/$i.yml; done`,
  )
  const before = process.memoryUsage().rss
  const start = performance.now()
  const seen = await at.inspect()
  const took = performance.now() - start
  const grew = process.memoryUsage().rss - before
  console.log(`# 5,300 files: ${Math.round(took)} ms, ${Math.round(grew / 1e6)} MB more`)
  assert.equal(seen.kind, 'refused')
  if (seen.kind === 'refused')
    assert.ok(seen.failure.detail.length < 10_000 && /workflows/.test(seen.failure.detail))
  assert.ok(grew < 300e6)
  assert.ok(took < 60_000) // what is quadratic takes far longer
})
