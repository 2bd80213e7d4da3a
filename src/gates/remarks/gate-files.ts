// Which settings files each tool reads, by the words that name the tool in a command.
import ignore from 'ignore'

/** Words of a command, and the files that these tools read: patterns as in .gitignore. */
const TABLE: [tools: string, files: string][] = [
  [
    'vitest',
    'vitest*.config.* vitest*.workspace.* vitest*.setup.* vitest*.shims.* vitest-* vitest.global* vite.config.*',
  ],
  [
    'jest react-scripts ts-jest',
    'jest*.config.* jest*.setup.* jest*.preset.* jest-setup.* babel.config.* .babelrc* .swcrc',
  ],
  ['playwright', 'playwright*.config.*'],
  ['cypress', 'cypress.config.* cypress.json'],
  ['mocha _mocha', '.mocharc* mocha.opts'],
  ['ava', 'ava.config.*'],
  ['tap', '.taprc'],
  ['nyc', '.nycrc* nyc.config.*'],
  ['c8', '.c8rc*'],
  ['karma ng', 'karma.conf* angular.json'],
  ['wdio', 'wdio*.conf*'],
  ['jasmine', 'jasmine.json jasmine.js jasmine.mjs'],
  ['wtr web-test-runner', 'web-test-runner.config.*'],
  ['cucumber cucumber-js', 'cucumber.js cucumber.?js cucumber.json cucumber.y*ml'],
  ['node', 'node.config.json'],
  ['deno', 'deno.json deno.jsonc deno.lock'],
  ['bun', 'bunfig.toml bun.lock bun.lockb'],
  ['npm npx', '.npmrc package-lock.json npm-shrinkwrap.json'],
  ['pnpm', '.npmrc .pnpmfile.* pnpm-workspace.yaml pnpm-lock.yaml'],
  ['yarn', '.npmrc .yarnrc .yarnrc.yml yarn.lock'],
  ['turbo nx lerna', 'turbo.json nx.json lerna.json project.json'],
  ['lefthook', 'lefthook*.* .lefthook*.*'],
  ['mise', '*mise.toml *mise.*.toml'],
  ['tsc vue-tsc svelte-check astro tsgo ts-jest tsd', 'tsconfig*.json'],
  ['flow', '.flowconfig'],
  ['eslint next react-scripts', '.eslintrc* .eslintignore eslint*.config.*'],
  ['biome rome', 'biome.json* .biome.json* rome.json'],
  ['prettier', '.prettierrc* .prettierignore prettier.config.*'],
  ['stylelint', '.stylelintrc* .stylelintignore stylelint.config.*'],
  ['oxlint xo jshint', '.oxlintrc.json .xo-config* .jshintrc'],
  [
    'pytest py.test tox nox coverage unittest nose nose2 trial hatch behave',
    'pytest.ini .pytest.ini pytest.toml .pytest.toml conftest.py .coveragerc tox.ini setup.cfg pyproject.toml',
  ],
  // Python finds a module of the project before the installed one of the same name.
  [
    'pytest py.test tox nox coverage unittest nose nose2',
    'sitecustomize.py usercustomize.py /pytest.py /_pytest.py /unittest.py /tox.py /nox.py /coverage.py /pytest/__init__.py /_pytest/__init__.py /unittest/__init__.py',
  ],
  ['tox nox', 'tox.toml noxfile.py'],
  [
    'ruff flake8 pylint black isort bandit pydocstyle',
    'ruff.toml .ruff.toml .flake8 pylintrc .pylintrc .isort.cfg setup.cfg pyproject.toml',
  ],
  [
    'mypy dmypy pyright basedpyright pyre ty',
    'mypy.ini .mypy.ini pyrightconfig.json setup.cfg pyproject.toml',
  ],
  ['pre-commit', '.pre-commit-config.yaml'],
  ['poe task pdm hatch rye poetry uv', 'pyproject.toml hatch.toml poetry.lock pdm.lock uv.lock'],
  ['pipenv', 'Pipfile Pipfile.lock'],
  ['golangci-lint', '.golangci*'],
  ['go', 'go.mod go.sum go.work'],
  [
    'cargo cross',
    'Cargo.toml Cargo.lock build.rs !src/build.rs !**/src/build.rs .cargo/config .cargo/config.toml .config/nextest.toml rust-toolchain rust-toolchain.toml',
  ],
  ['clippy', 'clippy.toml .clippy.toml'],
  ['fmt rustfmt', 'rustfmt.toml .rustfmt.toml'],
  ['mvn mvnw mvnd', 'pom.xml .mvn/'],
  ['gradle gradlew', '*.gradle *.gradle.kts gradle.properties gradle.lockfile gradle/wrapper/'],
  ['just', 'justfile .justfile'],
  ['task go-task', 'Taskfile.y*ml Taskfile.dist.y*ml'],
  ['make gmake', 'Makefile makefile GNUmakefile *.mk'],
]

const ROWS = TABLE.map(([tools, files]) => ({
  tools: new Set(tools.split(' ')),
  files: ignore({ ignorecase: true, allowRelativePaths: true }).add(files.split(' ')),
}))

/** The tools that read the file as their settings; empty where none does. */
export function readersOf(path: string): Set<string> {
  const rows = ROWS.filter(({ files }) => files.ignores(path))
  return new Set(rows.flatMap(({ tools }) => [...tools]))
}

export function isMakefile(path: string): boolean {
  return /(?:^|\/)(?:GNUmakefile|[Mm]akefile)$|\.(?:mk|make)$/.test(path)
}

/** Keys of package.json that hold settings of tools, and the tools that read them. */
export const PACKAGE_KEYS: Record<string, string> = {
  jest: 'jest react-scripts',
  mocha: 'mocha _mocha',
  ava: 'ava',
  tap: 'tap',
  c8: 'c8',
  nyc: 'nyc',
  eslintConfig: 'eslint react-scripts next',
  eslintIgnore: 'eslint',
  xo: 'xo',
  standard: 'standard',
  prettier: 'prettier',
  stylelint: 'stylelint',
  vitest: 'vitest',
  babel: 'jest react-scripts',
  packageManager: 'pnpm yarn corepack',
  workspaces: 'npm pnpm yarn bun turbo lerna nx',
  wireit: 'npm pnpm yarn wireit',
}
