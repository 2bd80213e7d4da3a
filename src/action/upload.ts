// Uploads report, transcripts, gate logs and screenshots of a job as one artifact of its run.
import { lstat, readdir } from 'node:fs/promises'
import { extname, join } from 'node:path'
import * as core from '@actions/core'
import { Zip, ZipDeflate } from 'fflate'
import { redactorFor } from '../app/redactor.ts'
import { openClone } from '../git/git.ts'
import { runtimeOf, uploadArtifact } from '../github/artifact.ts'
import { secretsIn } from '../isolation/untrusted-env.ts'
import { messageOf } from '../system/errors.ts'
import { readRegularFile, redactFiles } from '../system/files.ts'
import { actionContext } from './action-context.ts'
import { UPLOADS } from './runner.ts'

/** Limits in bytes: of the archive, and of what is put into it. Of a longer file only the end is taken. */
const MAX_ARCHIVE_BYTES = 20_000_000
const MAX_READ_BYTES = 100_000_000
const MAX_FILE_BYTES = 4_000_000
const MAX_FILES = 500
/** The time limit of the upload. */
const UPLOAD_MS = 60_000

/** Called by the post step. Logs what was uploaded; any error is one warning. */
export async function upload(name: string, isRedacted: boolean): Promise<void> {
  try {
    const { env, workspace } = await actionContext()
    const runtime = runtimeOf(env)
    // Without the artifact service (GitHub Enterprise Server) the workflow needs its own upload step.
    if (runtime === null) return
    const top = join((await openClone(workspace, env)).gitDir, 'ralph')
    const { redact } = redactorFor(secretsIn(env))
    // A killed main step has not redacted what an agent may have written there.
    if (!isRedacted) for (const folder of UPLOADS) await redactFiles(join(top, folder), redact)
    const { zip, files, left: leftOut } = await packUploads(top)
    if (files === 0) return
    await uploadArtifact(runtime, name, zip, AbortSignal.timeout(UPLOAD_MS))
    const note = leftOut === 0 ? '' : `; ${leftOut} more did not fit`
    const size = `${files} files, ${Math.ceil(zip.length / 1000)} KB${note}`
    core.info(`artifact ${name}: the report, and the logs of agents and gates (${size})`)
  } catch (error) {
    const reason = messageOf(error)
    core.warning(
      `Ralph could not upload the report and the logs, which are in .git/ralph on the runner: ${reason}`,
    )
  }
}

/** Packs the newest files of each folder, as far as there is room. `left`: how many files had no room. */
export async function packUploads(top: string) {
  const chunks: Uint8Array[] = []
  let [files, size, read] = [0, 0, 0]
  const archive = new Zip((error, chunk) => {
    if (error !== null) throw error
    chunks.push(chunk)
    size += chunk.length
  })
  const found: string[] = []
  for (const folder of UPLOADS) found.push(...(await filesBelow(top, folder, 2)))
  for (const path of found.slice(0, MAX_FILES)) {
    if (size >= MAX_ARCHIVE_BYTES - MAX_FILE_BYTES || read >= MAX_READ_BYTES) break
    const bytes = await readRegularFile(join(top, path))
    if (bytes === null) continue
    const end = bytes.subarray(Math.max(0, bytes.length - MAX_FILE_BYTES))
    const isCompressed = extname(path) === '.webp'
    const entry = new ZipDeflate(path.replace(/[^\w./-]/g, '_'), { level: isCompressed ? 0 : 6 })
    archive.add(entry)
    entry.push(end, true)
    files += 1
    read += end.length
  }
  archive.end()
  return { zip: new Uint8Array(Buffer.concat(chunks)), files, left: found.length - files }
}

/** Files below a folder in reverse order of their names: sessions are numbered, so the newest come first. */
async function filesBelow(top: string, folder: string, depth: number): Promise<string[]> {
  // The folder itself may be a link, which must not be followed.
  const isFolder = (await lstat(join(top, folder)).catch(() => null))?.isDirectory() === true
  const entries = isFolder ? await readdir(join(top, folder), { withFileTypes: true }) : []
  const files: string[] = []
  for (const entry of entries.sort((one, other) => other.name.localeCompare(one.name))) {
    const path = `${folder}/${entry.name}`
    if (entry.isFile()) files.push(path)
    else if (entry.isDirectory() && depth > 0) files.push(...(await filesBelow(top, path, depth - 1)))
  }
  return files
}
