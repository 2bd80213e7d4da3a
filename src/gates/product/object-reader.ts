// Reads small texts from the repository's objects.

/** Reads objects of the repository by id or `<commit>:<path>`; gives null if there is none. */
export type ObjectReader = {
  info(name: string): Promise<{ size: number } | null>
  contents(name: string): Promise<Uint8Array | null>
}

const MAX_BYTES = 1024 * 1024

/** The text of a blob; null if there is none, or if it is larger than a megabyte: code that people write is smaller. */
export async function readSmallBlob(name: string, objects: ObjectReader): Promise<string | null> {
  const info = await objects.info(name)
  if (info === null || info.size > MAX_BYTES) return null
  const bytes = await objects.contents(name)
  return bytes === null ? null : Buffer.from(bytes).toString('utf8')
}
