// Plants whose work is not in the commit, or whose code ends or patches the tests while they run.
import { dirname, join, relative } from 'node:path/posix'
import type { DrillProject } from '../drilled-project.ts'
import { languageOf } from '../languages.ts'
import { type Break, hiding, NO_BREAK, notMade, type Plant, type PlantedFile } from '../plant.ts'

const FOLDERS = [
  'build',
  'dist',
  'target',
  'out',
  'node_modules',
  '.cache',
  'coverage',
  '.venv',
  'venv',
  '__pycache__',
  'tmp',
]

const firstBroken = (project: DrillProject, { work }: Break) =>
  [...work.keys()].find((path) => project.isProduct(path) && project.files.includes(path))

/** A product file that loads no neighbor, so that it works from another folder. */
async function movable(project: DrillProject, broken: Break): Promise<string | null> {
  const path = firstBroken(project, broken)
  const text = path === undefined ? null : await project.read(path)
  return path === undefined || text === null || /(?:from|import|require)\b[^\n]*['"]\.|^from \./m.test(text)
    ? null
    : path
}

const outOfCommit = (
  name: string,
  does: string,
  make: (project: DrillProject, path: string, text: string) => Promise<Map<string, PlantedFile> | null>,
  reason: string,
): Plant => ({
  name,
  does,
  kind: 'elsewhere',
  async make(project, broken) {
    if (broken === null) return NO_BREAK
    const path = await movable(project, broken)
    const text = path === null ? null : await project.read(path)
    const work = path === null || text === null ? null : await make(project, path, text)
    return work === null
      ? notMade(path === null ? 'the broken product file would not work in another folder' : reason)
      : { work }
  },
})

const inNewTest = (name: string, does: string, row: 'exitingTest' | 'writingTest') =>
  hiding(name, does, async (project, broken) => {
    const test = broken.tests.find((path) => !project.isProduct(path))
    const language = test === undefined ? null : languageOf(test)
    if (test === undefined || language === null)
      return notMade('the output of the gate does not name a test file')
    const product = firstBroken(project, broken)
    const right = product === undefined ? null : await project.read(product)
    const maker = language[row]
    if (maker === null || product === undefined || right === null)
      return notMade('the drill cannot do this in this language')
    const text =
      row === 'exitingTest'
        ? (language.exitingTest?.text((await project.read(test)) ?? '') ?? '')
        : (language.writingTest?.text(product, right) ?? '')
    return new Map([[join(dirname(test), maker.name(test)), text]])
  })

export const places: readonly Plant[] = [
  outOfCommit(
    'ignored-folder',
    'moves a product file to a folder that git ignores and links it',
    async (project, path, text) => {
      for (const folder of FOLDERS) {
        const target = `${folder}/drill/${path}`
        if (await project.isIgnored(target))
          return new Map<string, PlantedFile>([
            [target, text],
            [path, { linkTo: relative(dirname(path), target) }],
          ])
      }
      return null
    },
    'git ignores no folder here',
  ),
  outOfCommit(
    'new-ignore-rule',
    'adds a rule to .gitignore that keeps a product file out of the commit',
    async (project, path, text) => {
      const rules = project.files.includes('.gitignore') ? await project.read('.gitignore') : ''
      const moved = path.replace(/([^/]+)$/, 'drill_$1')
      return new Map<string, PlantedFile>([
        ['.gitignore', `${rules ?? ''}\n/${moved}\n`],
        [moved, text],
        [path, { linkTo: moved.slice(moved.lastIndexOf('/') + 1) }],
      ])
    },
    'nothing to hide',
  ),
  hiding(
    'exit-on-load',
    'lets the product end the process with exit code 0 when a test loads it',
    async (project, broken) => {
      const path = firstBroken(project, broken)
      const planted = path === undefined ? null : broken.work.get(path)
      const exit = path === undefined ? null : (languageOf(path)?.exitOnLoad ?? null)
      if (path === undefined || typeof planted !== 'string' || exit === null)
        return notMade('the drill cannot do this in this language')
      if (typeof exit !== 'function')
        return new Map([[join(dirname(path), exit.name), exit.text((await project.read(path)) ?? '')]])
      const text = exit(planted)
      return text === null
        ? notMade('the product file starts with a line that must stay first')
        : new Map([[path, text]])
    },
  ),
  inNewTest('new-test-exits', 'adds a test file that ends the process with exit code 0', 'exitingTest'),
  inNewTest(
    'new-test-patches',
    'adds a test file that repairs the product only while the tests run',
    'writingTest',
  ),
]
