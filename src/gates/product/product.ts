// What is product. Between two runs of the gates only the product may differ. So tests, their expectations, runners, settings and
// scripts need no list of names. Pure.
import ignore from 'ignore'

/** Patterns as in .gitignore; `!pattern` excludes, whatever the others say. */
export type ProductPatterns = readonly string[]

/** A test whether a path is product. */
export function productOf(patterns: ProductPatterns): (path: string) => boolean {
  const options = { allowRelativePaths: true }
  const isExclusion = (pattern: string) => pattern.startsWith('!')
  const included = ignore(options).add(patterns.filter((one) => !isExclusion(one)))
  const excluded = ignore(options).add(patterns.filter(isExclusion).map((one) => one.slice(1)))
  return (path) => path !== '' && included.ignores(path) && !excluded.ignores(path)
}

/** Below a folder of the product, what test runners select by convention is not product, nor are programs that set up tools. */
const NEVER: ProductPatterns = [
  '!*.test.*',
  '!*.spec.*',
  '!*[._-]test.*',
  '!*[._-]spec.*',
  '!test_*',
  '!test-*',
  '!conftest.py',
  '!*Test.*',
  '!*Tests.*',
  '!*Spec.*',
  '!test/',
  '!tests/',
  '!spec/',
  '!specs/',
  '!e2e/',
  '!__*__/',
  '!testdata/',
  '!fixtures/',
  '!golden/',
  '!snapshots/',
  '!*.snap',
  '!*.config.*',
  '!setup.*',
  '!noxfile.py',
  '![Gg]ulpfile.*',
  '![Gg]runtfile.*',
  '!build.rs',
  '!.*',
  '!node_modules/',
  '!vendor/',
]
/** Folders of code, by convention, in any folder of the repository. */
const CODE_FOLDERS: ProductPatterns = [
  ...['src/', 'lib/', 'app/', 'apps/', 'cmd/', 'pkg/', 'internal/', 'include/', 'Sources/'],
  // Parts of web pages.
  ...[
    'assets/',
    'client/',
    'components/',
    'pages/',
    'public/',
    'server/',
    'static/',
    'styles/',
    'templates/',
    'views/',
  ],
  // Rails and Laravel keep parts of the product in these.
  ...['/config/routes.rb', '/db/', '/routes/', '/resources/', '/database/'],
]
const EXTENSIONS =
  'js|mjs|cjs|jsx|ts|mts|cts|tsx|vue|svelte|py|go|rb|php|rs|java|kt|swift|cs|c|cc|cpp|h|hpp|ex|lua|pl|pm|sh'.split(
    '|',
  )
/** Code in the top folder. */
const TOP_FILES: ProductPatterns = EXTENSIONS.map((extension) => `/*.${extension}`)
const CODE_FILE = new RegExp(`\\.(?:${EXTENSIONS.join('|')})$`)

export type Tree = { paths: readonly string[]; read(path: string): Promise<string | null> }

/**
 * The product of a project that does not name it, from the files of a commit that no agent wrote. It consists of the usual folders of
 * code, of code next to a manifest, and of what manifests name.
 */
export async function proposedProduct(tree: Tree): Promise<ProductPatterns> {
  const found = new Set<string>()
  for (const propose of PROPOSALS) for (const pattern of await propose(tree)) found.add(pattern)
  return [...CODE_FOLDERS, ...TOP_FILES, ...[...found].sort().slice(0, MAX_PROPOSED), ...NEVER]
}

const PROPOSALS: readonly ((tree: Tree) => Promise<readonly string[]>)[] = [
  codeBesideManifests,
  pythonPackages,
  namedInPackageJson,
  goFiles,
  dotnetProjects,
]

const MANIFEST =
  /(?:^|\/)(?:package\.json|pyproject\.toml|setup\.py|setup\.cfg|Cargo\.toml|composer\.json|[^/]+\.gemspec)$/

