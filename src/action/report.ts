// The report of a job: an HTML file beside its transcripts, which the post step uploads with them.
import { join } from 'node:path'
import * as core from '@actions/core'
import { pictureUris } from '../app/pictures.ts'
import { foundPlaces } from '../app/places.ts'
import type { Workspace } from '../app/workspace.ts'
import type { State } from '../model/state.ts'
import { mapTexts } from '../model/text.ts'
import { MOST_PICTURES, picturesWanted, renderReport } from '../report/html/page.ts'
import type { Facts, View } from '../report/view.ts'
import { messageOf } from '../system/errors.ts'
import { clearWay, replaceFile } from '../system/files.ts'

export type Places = NonNullable<Facts['annotations']>

/** The file's path; null, with a warning, where it could not be written. */
export async function writeReport(
  { clone, git, store, redactor }: Workspace,
  state: State,
  viewWith: (places: Places) => View,
): Promise<string | null> {
  try {
    const view = viewWith(await foundPlaces(git, mapTexts(state, redactor.redact)).catch(() => ({})))
    const read = (blob: string) => store.readScreenshot(blob)
    const page = renderReport(view, await pictureUris(picturesWanted(view), read, MOST_PICTURES))
    const path = join(clone.gitDir, 'ralph', 'report', `${state.feature}.html`)
    await clearWay(clone.gitDir, path)
    await replaceFile(path, page)
    return path
  } catch (error) {
    core.warning(`the report could not be written: ${redactor.redact(messageOf(error))}`)
    return null
  }
}
