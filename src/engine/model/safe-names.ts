// Checks whether names are safe in refs, paths, comments and command lines.

export const idPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/

/** What is wrong with a story's id, or null. Ids are used in branch names, so git's rules for refs apply as well. */
export function idFault(id: string): string | null {
  if (!idPattern.test(id)) {
    return 'a letter or digit, then up to 63 letters, digits, dots, dashes or underscores'
  }
  if (/\.\.|\.$|\.lock$/i.test(id))
    return 'no "..", and no "." or ".lock" at the end (git refuses it in a branch)'
  // Ids are keys of plain objects.
  if (id in {}) return 'another word: JavaScript reserves this word'
  // `/ralph retry all` means every story.
  if (id.toLowerCase() === 'all') return 'another word: "all" means every story'
  return null
}

// Control characters, space, what git refuses, and characters that reorder or hide text in a review.
const unsafe = /[\p{C}\p{Z}~^:?*[\\]/u

/** What is wrong with a branch's name, by the rules of `git check-ref-format --branch` and stricter ones of Ralph; or null. */
export function branchNameFault(name: string): string | null {
  if (name === '' || name === '@' || name === 'HEAD') return 'a name'
  // Git takes such a name for a ref: a branch `refs/heads/main` would be mistaken for the ref of `main`.
  if (/^(?:refs|heads)\//.test(name)) return 'no "refs/" or "heads/" at the start'
  if (/^[A-Z]+_HEAD$/.test(name)) return 'a name that git does not use itself'
  if (name.length > 200) return 'at most 200 characters'
  if (unsafe.test(name)) return 'no spaces, control characters or any of ~ ^ : ? * [ \\'
  // A leading dash would be read as an option.
  if (name.startsWith('-')) return 'no dash at the start'
  if (/\.\.|@\{|\/\/|^\/|\/$|\.$/.test(name))
    return 'no "..", "@{" or "//", no "/" at the start or end, and no "." at the end'
  if (name.split('/').some((part) => part.startsWith('.') || part.endsWith('.lock'))) {
    return 'no part that starts with "." or ends with ".lock"'
  }
  return null
}

/** The branch of a ref such as `refs/heads/main`, or null. */
export function branchOfRef(name: string): string | null {
  const branch = name.replace(/^(?:refs\/)?heads\//, '')
  return branch !== name && branchNameFault(branch) === null ? branch : null
}
