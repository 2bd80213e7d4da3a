// Plans of known tools that Ralph does not parse. A note says what helps. If a person names such a plan, a session plans from it.
import type { OpenDocument } from '../open-document.ts'
import type { Format } from '../types.ts'
import { flattenBoxes, parseBoxes } from './boxes.ts'

type Tool = { name: string; at: RegExp; marker: RegExp | null; helps: string; isText: boolean }

const SESSION = 'To let a session plan from it, name the file: ralph plan --from'
const tools: readonly Tool[] = [
  {
    name: 'a GSD plan',
    at: /(?:^|\/)\.planning\//,
    marker: /^\.planning\/ROADMAP\.md$/,
    helps: `${SESSION} .planning/ROADMAP.md`,
    isText: true,
  },
  {
    name: 'a Cursor plan',
    at: /(?:^|\/)\.cursor\/plans\//,
    marker: /^\.cursor\/plans\/[^/]+\.plan\.md$/,
    helps: `${SESSION} FILE`,
    isText: true,
  },
  {
    name: 'a CCPM epic',
    at: /(?:^|\/)\.claude\/epics\//,
    marker: /^\.claude\/epics\/[^/]+\/epic\.md$/,
    helps: `${SESSION} FILE. To plan from its issues instead: ralph plan --from issues`,
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
    name: 'an ACE-FCA plan',
    at: /(?:^|\/)thoughts\/(?:shared\/)?plans\//,
    marker: /^thoughts\/shared\/plans\/[^/]+\.md$/,
    helps: `${SESSION} FILE`,
    isText: true,
  },
  {
    name: 'BMAD tickets',
    at: /(?:^|\/)\.bmad-obeya\//,
    marker: /^\.bmad-obeya\/.+\.md$/,
    helps: `${SESSION} FILE`,
    isText: true,
  },
  {
    name: 'a beads export',
    at: /(?:^|\/)\.beads\//,
    marker: /^\.beads\/(?:issues|beads)\.jsonl$/,
    helps: 'To plan from the database of beads (bd) instead: ralph plan --from beads',
    isText: false,
  },
  {
    name: 'ralph-orchestrator tasks',
    at: /(?:^|\/)\.ralph\/agent\//,
    marker: /^\.ralph\/agent\/tasks\.jsonl$/,
    helps: 'Write the tasks as a check list: "- [ ] title"',
    isText: false,
  },
]

/** A table of a tracker, by its first line. */
const tables: readonly [RegExp, string][] = [
  [/\bIssue key\b.*\bSummary\b|\bSummary\b.*\bIssue key\b/, 'a Jira export'],
  [/^"?ID"?,.*\bTitle\b.*\bStatus\b/, 'a Linear export'],
]
const TABLE_HELPS =
  'Write the rows that you want as a check list ("- [ ] title"), or as GitHub issues: ralph plan --from issues:milestone=3'

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
      what: `${tool.name}, which Ralph cannot read directly`,
      boxes: !document.isMarkdown ? 0 : flattenBoxes(parseBoxes(document.blocks)).length,
      notes: [
        isWanted
          ? `Ralph cannot read ${tool.name} directly, so a session plans from this file.`
          : `Ralph cannot read ${tool.name} directly. ${tool.helps}.`,
      ],
    }
  },
}
