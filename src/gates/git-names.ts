// Names that mean something to git, in every spelling that a file system may take for theirs, and what `git fsck --strict`
// refuses of them: a server that checks objects (receive.fsckObjects) would refuse the branch for ever (git's path.c, fsck.c).

type Special = 'gitmodules' | 'gitattributes' | 'gitignore' | 'mailmap'

/** The short name that NTFS gives where the plain ones are taken begins so. */
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

/** Of the name folded; NTFS knows short names of eight letters, digits behind the tilde. */
function spellingsOf(name: Special): RegExp {
  const begin = SHORT[name]
  const digits = [0, 1, 2, 3, 4, 5, 6].map((count) => `${begin.slice(0, count)}~[1-9]\\d{${6 - count}}`)
  return new RegExp(`^(?:\\.${name}|${name.slice(0, 6)}~\\d+|${digits.join('|')})$`)
}

/** Which of them a folded name may be taken for. */
export function specialName(name: string): Special | null {
  return SPELLINGS.find(([, spelling]) => spelling.test(name))?.[0] ?? null
}

export type Entry = { folded: string; isLink: boolean; content: Uint8Array | null | undefined }

/** What git would refuse of such a name in a path, or null. */
export function specialFault({ folded, isLink, content }: Entry): string | null {
  const names = folded.split('/').map(specialName)
  const folder = names.slice(0, -1).find((name) => name !== null)
  if (folder !== undefined) return `a folder cannot be called \`.${folder}\`: git wants a file there`
  const special = names.at(-1) ?? null
  if (special === null) return null
  if (isLink) return 'git reads no link in the place of such a file'
  // At the top it is refused anyway; git checks what is in one wherever it stands.
  if (special === 'gitmodules') return 'submodules are changed by people only'
  const isLong = special === 'gitattributes' && content != null && longestLine(content) >= MAX_LINE_BYTES
  return isLong ? `a line has ${MAX_LINE_BYTES} bytes or more: git reads no such attributes` : null
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
