// Commands typed on this machine wait in a file until a run takes them: the local counterpart of comments.
import { appendFile, mkdir, readFile, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Clone } from '../git/git.ts'
import type { QueuePort } from '../loop/ports.ts'
import { parseSlash, type Said } from '../loop/slash-commands.ts'

/** Each line is `feature<TAB>/ralph …`: parsed when it is read, like a comment. */
export async function post(clone: Clone, feature: string, text: string): Promise<void> {
  const file = inboxFile(clone)
  await mkdir(dirname(file), { recursive: true })
  await appendFile(file, `${JSON.stringify({ feature, text })}\n`)
}

export function inboxQueue(clone: Clone): QueuePort {
  const file = inboxFile(clone)
  return {
    async read(state) {
      const taken = `${file}.taken`
      await rename(file, taken).catch(() => {})
      const text = await readFile(taken, 'utf8').catch(() => '')
      await rm(taken, { force: true })
      const ids = state.prd.userStories.map((story) => story.id)
      return text
        .split('\n')
        .filter(Boolean)
        .map((line): Said | null => {
          const entry: { feature?: unknown; text?: unknown } = JSON.parse(line)
          if (entry.feature !== state.feature || typeof entry.text !== 'string') return null
          const parsed = parseSlash(entry.text, ids)
          return parsed.kind === 'command' ? parsed.command : null
        })
        .filter((said) => said !== null)
        .map((said) => ({ ...said, id: 0, by: 'you' }))
    },
  }
}

function inboxFile(clone: Clone): string {
  return join(clone.gitDir, 'ralph', 'inbox.jsonl')
}
