// The table of formats: a new one is a file and a line here. The first that reads a file takes it.

import type { Mistake } from '../system/errors.ts'
import { background, passageOf } from './formats/background.ts'
import { checkList } from './formats/check-list.ts'
import { issues } from './formats/issues.ts'
import { learned } from './formats/learned.ts'
import { otherSettings } from './formats/other-settings.ts'
import { ownPage } from './formats/own-page.ts'
import { prdJson } from './formats/prd-json.ts'
import { prose } from './formats/prose.ts'
import { qualityGates } from './formats/quality-gates.ts'
import { sprintTracker } from './formats/sprint-tracker.ts'
import { storyFile } from './formats/story-file.ts'
import { storyHeading } from './formats/story-headings.ts'
import { taskList } from './formats/task-list.ts'
import { Opened } from './opened.ts'
import { type DocumentFile, type Format, type Reading, reading } from './types.ts'
import { unparsable } from './unparsable.ts'

export const formats: readonly Format[] = [
  otherSettings,
  issues,
  prdJson,
  taskList,
  sprintTracker,
  learned,
  ownPage,
  storyFile,
  storyHeading,
  checkList,
  background,
  prose,
]

/** What the document says, by the first format that reads it. Every file is read by the last. */
export function readDocument(file: DocumentFile): Reading {
  const document = new Opened(file)
  const refusal = refusalOf(document)
  if (refusal.length > 0) return reading({ mistakes: refusal })
  const format = formats.find((one) => one.reads(document)) ?? prose
  const read = format.read(document)
  if (!document.isMarkdown) return read
  const passage = passageOf(document, read.stories.length > 0)
  return {
    ...read,
    gates: { ...qualityGates(document.blocks), ...read.gates },
    context: passage === null ? read.context : [...read.context, passage],
  }
}

/** Of a repository's paths those that are documents known by their name or place (found by itself), best first. */
export function documentsAmong(paths: readonly string[]): string[] {
  const found = paths.filter(isPlace).sort((a, b) => a.localeCompare(b, 'en', { numeric: true }))
  return formats.flatMap(({ found: pattern }, index) =>
    found.filter(
      (path) => pattern?.test(path) && !formats.slice(0, index).some((better) => better.found?.test(path)),
    ),
  )
}

/** Not what a tool installed or somebody vendored, nor what people put aside, nor a report on documents. */
function isPlace(path: string): boolean {
  const isAside = /\.(?:superseded|retired|archived|obsolete|old|bak)\.[a-z]+$|[-_]report[^/]*$/i.test(path)
  return !isAside && !/(?:^|\/)(?:node_modules|vendor|dist|build|\.git|archive)\//.test(path)
}

/** What no parser should be given, and a file of a known place that is broken. */
function refusalOf(document: Opened): Mistake[] {
  if (document.isMarkdown) return unparsable(document.path, document.text)
  return document.isYaml && documentsAmong([document.path]).length > 0 ? document.data.mistakes : []
}
