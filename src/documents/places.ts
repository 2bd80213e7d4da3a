// Where people and tools keep their plans, and how a place in a document is written.

/** `docs/prd.md: line 12 (title)` */
export function place(path: string, line: number, key?: string): string {
  return `${path}: line ${line}${key === undefined ? '' : ` (${key})`}`
}

// The folders of BMAD (its versions 4 to 6), of the Ralph loops, and the repository itself.
const FOLDERS = [
  '',
  ...['docs/', 'docs/planning/', 'docs/sprint-artifacts/', 'docs/stories/'],
  ...['_bmad-output/', '_bmad-output/planning-artifacts/', '_bmad-output/implementation-artifacts/'],
  ...['.ralph/', 'ralph/', 'scripts/ralph/', 'tasks/', 'plans/', 'specs/', '.ralph-tui/', '.ralphy/'],
]

/** Paths of such files (a regular expression) where plans are kept. */
export function planAt(name: string): RegExp {
  const folders = FOLDERS.map((folder) => folder.replaceAll('.', '\\.')).join('|')
  return new RegExp(`^(?:${folders})(?:${name})$`, 'i')
}
