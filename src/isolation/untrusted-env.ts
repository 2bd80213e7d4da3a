// The environments of agents and gates: an allow-list of our variables, and names that can never be added.
import { decodePercent } from '../system/percent-encoding.ts'

/** An environment as `process.env` has it. */
export type Environment = Readonly<Record<string, string | undefined>>

/** `env`: the whole environment of a program, sorted by name. `refused`: the requested names that are not in it. */
export type FilteredEnv = { env: Record<string, string>; refused: string[] }

/**
 * Names that agents and gates always get. Left out on purpose:
 * - GITHUB_SHA, GITHUB_REF and the like. They name the commit that started the workflow, not the tree that Ralph works on. A script
 *   that stamps or diffs by them would be wrong.
 * - RUNNER_TEMP. The files of workflow commands are below it.
 * - XDG_RUNTIME_DIR, DBUS_*. `systemd-run --user` starts programs that do not descend from us, out of our reach.
 * - npm_config_userconfig, PIP_INDEX_URL and others that may hold or name keys. `gate-env` can name them.
 * - PWD, OLDPWD. They name our directory, not the one in which the program starts.
 */
const ALLOWED: ReadonlySet<string> = new Set(
  `
  PATH HOME USER LOGNAME SHELL SHLVL LANG LANGUAGE TZ TERM COLORTERM NO_COLOR FORCE_COLOR HOSTNAME DISPLAY
  TMPDIR TEMP TMP DEBIAN_FRONTEND
  XDG_CONFIG_HOME XDG_CACHE_HOME XDG_DATA_HOME XDG_STATE_HOME XDG_BIN_HOME XDG_CONFIG_DIRS XDG_DATA_DIRS
  HTTP_PROXY HTTPS_PROXY ALL_PROXY FTP_PROXY NO_PROXY
  SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS REQUESTS_CA_BUNDLE CURL_CA_BUNDLE GIT_SSL_CAINFO
  NVM_DIR NVM_BIN VOLTA_HOME FNM_DIR PNPM_HOME COREPACK_HOME YARN_CACHE_FOLDER BUN_INSTALL DENO_DIR DENO_INSTALL
  NPM_CONFIG_CACHE NPM_CONFIG_REGISTRY NPM_CONFIG_PREFIX PLAYWRIGHT_BROWSERS_PATH CYPRESS_CACHE_FOLDER CHROME_BIN
  JAVA_HOME GRADLE_HOME GRADLE_USER_HOME M2_HOME MAVEN_HOME KOTLIN_HOME SDKMAN_DIR
  ANDROID_HOME ANDROID_SDK_ROOT ANDROID_NDK ANDROID_NDK_HOME ANDROID_NDK_ROOT
  GOPATH GOROOT GOBIN GOCACHE GOMODCACHE GOTOOLCHAIN GOPROXY GOFLAGS CARGO_HOME RUSTUP_HOME RUSTUP_TOOLCHAIN
  PYENV_ROOT VIRTUAL_ENV CONDA CONDA_PREFIX PIP_CACHE_DIR PIPX_HOME PIPX_BIN_DIR POETRY_HOME UV_CACHE_DIR
  PYTHONLOCATION PYTHON_ROOT_DIR PYTHON2_ROOT_DIR PYTHON3_ROOT_DIR PKG_CONFIG_PATH LD_LIBRARY_PATH
  RBENV_ROOT GEM_HOME GEM_PATH BUNDLE_PATH COMPOSER_HOME DOTNET_ROOT DOTNET_CLI_HOME NUGET_PACKAGES
  VCPKG_ROOT VCPKG_INSTALLATION_ROOT SWIFT_PATH GHCUP_INSTALL_BASE_PREFIX ASDF_DIR ASDF_DATA_DIR MISE_DATA_DIR
  CI IMAGEOS RUNNER_OS RUNNER_ARCH RUNNER_TOOL_CACHE AGENT_TOOLSDIRECTORY RUNNER_TRACKING_ID
  GITHUB_ACTIONS GITHUB_WORKSPACE GITHUB_REPOSITORY GITHUB_REPOSITORY_OWNER
  RALPH_WORKER RALPH_PORT
  `
    .trim()
    .split(/\s+/),
)
// RUNNER_TRACKING_ID is passed on because the runner ends processes that have it at the end of a job.
// (https://github.com/actions/runner/blob/main/src/Runner.Worker/JobExtension.cs)
// With GITHUB_ACTIONS, test reporters print workflow commands. That is safe, since our output filter removes them.

