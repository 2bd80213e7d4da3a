// Until src/documents is there: prd.json and check lists, as they have always been read.
import type { Prd } from '../model/feature.ts'
import { parsePrd } from '../prd/parse.ts'
import type { Mistake } from '../system/errors.ts'

export type DocumentFile = { path: string; text: string }
export type Source = { path: string; line: number; format: string; storyId: string }
export type Documents = {
  prd: Prd
  context: string
  sources: Source[]
  prose: DocumentFile[]
  gates: Record<string, string>
  notes: string[]
}

export function readDocuments(
  files: readonly DocumentFile[],
): { ok: true; documents: Documents } | { ok: false; mistakes: Mistake[] } {
  const [file] = files
  if (file === undefined) throw new Error('no document')
  const parsed = parsePrd(file.text, file.path)
  if (!parsed.ok) return parsed
  const sources = parsed.prd.userStories.map(({ id }) => ({
    path: file.path,
    line: 1,
    format: 'prd.json or check list',
    storyId: id,
  }))
  const { prd, notes } = parsed
  return { ok: true, documents: { prd, context: '', sources, prose: [], gates: {}, notes } }
}

export function renderPrdMarkdown(prd: Prd): string {
  const stories = prd.userStories.map(({ id, title, description, acceptanceCriteria }) =>
    [`### ${id}: ${title}`, '', description, '', ...acceptanceCriteria.map((one) => `- [ ] ${one}`), ''].join(
      '\n',
    ),
  )
  return `# ${prd.project}\n\n${prd.description}\n\n${stories.join('\n')}`
}

export function mergePlanned(before: Prd, planned: Prd): { prd: Prd; added: string[]; changed: string[] } {
  const ids = new Set(before.userStories.map(({ id }) => id))
  const fresh = planned.userStories.filter(({ id }) => !ids.has(id))
  const prd = { ...before, userStories: [...before.userStories, ...fresh] }
  return { prd, added: fresh.map(({ id }) => id), changed: [] }
}

export function sizeRemarks(_: readonly unknown[]): { storyId: string; remark: string }[] {
  return []
}
