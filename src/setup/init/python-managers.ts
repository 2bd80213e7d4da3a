// How Python projects install what their tools need, and start them: uv, poetry, PDM, pipenv or pip.
import { asObject } from '../../engine/model/json.ts'
import { shellWord } from '../../system/shell-word.ts'
import type { Folder } from './project.ts'
import { type PythonProject, type Source, testSource, toolSource } from './python-needs.ts'
import type { Tool } from './python-tools.ts'
import { findPin, hookPackages } from './stated.ts'

export const REQUIREMENTS = [
  'requirements.txt',
  'requirements-dev.txt',
  'dev-requirements.txt',
  'requirements-test.txt',
]

/** How tools are installed, and how a command line of one is started. */
type PythonManager = (
  folder: Folder,
  project: PythonProject,
  tools: readonly Tool[],
) => {
  prepare: string | null
  /** `prepare` that also installs what these words for pip name. */
  prepareWith?(words: readonly string[]): string
  /** Tried if `prepare` fails. */
  instead?: readonly string[]
  run(tool: string, line: string): string | null
}

export const PYTHON_MANAGERS: Readonly<Record<'uv' | 'poetry' | 'pdm' | 'pipenv' | 'pip', PythonManager>> = {
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
      const more = hookPackages(folder, tool).map((name) => ` --with ${shellWord(name)}`)
      return isBrought ? words : `${words} --with ${tool}${findPin(folder, tool)}${more.join('')}`
    }
    const sync = (...words: string[]) => ['uv sync', ...words].join(' ')
    const wanted = [
      ...uvGroups(project, runner === null ? null : sources),
      ...extraNames.map((name) => `--extra ${shellWord(name)}`),
    ]
    const prepare = sync(...(folder.has('uv.lock') ? ['--locked'] : []), ...wanted)
    // A lock file that no longer fits, and groups that cannot be installed together.
    const instead = [sync('--frozen', ...wanted), sync(...wanted), sync()].filter((one) => one !== prepare)
    return {
      prepare,
      prepareWith: (words) => `${prepare} && uv pip install ${words.map(shellWord).join(' ')}`,
      instead: [...new Set(instead)],
      run: (tool, line) => `uv run${installedWith(tool)} ${line}`,
    }
  },
  poetry: (folder, { sources }) => {
    const isInstalled = (tool: string) =>
      sources.some(({ lists, kind }) => kind !== 'environment' && lists.includes(tool))
    const hasExtra = sources.some(
      ({ kind, name }) => kind === 'extra' && /^(?:tests?|testing|dev)$/.test(name),
    )
    return {
      prepare: `poetry install --no-interaction${hasExtra ? ' --all-extras' : ''}`,
      instead: [
        'poetry lock --no-interaction && poetry install --no-interaction',
        'poetry install --no-interaction --only-root',
      ],
      // Of a tool that poetry does not install there is only a program elsewhere.
      run: (tool, line) =>
        tool === 'python' || isInstalled(tool)
          ? `poetry run ${line}`
          : `pipx run ${line.replace(/^(\S+)/, `$1${findPin(folder, tool)}`)}`,
    }
  },
  // It installs the groups for development by itself.
  pdm: () => ({
    prepare: 'pdm install',
    instead: ['pdm install --no-lock'],
    run: (_tool, line) => `pdm run ${line}`,
  }),
  pipenv: (folder) => ({
    prepare: folder.has('Pipfile.lock') ? 'pipenv sync --dev' : 'pipenv install --dev --skip-lock',
    instead: folder.has('Pipfile.lock') ? ['pipenv install --dev --skip-lock'] : [],
    run: (_tool, line) => `pipenv run ${line}`,
  }),
  pip: (folder, project, tools) => {
    const installWords = pipWords(folder, project, tools)
    const run = (start: string) => (_tool: string, line: string) =>
      /^python (?!-m )/.test(line)
        ? line.replace(/^python/, start)
        : `${start} -m ${line.replace(/^python -m /, '')}`
    if (installWords.length === 0) return { prepare: null, run: run('python3') }
    // The system's Python takes no packages (PEP 668). Git sees nothing of a folder that ignores itself.
    const make = 'python3 -m venv .venv && echo "*" > .venv/.gitignore'
    const pip = '.venv/bin/python -m pip install --quiet'
    // Groups are known since pip 25.1.
    const newer = installWords.includes('--group') ? ` && ${pip} --upgrade pip` : ''
    const install = (words: readonly string[]) =>
      `${make}${newer} && ${pip} ${words.map(shellWord).join(' ')}`
    const unbuilt = installWords.filter((word, at) => word !== '-e' && installWords[at - 1] !== '-e')
    // CI may install only what the tests need, by tox or nox; some projects cannot be built, and their tests run from the tree.
    const instead = [pipWords(folder, project, tools, []), unbuilt].filter(
      (words) => words.length > 0 && words.join('\0') !== installWords.join('\0'),
    )
    return {
      prepare: install(installWords),
      prepareWith: (words) => install(withoutRepeats([...installWords, ...words])),
      instead: distinct(instead.map(install)),
      run: run('.venv/bin/python'),
    }
  },
}

const INSTALLED_BY_UV: readonly string[] = ['group', 'extra']

/** All groups if none is known to be that of the tests: else those needed, for others may turn skipped tests into red ones. */
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
function neededSources(
  folder: Folder,
  { sources }: PythonProject,
  tools: readonly Tool[],
  files: readonly string[] = REQUIREMENTS,
) {
  const isFile = ({ kind, name }: Source) => kind === 'file' && files.includes(name)
  const chosen = new Set(sources.filter(isFile))
  const unlisted: string[] = []
  const runner = testSource(sources, tools.includes('pytest') ? 'pytest' : 'unittest')
  if (runner !== null) chosen.add(runner)
  for (const tool of tools) {
    if ([...chosen].some(({ lists }) => lists.includes(tool))) continue
    const source = toolSource(sources, tool)
    if (source !== null) chosen.add(source)
    if (source === null || !source.lists.includes(tool))
      unlisted.push(tool + findPin(folder, tool), ...hookPackages(folder, tool))
  }
  return { sources: [...chosen], runner, loose: unlisted }
}

/** What pip is to install: the project's own lists, the project, and tools that none of the lists has. `files`: lists for any purpose. */
function pipWords(
  folder: Folder,
  project: PythonProject,
  tools: readonly Tool[],
  files: readonly string[] = REQUIREMENTS,
): string[] {
  const { sources, loose } = neededSources(folder, project, tools, files)
  const isPackage = 'project' in project.toml || 'build-system' in project.toml || folder.has('setup.py')
  const extras = extrasOf(sources)
  const itself = `.${extras.length > 0 ? `[${extras.join(',')}]` : ''}`
  return [
    ...withoutRepeats(safeWords(sources.flatMap(({ installs }) => installs))),
    ...(isPackage ? ['-e', itself] : []),
    ...groupsOf(sources).flatMap((group) => ['--group', group]),
    ...loose,
  ]
}

/** A requirements file may be named by several lists; its option goes with it. */
function withoutRepeats(words: readonly string[]): string[] {
  const pairs = words.flatMap((word, at) => {
    if (OPTION.test(word)) return []
    const option = OPTION.test(words[at - 1] ?? '') ? `${words[at - 1]}\0` : ''
    return [`${option}${word}`]
  })
  return distinct(pairs).flatMap((pair) => pair.split('\0'))
}

const OPTION = /^(?:-[rce]|--group)$/

function distinct(words: readonly string[]): string[] {
  return [...new Set(words)]
}
