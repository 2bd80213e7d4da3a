// Whose words a pull request has: Ralph rewrites its own part alone, and only as long as it is as Ralph wrote it.
import assert from 'node:assert/strict'
import test from 'node:test'
import { newPullText, type OwnText, type PullText, updatedPullText } from '../../../src/github/pull.ts'
import { pullRequestBody, pullRequestTitle } from '../report/rendered.ts'
import { complete, large, limits, midRun, NOW } from '../report/samples.ts'

const facts = { repositoryUrl: 'https://github.com/acme/shop', runUrl: null, limits, now: NOW, notes: [] }

function own(state = complete()): OwnText {
  const text = (room: number) => pullRequestBody(state, facts, room)
  return { feature: 'auth', title: pullRequestTitle(state), text }
}
const opened = newPullText(own(midRun()))
const done = newPullText(own())
const SEAL = /<!-- \/ralph.*-->/

function after(now: PullText, later = own()): PullText {
  const change = updatedPullText(now, later)
  assert.notEqual(change, 'full')
  return { ...now, ...(change === 'full' ? {} : change) }
}

test('a pull request text that was not edited is rewritten as a whole', () => {
  assert.deepEqual(after(opened), done)
  assert.deepEqual(updatedPullText(done, own()), {})
  const renamed = { ...own(), title: 'auth: said otherwise' }
  assert.equal(after(opened, renamed).title, 'auth: said otherwise')
})

test("line ends of GitHub's editor and a clicked box are no edit", () => {
  const clicked = opened.body.replace('- [ ] **US-006', '- [x] **US-006').replaceAll('\n', '\r\n')
  assert.notEqual(clicked, opened.body)
  assert.deepEqual(after({ ...opened, body: clicked }), done)
})

test('a change of boxes only is an update', () => {
  const text = (box: string) => ({ ...own(), text: () => `<!-- ralph:pull:auth -->\n- [${box}] one\n` })
  assert.match(after(newPullText(text(' ')), text('x')).body, /- \[x\] one/)
})

test('a title that a person changed stays for good', () => {
  const now = after({ ...opened, title: 'Mine' })
  assert.deepEqual(now, { title: 'Mine', body: done.body.replace(/title=\w+/, 'title=people') })
  assert.equal(
    after({ ...now, title: done.title }, { ...own(), title: 'auth: said otherwise' }).title,
    done.title,
  )
})

test("text of people around, in or instead of Ralph's part is kept byte for byte, and one part is updated", () => {
  const { body } = opened
  const edits: Record<string, string> = {
    before: `My words.\r\n\r\n${body}`,
    after: `${body}\r\nCloses #12\r\n`,
    both: `Über uns 🎉  \r\n\t${body}\n\n\n- [x] mine`,
    instead: 'All of it is mine now, <!-- ralph:pull:auth --> too.',
    'a marker removed': body.replace(SEAL, 'the end'),
    'the other marker removed': body.replace(/<!-- ralph.*-->/, 'the start'),
    'a marker twice': `${SEAL.exec(body)?.[0]}\n<!-- ralph:pull:auth -->\n${body}`,
    'the other marker twice': `${body}\n${SEAL.exec(body)?.[0]}`,
    'all of it twice': `> quoted\n\n${body}\n\nand again:\n\n${body}`,
    inside: body.replace('#### Stories', 'Mind the cookies.\n\n#### Stories'),
    'of another feature': body.replaceAll('pull:auth', 'pull:oauth'),
    nothing: '',
  }
  for (const [what, edited] of Object.entries(edits)) {
    const now = after({ ...opened, body: edited })
    const at = edited.lastIndexOf(body)
    const [head, tail] = at === -1 ? [edited, ''] : [edited.slice(0, at), edited.slice(at + body.length)]
    const gap = at === -1 && head !== '' ? '\n\n' : ''
    // A title without a part of Ralph's to vouch for it is people's.
    const part = at === -1 ? done.body.replace(/title=\w+/, 'title=people') : done.body
    assert.deepEqual(
      now,
      { title: at === -1 ? opened.title : done.title, body: `${head}${gap}${part}${tail}` },
      what,
    )
    assert.deepEqual(after(now), now, `${what}: the next time`)
  }
})

test("near GitHub's length limit Ralph's part gets shorter, or is left out", () => {
  for (const length of [0, 40_000, 60_000, 61_500]) {
    const mine = 'm'.repeat(length)
    const { body } = after({ title: 'Mine', body: mine }, own(large(600)))
    assert.ok(body.startsWith(mine) && body.length <= 65_000, `${length}: ${body.length}`)
    assert.match(
      body.slice(length),
      /^(\n\n)?<!-- ralph:pull:auth -->\n[\s\S]*#### How to steer[\s\S]*-->$/,
      String(length),
    )
  }
  for (const length of [64_900, 65_536, 200_000])
    assert.equal(updatedPullText({ title: 'Mine', body: 'm'.repeat(length) }, own()), 'full')
})

test('a pull request text full of markers is read in limited time', { timeout: 5000 }, () => {
  for (const marker of [
    '<!-- ralph:pull:auth -->',
    '<!-- /ralph:pull:auth title=0 text=0 -->',
    '<!-- /ralph:pull:',
  ])
    updatedPullText({ title: 'Mine', body: marker.repeat(Math.floor(60_000 / marker.length)) }, own())
})
