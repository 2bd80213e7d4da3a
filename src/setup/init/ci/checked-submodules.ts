// Submodules: whether CI checks them out, and which of them are missing here. Pure.
import type { FileTree } from '../detect.ts'
import type { CiFacts } from './ci-checks.ts'

/** The value that CI gives actions/checkout (https://github.com/actions/checkout#usage). */
export function submodulesOf(uses: CiFacts['uses']): 'true' | 'recursive' | null {
  const values = uses.flatMap((one) =>
    one.uses.startsWith('actions/checkout@') ? [one.inputs.submodules ?? ''] : [],
  )
  return values.includes('recursive') ? 'recursive' : values.includes('true') ? 'true' : null
}

/** The maximum number of submodules that are named. */
const MAX_NAMED = 3

/** Tests that read the files of a submodule fail if it is not checked out. */
export function notesOnSubmodules({ paths, text }: FileTree): string[] {
  const all = [...text('.gitmodules').matchAll(/^\s*path\s*=\s*(\S.*?)\s*$/gm)].map(([, path = '']) => path)
  // Not every folder is looked into, but a submodule that is checked out has a file `.git`.
  const missing = all.filter(
    (path) => text(`${path}/.git`) === '' && !paths.some((one) => one.startsWith(`${path}/`)),
  )
  if (missing.length === 0) return []
  const more = missing.length - MAX_NAMED
  const names = `${missing.slice(0, MAX_NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
  const [are, them] = missing.length === 1 ? ['submodule is', 'it'] : ['submodules are', 'them']
  return [
    `the ${are} not checked out here, so gates that read ${them} fail: ${names}. Run \`git submodule update --init\`, then \`ralph init\` again`,
  ]
}
