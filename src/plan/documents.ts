// The entry of this room: reads documents of every known format as stories. Pure. Import it lazily, as it loads parsers for
// Markdown, YAML and TOML. `render-prd-md.ts`, `merge-plan.ts`, `many-stories.ts` and `size.ts` can be imported without it.
export { findDocuments } from './formats.ts'
export { mergePlanned } from './merge-plan.ts'
export { proposedSettings } from './proposed-settings.ts'
export { readDocuments } from './read-documents.ts'
export { renderPrdMarkdown } from './render-prd-md.ts'
export { sizeRemarks } from './size.ts'
export { updateSprintStatus } from './sprint-status.ts'
export type { DocumentFile, Documents } from './types.ts'
export { findPlanDocuments } from './write-back/match-stories.ts'
export { restoreMarks } from './write-back/restore-marks.ts'
export { writeBack } from './write-back/write-back.ts'
