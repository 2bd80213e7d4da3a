// Where a test and programs of another user write into the same files: temporary folders are each one's own.
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const isRoot = process.platform === 'linux' && process.getuid?.() === 0

/** A new folder, whose modes say who may write. Only root can make one among the devices. */
export function sharedFolder(prefix: string): Promise<string> {
  return mkdtemp(join(isRoot ? '/dev' : tmpdir(), prefix))
}
