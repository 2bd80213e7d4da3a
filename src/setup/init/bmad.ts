// `ralph init --bmad`: the /ralph workflow in a BMAD project, its slash commands, and its line in the workflow status.
import { isMap, isPair, isScalar, isSeq, parseDocument, type YAMLMap } from 'yaml'
import type { FileTree } from './detect.ts'
import type { PlannedFile } from './init-files.ts'

const DESCRIPTION = 'BMAD phase 5: hand the planned stories to Ralph'
/** Folders of BMAD's module for software, in which its versions install it. */
const HOMES = ['_bmad/bmm', 'bmad/bmm', 'bmad/modules/bmm', '.bmad/bmm']
const STATUS = /^(?!_?bmad\/)(?:.*\/)?(?:bmm-)?workflow-status\.ya?ml$/

/** `workflow`: the text of the workflow. `places`: the files that agents read as slash commands, with `*` for the name. */
export function bmadFiles(tree: FileTree, places: readonly string[], workflow: string): PlannedFile[] {
  const home = HOMES.find((folder) => tree.paths.some((path) => path.startsWith(`${folder}/`))) ?? 'bmad/bmm'
  const page = `${home}/workflows/ralph.md`
  const statusPath = tree.paths.find((path) => STATUS.test(path))
  const status = statusPath === undefined ? null : withPhase(tree.text(statusPath))
  return [
    { path: page, text: workflow },
    ...places.map((place) => ({ path: place.replace('*', 'ralph'), text: commandPage(place, page) })),
    ...(statusPath === undefined || status === null ? [] : [{ path: statusPath, text: status, adds: true }]),
  ]
}

function commandPage(place: string, workflow: string): string {
  const task = `Read ${workflow} and follow it, step by step.`
  return place.endsWith('.toml')
    ? `description = "${DESCRIPTION}"\nprompt = "${task}"\n`
    : `---\ndescription: '${DESCRIPTION}'\n---\n\n${task}\n`
}

/**
 * The status with Ralph as phase 5, every other byte as it was; null if its `workflow_status` is none that we know.
 * One version has a map of workflows, the other a list of them.
 */
function withPhase(text: string): string | null {
  const list = parseDocument(text).get('workflow_status')
  if (!(isMap(list) || isSeq(list)) || list.flow === true || list.items.length === 0) return null
  const isThere = isMap(list)
    ? list.has('ralph')
    : list.items.some((item) => isMap(item) && nameIn(item) === 'ralph')
  if (isThere) return text
  const first = list.items[0]
  const start = isPair(first) && isScalar(first.key) ? first.key.range?.[0] : (list.range?.[0] ?? null)
  const end = list.range?.[1]
  if (start == null || end === undefined) return null
  const indent = ' '.repeat(start - (text.lastIndexOf('\n', start - 1) + 1))
  const entry = isMap(list)
    ? ['ralph: required']
    : [
        `- ${isMap(first) && first.has('id') ? 'id' : 'name'}: ralph`,
        '  phase: 5',
        '  status: required',
        `  description: "${DESCRIPTION}"`,
      ]
  const lines = entry.map((line) => `${indent}${line}\n`).join('')
  const before = text.slice(0, end).trimEnd()
  return `${before}\n${lines}${text.slice(before.length).replace(/^\n/, '')}`
}

function nameIn(item: YAMLMap): unknown {
  return item.get('name') ?? item.get('id')
}
