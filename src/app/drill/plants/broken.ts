// Plants that break the product and hide nothing, so that the project's own tests can notice.

import type { DrillProject } from '../drilled-project.ts'
import { languageOf } from '../languages.ts'
import { type Made, type NotMade, notMade, type Plant } from '../plant.ts'

const UNDONE = 3
const EDITS = 3

/** Undoes the product changes of a recent commit: of the nth that can be undone. */
function undone(nth: number): Plant {
  return {
    name: `undo-${nth}`,
    does: 'undoes what a recent commit did to the product',
    kind: 'broken',
    async make(project) {
      let seen = 0
      for (const commit of await project.commits()) {
        if (commit.paths.every((path) => !project.isTest(path))) continue
        const work = await project.undo(commit, project.isProduct)
        if (work === null || ++seen < nth) continue
        return {
          work,
          what: `undoes the product part of ${commit.id.slice(0, 7)} (${commit.subject.slice(0, 50)})`,
        }
      }
      return notMade(
        seen === 0
          ? 'no recent commit changes product and tests in a way that can still be undone'
          : 'there is no other such commit',
      )
    },
  }
}

/** Small changes of a line; the first that fits is made. Comments and imports are left alone. */
const EDITS_OF_LINE: readonly [pattern: RegExp, by: string][] = [
  [/(\w|\)) \+ (\w|\()/, '$1 - $2'],
  [/(\w|\)) - (\w|\()/, '$1 + $2'],
  [/ (?:===|==) /, ' != '],
  [/ !==? /, ' == '],
  [/ (<|>)=? (?=[\w(])/, ' == '],
  [/\breturn true\b|\breturn True\b/, 'return false'],
  [/\breturn false\b|\breturn False\b/, 'return true'],
]
const LEFT_ALONE = /^\s*(?:\/\/|#|\*|\/\*|import\b|from\b|use\b|package\b|@)|=>/

type Edit = { path: string; line: number; text: string }

async function possibleEdits(project: DrillProject): Promise<Edit[]> {
  const found: Edit[] = []
  const paths = project.files.filter((path) => project.isProduct(path) && languageOf(path) !== null)
  for (const path of paths.slice(0, 200)) {
    const text = await project.read(path)
    const lines = (text ?? '').split('\n')
    const at = lines.findIndex(
      (line) => !LEFT_ALONE.test(line) && EDITS_OF_LINE.some(([from]) => from.test(line)),
    )
    const line = lines[at]
    const edit = EDITS_OF_LINE.find(([from]) => line !== undefined && from.test(line))
    if (line === undefined || edit === undefined) continue
    const isPython = path.endsWith('.py')
    const by = isPython ? edit[1].replace('true', 'True').replace('false', 'False') : edit[1]
    found.push({ path, line: at + 1, text: lines.with(at, line.replace(edit[0], by)).join('\n') })
  }
  return found
}

/** Changes one operator of the product, in files spread over the project. */
function edited(nth: number): Plant {
  return {
    name: `edit-${nth}`,
    does: 'changes an operator in the product',
    kind: 'broken',
    async make(project) {
      const all = await possibleEdits(project)
      const edit = all[Math.floor(((nth - 1) * all.length) / EDITS)]
      if (edit === undefined || (nth > 1 && all.length < nth))
        return notMade(
          all.length === 0 ? 'no line of the product has an operator that can be changed' : 'too few files',
        )
      return {
        work: new Map([[edit.path, edit.text]]),
        what: `changes an operator in ${edit.path}:${edit.line}`,
      }
    },
  }
}

/** Empties the largest product file. */
async function emptiesFile(project: DrillProject): Promise<Made | NotMade> {
  const sizes = await Promise.all(
    project.files
      .filter((path) => project.isProduct(path) && languageOf(path) !== null)
      .slice(0, 500)
      .map(async (path) => ({ path, size: (await project.read(path))?.length ?? 0 })),
  )
  const largest = sizes.sort((a, b) => b.size - a.size)[0]
  if (largest === undefined) return notMade('no product file is in a language that the drill knows')
  const clause = largest.path.endsWith('.go')
    ? /^package \w+$/m.exec((await project.read(largest.path)) ?? '')?.[0]
    : ''
  return { work: new Map([[largest.path, `${clause ?? ''}\n`]]), what: `empties ${largest.path}` }
}

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

export const broken: readonly Plant[] = [
  ...numbers(UNDONE).map(undone),
  ...numbers(EDITS).map(edited),
  { name: 'empty-file', does: 'empties the largest product file', kind: 'broken', make: emptiesFile },
]
