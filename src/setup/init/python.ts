// Python: the tools that the project has configured or runs, by uv, poetry or pip.
import { asObject } from '../../engine/model/json.ts'
import { shellWord } from '../../system/shell-word.ts'
import { type Ecosystem, type Folder, firstOf, gatesFrom } from './project.ts'
import { type PythonProject, readProject, type Source, testSource, toolSource } from './python-needs.ts'
import { findPin, statedArguments, statedCommands } from './stated.ts'

const REQUIREMENTS = [
  'requirements.txt',
  'requirements-dev.txt',
  'dev-requirements.txt',
  'requirements-test.txt',
]
const TEST_FILE = /(?:^|\/)(?:test_[^/]*|[^/]*_test)\.py$/

export const python: Ecosystem = {
  marks: ['pyproject.toml', 'setup.py', 'setup.cfg', 'Pipfile', ...REQUIREMENTS],
  tests: TEST_FILE,
  independent: ['typecheck', 'lint', 'test'],
  propose(folder) {
    const project = readProject(folder)
    const stated = statedCommands(folder)
    const has = (tool: Tool) => isUsed(tool, folder, project, stated)
    const tools = TOOLS.filter((tool) => has(tool) && !REPLACED_BY[tool]?.some(has))
    const manager = managerOf(folder, project)
    const { prepare, run } = MANAGERS[manager](folder, project, tools)
    const gate = (tool: Tool, line: string, defaultArgs = ''): string | null => {
      if (!tools.includes(tool)) return null
      return run(tool, `${line} ${statedArguments(stated, line)[0] ?? defaultArgs}`.trim())
    }
    // unittest may exit with 0 where it finds no test.
    const unittest = hasTestsLike(folder, UNITTEST) ? unittestBy(folder, run) : null
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
      setup: manager === 'pip' ? null : `pipx install ${manager}`,
      gates: gatesFrom({
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

const TOOLS = ['pytest', 'ruff', 'mypy', 'flake8', 'pyright'] as const
/** Calls that select tests, and benchmarks, prove too little. */
const NARROW = /(?:^| )-[km]\b|bench/
/** The most calls of the tests that are tried. */
const MAX_CALLS = 3
type Tool = (typeof TOOLS)[number]
/** One tool a gate: a project with both uses the other for something else. */
const REPLACED_BY: Partial<Record<Tool, readonly Tool[]>> = { pyright: ['mypy'], flake8: ['ruff'] }

/** Files and sections that hold the settings of a tool. */
const SETTINGS: Readonly<Record<Tool, { files: readonly string[]; sections: readonly string[] }>> = {
  pytest: { files: ['pytest.ini', 'conftest.py', 'tests/conftest.py'], sections: ['tool:pytest', 'pytest'] },
  ruff: { files: ['ruff.toml', '.ruff.toml'], sections: [] },
  mypy: { files: ['mypy.ini', '.mypy.ini'], sections: ['mypy'] },
  flake8: { files: ['.flake8'], sections: ['flake8'] },
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
/** The most test files that are read for it. */
const MAX_READ_TESTS = 20

function hasTestsLike(folder: Folder, pattern: RegExp): boolean {
  const tests = folder.paths.filter((path) => TEST_FILE.test(path)).slice(0, MAX_READ_TESTS)
  return tests.some((path) => pattern.test(folder.text(path)))
}

/** Empty where the settings name what is checked; else the package. */
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

/** How tools are installed, and how a command line of one is started. */
type PythonManager = (
  folder: Folder,
  project: PythonProject,
  tools: readonly Tool[],
) => { prepare: string | null; run(tool: string, line: string): string | null }

const MANAGERS: Readonly<Record<'uv' | 'poetry' | 'pip', PythonManager>> = {
  uv: (folder, project, tools) => {
    const { sources, runner } = neededSources(folder, project, tools)
    const extras = project.sources.filter(
      ({ kind, name }) => kind === 'extra' && /^(?:tests?|testing|dev)$/.test(name),
    )
    const extraNames = distinct([...extras.map(({ name }) => name), ...extrasOf(sources)])
    const isInstalled = (tool: string) =>
      project.sources.some(({ kind, lists }) => INSTALLED_BY_UV.includes(kind) && lists.includes(tool))
    const installedWith = (tool: string): string => {
      if (tool === 'python' || isInstalled(tool)) return ''
      const words = tool === 'pytest' ? withWords(runner?.installs ?? []) : ''
      const isBrought = words !== '' && runner?.lists.includes(tool) === true
      return isBrought ? words : `${words} --with ${tool}${findPin(folder, tool)}`
    }
    return {
      prepare: [
        `uv sync${folder.has('uv.lock') ? ' --locked' : ''}`,
        ...uvGroups(project, runner === null ? null : sources),
        ...extraNames.map((name) => `--extra ${shellWord(name)}`),
      ].join(' '),
      run: (tool, line) => `uv run${installedWith(tool)} ${line}`,
    }
  },
  poetry: (_folder, { sources }) => {
    const hasExtra = sources.some(
      ({ kind, name }) => kind === 'extra' && /^(?:tests?|testing|dev)$/.test(name),
    )
    return {
      prepare: `poetry install --no-interaction${hasExtra ? ' --all-extras' : ''}`,
      run: (_tool, line) => `poetry run ${line}`,
    }
  },
  pip: (folder, project, tools) => {
    const installWords = pipWords(folder, project, tools)
    const run = (start: string) => (_tool: string, line: string) =>
      `${start} -m ${line.replace(/^python -m /, '')}`
    if (installWords.length === 0) return { prepare: null, run: run('python3') }
    // The system's Python takes no packages (PEP 668). Git sees nothing of a folder that ignores itself.
    const make = 'python3 -m venv .venv && echo "*" > .venv/.gitignore'
    const pip = '.venv/bin/python -m pip install --quiet'
    // Groups are known since pip 25.1.
    const newer = installWords.includes('--group') ? ` && ${pip} --upgrade pip` : ''
    return {
      prepare: `${make}${newer} && ${pip} ${installWords.map(shellWord).join(' ')}`,
      run: run('.venv/bin/python'),
    }
  },
}

const INSTALLED_BY_UV: readonly string[] = ['group', 'extra']

/** All groups where none is known to be that of the tests: else those needed, for others may turn skipped tests into red ones. */
function uvGroups({ toml }: PythonProject, needed: readonly Source[] | null): string[] {
  if (needed === null) return asObject(toml['dependency-groups']) === null ? [] : ['--all-groups']
  const defaultGroups = asObject(asObject(toml.tool)?.uv)?.['default-groups'] ?? ['dev']
  const groups = groupsOf(needed)
  const isDefault = (name: string) =>
    defaultGroups === 'all' || (Array.isArray(defaultGroups) && defaultGroups.includes(name))
  return groups.filter((name) => !isDefault(name)).map((name) => `--group ${shellWord(name)}`)
}

/** Words for pip, for `uv run`. */
function withWords(installs: readonly string[]): string {
  const words = safeWords(installs).map((word, at, all) => {
    if (word === '-r') return ` --with-requirements`
    return all[at - 1] === '-r' ? ` ${shellWord(word)}` : ` --with ${shellWord(word)}`
  })
  return installs.includes('-c') ? '' : words.join('')
}

/** Words without characters that a workflow or shell would evaluate. */
const safeWords = (words: readonly string[]) => words.filter((word) => !/[$`\n]/.test(word))
const NAME = /^[\w.-]+$/
const extrasOf = (sources: readonly Source[]) =>
  distinct(sources.flatMap(({ extras }) => extras)).filter((one) => NAME.test(one))
const groupsOf = (sources: readonly Source[]) =>
  distinct(sources.flatMap(({ groups }) => groups)).filter((one) => NAME.test(one))

/** The project's own lists that its tests and tools need, the one of the test runner, and the tools that none of them has. */
function neededSources(folder: Folder, { sources }: PythonProject, tools: readonly Tool[]) {
  const isFile = ({ kind, name }: Source) => kind === 'file' && REQUIREMENTS.includes(name)
  const chosen = new Set(sources.filter(isFile))
  const unlisted: string[] = []
  const runner = testSource(sources, tools.includes('pytest') ? 'pytest' : 'unittest')
  if (runner !== null) chosen.add(runner)
  for (const tool of tools) {
    if ([...chosen].some(({ lists }) => lists.includes(tool))) continue
    const source = toolSource(sources, tool)
    if (source !== null) chosen.add(source)
    if (source === null || !source.lists.includes(tool)) unlisted.push(tool + findPin(folder, tool))
  }
  return { sources: [...chosen], runner, loose: unlisted }
}

/** What pip is to install: the project's own lists, the project, and tools that none of the lists has. */
function pipWords(folder: Folder, project: PythonProject, tools: readonly Tool[]): string[] {
  const { sources, loose } = neededSources(folder, project, tools)
  const isPackage = 'project' in project.toml || 'build-system' in project.toml || folder.has('setup.py')
  const extras = extrasOf(sources)
  const itself = `.${extras.length > 0 ? `[${extras.join(',')}]` : ''}`
  return [
    ...safeWords(sources.flatMap(({ installs }) => installs)),
    ...(isPackage ? ['-e', itself] : []),
    ...groupsOf(sources).flatMap((group) => ['--group', group]),
    ...loose,
  ]
}

function distinct(words: readonly string[]): string[] {
  return [...new Set(words)]
}

function managerOf(folder: Folder, { toml }: PythonProject): keyof typeof MANAGERS {
  const tool = asObject(toml.tool)
  if (folder.has('uv.lock') || asObject(tool?.uv) !== null) return 'uv'
  if (folder.has('poetry.lock') || asObject(tool?.poetry) !== null) return 'poetry'
  return 'pip'
}

/** Test files are found from the top only where their folders are packages. */
function unittestBy(folder: Folder, run: (tool: string, line: string) => string | null): string | null {
  const top = firstOf(folder, ['tests/__init__.py', 'test/__init__.py']) === null
  const testFolder = ['tests', 'test'].find((name) =>
    folder.paths.some((path) => path.startsWith(`${name}/`)),
  )
  const start = top && testFolder !== undefined ? ` -s ${testFolder}` : ''
  return run('python', `python -m unittest discover${start}`)
}
