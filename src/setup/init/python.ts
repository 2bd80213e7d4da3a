// Python: the tools that the project has configured or runs, by uv, poetry or pip.
import { asObject } from '../../engine/model/json.ts'
import { type Ecosystem, type Folder, firstOf, gatesFrom } from './project.ts'
import { PYTHON_MANAGERS, REQUIREMENTS } from './python-managers.ts'
import { type PythonProject, readProject } from './python-needs.ts'
import { TOOLS, type Tool } from './python-tools.ts'
import { statedArguments, statedCommands } from './stated.ts'

const TEST_FILE = /(?:^|\/)(?:test_[^/]*|[^/]*_test)\.py$/

/** Environments of tox and nox that are not named after a version, such as `tox -e docs`, are separate checks. */
const OWNED =
  /^(?:pytest|py\.test|unittest|ruff|mypy|flake8|pyright|black|coverage|build|twine|pre-commit|prek)\b|^(?:tox|nox)\b(?!.* -(?:e|s|-env|-session)[ =]?(?!py\d*\b|tests?\b|lint|typ|mypy|format|fmt)[a-z])/

export const python: Ecosystem = {
  marks: ['pyproject.toml', 'setup.py', 'setup.cfg', 'Pipfile', ...REQUIREMENTS],
  tests: TEST_FILE,
  independent: ['typecheck', 'lint', 'test'],
  owns: OWNED,
  propose(folder) {
    const project = readProject(folder)
    const stated = statedCommands(folder)
    const has = (tool: Tool) => isUsed(tool, folder, project, stated)
    const tools = TOOLS.filter((tool) => has(tool) && !REPLACED_BY[tool]?.some(has))
    const manager = managerOf(folder, project)
    const { prepare, prepareWith, instead = [], run } = PYTHON_MANAGERS[manager](folder, project, tools)
    const gate = (tool: Tool, line: string, defaultArgs = ''): string | null => {
      if (!tools.includes(tool)) return null
      return run(tool, `${line} ${statedArguments(stated, line)[0] ?? defaultArgs}`.trim())
    }
    const looks = (tool: Tool, line: string) => (tools.includes(tool) ? run(tool, line) : null)
    // unittest may exit with 0 if it finds no test.
    const django = /django/i.test(folder.text('manage.py')) ? run('python', 'python manage.py test') : null
    const unittest = django ?? (hasTestsLike(folder, UNITTEST) ? unittestBy(folder, run) : null)
    // CI may run only a part of the tests in each job.
    const test = tools.includes('pytest') ? run('pytest', 'pytest') : unittest
    const calls = statedArguments(stated, 'pytest')
      .filter((words) => !NARROW.test(words))
      .slice(0, MAX_CALLS)
    const parts = tools.includes('pytest')
      ? calls.map((words) => run('pytest', `pytest ${words}`.trim()))
      : []
    const alternatives = [...parts, run('pytest', 'pytest'), unittest]
    return {
      language: 'Python',
      manager,
      prepare,
      ...(prepareWith === undefined ? {} : { prepareWith }),
      prepareInstead: instead,
      setup: manager === 'pip' ? null : `pipx install ${manager}`,
      gates: gatesFrom({
        format: looks(...formatter(stated)),
        imports: looks('isort', lookOnly(stated, 'isort')),
        typecheck: gate('mypy', 'mypy', scopeOfMypy(folder, project)) ?? gate('pyright', 'pyright'),
        lint: gate('ruff', 'ruff check', '.') ?? withoutEnvironment(gate('flake8', 'flake8')),
        test,
      }),
      alternatives: {
        test: distinct(alternatives.flatMap((one) => one ?? [])).filter((one) => one !== test),
      },
      isWorkspace: asObject(asObject(asObject(project.toml.tool)?.uv)?.workspace) !== null,
    }
  },
}

/** The formatter that the project runs, told to look only: not every project with settings of ruff formats by it. */
function formatter(stated: readonly string[]): readonly [tool: Tool, line: string] {
  const isByRuff = stated.some((line) => /\bruff format\b/.test(line))
  const [tool, line] = isByRuff ? (['ruff', 'ruff format'] as const) : (['black', 'black'] as const)
  return [tool, lookOnly(stated, line)]
}

function lookOnly(stated: readonly string[], line: string): string {
  const words = (statedArguments(stated, line)[0] ?? '.').split(' ')
  return [line, '--check', ...words.filter((word) => !/^(?:--check(?:-only)?|--diff|-c|)$/.test(word))].join(
    ' ',
  )
}

