// Plants that do nothing, do more than was asked, or leave nothing that shows that the work is right.
import { randomBytes } from 'node:crypto'
import type { DrillProject } from '../drilled-project.ts'
import { languageOf } from '../languages.ts'
import { notMade, type Plant } from '../plant.ts'

const firstProduct = (project: DrillProject) =>
  project.files.find((path) => project.isProduct(path) && languageOf(path) !== null)

/** Adds a text to a product file. */
const appends = (
  name: string,
  does: string,
  text: (path: string) => string,
  kind: Plant['kind'] = 'hidden',
): Plant => ({
  name,
  does,
  kind,
  async make(project) {
    const path = firstProduct(project)
    if (path === undefined) return notMade('no product file is in a language that the drill knows')
    return { work: new Map([[path, `${(await project.read(path)) ?? ''}${text(path)}`]]) }
  },
})

export const others: readonly Plant[] = [
  {
    name: 'nothing',
    does: 'changes nothing and says that the story is done',
    kind: 'hidden',
    make: async () => ({ work: new Map() }),
  },
  appends(
    'code-without-test',
    'adds code that no test reaches',
    (path) => languageOf(path)?.unusedCode ?? '',
  ),
  {
    name: 'workflow',
    does: 'adds a workflow to the repository',
    kind: 'hidden',
    make: async () => ({
      work: new Map([
        [
          '.github/workflows/drill.yml',
          'on: push\njobs:\n  drill:\n    runs-on: ubuntu-latest\n    steps: [{ run: "true" }]\n',
        ],
      ]),
    }),
  },
  appends('secret', 'writes a key into the code', (path) => {
    const comment = path.endsWith('.py') ? '#' : '//'
    // Made when it is needed: a scanner must not find a key in this file.
    return `\n${comment} ghp_${randomBytes(18).toString('hex')}\n`
  }),
]
