// What an outcome leaves in people's documents: learnings in AGENTS.md, statuses in BMAD's sprint-status.yaml.

import type { DocumentEdit } from '../branch/documents.ts'
import { updateSprintStatus } from '../documents/sprint-status.ts'
import type { State } from '../model/state.ts'
import { withAgentsSection } from '../report/agents-md.ts'
import type { Settings } from '../settings/index.ts'

/** Where BMAD keeps what it plans. */
const PLANS = /^(?:docs?|[._]?bmad(?:-output)?|planning)$/i

/** By how the state stands in the commit that ends the run. */
export function documentsOnOutcome(
  { agentsMd }: Pick<Settings, 'agentsMd'>,
  redact: (text: string) => string,
): (state: State) => DocumentEdit[] {
  return ({ prd, archive }) => {
    const { outcome, learnings } = prd.run
    if (outcome === null) return []
    // What leaves the list with the same commit is done all the same.
    const all = { ...prd, userStories: [...prd.userStories, ...(archive?.pending ?? [])] }
    const sprint: DocumentEdit = {
      folders: PLANS,
      isAt: (path) => /(?:^|\/)sprint-status\.ya?ml$/i.test(path),
      otherwise: null,
      edited: (text) => (text === null ? null : updateSprintStatus(text, all)),
    }
    const agents: DocumentEdit = {
      folders: null,
      // On a disk that knows no case it is one file.
      isAt: (path) => path.toLowerCase() === 'agents.md',
      otherwise: 'AGENTS.md',
      edited: (text) => withAgentsSection(text, learnings.map(redact)),
    }
    return outcome === 'complete' && agentsMd === 'section' ? [sprint, agents] : [sprint]
  }
}
