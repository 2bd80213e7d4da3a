// What a session used, beside the clone until the iteration is in the state: a job that dies at its gates loses no money.
// An agent may write there (at `same-user`): what is read counts for the attempt of this moment, and nothing else.
import { basename, join } from 'node:path'
import * as z from 'zod/mini'
import type { Git } from '../git/git.ts'
import { placeFile } from '../git/own-index.ts'
import { withLostSession } from '../loop/attempt.ts'
import type { Observer } from '../model/ports.ts'
import type { State } from '../model/state.ts'
import { Usage } from '../model/usage.ts'
import { readRegularNow } from '../system/files.ts'

/** Larger than any note of ours. */
const MOST_BYTES = 10_000

const Note = z.object({ nonce: z.string(), storyId: z.string(), startedAt: z.number(), usage: Usage })

export function sessionNotes(git: Git): Observer {
  return {
    async event(event, { nonce, folder, attempts }) {
      const attempt = event.kind === 'worked' ? attempts[event.storyId] : undefined
      if (event.kind !== 'worked' || attempt === undefined) return
      const { storyId, startedAt } = attempt
      const note = { nonce, storyId, startedAt, usage: event.session.usage }
      placeFile(git, JSON.stringify(note), noteOf(git, folder))
    },
  }
}

/** The state with what the session in work said before its job was lost; as it is where nothing is known. */
export function withNote(git: Git, state: State): State {
  const bytes = readRegularNow(noteOf(git, state.folder), MOST_BYTES)
  if (bytes === null) return state
  const found = Note.safeParse(read(bytes.toString('utf8')))
  if (!found.success || found.data.nonce !== state.nonce) return state
  const { extra: _, ...usage } = found.data.usage
  return Object.values(usage).every((amount) => amount >= 0)
    ? withLostSession(state, { ...found.data, usage })
    : state
}

function read(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function noteOf({ own }: Git, folder: string): string {
  return join(own, `session-${basename(folder)}.json`)
}
