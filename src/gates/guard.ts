// The guard: decides only from the changes what an agent's diff may touch, before the gates and again before the commit.

import ignore from 'ignore'
import type { Redactor } from '../isolation/redact.ts'
import { isTooLong, LONGEST_PATH } from '../system/files.ts'
import { quotedPath } from '../system/path-text.ts'
import { specialFault, specialName } from './git-names.ts'
import { PRESET, sensitiveKindOf } from './sensitive-files.ts'

/** One entry of a raw git diff; a rename is a deletion and an addition. Modes are git's (`100644`, `120000` ...). */
export type GuardedChange = {
  path: string
  status: 'A' | 'M' | 'D' | 'T'
  oldMode: string
  newMode: string
  /** Bytes of the new content. */
  size: number
  /** The new content; of a link, its target. Left out: not examined. `null`: could not be read, so the change is refused. */
  content?: Uint8Array | null
  /** The content at the fork point, if there is one: the agent did not add the keys that it already had. */
  before?: Uint8Array | null
}

export type GuardRules = {
  /** Globs as in .gitignore, and the word `elsewhere`. */
  protectedPaths: string[]
  /** The path that `config-file` sets; null for the default names, which are reserved anyway. */
  configFile: string | null
  /** Folded names of settings files and folders that agents read in any folder. */
  agentSettings: readonly string[]
  secrets: Redactor
}

/**
 * Why a change is refused. `path` is the real path, for undoing the change; `shown` is the path without secrets, for people. Both may
 * be hostile.
 */
export type Refusal = { path: string; shown: string; reason: string }

/** GitHub refuses files over 100 MB and warns from 50 MB. */
export const MAX_FILE_BYTES = 50 * 1024 * 1024

const LINK = '120000'
export const SUBMODULE = '160000'

/**
 * Every reason why these changes may not be committed; empty if all are allowed. Ralph's own folder is not judged (see
 * `isRalphPath`). Changes may be passed in portions, so that not all contents are in memory at once.
 */
export function judgeChanges(changes: GuardedChange[], rules: GuardRules): Refusal[] {
  const { protectedPaths, secrets } = rules
  const isProtected = createProtection(protectedPaths.filter((glob) => glob !== PRESET))
  const refusesSensitive = protectedPaths.includes(PRESET)
  const config = rules.configFile === null ? null : foldPath(normalizePath(rules.configFile))
  const secretPaths = secrets.finds(changes.map((change) => change.path).join('\t'))

  function reasonsFor(change: GuardedChange, hasSecretName: boolean): (string | null)[] {
    const { path, status, oldMode, newMode } = change
    if (isTooLong(path)) return ['the path is too long or too deeply nested']
    const folded = foldPath(path)
    if (isFoldedRalphPath(folded)) return []
    const elsewhere = refusesSensitive ? sensitiveKindOf(folded) : null
    const always = [
      reservedReason(folded, config, rules.agentSettings),
      isProtected(change, folded) ? 'the path is protected by `protected-paths`' : null,
      elsewhere?.isReportOnly === false
        ? `it affects ${elsewhere.actsOn}, so with \`protected-paths: ${PRESET}\` only people may change it`
        : null,
      newMode === SUBMODULE || oldMode === SUBMODULE ? submoduleReason(change) : null,
    ]
    if (status === 'D') return always
    return [
      hasSecretName ? 'the name contains a secret' : null,
      pathFault(change, folded),
      ...always,
      newMode === LINK ? linkFault(change) : sizeFault(change),
      specialFault({ folded, isLink: newMode === LINK, content: change.content }),
      attributesFault(change, folded),
      secretFault(change, secrets),
    ]
  }

  return changes.flatMap((change) => {
    const { path } = change
    const hidden = secretPaths && secrets.finds(path)
    const shown = hidden ? secrets.redact(path) : path
    return reasonsFor(change, hidden).flatMap((reason) => (reason === null ? [] : { path, shown, reason }))
  })
}

