// Commands typed on this machine wait in a file, as comments wait on a pull request: the cursor is the last one handled.
import { appendFile, mkdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import * as z from 'zod/mini'
import { parseSlash } from '../engine/commands/command-table.ts'
import type { Command } from '../engine/model/event.ts'
import type { QueuePort } from '../engine/model/ports.ts'
import type { State } from '../engine/model/state.ts'
import type { Clone } from '../git/git.ts'

const Entry = z.object({ id: z.number(), feature: z.string(), text: z.string() })
type Entry = z.infer<typeof Entry>

/** Each line holds the feature and `/ralph …`: parsed when it is read, like a comment. */
export async function queueCommand(clone: Clone, feature: string, text: string): Promise<void> {
  const file = inboxFile(clone)
  await mkdir(dirname(file), { recursive: true })
  const last = (await entriesOf(file)).at(-1)?.id ?? 0
  const entry: Entry = { id: Math.max(last + 1, Date.now()), feature, text }
  // It begins with a line break, so that it is whole even if a crash tore the line before it.
  await appendFile(file, `\n${JSON.stringify(entry)}\n`)
}

export function inboxQueue(clone: Clone): QueuePort {
  /** The commands after the last one that was handled. The state keeps that position, together with the command's effect. */
  async function unread(state: State): Promise<Entry[]> {
    const entries = await entriesOf(inboxFile(clone))
    return entries.filter((entry) => entry.feature === state.feature && entry.id > state.control.lastComment)
  }
  return {
    isLocal: true,
    async read(state) {
      const ids = state.prd.userStories.map((story) => story.id)
      return (await unread(state)).map((entry): Command => {
        const parsed = parseSlash(entry.text, ids)
        const command = parsed.kind === 'command' ? parsed.command : { kind: 'refused' as const }
        return { ...command, id: entry.id, by: 'you' }
      })
    },
    waiting: async () => false,
    arrived: async (state) => (await unread(state)).length > 0,
  }
}

async function entriesOf(file: string): Promise<Entry[]> {
  const text = await readFile(file, 'utf8').catch(() => '')
  return text
    .split('\n')
    .map(parseEntry)
    .filter((entry) => entry !== null)
}

function parseEntry(line: string): Entry | null {
  try {
    return Entry.parse(JSON.parse(line))
  } catch {
    return null
  }
}

function inboxFile(clone: Clone): string {
  return join(clone.commonDir, 'ralph', 'inbox.jsonl')
}
