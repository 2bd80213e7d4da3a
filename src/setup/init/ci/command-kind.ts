// What a command of a project's CI is for: a row for each tool that it may start, and for names of scripts. Pure.

export const GATE_KINDS = ['format', 'typecheck', 'lint', 'vet', 'test', 'docs', 'build'] as const
export type GateKind = (typeof GATE_KINDS)[number]

/** `prepare`: it installs. `skip`: nothing to check, or what only a CI may do, such as a release. `other`: it may be a check. */
export type CommandKind = GateKind | 'prepare' | 'skip' | 'other'

/** What only starts another command: variables, package managers that run a tool, interpreters. */
const STARTERS = [
  /^set -[eux]+;? ?/,
  /^(?:export )?[A-Za-z_]\w*=(?:"[^"]*"|'[^']*'|[^\s;&|]*) (?:&& )?/,
  /^(?:env|time|exec|xvfb-run(?: -a)?|nice) /,
  /^(?:uv|poetry|pipenv) run (?:-{1,2}[\w-]+(?:=\S+| (?!-)\S+)? )*?(?=[\w./])/,
  /^(?:uvx|pipx run|uv tool run|npx|bunx|pnpm (?:exec|dlx)|yarn (?:exec|dlx)|npm exec|bundle exec|composer exec|dotnet tool run|mise exec --|mise x --) (?:--?[\w-]+(?:=\S+| \S+)? )*?(?=[\w./@])/,
  /^(?:\S*\/)?python[\d.]*(?: -[WXI] ?\S*)* -m /,
  /^coverage run (?:-\S+ )*-m /,
  /^(?:\.\/)?(?:vendor|node_modules\/\.|\.venv|venv|\.tox)\/?bin\//,
  /^(?:c8|nyc|dotenv|cross-env) (?:\S+=\S+ )*(?=\S)/,
]

/** The command that is really started. */
export function withoutStarters(run: string): string {
  let text = run.trim()
  for (let turn = 0; turn < 6; turn += 1) {
    const before = text
    for (const starter of STARTERS) text = text.replace(starter, '')
    if (text === before) break
  }
  const [, started = ''] = SCRIPT_OR_PROGRAM.exec(text) ?? []
  const program = started === '' ? '' : withoutStarters(started)
  return TOOLS.some(([kind, tool]) => kind !== 'skip' && tool.test(program)) ? program : text
}

/**
 * hatch, PDM and rye run a script of the project or a program. hatch takes a selection of environments before it, or its environment as
 * `test:pytest` (https://hatch.pypa.io/latest/environment/#selection).
 */
const SCRIPT_OR_PROGRAM = /^(?:hatch(?: (?:-e|--env)[ =]\S+)?|pdm|rye) run (?:[+-]\S+ )*(?:[\w.-]+:)?(\S.*)$/

