// Documents of every known format become stories. Pure: text in, data out. Import it when it is called: it brings parsers
// for Markdown, YAML and TOML. What is light (`render.ts`, `merge.ts`, `size.ts`) can be had without them.
export { findDocuments } from './formats.ts'
export { mergePlanned } from './merge-plan.ts'
export { proposedSettings } from './proposed-settings.ts'
export { readDocuments } from './read-documents.ts'
export { renderPrdMarkdown } from './render-prd-md.ts'
export { sizeRemarks } from './size.ts'
export { updateSprintStatus } from './sprint-status.ts'
export type { DocumentFile, Documents, Source } from './types.ts'
export { findPlanDocuments } from './write-back/match-stories.ts'
export { writeBack } from './write-back/write-back.ts'