/** Whether `content` must be loaded before the change is judged: for all changes except deletions, submodules and huge files. */
export function needsContent({ status, newMode, size }: GuardedChange): boolean {
  return status !== 'D' && newMode !== SUBMODULE && size <= MAX_FILE_BYTES
}

/** Whether the path is in Ralph's own folder, however it is spelled: such changes are undone, not judged. */
export function isRalphPath(path: string): boolean {
  return isFoldedRalphPath(foldPath(path.slice(0, LONGEST_PATH)))
}

// ---------------------------------------------------------------- names, as the most tolerant file system sees them

const IGNORABLE = /\p{Default_Ignorable_Code_Point}/gu
const ASCII = /^[\x20-\x7e]*$/

/** The path as APFS, HFS+ or NTFS may see it: compatibility forms, no case, no invisible characters. */
export function foldPath(path: string): string {
  const folded = foldText(path)
  // NTFS drops trailing dots and blanks of a name, and what follows a colon names a stream of the same file.
  if (!/[. ](?:\/|$)|:/.test(folded)) return folded
  return folded
    .split('/')
    .map((name) => (name === '.' || name === '..' ? name : name.replace(/:.*$/s, '').replace(/[. ]+$/, '')))
    .join('/')
}

function foldText(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase()
  const plain = text.normalize('NFKC').replace(IGNORABLE, '')
  // To upper case first: it joins letters that lower case keeps apart (dotless i, long s, sharp s).
  return plain
    .toUpperCase()
    .toLowerCase()
    .replace(/i\u0307/g, 'i')
    .normalize('NFKC')
    .replace(IGNORABLE, '')
}

function isFoldedRalphPath(folded: string): boolean {
  return folded === '.ralph' || folded.startsWith('.ralph/')
}

/** Why the path itself is refused, or null. */
function pathFault({ path, status }: GuardedChange, folded: string): string | null {
  const names = path.split('/')
  if (path === '' || path.startsWith('/') || names.some((it) => it === '' || it === '.' || it === '..')) {
    return 'the path is not a plain path inside the repository'
  }
  if (folded.split('/').some(isGitName)) return 'the path is a `.git` folder, or can be taken for one'
  // People may have committed such a name, so only a new one is refused.
  if (status === 'A' && /\p{Cs}/u.test(path)) return 'the path is not UTF-8'
  if (/[\p{Cc}\ufffd\u2028\u2029]/u.test(path)) return 'the path has control characters'
  if (/[\u202a-\u202e\u2066-\u2069]/.test(path))
    return 'the path has characters that reverse the reading direction'
  if (path.includes('\\')) return 'the path has a backslash'
  if (names.some((it) => /[. ]$/.test(it))) return 'a name in the path ends in a dot or a space'
  return null
}

function isGitName(folded: string): boolean {
  return folded === '.git' || /^git~\d+$/.test(folded)
}

const AGENT_SETTINGS = "only people may change an agent's settings"
const WORKFLOWS = 'only people may change workflows'
const CODEOWNERS = 'only people may change CODEOWNERS'

/** The folders of GitHub, Gitea and Forgejo. */
const FORGE_FOLDERS: ReadonlySet<string> = new Set(['.github', '.gitea', '.forgejo'])

/** Folded paths; every change of one of them, or of anything below, is refused. */
const RESERVED_ROOTS: readonly (readonly [at: string, reason: string])[] = [
  ['.github/workflows', WORKFLOWS],
  ['.gitea/workflows', WORKFLOWS],
  ['.forgejo/workflows', WORKFLOWS],
  ['.github/actions', "only people may change the repository's own actions"],
  ['codeowners', CODEOWNERS],
  ['.github/codeowners', CODEOWNERS],
  ['docs/codeowners', CODEOWNERS],
  ['.vscode/mcp.json', AGENT_SETTINGS],
]