/** The first row that matches counts. */
const TOOLS: readonly (readonly [CommandKind, RegExp])[] = [
  // Nothing to check, and what has an effect elsewhere: releases, uploads, audits.
  [
    'skip',
    /^(?:echo|printf|cat|ls|pwd|which|type|command|date|sleep|env|lscpu|uname|df|free|true|:|exit|touch|find|sed|grep|head|tail|tree|du|test|\[|source|\.|rm|cp|mv|mkdir|chmod|chown|ln|tar|zip|unzip|gzip|sudo|apt|apt-get|brew|choco|curl|wget|docker|docker-compose|podman|gh|hub|ssh|scp|rsync|aws|gcloud|az|kubectl|helm|terraform|systemctl|service|tmux|kill|git|jq|npm-check|du|nproc)\b/,
  ],
  [
    'skip',
    /\b(?:codecov|coveralls|semantic-release|codeclimate|sonar\S*|snyk|pip-audit|safety|bandit|npm audit|yarn audit|pnpm audit|audit-ci|osv-scanner|govulncheck|gosec|trivy|grype|semgrep|licensecheck|twine (?!check\b)|vsce|netlify|vercel deploy|surge|wrangler deploy|firebase deploy|chromatic|pkg-pr-new|zizmor|pitest)\b|^cargo .*--target[ =]|[^<(]> ?[\w.][\w./-]*$/,
  ],
  [
    'skip',
    /^(?:npm|yarn|pnpm) (?:publish|audit|version|config|whoami|pack|cache|prune|dedupe|ls|list|outdated|view|link)\b|^cargo (?:publish|audit|deny|login|package|outdated|vendor|update|llvm-cov|tarpaulin|bench|fuzz|miri|semver-checks|install|machete|udeps|\+)|^(?:coverage|go tool|rustup|rustc|bundle (?:audit|outdated)|mix (?:hex|deps\.(?:unlock|audit)|archive))\b|^(?:node|npm|go|cargo|python|ruby|java|php|mix|gcc|clang|cmake|make) (?:-v|-V|--version|version|env)$|--version$|^dotnet (?:nuget|pack|publish)\b|^(?:goreleaser|mvn\S* .*deploy|gem (?:push|build))\b/,
  ],
  // They make environments, build or list tests, and run none.
  ['skip', /\s--(?:notest|no-run|collect-only|list-tests|listTests)\b/],
  // Without this, `pre-commit install` would be a linter.
  ['skip', /^(?:pre-commit|prek|lefthook|husky) (?:install|uninstall)/],
  [
    'prepare',
    /^(?:npm (?:ci|i|install|clean-install|install-test)|pnpm (?:ci|i|install|setup)|yarn(?: install)?(?: --?\S+)*$|bun (?:i|install)|pip3?(?:\.exe)? install|ensurepip|venv|virtualenv|uv (?:sync|venv|pip|tool install|lock|python)|poetry (?:install|config|self|lock|env|add|run pip)|timeout|pdm (?:install|sync|config)|pipenv (?:install|sync)|pipx install|hatch env|bundle(?: install| config| update|$)|gem (?:install|update)|composer (?:install|update|self-update|require|validate|config|global|bin \S+ (?:install|update|require))|mix (?:deps\.(?:get|compile)|local\.\w+)|go (?:mod|get|install|generate)|cargo (?:fetch|generate-lockfile)|dotnet (?:restore|tool|workload)|corepack|swift package|nvm|npx playwright install|playwright install|\.\/(?:configure|autogen\S*|bootstrap\S*)|autoreconf)\b/,
  ],
  // Formatters that only look.
  [
    'format',
    /^(?:prettier\b.*(?: --check| -c| -l| --list-different)|ruff format|black\b|isort\b|cargo fmt|rustfmt|gofmt|go fmt|goimports|gofumpt|mix format|dotnet format|biome format|clang-format|git-clang-format|shfmt|php-cs-fixer|pint|yapf|dprint|stylua|swift-format|swiftformat|taplo|zig fmt|fantomas|ormolu|fourmolu|pyproject-fmt|docformatter|autopep8|deno fmt|nixfmt|alejandra)\b|\bgofmt\b|\bspotless\w*:?[Cc]heck|\bspotlessCheck\b|\bgo fmt\b/,
  ],
  [
    'typecheck',
    /^(?:tsc\b(?!.*(?: -b| --build))|vue-tsc|tsgo|svelte-check|astro check|mypy|dmypy|pyright|basedpyright|pytype|pyre|ty check|phpstan|psalm|srb|sorbet|steep|mix dialyzer|tsd|attw|flow|dtslint|deno check|pyrefly)\b/,
  ],
  ['vet', /^go vet\b/],
  [
    'lint',
    /^(?:eslint|hatch (?:fmt|check)|ruff|flake8|pylint|pydocstyle|pycodestyle|pyflakes|golangci-lint|staticcheck|revive|cargo (?:hack )?clippy|rubocop|standardrb|reek|mix (?:credo|sobelow)|phpcs|phpmd|ecs|rector|markdownlint(?:-cli2?)?|mdl|remark|yamllint|actionlint|shellcheck|hadolint|typos|codespell|cspell|biome|xo|standard|oxlint|stylelint|jshint|pre-commit|prek|lefthook|checkstyle|ktlint|detekt|swiftlint|clang-tidy|cppcheck|vale|vulture|knip|publint|commitlint|taplo|ansible-lint|dart analyze|deno lint|interrogate|deptry|check-manifest|reuse|djlint|sqlfluff|tflint|buf lint|luacheck|ameba|selene|editorconfig-checker|ec)\b|\b(?:checkstyle|ktlint|detekt|pmd|spotbugs)\w*:?check\b|\bsetup\.py check\b/,
  ],
  [
    'test',
    /^(?:pytest|py\.test|hatch test|unittest|tox|nox|jest|vitest|mocha|ava|tap|tape|borp|uvu|jasmine|karma|cypress|playwright|node (?:--\S+ )*--test|node \S*test\S*|go test|gotestsum|ginkgo|cargo (?:hack )?(?:test|nextest|t)|rspec|rake(?: (?:test|spec)\S*)?$|rails test|m|minitest|cucumber|phpunit|pest|paratest|behat|codecept|mix (?:test|coveralls)|ctest|dotnet test|swift test|xcodebuild test|trial|bats|busted|zig (?:build )?test|deno test|bun test|wasm-pack test|meson test|ninja test|stack test|cabal test|sbt (?:\S+ )*test|lein test|dart test|flutter test|crystal spec|nimble test|opam exec|manage\.py test|doctest|stestr|behave|green|ward|slipcover|prove|newman|hurl)\b|\bmanage\.py test\b|^\S*mvnw?\b(?!.*(?:\b(?:compile|deploy|site)\b|-DskipTests\b|-Dmaven\.test\.skip\b))|^\S*gradlew?\b.*\b(?:\w*[tT]est\w*|check|build)\b/,
  ],
  [
    'docs',
    /^(?:cargo (?:doc|rustdoc)|mkdocs build|sphinx-build|mix docs|typedoc|yard|javadoc|doxygen|go doc|rake (?:rdoc|doc\S*|yard))\b/,
  ],
  [
    'build',
    /^(?:cargo (?:hack )?(?:build|check|b|c)|twine check|go build|cmake|make$|make -j|ninja|meson (?:compile|setup)|tsc\b|vite build|webpack|rollup|esbuild|tsup|unbuild|swift build|mix compile|dotnet build|msbuild|zig build|gcc|g\+\+|clang|javac|sbt compile|stack build|cabal build|python setup\.py build|setup\.py build|parcel|turbo|nx|bazel|dart compile|flutter build|wasm-pack build|crystal build)\b|^\S*mvnw?\b.*(?:\bcompile\b|-DskipTests\b|-Dmaven\.test\.skip\b)|^\S*gradlew?\b.*\bassemble\b|^(?:build|hatch build|poetry build|pdm build|uv build)\b/,
  ],
]

/** Words in the name of a script or target: `npm run lint:ci`, `make test`, `tox -e typing`, `./scripts/check`. */
const NAMES: readonly (readonly [CommandKind, RegExp])[] = [
  [
    'skip',
    /deploy|release|publish|upload|\bpush|audit|bench|profil|codecov|coveralls|report|changelog|clean|watch|serve|start$|\bdev\b|fuzz|mutat|size|docker|image|sync|bump|tag\b/i,
  ],
  [
    'prepare',
    /^(?:install|setup|set-up|deps|dependencies|init|bootstrap|prepare|tools|vendor|ci-?install|install[-_:.]\S*)$/i,
  ],
  ['format', /fmt|format|prettier|black|(?:^|[-_:])style/i],
  ['typecheck', /typ(?:e|ing)s?|tsc|mypy|pyright|phpstan|psalm|\bdts\b|attw/i],
  [
    'lint',
    /lint|clippy|static|flake8|ruff|pre-?commit|rubocop|code-?style|\bcs\b|analy[sz]e|(?:^|[-_:])pep8|\bvet\b|publint|manifest|spell/i,
  ],
  ['test', /test|spec|unit|coverage|\bcov\b|\be2e\b|integration|^py\d*(?:$|-)/i],
  ['docs', /docs?(?:$|[-_:])/i],
  ['build', /build|compile|bundle|dist|^package$|types:build/i],
]

const NAMED = [
  /^(?:npm|pnpm|yarn|bun)(?: (?:--?[\w-]+(?:=\S+)?|-w \S+))* (?:run(?:-script)? )?(?:-\S+ )*([\w:./@-]+)/,
  /^(?:make|gmake|just|task|composer(?: run(?:-script)?)?|poe|invoke|inv|mise run|doit|thor|hatch(?: (?:-e|--env)[ =]\S+)? run|pdm run|rye run|rake|mage|earthly|moon run|nps)(?: [-+]\S+)* ([\w:./@][\w:./@+-]*)/,
  /^cargo (?:run (?:--?\S+ )*(?:-p|--package|--bin)[ =])?xtask (?:-- )?([\w-]+)/,
  // A program of the same repository, and a package that is only imported: their names say what they are, not what they check.
  /^cargo (run\b.*?--manifest-path[ =]\S+)\/Cargo\.toml/,
  /^python3? -I?c ["'](import [\w.]+)/,
  /^(?:tox|nox)\b(?:.* -(?:e|s|f|-session|-env)[ =]?([\w,:./{}-]+))?/,
  /^(?:(?:ba|z)?sh |python3? |node |ruby |php |perl )?(?:\.\/)?((?:[\w.-]+\/)*[\w.-]*?[\w-]+(?:\.(?:sh|py|js|mjs|rb|php|pl|bash))?)(?:\s|$)/,
]

/** The name of the script or target that a command runs; '' if it runs none. */
export function targetOf(run: string): string {
  const text = withoutStarters(run)
  for (const pattern of NAMED.slice(0, -1)) {
    const found = pattern.exec(text)
    if (found !== null) return found[1] ?? ''
  }
  const [, script = ''] = NAMED.at(-1)?.exec(text) ?? []
  return script.includes('/') || /\.\w+$/.test(script)
    ? (script.split('/').at(-1) ?? '').replace(/\.\w+$/, '')
    : ''
}

/** Of several commands in one line the first that checks something counts. */
export function kindOf(run: string): CommandKind {
  if (run.startsWith('set -e; ') && /\bgo ?fmt\b/.test(run)) return 'format'
  const parts = run.startsWith('set -e; ') ? run.split(/; (?:if |then |do )?/) : run.split(' && ')
  const kinds = parts.map(kindOfOne)
  const check = kinds.find((kind) => (GATE_KINDS as readonly string[]).includes(kind))
  if (check !== undefined) return check
  return kinds.find((kind) => kind === 'skip' || kind === 'other') ?? kinds[0] ?? 'other'
}

function kindOfOne(run: string): CommandKind {
  const text = withoutStarters(run)
  const isScript =
    /^(?:npm|pnpm|yarn|bun|make|gmake|just|task|composer|poe|tox|nox|rake|invoke|inv|doit|hatch(?: (?:-e|--env)[ =]\S+)? run|pdm run|rye run|cargo xtask|cargo run .*xtask)\b/.test(
      text,
    )
  if (/bench|[ -]-?fuzz|nightly| -Z|\bmiri\b/.test(text) || FIXES.test(text)) return 'skip'
  const byTool = TOOLS.find(([, pattern]) => pattern.test(text))?.[0]
  const name = targetOf(run)
  const byName = NAMES.find(([, pattern]) => pattern.test(name))?.[0]
  if (byTool === 'skip' || byTool === 'prepare') return byTool
  if (/^(?:cargo run (?!.*xtask)|python3? -I?c )/.test(text)) return byTool ?? 'other'
  // An environment of tox with a custom name, such as doc8, is not a test run because tox starts it.
  if (/^(?:tox|nox)\b/.test(text) && name !== '') return byName ?? 'other'
  if (isScript && name !== '') return byName ?? byTool ?? 'other'
  return byTool ?? byName ?? 'other'
}

/** Commands that change files instead of checking them: `lint:fix`, `eslint --fix`, `prettier --write`. */
const FIXES = /[\w:-]+[:-](?:fix|write)\b| --(?:fix|write|in-place|autofix)\b|\bauto-?(?:fix|md)\b/

/** Formatters that write when they are not told to look only. */
const WRITES: readonly (readonly [tool: RegExp, look: string])[] = [
  [/^(?:.* )?ruff format(?!.*(?:--check|--diff))/, '--check'],
  [/^(?:.* )?black(?!.*(?:--check|--diff))/, '--check'],
  [/^(?:.* )?isort(?!.*(?:--check|--diff|-c\b))/, '--check'],
  [/^cargo (?:\+\S+ )?fmt(?!.*--check)/, '--check'],
  // https://hatch.pypa.io/latest/cli/reference/#hatch-fmt
  [/^hatch fmt(?!.*--check)/, '--check'],
  [/^mix format(?!.*--check)/, '--check-formatted'],
]

/** The command as a gate: it only looks, and says how many tests ran. */
export function asGate(run: string): string {
  const look = WRITES.find(([tool]) => tool.test(run))?.[1]
  if (look !== undefined) {
    return run.startsWith('cargo') && !run.includes(' -- ')
      ? `${run} ${look}`
      : run.replace(/\b(format|black|isort|hatch fmt)\b/, `$1 ${look}`)
  }
  if (/^(?:\w+=\S+ )*go test\b/.test(run) && !/ -(?:v|json)\b/.test(run))
    return run.replace(/\bgo test\b/, 'go test -v')
  // The machine has one Python, and the project says which.
  if (/^uvx? /.test(run)) return run.replace(/ (?:--python|-p)[ =]\S+/, '')
  if (/^\S*mvnw?\b/.test(run)) return run.replace(/ (?:--quiet|-q)\b/, '')
  return run
}
