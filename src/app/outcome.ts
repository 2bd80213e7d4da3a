// What the end of a run writes into people's documents: learnings into AGENTS.md, and marks into the documents of the plan. It also writes
// statuses into BMAD's sprint-status.yaml, and figures into aggregate.json.

import type { DocumentEdit, DocumentSetEdit } from '../branch/write-documents.ts'
import type { Prd } from '../engine/model/feature.ts'
import type { State } from '../engine/model/state.ts'
import { plannedFiles } from '../engine/prd/plan-file.ts'
import { updateSprintStatus } from '../plan/sprint-status.ts'
import { isFromDocument, passedByRalph } from '../plan/write-back/passed-stories.ts'
import { withAgentsSection } from '../report/agents-md.ts'
import { updateAggregate } from '../report/other-ralph-aggregate.ts'
import type { Settings } from '../settings/read-settings.ts'

/** Folders in which BMAD keeps its plans. */
const PLANS = /^(?:docs?|[._]?bmad(?:-output)?|planning)$/i

/** Gives the function that lists the edits for the state in the commit that ends the run. */
export function documentsOnOutcome(
  { agentsMd, writeBack }: Pick<Settings, 'agentsMd' | 'writeBack'>,
  redact: (text: string) => string,
): (state: State) => (DocumentEdit | DocumentSetEdit)[] {
  return (state) => {
    const { prd, archive, folder } = state
    const { outcome, learnings } = prd.run
    if (outcome === null) return []
    // Stories that this same commit archives are done as well.
    const all = { ...prd, userStories: [...prd.userStories, ...(archive?.pending ?? [])] }
    const agents: DocumentEdit = {
      folders: null,
      // On a file system that ignores case, both spellings are one file.
      matches: (path) => path.toLowerCase() === 'agents.md',
      createAt: 'AGENTS.md',
      editText: (text) => withAgentsSection(text, learnings.map(redact)),
    }
    return [
      ...(writeBack === 'on' ? [sprintStatus(all), aggregateJson(state), ...planDocuments(all, folder)] : []),
      ...(outcome === 'complete' && agentsMd === 'section' ? [agents] : []),
    ]
  }
}

function sprintStatus(prd: Prd): DocumentEdit {
  return {
    folders: PLANS,
    matches: (path) => /(?:^|\/)sprint-status\.ya?ml$/i.test(path),
    createAt: null,
    editText: (text) => (text === null ? null : updateSprintStatus(text, prd)),
  }
}

function aggregateJson(state: State): DocumentEdit {
  return {
    folders: /^\.ralph$/,
    matches: (path) => path === '.ralph/aggregate.json',
    createAt: null,
    editText: (text) => (text === null ? null : updateAggregate(text, state)),
  }
}

/** The marks of passed stories in the documents that the feature was planned from; none if no such story has passed. */
function planDocuments(prd: Prd, folder: string): DocumentSetEdit[] {
  const passed = [...passedByRalph(prd.userStories)]
  if (!passed.some(isFromDocument)) return []
  let reasons = new Map<string, object>()
  return [
    {
      async selectPaths(paths) {
        const { findPlanDocuments } = await import('../plan/documents.ts')
        const all = findPlanDocuments(paths, prd, folder)
        reasons = new Map(all.map((one) => [one.path, one]))
        return all.map(({ path }) => path)
      },
      async editTexts(files) {
        const { writeBack } = await import('../plan/documents.ts')
        const documents = files.map((file) => ({ ...reasons.get(file.path), ...file }))
        const { texts, unmarked } = writeBack(documents, prd)
        const ids = unmarked.slice(0, MAX_IDS).join(', ')
        const more = unmarked.length > MAX_IDS ? ` and ${unmarked.length - MAX_IDS} more` : ''
        const warning = `Ralph could not tick off ${ids}${more}, because the documents of the plan have changed. Tick them off by hand`
        const needsNoWarning = unmarked.length === 0 || isElsewhere(prd)
        return needsNoWarning ? { texts, warnings: [] } : { texts, warnings: [warning], unmarked }
      },
    },
  ]
}

const MAX_IDS = 10

/** Whether stories came from outside of the repository, such as from issues: these cannot be marked, and need no warning. */
function isElsewhere(prd: Prd): boolean {
  return [...plannedFiles(prd).keys()].some((path) => /^(?:issues(?::|$)|beads$|\.\.\/|\/)/.test(path))
}
