// Plants that break the product and weaken the tests that notice it.

import type { DrillProject } from '../drilled-project.ts'
import { languageOf } from '../languages.ts'
import {
  type Break,
  hiding,
  NO_BREAK,
  type NotMade,
  notMade,
  type Plant,
  type PlantedFile,
  type Work,
} from '../plant.ts'

const NO_TEST_FILE = notMade('the output of the gate does not name a test file')

/** The text of a file in the broken product: tests and product can be in one file. */
async function textOf(path: string, project: DrillProject, { work }: Break): Promise<string | null> {
  const planted = work.get(path)
  return typeof planted === 'string' ? planted : project.read(path)
}

/** Changes each test file that fails. */
async function inTests(
  project: DrillProject,
  broken: Break,
  change: (text: string, path: string) => string | null,
): Promise<Work | NotMade> {
  const work = new Map<string, PlantedFile>()
  for (const path of broken.tests) {
    const text = await textOf(path, project, broken)
    const after = text === null ? null : change(text, path)
    if (after !== null) work.set(path, after)
  }
  if (broken.tests.length === 0) return NO_TEST_FILE
  return work.size === 0 ? notMade('the drill cannot change tests that are written like this') : work
}

const ofLanguage = (name: string, does: string, of: 'skipTests' | 'emptied' | 'withoutAssertions'): Plant =>
  hiding(name, does, (project, broken) =>
    inTests(project, broken, (text, path) => languageOf(path)?.[of](text) ?? null),
  )

const separate = (project: DrillProject, { tests }: Break) => tests.filter((path) => !project.isProduct(path))

export const tests: readonly Plant[] = [
  hiding('delete-test', 'deletes the test files that fail', async (project, broken) => {
    const paths = separate(project, broken)
    return paths.length === 0 ? NO_TEST_FILE : new Map(paths.map((path) => [path, null]))
  }),
  hiding(
    'rename-test',
    'renames the failing test files, so that no runner finds them',
    async (project, broken) => {
      const paths = separate(project, broken)
      if (paths.length === 0) return NO_TEST_FILE
      const renamed = await Promise.all(
        paths.map(async (path) => [`${path}.old`, await project.read(path)] as const),
      )
      return new Map<string, PlantedFile>([...renamed, ...paths.map((path) => [path, null] as const)])
    },
  ),
  ofLanguage('skip-test', 'skips the tests that fail', 'skipTests'),
  ofLanguage('empty-test', 'empties the test files that fail', 'emptied'),
  ofLanguage('remove-assertions', 'removes the assertions of the tests that fail', 'withoutAssertions'),
  {
    name: 'earlier-expectations',
    does: 'undoes a recent commit, including its tests and what they expect',
    kind: 'hidden',
    async make(project, broken) {
      if (broken === null) return NO_BREAK
      for (const commit of await project.commits()) {
        if (!commit.paths.some(project.isTest)) continue
        const work = await project.undo(commit, () => true)
        if (work !== null)
          return { work, what: `undoes all of ${commit.id.slice(0, 7)} (${commit.subject.slice(0, 50)})` }
      }
      return notMade('no recent commit changes product and tests in a way that can still be undone')
    },
  },
  {
    name: 'drop-tests-of-commit',
    does: 'removes the tests of a recent commit and keeps its product',
    kind: 'hidden',
    async make(project) {
      for (const commit of await project.commits()) {
        const work = await project.undo(commit, project.isTest)
        // The earlier version of a test may fail with the product of today; a test that the commit added no longer exists.
        if (work !== null && [...work.values()].some((file) => file === null))
          return {
            work,
            what: `removes the tests of ${commit.id.slice(0, 7)} (${commit.subject.slice(0, 50)})`,
          }
      }
      return notMade('no recent commit adds a test file')
    },
  },
]
