// The table of formats: a new one is a file and a line here. The first that reads a file takes it.
import { checkList } from './formats/check-list.ts'
import { prdJson } from './formats/prd-json.ts'
import { prose } from './formats/prose.ts'
import { storyHeading } from './formats/story-headings.ts'
import { Opened } from './opened.ts'
import type { DocumentFile, Format, Reading } from './types.ts'

export const formats: readonly Format[] = [prdJson, storyHeading, checkList, prose]

/** What the document says, by the first format that reads it. Every file is read by the last. */
export function readDocument(file: DocumentFile): Reading {
  const document = new Opened(file)
  const format = formats.find((one) => one.reads(document)) ?? prose
  return format.read(document)
}

/** Of a repository's paths those that are documents known by their name or place (found by itself), best first. */
export function documentsAmong(paths: readonly string[]): string[] {
  const found = paths.filter(isPlace)
  return formats.flatMap(({ found: pattern }, index) =>
    found.filter(
      (path) => pattern?.test(path) && !formats.slice(0, index).some((better) => better.found?.test(path)),
    ),
  )
}

/** Not what a tool installed or somebody vendored. */
function isPlace(path: string): boolean {
  return !/(?:^|\/)(?:node_modules|vendor|dist|build|\.git|archive)\//.test(path)
}
