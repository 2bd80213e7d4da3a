// Complete repositories that no row of `ralph init` was written for, chosen before any of them was tried, and what their CI checks on a
// pull request, read by eye: kinds of gates (`test*3`: three of them), and `~word` for a command with that word. Left out are checks that
// cannot run on one Linux machine without other rights: other systems and targets, nightly toolchains, audits, releases, uploads.
export const REPOSITORIES = {
  'tj/commander.js': 'test ~check',
  'lukeed/clsx': 'build test',
  'ljharb/qs': 'lint test',
  'nanostores/nanostores': 'test ~bnt',
  'unjs/defu': 'lint build typecheck test',
  'micromatch/picomatch': 'test',
  'expressjs/body-parser': 'lint test',
  'vercel/ms': 'format lint typecheck test',
  'pallets/markupsafe': 'format lint typecheck test',
  'python-attrs/cattrs': 'lint test build',
  'hynek/structlog': 'typecheck test docs',
  'encode/httpcore': 'test build ~check ~coverage',
  'theskumar/python-dotenv': 'lint typecheck test',
  'jd/tenacity': 'test ~check',
  'r1chardj0n3s/parse': 'test',
  'python-poetry/tomlkit': 'test',
  'dbader/schedule': 'format typecheck test docs',
  'stretchr/testify': 'format test ~govet ~gogenerate ~ghactions',
  'google/go-cmp': 'format test',
  'tidwall/gjson': 'build test',
  'hashicorp/go-multierror': 'format lint test',
  'urfave/cli': 'lint test ~make.lint ~vet ~goimports ~generate ~diffcheck ~v3diff',
  'junegunn/fzf': 'lint test ~typos',
  'dtolnay/anyhow': 'test build',
  'bitflags/bitflags': 'test docs ~smoke-test',
  'indexmap-rs/indexmap': 'lint build docs test*5',
  'matklad/once_cell': '~xtask',
  'BurntSushi/memchr': 'format build docs test*4',
  'apache/commons-csv': 'test',
  'square/javapoet': 'test',
  'rack/rack': 'test',
  'ramsey/uuid': 'lint*2 typecheck*2 test',
  'elixir-plug/plug': 'format test',
  'DaveGamble/cJSON': 'build test',
  'jarro2783/cxxopts': 'build test ~meson',
  'App-vNext/Polly': 'lint test',
}

/**
 * A second set, chosen on 28 November 2026 before any of them was tried and after the rows were written. The rule: of 158 well-known
 * repositories, written down by language, the first by SHA-256 of `owner/name`: seven each of Node.js and Python, six of Go and Rust,
 * two of Java, C++ and other languages; without those in the forty packages, and the next one if there was no snapshot.
 * Left out also: benchmarks, which measure and do not check, and steps that commit fixes.
 */
export const FRESH = {
  'developit/mitt': 'build test',
  'mde/ejs': '',
  'jshttp/cookie': 'test',
  'pinojs/pino': 'test ~smoke',
  'ai/nanoid': 'test ~bnt',
  'unjs/ufo': 'lint build test',
  'inikulin/parse5': 'lint build ~smoke ~unit-tests',
  'mahmoud/boltons': 'test',
  'agronholm/anyio': 'typecheck test docs',
  'jpadilla/pyjwt': 'test build ~twine ~import.jwt',
  'seatgeek/thefuzz': 'test ~setup.py',
  'grantjenks/python-sortedcontainers': 'lint format test docs ~doc8 ~rstcheck ~build-check',
  'tox-dev/filelock': 'test typecheck docs build ~pkg_meta ~dev ~verify_filesystem',
  'python-jsonschema/jsonschema': 'test build lint typecheck docs',
  'sirupsen/logrus': 'lint test',
  'caarlos0/env': 'build test lint ~editorconfig',
  'pelletier/go-toml': 'test ~ci.sh',
  'cenkalti/backoff': 'build test',
  'hashicorp/golang-lru': 'build*2 test*2 lint*2',
  'go-playground/validator': 'lint test',
  'sharkdp/hyperfine': 'format lint test build',
  'BurntSushi/walkdir': 'format build docs test',
  'rust-lang/log': 'format*2 lint*2 docs test ~run.*test_max.*toml$ ~run.*release',
  'rust-random/getrandom': 'test*3 lint format docs build ~typos ~check.--workspace',
  'tokio-rs/bytes': 'format test ~hack.check',
  'serde-rs/json': 'test*7 ~check.--manifest ~docs-rs',
  'jhy/jsoup': 'build test',
  'assertj/assertj': 'test docs ~japicmp ~kotlin ~groovy',
  'nlohmann/json': '~ci_test_gcc ~ci_cppcheck ~ci_cpplint ~ci_cmake_flags ~reuse ~amalgamate',
  'catchorg/Catch2': 'build test ~meson ~bazel ~conan ~checkDuplicate ~checkLicense',
  'guzzle/psr7': 'test ~Integration ~phpstan ~psalm ~cs-fixer',
  'ruby/rake': 'test',
}

/**
 * A third set, chosen on 30 November 2026: of the 286 repositories in init-third.txt, written down before one of them was fetched and
 * without those above, the first by SHA-256 of `owner/name`: three each of Node.js, Python and Go, two of Rust, one of Java and C++. `ralph init`
 * ran on them once, and nothing was changed for them. These checks were read before that.
 * Left out also: coverage that several jobs measure together, and checks of the oldest Rust, which install toolchains.
 */
export const THIRD = {
  'sindresorhus/ky': 'test',
  'davidmarkclements/0x': 'test',
  'node-fetch/node-fetch': 'lint test ~test-types',
  'Delgan/loguru': 'lint test docs build',
  'hynek/stamina': 'build test docs ~mypy_api ~mypy_pkg ~typing_api ~import.stamina',
  'encode/uvicorn': 'test build ~scripts.check ~scripts.coverage',
  'valyala/fastjson': 'build test*2',
  'mattn/go-runewidth': 'test ~go.generate',
  'oklog/ulid': 'format vet lint test',
  'Amanieu/parking_lot': 'build*2 test',
  'lotabout/skim': 'build lint format ~test_skim',
  'skypjack/entt': 'build test ~ENTT_ID_TYPE ~SANITIZER ~bazel',
}

/** How many of the checks have a gate: `[found, all]`, and the names of those without. `commands`: at least one for each gate. */
export function checksWithGates(repository, commands) {
  const names = [...new Set(commands.map(({ name }) => name))]
  const wanted = (REPOSITORIES[repository] ?? FRESH[repository] ?? THIRD[repository] ?? '')
    .split(' ')
    .filter(Boolean)
    .flatMap((word) => {
      const [, kind = '', times = '1'] = /^(.*?)(?:\*(\d+))?$/.exec(word)
      return Array.from({ length: Number(times) }, (_, at) => ({ kind, at }))
    })
  const isFound = ({ kind, at }) => {
    if (kind.startsWith('~')) return commands.some(({ run }) => new RegExp(kind.slice(1)).test(run))
    return names.filter((name) => new RegExp(`(?:^|-)${kind}(?:-|$)`).test(name)).length > at
  }
  const missing = wanted.filter((one) => !isFound(one)).map(({ kind }) => kind)
  return { found: wanted.length - missing.length, all: wanted.length, missing }
}
