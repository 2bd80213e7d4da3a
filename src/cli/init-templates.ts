// The files of examples/ that `ralph init` starts from; the bundle has them beside its code.
import { readFile } from 'node:fs/promises'
import type { Templates } from '../init/files.ts'

export async function templates(): Promise<Templates> {
  const [main, separate, resume, issueForm, bmad] = await Promise.all([
    readFile(new URL('../../examples/ralph.yml', import.meta.url), 'utf8'),
    readFile(new URL('../../examples/ralph-separate.yml', import.meta.url), 'utf8'),
    readFile(new URL('../../examples/ralph-resume.yml', import.meta.url), 'utf8'),
    readFile(new URL('../../examples/ISSUE_TEMPLATE/ralph.yml', import.meta.url), 'utf8'),
    readFile(new URL('../../examples/bmad/ralph.md', import.meta.url), 'utf8'),
  ])
  return { main, separate, resume, issueForm, bmad }
}
