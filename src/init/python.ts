// Python: the tools that the project has configured, by uv, poetry or pip.
import { type Ecosystem, type Folder, firstOf, gatesFrom, hasLike } from './project.ts'

const REQUIREMENTS = [
  'requirements.txt',
  'requirements-dev.txt',
  'dev-requirements.txt',
  'requirements-test.txt',
]
const TEXTS = ['pyproject.toml', 'setup.cfg', 'tox.ini', ...REQUIREMENTS]
const TEST_FILE = /(?:^|\/)(?:test_[^/]*|[^/]*_test)\.py$/

export const python: Ecosystem = {
  marks: ['pyproject.toml', 'setup.py', 'setup.cfg', 'Pipfile', ...REQUIREMENTS],
  tests: TEST_FILE,
  propose(folder) {
    const project = folder.text('pyproject.toml')
    const manager = managerOf(folder, project)
    const tools = toolsOf(folder)
    const { prepare, start } = MANAGERS[manager](folder, project, tools)
    /** The first of the tools that the project has, with its arguments. */
    const run = (lines: readonly string[]): string | null => {
      const line = lines.find((one) => tools.includes(one.split(' ')[0] ?? ''))
      return line === undefined ? null : start + line
    }
    return {
      language: 'Python',
      manager,
      prepare,
      setup: manager === 'pip' ? null : `pipx install ${manager}`,
      gates: gatesFrom({
        typecheck: run(['mypy .', 'pyright']),
        lint: run(['ruff check .', 'flake8']),
        test: run(['pytest']) ?? (hasLike(folder, TEST_FILE) ? unittest(folder, start) : null),
      }),
      isWorkspace: /^\[tool\.uv\.workspace\]/m.test(project),
    }
  },
}

/** How tools are installed, and what stands before a tool on a command line. */
type Way = (
  folder: Folder,
  project: string,
  tools: readonly string[],
) => { prepare: string | null; start: string }

const MANAGERS: Readonly<Record<'uv' | 'poetry' | 'pip', Way>> = {
  uv: (folder) => ({
    prepare: folder.has('uv.lock') ? 'uv sync --locked --all-groups' : 'uv sync --all-groups',
    start: 'uv run ',
  }),
  poetry: () => ({ prepare: 'poetry install --no-interaction', start: 'poetry run ' }),
  pip: (folder, project, tools) => {
    const files = REQUIREMENTS.filter((name) => folder.has(name)).flatMap((name) => ['-r', name])
    const isPackage = /^\[(?:project|build-system)\]/m.test(project) || folder.has('setup.py')
    const listed = files.map((file) => folder.text(file)).join('\n')
    const more = tools.filter((tool) => !new RegExp(`^${tool}\\b`, 'm').test(listed))
    const wanted = [...files, ...(isPackage ? ['-e', '.'] : []), ...more]
    if (wanted.length === 0) return { prepare: null, start: 'python3 -m ' }
    // The system's Python takes no packages (PEP 668). Git sees nothing of a folder that ignores itself.
    const make = 'python3 -m venv .venv && echo "*" > .venv/.gitignore'
    return {
      prepare: `${make} && .venv/bin/python -m pip install --quiet ${wanted.join(' ')}`,
      start: '.venv/bin/python -m ',
    }
  },
}

function managerOf(folder: Folder, project: string): keyof typeof MANAGERS {
  if (folder.has('uv.lock') || /^\[tool\.uv\b/m.test(project)) return 'uv'
  if (folder.has('poetry.lock') || /^\[tool\.poetry\]/m.test(project)) return 'poetry'
  return 'pip'
}

/** Tests that are plain functions are found by pytest alone; so many files are asked. */
const PYTEST = /^(?:(?:import|from) pytest\b|(?:async )?def test_)/m
const MOST_ASKED = 20

/** Tools that the project names in its files, or has a file for. */
function toolsOf(folder: Folder): string[] {
  const tests = folder.paths.filter((path) => TEST_FILE.test(path)).slice(0, MOST_ASKED)
  const isPytest = tests.some((path) => PYTEST.test(folder.text(path)))
  const texts = [...TEXTS.map((name) => folder.text(name)), ...(isPytest ? ['pytest'] : [])].join('\n')
  const own = {
    pytest: 'pytest.ini',
    ruff: 'ruff.toml',
    mypy: 'mypy.ini',
    flake8: '.flake8',
    pyright: 'pyrightconfig.json',
  }
  return Object.entries(own).flatMap(([tool, file]) =>
    folder.has(file) || new RegExp(`\\b${tool}\\b`).test(texts) ? [tool] : [],
  )
}

/** Test files are found from the top only where their folders are packages. */
function unittest(folder: Folder, start: string): string {
  const python = start.replace(/ ?-m $/, '')
  const command = `${start.endsWith('-m ') ? start : `${python}python -m `}unittest discover`
  const top = firstOf(folder, ['tests/__init__.py', 'test/__init__.py']) === null
  const where = ['tests', 'test'].find((name) => folder.paths.some((path) => path.startsWith(`${name}/`)))
  return top && where !== undefined ? `${command} -s ${where}` : command
}