/**
 * Whether the path is one of the agent settings `names`, in any folder, because agents read them in every folder they work in. Also
 * true for their first folder itself: a link named `.github` could lead to another folder with an `mcp.json`.
 */
function isAgentSettings(folded: string, names: readonly string[]): boolean {
  const path = `/${folded}/`
  return (
    path.includes('/.aider') ||
    names.some((name) => path.includes(`/${name}/`) || path.endsWith(`/${name.split('/')[0]}/`))
  )
}

function reservedReason(
  folded: string,
  config: string | null,
  agentSettings: readonly string[],
): string | null {
  for (const [at, reason] of RESERVED_ROOTS) if (isAtOrBelow(folded, at)) return reason
  // A file or link instead of the folder would remove everything in it, or lead to another folder.
  if (FORGE_FOLDERS.has(folded)) return `\`${folded}\` has to stay a folder`
  // A change is never a folder, so a change at the path of a parent folder has replaced that folder.
  const isConfig = config !== null && (isAtOrBelow(folded, config) || isAtOrBelow(config, folded))
  if (isConfig || /^ralph\.config\.[^/]*(?:\/|$)/.test(folded))
    return "only people may change Ralph's configuration"
  // `gitmod~1` and `gi7eba~1` are its short names on NTFS.
  if (/^(?:\.gitmodules|gitmod~\d+|gi7eba~\d+)(?:\/|$)/.test(folded)) return SUBMODULES
  return isAgentSettings(folded, agentSettings) ? AGENT_SETTINGS : null
}

/** The path of a setting in git's form. */
function normalizePath(path: string): string {
  return path
    .split(/[\\/]/)
    .filter((name) => name !== '' && name !== '.')
    .join('/')
}

function isAtOrBelow(path: string, folder: string): boolean {
  return path.startsWith(folder) && (path.length === folder.length || path[folder.length] === '/')
}

// ---------------------------------------------------------------- protected paths

