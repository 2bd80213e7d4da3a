// Parses the output of `git diff --raw -z`. Pure.

import type { Change } from '../engine/model/change.ts'

/** The changes in git's order. Renames are a deletion and an addition (`--no-renames`). */
export function parseRaw(output: string): Change[] {
  const fields = output.split('\0')
  const changes: Change[] = []
  // Each change has two fields: `:<old mode> <new mode> <old id> <new id> <status>`, and the path.
  for (let index = 0; index + 1 < fields.length; index += 2) {
    const info = (fields[index] ?? '').replace(/^:/, '')
    const [oldMode = '', newMode = '', oldOid = '', newOid = '', status = ''] = info.split(' ')
    const path = fields[index + 1] ?? ''
    const kind = status[0]
    if (kind === 'A' || kind === 'M' || kind === 'D' || kind === 'T') {
      changes.push({ status: kind, path, oldMode, newMode, oldOid, newOid })
    }
  }
  return changes
}