/** Calls that select tests, and benchmarks, prove too little. */
const NARROW = /(?:^| )-[km]\b|bench/
/** The maximum number of calls of the tests that are tried. */
const MAX_CALLS = 3
/** One tool a gate: a project with both uses the other for something else. */
const REPLACED_BY: Partial<Record<Tool, readonly Tool[]>> = {
  pyright: ['mypy'],
  flake8: ['ruff'],
  isort: ['ruff'],
}

/** Files and sections that hold the settings of a tool. */
const SETTINGS: Readonly<Record<Tool, { files: readonly string[]; sections: readonly string[] }>> = {
  pytest: { files: ['pytest.ini', 'conftest.py', 'tests/conftest.py'], sections: ['tool:pytest', 'pytest'] },
  ruff: { files: ['ruff.toml', '.ruff.toml'], sections: [] },
  mypy: { files: ['mypy.ini', '.mypy.ini'], sections: ['mypy'] },
  flake8: { files: ['.flake8'], sections: ['flake8'] },
  black: { files: [], sections: [] },
  isort: { files: ['.isort.cfg'], sections: ['isort'] },
  pyright: { files: ['pyrightconfig.json'], sections: [] },
}

/** Whether the project has settings for the tool, lists it, or runs it; for pytest also: whether its tests need it. */
function isUsed(
  tool: Tool,
  folder: Folder,
  { toml, ini, sources }: PythonProject,
  stated: readonly string[],
) {
  const { files, sections } = SETTINGS[tool]
  return (
    firstOf(folder, files) !== null ||
    asObject(asObject(toml.tool)?.[tool]) !== null ||
    sections.some((name) => ini[name] !== undefined) ||
    sources.some(({ lists }) => lists.includes(tool)) ||
    statedArguments(stated, tool).length > 0 ||
    (tool === 'pytest' && hasTestsLike(folder, PYTEST))
  )
}

/** Only pytest finds tests that are plain functions. */
const PYTEST = /^(?:(?:import|from) pytest\b|(?:async )?def test_)/m
const UNITTEST = /\bunittest\b|TestCase\b/
/** The maximum number of test files that are read for it. */
const MAX_READ_TESTS = 20

function hasTestsLike(folder: Folder, pattern: RegExp): boolean {
  const tests = folder.paths.filter((path) => TEST_FILE.test(path)).slice(0, MAX_READ_TESTS)
  return tests.some((path) => pattern.test(folder.text(path)))
}

/** Empty if the settings name what is checked; else the package. */
function scopeOfMypy(folder: Folder, { toml, ini }: PythonProject): string {
  const mypySettings = { ...asObject(asObject(toml.tool)?.mypy), ...ini.mypy }
  if (['files', 'packages', 'modules'].some((key) => key in mypySettings)) return ''
  const packages = folder.paths
    .filter((path) => /^[A-Za-z]\w*\/__init__\.py$/.test(path))
    .map((path) => path.split('/')[0] ?? '')
  const named = String(asObject(toml.project)?.name ?? ini.metadata?.name ?? '').replace(/[-.]/g, '_')
  const [only, ...more] = packages.filter(
    (name) => !/^(?:tests?|testing|docs?|examples?|bench\w*|scripts|tools)$/.test(name),
  )
  if (folder.paths.some((path) => path.startsWith('src/'))) return 'src'
  if (packages.includes(named)) return named
  return only !== undefined && more.length === 0 ? only : '.'
}

/** flake8 would read the packages that `prepare` installs. */
function withoutEnvironment(gate: string | null): string | null {
  return gate?.startsWith('.venv/') === true ? `${gate} --extend-exclude .venv` : gate
}

function managerOf(folder: Folder, { toml }: PythonProject): keyof typeof PYTHON_MANAGERS {
  const tool = asObject(toml.tool)
  if (folder.has('uv.lock') || asObject(tool?.uv) !== null) return 'uv'
  if (folder.has('pdm.lock')) return 'pdm'
  if (folder.has('poetry.lock') || asObject(tool?.poetry) !== null) return 'poetry'
  return folder.has('Pipfile') ? 'pipenv' : 'pip'
}

/** Test files are found from the top only if their folders are packages. */
function unittestBy(folder: Folder, run: (tool: string, line: string) => string | null): string | null {
  const top = firstOf(folder, ['tests/__init__.py', 'test/__init__.py']) === null
  const testFolder = ['tests', 'test'].find((name) =>
    folder.paths.some((path) => path.startsWith(`${name}/`)),
  )
  const start = top && testFolder !== undefined ? ` -s ${testFolder}` : ''
  return run('python', `python -m unittest discover${start}`)
}

function distinct(words: readonly string[]): string[] {
  return [...new Set(words)]
}
