// Paths are bytes. In text, bytes that are not UTF-8 become lone surrogates (U+DC80 to U+DCFF, like Python's surrogateescape). So the
// bytes can be restored, and two paths never become one.
import { isUtf8 } from 'node:buffer'

/** Valid UTF-8 sequences, or one invalid byte; bytes as latin1. The count is limited so that the stack suffices. */
const SEQUENCES =
  /((?:[\0-\x7f]|[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xed[\x80-\x9f][\x80-\xbf]|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2}){1,1000})|([\x80-\xff])/g
const ESCAPED = /([\udc80-\udcff])/u
const HALF = /\p{Cs}/u

/** The text of one path, or of a list of paths that end in NUL. */
export function pathText(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString('utf8')
  return bytes.toString('latin1').split('\0').map(fromLatin1).join('\0')
}

export function pathBytes(path: string): Buffer {
  if (!HALF.test(path)) return Buffer.from(path)
  const parts = path.split(ESCAPED)
  return Buffer.concat(
    parts.map((part, at) => (at % 2 === 1 ? Buffer.from([part.charCodeAt(0) - 0xdc00]) : Buffer.from(part))),
  )
}

/** The text of a path from git's trees, whose names are latin1; `toLatin1` is the way back. */
export function fromLatin1(path: string): string {
  const bytes = Buffer.from(path, 'latin1')
  if (isUtf8(bytes)) return bytes.toString('utf8')
  return path.replace(SEQUENCES, (_, good?: string, bad = '') =>
    good === undefined
      ? String.fromCharCode(0xdc00 + bad.charCodeAt(0))
      : Buffer.from(good, 'latin1').toString('utf8'),
  )
}
export const toLatin1 = (path: string): string => pathBytes(path).toString('latin1')

/** A path for `node:fs`, which would write U+FFFD for what is not UTF-8. */
export function fsPath(path: string): string | Buffer {
  return HALF.test(path) ? pathBytes(path) : path
}

/** A path to show: bytes that are not UTF-8 as `\xe9`. Not usable as a path. */
export function displayPath(path: string): string {
  return path.replace(/[\udc80-\udcff]/gu, hexOf)
}

/** A path as `displayPath` shows it, as a quoted JSON string. */
export function quotedPath(path: string, maxLength = Number.POSITIVE_INFINITY): string {
  const cut = path.length > maxLength ? `${path.slice(0, maxLength)}...` : path
  const parts = cut.split(ESCAPED)
  return `"${parts.map((part, at) => (at % 2 === 1 ? hexOf(part) : JSON.stringify(part).slice(1, -1))).join('')}"`
}

function hexOf(escaped: string): string {
  return `\\x${(escaped.charCodeAt(0) - 0xdc00).toString(16)}`
}
