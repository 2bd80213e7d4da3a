// Configurations of other Ralph tools: their commands are proposed as gates, their limits by `ralph init`. None takes effect by itself.
import { describeValue } from '../../engine/model/text.ts'
import type { OpenDocument } from '../open-document.ts'
import type { Format, Reading } from '../types.ts'
import { readCommands } from './lists.ts'
import { detectTool, isShellFile, readOtherSettings, valueAt } from './other-tools.ts'

export const otherSettings: Format = {
  name: 'settings',
  discoveryPath:
    /^\.ralphy\/config\.ya?ml$|^\.ralph-tui\/config\.toml$|^ralph\.ya?ml$|^(?:\.ralph\/)?\.ralphrc$|^\.ralph\/configs\/[^/]+\.json$/,
  matches: (document) => detectTool(document) !== undefined,
  read,
}

function read(document: OpenDocument): Partial<Reading> {
  const other = readOtherSettings(document)
  if (other === null) return {}
  const { tool, fields, lines, unread } = other
  if (!isShellFile(tool) && document.data.data === null) return { mistakes: document.data.mistakes }
  const bare = (text: string) => describeValue(text).replace(/^"|"$/g, '')
  const notes = [
    lines.length === 0
      ? 'Ralph uses none of its settings.'
      : `its settings, as Ralph calls them: ${[...new Set(lines.map(bare))].join('; ')}. Copy those that you want to keep to the workflow or to ralph.config.yml.`,
  ]
  const name = /^\.ralph\/configs\/([\w.-]+)\.json$/.exec(document.path)?.[1]
  if (name !== undefined) notes.push(`\`pipeline: ${name}\` runs its steps (docs/steps.md).`)
  const gates = tool.gates === undefined ? {} : readCommands(fields[tool.gates])
  const names = Object.keys(gates)
  if (names.length > 0)
    notes.push(`Ralph proposes its commands as gates: ${names.map(describeValue).join(', ')}.`)
  if (unread.length > 0) notes.push(`Ralph does not read these keys: ${unread.map(bare).join('; ')}.`)
  const project = tool.project === undefined ? null : valueAt(fields, tool.project)
  return { root: { project: typeof project === 'string' ? project : null }, gates, notes }
}