/** Code next to a manifest in another folder. */
async function codeBesideManifests({ paths }: Tree) {
  const folders = new Set(paths.filter((path) => MANIFEST.test(path)).map(folderOf))
  folders.delete('')
  const code = paths.filter((path) => CODE_FILE.test(path) && folders.has(folderOf(path)))
  return code.map((path) => `/${literal(folderOf(path))}*${extensionOf(path)}`)
}

/** Folders of Python packages that are in no other package. */
async function pythonPackages({ paths }: Tree) {
  const packages = new Set(paths.filter((path) => /\/__init__\.py$/.test(path)).map(folderOf))
  const isInner = (folder: string) => packages.has(folderOf(folder.slice(0, -1)))
  return [...packages].filter((folder) => !isInner(folder)).map((folder) => `/${literal(folder)}`)
}

/** Folders of files that a package.json exports, runs or publishes. */
async function namedInPackageJson({ paths, read }: Tree) {
  const folders = foldersIn(paths)
  const found: string[] = []
  for (const path of paths.filter((one) => /(?:^|\/)package\.json$/.test(one)).slice(0, MAX_MANIFESTS)) {
    const folder = folderOf(path)
    for (const named of entriesOf(await read(path))) {
      const [first, ...rest] = named.replace(/^\.\//, '').split('/')
      const isFolder = first !== undefined && /^\w[\w-]*$/.test(first) && rest.length > 0
      if (isFolder && folders.has(`${folder}${first}/`)) found.push(`/${literal(folder)}${first}/`)
    }
  }
  return found
}

/** Every folder of the commit. */
function foldersIn(paths: readonly string[]): Set<string> {
  const folders = new Set<string>()
  for (const path of paths)
    for (let end = path.indexOf('/'); end !== -1; end = path.indexOf('/', end + 1))
      folders.add(path.slice(0, end + 1))
  return folders
}

function entriesOf(text: string | null): string[] {
  try {
    const { main, module, exports, bin, browser, types, files } = JSON.parse(text ?? '{}') ?? {}
    return textsIn([main, module, exports, bin, browser, types, files], 6)
  } catch {
    return []
  }
}

function textsIn(value: unknown, depth: number): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null || depth === 0) return []
  return Object.values(value).flatMap((one) => textsIn(one, depth - 1))
}

/** Go knows no folder of code: any folder of the module may hold a package. */
async function goFiles({ paths }: Tree) {
  const modules = paths.filter((path) => /(?:^|\/)go\.mod$/.test(path)).map(folderOf)
  return modules.map((folder) => `/${literal(folder)}**/*.go`)
}

/** Folders of .NET projects that do not refer to a test SDK. */
async function dotnetProjects({ paths, read }: Tree) {
  const found: string[] = []
  for (const path of paths.filter((one) => /\.(?:cs|fs|vb)proj$/.test(one)).slice(0, MAX_MANIFESTS)) {
    const isTest = /Microsoft\.NET\.Test\.Sdk|IsTestProject/.test((await read(path)) ?? '')
    const folder = folderOf(path)
    if (!isTest)
      found.push(`/${literal(folder)}**/*.cs`, `/${literal(folder)}**/*.fs`, `/${literal(folder)}**/*.cshtml`)
  }
  return found
}

const MAX_MANIFESTS = 200
/** Each pattern is compared with each changed file. */
const MAX_PROPOSED = 500

/** `src/` of `src/a.ts`; empty for a file in the top folder. */
function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/') + 1)
}

function extensionOf(path: string): string {
  return path.slice(path.lastIndexOf('.'))
}

/** A path as a pattern that matches only itself. */
function literal(path: string): string {
  return path.replace(/[\\*?[\]!#]/g, '\\$&')
}

/** Whether a commit has no code yet: then what the project is made of shows only in what stories added. */
export function isWithoutCode(paths: readonly string[]): boolean {
  return !paths.some(isCode)
}

/** Whether the name is that of a file with code. */
export function isCode(path: string): boolean {
  return CODE_FILE.test(path)
}
