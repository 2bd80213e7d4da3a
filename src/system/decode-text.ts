// Decodes the bytes of a text file by its byte order mark.

/** The text, in UTF-8, or in UTF-16 if a byte order mark says so. Null for bytes that are not text. */
export function decodeText(bytes: Buffer): string | null {
  const [first, second] = bytes
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(bytes)
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be').decode(bytes)
  // A program's file has zero bytes; a text has none.
  return bytes.includes(0) ? null : bytes.toString('utf8')
}
