// Other open pull requests of Ralph that change the same files: the second one to be merged needs the base first. Looked up once, at the
// end of a run.

import { firstNames } from '../engine/model/text.ts'
import type { Note } from '../report/view.ts'
import type { GitHub } from './client.ts'
import type { Pull } from './pull.ts'

/** With more pull requests, only the newest are compared. */
const MAX_OTHERS = 5
/** Ralph's own files are in every one of its branches. */
const OWN_FILES = /^(?:\.ralph\/|AGENTS\.md$)/

/** A note for each of them; empty if there is none. One request without another pull request of Ralph. */
export async function collisionsOf({ api, repo }: GitHub, own: Pull): Promise<Note[]> {
  const open = await api.rest.pulls.list({ ...repo, state: 'open', per_page: 100 })
  const others = open.data
    .filter(({ number, labels }) => number !== own.number && labels.some(({ name }) => name === 'ralph'))
    .slice(0, MAX_OTHERS)
  if (others.length === 0) return []
  const filesOf = async (pull: number) => {
    const { data } = await api.rest.pulls.listFiles({ ...repo, pull_number: pull, per_page: 100 })
    return data.map(({ filename }) => filename).filter((path) => !OWN_FILES.test(path))
  }
  const changed = new Set(await filesOf(own.number))
  const notes: Note[] = []
  for (const { number, html_url: url } of others) {
    const shared = (await filesOf(number)).filter((path) => changed.has(path))
    if (shared.length === 0) continue
    const text = `Another pull request of Ralph also changes ${firstNames(shared)}. When one of the two is merged, comment /ralph update on the other.`
    // By the link, GitHub shows in the other one that it is mentioned here.
    notes.push({ text, link: { name: `Pull request ${number}`, url } })
  }
  return notes
}
