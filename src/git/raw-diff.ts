// Reads `git diff --raw -z`: pure.

import type { Change } from '../engine/model/change.ts'

/** The changes in git's order. Renames are a deletion and an addition (`--no-renames`). */
export function parseRaw(output: string): Change[] {
  const fields = output.split('\0')
  const changes: Change[] = []
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [oldMode = '', newMode = '', oldOid = '', newOid = '', status = ''] = (fields[at] ?? '')
      .replace(/^:/, '')
      .split(' ')
    const path = fields[at + 1] ?? ''
    const kind = status[0]
    if (kind === 'A' || kind === 'M' || kind === 'D' || kind === 'T') {
      changes.push({ status: kind, path, oldMode, newMode, oldOid, newOid })
    }
  }
  return changes
}
