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
    return PACKAGE.test(word) && isValueless(before) ? [word] : []
  })
}

/** Whether the next word is not the value of this one: options of pip and uv take one, except these. */
function isValueless(word: string): boolean {
  return !word.startsWith('-') || word.includes('=') || FLAG.test(word)
}

const FLAG =
  /^(?:-[Uqv]+|--(?:upgrade|quiet|verbose|pre|user|system|no-deps|no-cache-dir|no-build-isolation|break-system-packages|force-reinstall|require-hashes|prefer-binary|disable-pip-version-check))$/