const ALLOWED_PREFIXES = ['LC_', 'JAVA_HOME_', 'GOROOT_1_']

/**
 * Never passed on, even if requested: the job's tokens, inputs and service credentials, and the files of workflow commands. Variables
 * that give access to our git authentication are among them as well.
 */
const FORBIDDEN: ReadonlySet<string> = new Set(
  `
  GITHUB_TOKEN GH_TOKEN GITHUB_ENTERPRISE_TOKEN GH_ENTERPRISE_TOKEN GITHUB_PAT GITHUB_API_TOKEN
  GITHUB_ENV GITHUB_PATH GITHUB_OUTPUT GITHUB_STATE GITHUB_STEP_SUMMARY GITHUB_EVENT_PATH
  SSH_AUTH_SOCK SSH_AGENT_PID SSH_ASKPASS GIT_ASKPASS GIT_SSH GIT_SSH_COMMAND GIT_HTTP_EXTRAHEADER
  `
    .trim()
    .split(/\s+/),
)

const FORBIDDEN_PREFIXES = ['INPUT_', 'ACTIONS_', 'STATE_', 'GITHUB_ARTIFACTS', 'GIT_CONFIG']

/** Whether a variable of this name is never passed to agents or gates. */
export function isForbidden(name: string): boolean {
  const upper = name.toUpperCase()
  return FORBIDDEN.has(upper) || FORBIDDEN_PREFIXES.some((prefix) => upper.startsWith(prefix))
}

/**
 * The agent's environment: the allow-list, the vendor's variables, those that the user names (`extra`), and those that we set
 * ourselves, which take precedence. We may also set `GIT_*`, to give the agent's git its own configuration.
 */
export function agentEnv(
  full: Environment,
  requested: { extra: readonly string[]; vendor: readonly string[]; set: Readonly<Record<string, string>> },
): FilteredEnv {
  return filterEnv(full, [...requested.vendor, ...requested.extra], requested.set, isForbidden)
}

/** A gate's environment: the allow-list and the variables that the user names (`extra`) or sets, but no key of a model. */
export function gateEnv(
  full: Environment,
  requested: {
    extra: readonly string[]
    set?: Readonly<Record<string, string>>
    isModelKey: (name: string) => boolean
  },
): FilteredEnv {
  const isRefused = (name: string) => isForbidden(name) || requested.isModelKey(name)
  return filterEnv(full, requested.extra, requested.set ?? {}, isRefused)
}

/** `requested`: further names of `full`. `set`: values that take precedence. */
function filterEnv(
  full: Environment,
  requested: readonly string[],
  set: Readonly<Record<string, string>>,
  isRefused: (name: string) => boolean,
): FilteredEnv {
  const tokens = jobTokens(full)
  const hasToken = (value: string): boolean => tokens.some((token) => value.includes(token))
  const entries = new Map<string, string>()
  const refused = new Set<string>()
  // Without SHLVL, a `bash -c` whose stdin is a socket (as Node's pipes are) acts as a remote shell and runs ~/.bashrc.
  entries.set('SHLVL', '1')
  const add = (name: string, value: string | undefined, isRequested: boolean): void => {
    if (isRefused(name) || (value !== undefined && hasToken(value))) {
      if (isRequested) refused.add(name)
    } else if (value !== undefined) {
      entries.set(name, value)
    }
  }
  for (const name of Object.keys(full)) if (isAllowed(name)) add(name, full[name], false)
  for (const name of requested) add(name, Object.hasOwn(full, name) ? full[name] : undefined, true)
  for (const [name, value] of Object.entries(set)) {
    if (name.startsWith('GIT_') && !hasToken(value)) entries.set(name, value)
    else add(name, value, true)
  }
  const sorted = [...entries].sort(([a], [b]) => (a < b ? -1 : 1))
  return { env: Object.fromEntries(sorted), refused: [...refused].sort() }
}

