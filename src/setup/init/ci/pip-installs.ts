// What `pip install` installs in a job of CI: a check there may need programs that no list of the project names. Pure.
import { withoutStarters } from './command-kind.ts'

/** A package with an optional version, as pip and uv take it: `build`, `ruff==0.4.1`, `coverage[toml]>=7`. */
const PACKAGE = /^[A-Za-z0-9][\w.-]*(?:\[[\w,.-]+\])?(?:(?:==|~=|!=|[<>]=?)[\w.*+!,<>=~-]+)?$/

/** Whether pip and a shell read it as one package. */
export function isPackage(word: string): boolean {
  return PACKAGE.test(word)
}

const FILE = /^[\w][\w./-]*\.(?:txt|in)$/
/** The project itself with extras: `.[docs]`. */
const ITSELF = /^\.\/?(?:\[[\w,.-]+\])?$/

/** The words for pip that a line installs with, without the project itself; none if it is another command, or not plain. */
export function pipInstalls(run: string): string[] {
  const [, rest] = /^(?:uv )?pip3? install (.+)$/.exec(withoutStarters(run)) ?? []
  if (rest === undefined || /[$`;&|]/.test(rest)) return []
  const words = rest.split(/\s+/).map((word) => word.replace(/^(["'])(.*)\1$/, '$2'))
  return words.flatMap((word, at) => {
    const before = words[at - 1] ?? ''
    if (/^(?:-r|--requirement|-c|--constraint)$/.test(before))
      return FILE.test(word) ? [before.startsWith('-c') || before === '--constraint' ? '-c' : '-r', word] : []
    if (before === '--group') return /^[\w.-]+$/.test(word) ? ['--group', word] : []
    if (ITSELF.test(word)) return word.includes('[') ? ['-e', word] : []
    return PACKAGE.test(word) && !TAKES_VALUE.test(before) ? [word] : []
  })
}

const TAKES_VALUE = /^(?:-i|--index-url|--extra-index-url|-f|--find-links|-t|--target|--prefix|--python)$/
