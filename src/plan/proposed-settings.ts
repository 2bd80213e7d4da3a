// Settings that files of other tools propose. People see them before any takes effect.
import { readOtherSettings } from './formats/other-tools.ts'
import { OpenDocument } from './open-document.ts'
import type { DocumentFile } from './types.ts'

/** Settings by their key in the configuration; empty if the file is broken. */
export function proposedSettings(file: DocumentFile): {
  settings: Record<string, unknown>
  unread: string[]
} {
  const found = readOtherSettings(new OpenDocument(file))
  return { settings: found?.settings ?? {}, unread: found?.unread ?? [] }
}