function createProtection(globs: string[]): (change: GuardedChange, folded: string) => boolean {
  const patterns = globs.map(foldText)
  if (patterns.length === 0) return () => false
  const matcher = ignore({ ignorecase: true, allowRelativePaths: true }).add(patterns)
  const literals = patterns.map((glob) => glob.replace(/^\//, ''))
  const ignores = (path: string): boolean => path !== '' && matcher.ignores(path)
  return (change, folded) => {
    const path = folded.replace(/^\/+/, '')
    if (ignores(path)) return true
    // A glob may contain characters that folding removes from a path, such as a colon.
    const spelled = foldText(change.path).replace(/^\/+/, '')
    if (spelled !== path && ignores(spelled)) return true
    if (change.newMode !== LINK && change.newMode !== SUBMODULE) return false
    // A link may replace a protected folder, or a parent of one.
    return ignores(`${path}/`) || literals.some((glob) => glob.startsWith(`${path}/`))
  }
}

// ---------------------------------------------------------------- links, submodules, contents

const SUBMODULES = 'only people may change submodules'

function submoduleReason({ status }: GuardedChange): string {
  return status === 'A'
    ? 'the folder is its own git repository: remove the `.git` in it, or the folder'
    : SUBMODULES
}

function sizeFault({ newMode, size }: GuardedChange): string | null {
  if (newMode === SUBMODULE || size <= MAX_FILE_BYTES) return null
  return `the file is ${megabytes(size)} MB, but the limit is ${megabytes(MAX_FILE_BYTES)} MB`
}

/** Attributes (also inside of a macro) that make git store other bytes than the file has. Those of line ends are allowed. */
const REWRITING = /(?:^|\s)(?:filter=|working-tree-encoding=|ident(?=\s|$))/

/** Why a `.gitattributes` is refused, or null. */
function attributesFault(change: GuardedChange, folded: string): string | null {
  if (specialName(folded.slice(folded.lastIndexOf('/') + 1)) !== 'gitattributes') return null
  const oldLines = new Set(textOf(change.before).split(/\r?\n/))
  const line = textOf(change.content)
    .split(/\r?\n/)
    .find((one) => !one.trimStart().startsWith('#') && REWRITING.test(one) && !oldLines.has(one))
  return line === undefined
    ? null
    : 'only people may set filters, `ident` and encodings, because with them git does not store the same bytes that the gates see'
}

function textOf(content: Uint8Array | null | undefined): string {
  return content ? new TextDecoder().decode(content) : ''
}

/** Why the target of a link is refused, or null. */
function linkFault(change: GuardedChange): string | null {
  if (!change.content) return 'Ralph could not read where the link points'
  const raw = textOf(change.content)
  if (raw === '' || raw.length > 4096 || /[\p{Cc}\ufffd\\]/u.test(raw))
    return 'the path that the link points to is empty, has unusual characters or is longer than 4096 bytes'
  if (raw.startsWith('/') || /^[A-Za-z]:/.test(raw)) return 'the link points to an absolute path'

  const steps = raw.split('/').filter((it) => it !== '' && it !== '.')
  const up = steps.findIndex((it) => it !== '..')
  const climb = up === -1 ? steps.length : up
  const down = steps.slice(climb)
  const folder = change.path.split('/').slice(0, -1)
  if (climb > folder.length) return 'the link points outside the repository'
  // `a/..` is not where it started when `a` is itself a link: two harmless links would lead out together.
  if (down.includes('..')) return 'the target of the link has `..` after a name: write the path without it'
  const target = foldPath([...folder.slice(0, folder.length - climb), ...down].join('/'))
  if (target.split('/').some(isGitName)) return 'the link points into `.git`'
  if (isFoldedRalphPath(target)) return 'the link points into `.ralph`'
  return null
}

function secretFault(change: GuardedChange, secrets: Redactor): string | null {
  const { content, before } = change
  if (!needsContent(change) || content === undefined) return null
  if (content === null) return 'Ralph could not read the file, so it could not search it for secrets'
  if (!secrets.finds(content)) return null
  const found = secrets.findings(content)
  const oldFindings = before ? secrets.findings(before) : []
  for (const { what } of oldFindings) {
    const at = found.findIndex((it) => it.what === what)
    if (at !== -1) found.splice(at, 1)
  }
  const first = found[0]
  if (first === undefined) return null
  const more = found.length > 1 ? ` and ${found.length - 1} more` : ''
  // Findings are matched by kind only, so if old ones were removed, the line of the first new one is not known.
  const line = oldFindings.length === 0 ? ` in line ${first.line}` : ''
  return `contains ${first.what}${line}${more}; generate such values when the tests run instead of committing them`
}

function megabytes(bytes: number): string {
  return (bytes / (1024 * 1024)).toFixed(1).replace(/\.0$/, '')
}

// ---------------------------------------------------------------- text for the next prompt

const MAX_REFUSALS = 20
const MAX_PATH_LENGTH = 160

/** The refusals as text for the next prompt: at most 20 of them, one per line, paths quoted and cut. */
export function formatRefusals(refusals: Refusal[]): string {
  if (refusals.length === 0) return ''
  const lines = refusals.slice(0, MAX_REFUSALS).map(({ shown, reason }) => `- ${quotePath(shown)}: ${reason}`)
  const more = refusals.length - lines.length
  if (more > 0) lines.push(`- and ${more} more`)
  return ['You may not make these changes. Undo them, and reach the goal without them:', ...lines].join('\n')
}

/** A path as one harmless, bounded word: quoted as JSON, with everything invisible escaped. */
function quotePath(path: string): string {
  return quotedPath(path, MAX_PATH_LENGTH).replace(
    /[^\P{C}]|[\u2028\u2029]/gu,
    (c) => `\\u{${c.codePointAt(0)?.toString(16)}}`,
  )
}
