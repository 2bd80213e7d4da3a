// Plans of known tools that Ralph does not parse. A note says what helps. If a person names such a plan, a session plans from it.
import type { OpenDocument } from '../open-document.ts'
import type { Format } from '../types.ts'
import { flattenBoxes, parseBoxes } from './boxes.ts'

type Tool = { name: string; at: RegExp; marker: RegExp | null; helps: string; isText: boolean }

const SESSION = 'a session plans from it where it is named: ralph plan --from'
const tools: readonly Tool[] = [
  {
    name: 'GSD',
    at: /(?:^|\/)\.planning\//,
    marker: /^\.planning\/ROADMAP\.md$/,
    helps: `${SESSION} .planning/ROADMAP.md`,
    isText: true,
  },
  {
    name: 'a plan of Cursor',
    at: /(?:^|\/)\.cursor\/plans\//,
    marker: /^\.cursor\/plans\/[^/]+\.plan\.md$/,
    helps: `${SESSION} FILE`,
    isText: true,
  },
  {
    name: 'CCPM',
    at: /(?:^|\/)\.claude\/epics\//,
    marker: /^\.claude\/epics\/[^/]+\/epic\.md$/,
    helps: `${SESSION} FILE; or read its issues: --from issues`,
    isText: true,
  },
  {
    name: 'an ExecPlan',
    at: /(?:^|\/)\.agent\/|(?:^|\/)exec-?plans?\//i,
    marker: /^\.agent\/PLANS\.md$/,
    helps: `${SESSION} FILE`,
    isText: true,
  },
  {
    name: 'ACE-FCA',
    at: /(?:^|\/)thoughts\/(?:shared\/)?plans\//,
    marker: /^thoughts\/shared\/plans\/[^/]+\.md$/,
    helps: `${SESSION} FILE`,
    isText: true,
  },
  {
    name: 'tickets of BMAD',
    at: /(?:^|\/)\.bmad-obeya\//,
    marker: /^\.bmad-obeya\/.+\.md$/,
    helps: `${SESSION} FILE`,
    isText: true,
  },
  {
    name: 'an export of beads',
    at: /(?:^|\/)\.beads\//,
    marker: /^\.beads\/(?:issues|beads)\.jsonl$/,
    helps: 'its database is read instead, by bd: ralph plan --from beads',
    isText: false,
  },
  {
    name: 'tasks of ralph-orchestrator',
    at: /(?:^|\/)\.ralph\/agent\//,
    marker: /^\.ralph\/agent\/tasks\.jsonl$/,
    helps: 'write them as a check list: "- [ ] title"',
    isText: false,
  },
]

/** A table of a tracker, by its first line. */
const tables: readonly [RegExp, string][] = [
  [/\bIssue key\b.*\bSummary\b|\bSummary\b.*\bIssue key\b/, 'an export of Jira'],
  [/^"?ID"?,.*\bTitle\b.*\bStatus\b/, 'an export of Linear'],
]
const TABLE_HELPS =
  'write the wanted rows as a check list ("- [ ] title"), or as issues of GitHub: --from issues:milestone=3'

function toolOf({ path, text }: OpenDocument): { name: string; helps: string; isText: boolean } | null {
  const tool = tools.find(({ at }) => at.test(path))
  if (tool !== undefined) return tool
  if (!/\.csv$/i.test(path)) return null
  const [first = ''] = text.split('\n', 1)
  const name = tables.find(([words]) => words.test(first.slice(0, 5_000)))?.[1] ?? 'a table'
  return { name, helps: TABLE_HELPS, isText: false }
}

export const unsupported: Format = {
  name: 'not read',
  discoveryPath: new RegExp(tools.flatMap(({ marker }) => marker?.source ?? []).join('|')),
  matches: (document) => document.file.as !== 'stories' && toolOf(document) !== null,
  read(document) {
    const tool = toolOf(document)
    if (tool === null) return {}
    const isWanted = tool.isText && document.file.isNamed === true
    return {
      prose: isWanted ? 'only' : 'none',
      what: `${tool.name}, not read as it is`,
      boxes: !document.isMarkdown ? 0 : flattenBoxes(parseBoxes(document.blocks)).length,
      notes: [
        isWanted
          ? `${tool.name} is not read as it is: a session plans from it.`
          : `${tool.name} is not read as it is: ${tool.helps}.`,
      ],
    }
  },
}
