// A checkout that git calls clean has no uncommitted change, whatever attributes it has and however it came there.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { openWorked } from './worked.ts'

const FILES = `printf 'a\\nb\\n' >a.bat; printf 'a\\nb\\n' >a.txt; printf '$Id$\\n' >id.js; ln -s a.txt link`

const ATTRIBUTES: Record<string, string> = {
  nothing: ':',
  'one kind of files with CRLF': `echo '*.bat text eol=crlf' >.gitattributes`,
  'all files with CRLF': `echo '* text=auto eol=crlf' >.gitattributes`,
  ident: `echo '*.js ident' >.gitattributes`,
  'an encoding of the work tree': `echo '*.txt text working-tree-encoding=UTF-16LE-BOM' >.gitattributes`,
  'core.autocrlf for all repositories': 'git config --global core.autocrlf true',
}

const WAYS: Record<string, string> = {
  'within the second of the clone': 'git clone -q base there',
  'after a touch': 'git clone -q base there; touch there/*',
  'copied with cp': 'git clone -q base first; cp -r first there',
  'unpacked by tar': 'git clone -q base first; mkdir there; tar -C first -c . | tar -C there -xm',
}

for (const [what, attributes] of Object.entries(ATTRIBUTES))
  test(`a checkout with ${what} is clean, and stays clean for git`, async () => {
    for (const [way, script] of Object.entries(WAYS)) {
      const folder = mkdtempSync(join(tmpdir(), 'fresh-'))
      const env = { PATH: process.env.PATH ?? '', HOME: folder }
      const shell = (text: string, cwd = folder) =>
        execFileSync('bash', ['-ec', text], { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
      try {
        shell('git config --global user.name a; git config --global user.email a@b; git init -q -b main base')
        shell(`${FILES}; ${attributes}; git add -A; git commit -qm base`, join(folder, 'base'))
        shell(script)
        const top = join(folder, 'there')
        const { objects, repository, state, inspect } = await openWorked(top, env, { whole: false })
        try {
          assert.deepEqual(await repository.uncommitted(state.green), [], way)
          await repository.checkOut(state.green, null)
          shell('echo work >work.js', top)
          const seen = await inspect()
          assert.equal(seen.kind, 'candidate', way)
          await repository.restore(state.green)
          assert.equal(shell('git status --porcelain', top), '', way)
        } finally {
          objects[Symbol.dispose]()
        }
      } finally {
        rmSync(folder, { recursive: true, force: true })
      }
    }
  })