function isAllowed(name: string): boolean {
  const upper = name.toUpperCase()
  return ALLOWED.has(upper) || ALLOWED_PREFIXES.some((prefix) => upper.startsWith(prefix))
}

/** The values of the job's tokens. A variable with another name may have one of them, such as `MY_VAR: ${{ github.token }}`. */
function jobTokens(full: Environment): string[] {
  return Object.entries(full).flatMap(([name, value]) =>
    value !== undefined && value.length >= 16 && isForbidden(name) && /TOKEN/i.test(name) ? [value] : [],
  )
}

/** Names of variables that hold a secret. `COMPASS`, `GIT_AUTHOR_NAME` and `XAUTHORITY` do not match. */
const SECRET_NAME =
  /TOKEN|SECRET|CREDENTIAL|API_?KEY|(?:^|_)KEYS?(?:_|$)|(?:^|_)PASS(?:_|$)|PASSW|PASSPHRASE|WEBHOOK|(?:^|_)(?:DSN|COOKIES?|AUTH|BEARER|JWT|PAT)(?:_|$)|HEADERS?(?:_|$)|CONN(?:ECTION)?_STR/i
/** Shorter values are not secrets for us: they occur everywhere by chance. */
const MIN_SECRET_LENGTH = 8

/** An address without a secret in its path may have such a path too, so a shorter one is not hidden. */
const MIN_SECRET_PATH = 24
/** A shorter part of a path or query is a word of the service's. */
const MIN_SECRET_PART = 16

/** Values that must not leave this process: those of variables with the name of a secret, and URLs with a password. */
export function secretsIn(full: Environment): string[] {
  return Object.entries(full).flatMap(([name, value = '']) => {
    const isSecret = SECRET_NAME.test(name)
    const found = isSecret ? [value, ...headerValues(name, value), ...addressSecrets(value)] : []
    const [, user, password] = /^[a-z][a-z0-9+.-]*:\/\/([^\s:@/]*):([^\s@/]+)@/i.exec(value) ?? []
    if (password !== undefined) found.push(value)
    // Test databases often have the user's name as password. It occurs in every output, so it is not a secret.
    if (password !== undefined && password !== user) found.push(password, decodePercent(password))
    return [...new Set(found)].filter((secret) => secret.length >= MIN_SECRET_LENGTH)
  })
}

/** The values of the `name: value` lines, or `name=value,...` pairs, in a variable whose name says that it has headers. */
function headerValues(name: string, value: string): string[] {
  if (!/HEADER/i.test(name)) return []
  return value.split('\n').flatMap((line) => {
    // OpenTelemetry writes pairs, percent-encoded: https://opentelemetry.io/docs/specs/otel/protocol/exporter/.
    const isPairs = /^[^:]*=/.test(line)
    const headers = isPairs ? line.split(',') : [line]
    return headers.flatMap((header) => {
      const secret = header.slice(header.indexOf(isPairs ? '=' : ':') + 1).trim()
      const plain = isPairs ? decodePercent(secret) : secret
      return [secret, plain, plain.replace(/^(?:Bearer|Basic|token)\s+/i, '')]
    })
  })
}

/** What is secret in the path and query of a web address, such as a webhook's: an error may name the path only. */
export function addressSecrets(address: string): string[] {
  if (!/^https?:/i.test(address) || !URL.canParse(address)) return []
  const { pathname, search, searchParams } = new URL(address)
  const paths = [pathname + search, pathname].filter(({ length }) => length >= MIN_SECRET_PATH)
  const parts = [...pathname.split('/'), ...searchParams.values()]
  return [...new Set([...paths, ...parts.filter(({ length }) => length >= MIN_SECRET_PART)])]
}
