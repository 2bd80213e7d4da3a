// Plans of people that are no plan for Ralph, through `ralph plan`: refused, or mentioned, in words written down before; nothing is
// written by halves.
import assert from 'node:assert/strict'
import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { expectedOf, holds, sampleNames } from '../samples/judge.ts'
import { textsOf } from '../samples/marks.ts'
import { type Place, place } from './laptop.ts'

const PROJECTS = join(import.meta.dirname, '..', 'samples')

async function placeOf(name: string): Promise<Place> {
  const { of = name, links = {} } = expectedOf(name)
  const at = await place(Object.fromEntries(textsOf(join(PROJECTS, of, 'project'))))
  for (const [path, target] of Object.entries(links)) await symlink(target, join(at.repository, path))
  return at
}

for (const name of sampleNames()) {
  const { from = [], why, refused, told } = expectedOf(name)
  const wanted = refused ?? told
  if (wanted === undefined) continue
  test(`${name}: no story, with a message of its own: ${why}`, async () => {
    await using at = await placeOf(name)
    const named = from.flatMap((path) => ['--from', path])
    const { code, out, err } = await at.ralph(['plan', 'sample', ...named, '--yes'])
    const said = out + err
    for (const pattern of wanted) assert.ok(holds(said, pattern), `without ${pattern}:\n${said}`)
    // A text that is named is for a session, whose answer is none here.
    const isForSession = said.includes('that a session will plan from')
    assert.equal(code, 64, err)
    assert.equal((await at.prompts()).length > 0, isForSession)
    assert.equal(at.git('status', '--porcelain'), '')
  })
}
