// Names that are special to git, in every spelling that a file system may treat as the same name (git's path.c). Also which of their
// uses `git fsck --strict` refuses (git's fsck.c). A server that checks objects (receive.fsckObjects) would refuse the branch for ever.

type Special = 'gitmodules' | 'gitattributes' | 'gitignore' | 'mailmap'

/** The beginning of the hashed short name on NTFS, which is used if the usual short names are taken. */
const SHORT: Readonly<Record<Special, string>> = {
  gitmodules: 'gi7eba',
  gitattributes: 'gi7d29',
  gitignore: 'gi250a',
  mailmap: 'maba30',
}

const SPELLINGS: readonly (readonly [Special, RegExp])[] = [
  ['gitmodules', spellingsOf('gitmodules')],
  ['gitattributes', spellingsOf('gitattributes')],
  ['gitignore', spellingsOf('gitignore')],
  ['mailmap', spellingsOf('mailmap')],
]

/** All spellings of a folded name, with the short names of NTFS: eight characters, a tilde and digits at the end. */
function spellingsOf(name: Special): RegExp {
  const begin = SHORT[name]
  const digits = [0, 1, 2, 3, 4, 5, 6].map((count) => `${begin.slice(0, count)}~[1-9]\\d{${6 - count}}`)
  return new RegExp(`^(?:\\.${name}|${name.slice(0, 6)}~\\d+|${digits.join('|')})$`)
}

/** The special name that a folded name may be taken for, or null. */
export function specialName(name: string): Special | null {
  return SPELLINGS.find(([, spelling]) => spelling.test(name))?.[0] ?? null
}

export type Entry = { folded: string; isLink: boolean; content: Uint8Array | null | undefined }

/** Why git would refuse a special name in this path, or null. */
export function specialFault({ folded, isLink, content }: Entry): string | null {
  const names = folded.split('/').map(specialName)
  const folder = names.slice(0, -1).find((name) => name !== null)
  if (folder !== undefined)
    return `a folder cannot be called \`.${folder}\`, because git expects a file with this name`
  const special = names.at(-1) ?? null
  if (special === null) return null
  if (isLink) return 'git does not follow a link with this name'
  // In the root it is reserved anyway; git also checks the content of one in any other folder.
  if (special === 'gitmodules') return 'only people may change submodules'
  const isLong = special === 'gitattributes' && content != null && longestLine(content) >= MAX_LINE_BYTES
  return isLong ? `a line has ${MAX_LINE_BYTES} bytes or more, which git does not read` : null
}

const MAX_LINE_BYTES = 2048

function longestLine(content: Uint8Array): number {
  let longest = 0
  for (let start = 0; start <= content.length; ) {
    const end = content.indexOf(10, start)
    const next = end === -1 ? content.length : end
    longest = Math.max(longest, next - start)
    start = next + 1
  }
  return longest
}
