// The key of sealed examples, and the stories that it seals as they are read.
import { randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isSealed } from '../engine/model/example.ts'
import type { Prd } from '../engine/model/feature.ts'
import type { SealPort } from '../engine/model/ports.ts'
import type { State } from '../engine/model/state.ts'
import type { Clone } from '../git/git.ts'
import { sealWith } from '../isolation/seal.ts'
import type { Settings } from '../settings/read-settings.ts'
import { UserError } from '../system/errors.ts'
import { readRegularFileSync } from '../system/files.ts'

const MAX_KEY_BYTES = 1000

/**
 * The seal of this run; null with `examples: off`. A laptop makes a key once, in a file that only its user can read. Jobs on GitHub get the
 * key from a secret, because each job has a new machine.
 */
export function openSeal({ examples, examplesKey, surface }: Settings, clone: Clone): SealPort | null {
  if (examples === 'off' || (examplesKey === null && surface === 'action')) return null
  let opened: SealPort | null = null
  // Commands that only look at a run make no key.
  const seal = () => {
    opened ??= sealWith(examplesKey ?? ownKey(join(clone.commonDir, 'ralph', 'examples.key')))
    return opened
  }
  return { seal: (value) => seal().seal(value), open: (value) => seal().open(value) }
}

/** Throws UserError if a run cannot seal the examples that its settings ask for. */
export function requireSeal({ examples }: Settings, seal: SealPort | null): void {
  if (examples === 'off' || seal !== null) return
  throw new UserError({
    path: 'input examples',
    found: 'examples: sealed needs a key in examples-key.',
    expected: '',
    fix: `run \`openssl rand -hex 32 | gh secret set RALPH_EXAMPLES_KEY\`, and add examples-key: $\{{ secrets.RALPH_EXAMPLES_KEY }} to the step`,
  })
}

function ownKey(file: string): string {
  const read = () => readRegularFileSync(file, MAX_KEY_BYTES)?.toString('utf8').trim() ?? ''
  const known = read()
  if (known !== '') return known
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600 })
  return read()
}

/** The stories with each open expected value sealed; the same object if none is open. */
export function sealStories(prd: Prd, seal: SealPort): Prd {
  const isOpen = prd.userStories.some(({ examples = [] }) => examples.some((one) => !isSealed(one.expect)))
  if (!isOpen) return prd
  const userStories = prd.userStories.map((story) => {
    if (story.examples === undefined) return story
    const examples = story.examples.map((one) => {
      return isSealed(one.expect) ? one : { ...one, expect: seal.seal(one.expect) }
    })
    return { ...story, examples }
  })
  return { ...prd, userStories }
}

/** The state before it is saved for the first time in a job: what people wrote into prd.json is sealed. */
export function sealState(state: State, seal: SealPort | null): State {
  return seal === null ? state : { ...state, prd: sealStories(state.prd, seal) as State['prd'] }
}
