// What files of other tools propose for settings here: people see it before anything of it holds.
import { otherSettingsIn } from './formats/other-tools.ts'
import { Opened } from './open-document.ts'
import type { DocumentFile } from './types.ts'

/** Settings by their key in the configuration; none where the file is broken. */
export function proposedSettings(file: DocumentFile): {
  settings: Record<string, unknown>
  unread: string[]
} {
  const found = otherSettingsIn(new Opened(file))
  return { settings: found?.settings ?? {}, unread: found?.unread ?? [] }
}
