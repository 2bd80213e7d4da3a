// docs/tutorial.md: what it does on a machine works as it stands there, by the committed bundle, and prints what it shows.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import test from 'node:test'
import { ROOT } from '../../e2e/site.ts'
import { readPages } from './pages.ts'

/** Times and what depends on them: a session that took no time at all names none. */
const plain = (text: string) => text.replaceAll(/\d+(?:\.\d+)?m?s(?:, )?/g, '').replaceAll(/\(\)/g, '')

test("every command of the tutorial's local part works, and prints what the page says", async () => {
  const page = (await readPages()).find(({ path }) => path === 'docs/tutorial.md') ?? assert.fail()
  const until = page.text.slice(0, page.text.indexOf('## On GitHub')).split('\n').length
  const local = page.blocks.filter(({ line }) => line < until)
  const script = local.flatMap(({ lang, text }) =>
    lang === 'sh' ? [text.replace(/^git clone .*$/m, '')] : [],
  )
  assert.ok(script.length >= 6)
  const home = await mkdtemp(join(tmpdir(), 'ralph-tutorial-'))
  try {
    await symlink(ROOT, join(home, 'ralph-action'))
    const { stdout, stderr, status } = spawnSync('bash', ['-e', '-c', script.join('\n')], {
      cwd: home,
      encoding: 'utf8',
      env: {
        PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
        HOME: home,
        ...{ GIT_AUTHOR_NAME: 'Ada', GIT_AUTHOR_EMAIL: 'ada@example.com' },
        ...{ GIT_COMMITTER_NAME: 'Ada', GIT_COMMITTER_EMAIL: 'ada@example.com' },
      },
    })
    assert.equal(status, 0, `${stdout}${stderr}`)
    const printed = plain(`${stdout}\n${stderr}`)
    for (const { lang, text } of local)
      if (lang === 'text')
        for (const line of text.split('\n')) assert.ok(printed.includes(plain(line)), `${line}\n\n${printed}`)
  } finally {
    await rm(home, { recursive: true, force: true })
  }
})
