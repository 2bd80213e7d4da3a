// Pictures of pages out of the repository, as a page holds them that fetches nothing.

/** Data URIs by blob, in their order, until they are `most` characters; what is not there is left out. */
export async function pictureUris(
  blobs: readonly string[],
  read: (blob: string) => Promise<Buffer | null>,
  most: number,
): Promise<Map<string, string>> {
  const uris = new Map<string, string>()
  let left = most
  for (const blob of blobs) {
    const bytes = await read(blob)
    if (bytes === null) continue
    const uri = `data:image/webp;base64,${bytes.toString('base64')}`
    if (uri.length > left) break
    left -= uri.length
    uris.set(blob, uri)
  }
  return uris
}
