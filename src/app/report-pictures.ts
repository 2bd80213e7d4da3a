// Screenshots as data URIs, for a report that is one file and loads nothing.

/** Data URIs by blob id, in order, up to `most` characters in all. A blob that does not exist is left out. */
export async function pictureUris(
  blobs: readonly string[],
  read: (blob: string) => Promise<Buffer | null>,
  maxCharacters: number,
): Promise<Map<string, string>> {
  const uris = new Map<string, string>()
  let room = maxCharacters
  for (const blob of blobs) {
    const bytes = await read(blob)
    if (bytes === null) continue
    const uri = `data:image/webp;base64,${bytes.toString('base64')}`
    if (uri.length > room) break
    room -= uri.length
    uris.set(blob, uri)
  }
  return uris
}
