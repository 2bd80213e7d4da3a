// What is certain of ignore rules and attributes without asking git: a pattern matches no path that lacks its letters.
import type { CatFile } from './cat-file.ts'
import type { Git } from './git.ts'
import type { IndexTable } from './index-file.ts'

/** `convertsLineEnds`: attributes may turn those of a text. */
export type Rules = { key: string; convertsLineEnds: boolean; mayIgnore(path: string): boolean }

/** Attributes that change bytes beside those of line ends; a macro may stand for any of them. */
const CONVERTS = /\b(?:crlf|ident|filter|working-tree-encoding)\b|\[attr\]/i
const LINE_ENDS = /\b(?:text|eol)\b/i

/** Settings of the clone under which git reads files or names otherwise than they are. */
const UNUSUAL: Readonly<Record<string, (value: string) => boolean>> = {
  'core.autocrlf': (value) => value !== 'false',
  'core.eol': (value) => value !== '',
  'core.filemode': (value) => value !== 'true',
  'core.symlinks': (value) => value !== 'true',
  'core.ignorecase': (value) => value !== 'false',
  'core.precomposeunicode': (value) => value !== 'false',
}

/** Null where only git knows. `old`: they are not read again where they are the same. */
export async function rulesOf(
  git: Git,
  objects: CatFile,
  table: IndexTable,
  old: Rules | null,
): Promise<Rules | null> {
  const { config } = git.clone
  if (Object.entries(UNUSUAL).some(([key, isUnusual]) => isUnusual(config.get(key) ?? defaultOf(key))))
    return null
  const own = await git.ownRules()
  const files = [...table.ruleFiles].map((path) => ({ path, ...table.stored(path) }))
  const key = JSON.stringify([own, files])
  if (old?.key === key) return old
  const ignoring = [own]
  let attributes = ''
  for (const { path, mode, oid } of files) {
    // git follows no link here.
    if (mode === '120000' || oid === undefined) return null
    const text = (await objects.contents(oid))?.toString('utf8') ?? ''
    if (/attributes$/i.test(path)) attributes += `${text}\n`
    else ignoring.push(text)
  }
  if (CONVERTS.test(attributes)) return null
  const patterns = ignoring.flatMap((text) => text.split('\n')).flatMap(lettersOf)
  return {
    key,
    convertsLineEnds: LINE_ENDS.test(attributes),
    mayIgnore(path) {
      const low = path.toLowerCase()
      return patterns.some((letters) => letters.every((part) => low.includes(part)))
    },
  }
}

function defaultOf(key: string): string {
  return key === 'core.filemode' || key === 'core.symlinks' ? 'true' : key === 'core.eol' ? '' : 'false'
}

/** What must stand somewhere in every path that a line matches; a line that matches none gives nothing. */
function lettersOf(line: string): string[][] {
  const plain = line.trim()
  if (plain === '' || plain.startsWith('#') || plain.startsWith('!')) return []
  // A class, an escape, another alphabet: of what follows nothing is certain.
  const certain = plain.replace(/[[\\\u0080-\uffff].*$/s, '')
  return [
    certain
      .toLowerCase()
      .split(/[*?/\s]+/)
      .filter(Boolean),
  ]
}
