// Names that become branches, refs, files or variables: what is safe, and what to write instead.

import * as z from 'zod/mini'
import { isAllowEntry, NETWORK_PRESETS } from '../engine/model/network.ts'
import { branchNameFault, branchOfRef } from '../engine/model/safe-names.ts'
import { oneLine } from '../engine/model/text.ts'
import { kinds, list, text, textWhere } from './values.ts'

/** A feature: the end of its folder's and branch's name. `#12`: the feature that issue 12 asks for. */
export const featureName = textWhere(
  (name) =>
    /^#\d{1,9}$/.test(name) ||
    // The issues of a milestone or label: the feature gets its name.
    /^issues:(?:milestone|label)=[^\p{C}]{1,100}$/u.test(name) ||
    (/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/.test(name) && !/\.\.|\.lock$|\.$/i.test(name)),
  'at most 100 letters, digits, `.`, `_` and `-`, the first a letter or digit, without `..` or a final `.` or `.lock`',
  suggestName,
)

function suggestName(name: string): string {
  const slug = name
    .slice(0, 200)
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/\.{2,}/g, '.')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, 60)
    .replace(/(\.lock|[.-])+$/i, '')
  return slug === '' ? 'choose a name such as auth' : `write ${slug}`
}

const refRules =
  'at most 100 characters, no spaces or control characters, none of ~ ^ : ? * [ \\ `..` `//` `@{`, no part that starts with `.` or ends in `.lock`, no `/` or `-` at the start'

function isBranch(name: string): boolean {
  return name.length <= 100 && branchNameFault(name) === null
}

/** The start of a branch's name, before the feature; usually ends in `/`. */
export const branchPrefix = textWhere(
  (prefix) => isBranch(`${prefix}x`),
  `the start of a branch name, without \`refs/heads/\`: ${refRules}`,
  'write a prefix such as ralph/',
)

/** What stands for the feature's name in `branch-name`. */
export const FEATURE = '{feature}'

/** The name of a feature's branch. Its end is the feature, so that a branch also says which feature it has. */
export const branchPattern = textWhere(
  (pattern) => pattern.endsWith(FEATURE) && isBranch(`${pattern.slice(0, -FEATURE.length)}x`),
  `a branch name that ends in ${FEATURE}, without \`refs/heads/\`: ${refRules}`,
  `write a pattern such as feat/${FEATURE}`,
)

/** A branch, without `refs/heads/`. */
export const branchName = textWhere(
  isBranch,
  `a branch name without \`refs/heads/\`: ${refRules}, no \`/\` or \`.\` at the end`,
  (name) => `write ${branchOfRef(oneLine(name, 80)) ?? 'a name such as main'}`,
)

/** Whose reviews count: `writers`, `off`, or a mention. */
export const reviews = textWhere(
  (name) => name === 'writers' || name === 'off' || /^@[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})$/.test(name),
  'writers, off, or a mention such as "@ralph"',
  (name) => (/^[A-Za-z0-9-]{1,39}$/.test(name) ? `write "@${name}"` : 'write writers'),
)

/** Where the state refs live: below `refs/`, but not where tags, remotes and pull requests are. */
export const stateNamespace = textWhere(
  (name) =>
    /^refs\/(?!(?:heads$|(?:tags|remotes|pull|replace|stash|notes)(?:\/|$)))/.test(name) &&
    isBranch(name.replace(/^refs\/(?:heads\/)?/, '')),
  `a separate ref namespace below \`refs/\`: ${refRules}`,
  'write refs/ralph',
)

/** A gate's name, which is also a log file's and part of a check's. A plain number would lose its place in a map. */
export const gateName = textWhere(
  (name) => /^(?!\d+$)[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name),
  'at most 64 letters, digits, `.`, `_` and `-`, the first a letter or digit, and not just a number',
  (name) => (/^\d+$/.test(name) ? `write gate-${name}` : suggestName(name)),
)

/** A workflow's file name. A path in .github/workflows is cut to the name, since a workflow must be there. */
export const workflowFile = z.pipe(
  textWhere(
    (path) => /^(\.github\/workflows\/)?[^-/\\][^/\\]*\.ya?ml$/.test(path),
    'the name of a file in .github/workflows',
    'write a name such as ralph.yml',
  ),
  z.transform((path) => path.slice(path.lastIndexOf('/') + 1)),
)

const staysInside = (path: string) => !path.split(/[\\/]/).includes('..')

/** A path inside the repository, without `..`. Whether it exists is not checked here. */
export const insidePath = textWhere(staysInside, 'a path inside the repository', 'write it without `..`')

/** A file that a gate writes, from its folder; globs as in .gitignore. */
export const reportPath = textWhere(
  (path) => staysInside(path) && !/^[/!~]|^[A-Za-z]:|\\|\/$/.test(path),
  'a path or glob with `/`, relative to the folder that the gates run in',
  'write a path such as reports/junit.xml or reports/**/*.xml',
)

/** A configuration file's path; its ending says how it is read. */
export const configPath = textWhere(
  (path) => /\.(ya?ml|json)$/i.test(path) && staysInside(path),
  'a path inside the repository that ends in .yml, .yaml or .json',
  'write ralph.config.yml',
)

/** A version as package managers take it, and the integrity of its package if that is pinned. */
export const version = textWhere(
  (written) => /^[\^~]?[A-Za-z0-9][A-Za-z0-9.+-]*(?: sha512-[A-Za-z0-9+/]{86}==)?$/.test(written),
  'a version such as 2.1.0 or latest, or 2.1.0 sha512-...',
  'write only the version, or the version and its sha512 integrity',
)

/** The agents would read a name with a dash before it as an option of theirs. */
export const modelName = textWhere(
  (name) => !name.startsWith('-'),
  'the name of a model',
  'remove the dash at its start',
)

/** Ids of stories with commas, blanks or lines between them. Whether there is such a story is known where the stories are. */
export const storyIds = z
  .pipe(
    z.transform((value: unknown) =>
      [value]
        .flat()
        .flatMap((one) => (typeof one === 'string' ? one.split(/[\s,]+/).filter(Boolean) : [one])),
    ),
    z.array(text),
  )
  .register(kinds, { kind: 'list' })

export const variableName = textWhere(
  (name) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name),
  'the name of an environment variable',
  (name) => {
    const before = /^([A-Za-z_][A-Za-z0-9_]*)\s*[=:]/.exec(name)?.[1]
    if (before === undefined) return 'write one name per line'
    return `write ${oneLine(before, 80)}; the value comes from the environment`
  },
)

export const variableNames = list(variableName)

/** Hosts, or presets such as npm. */
export const hosts = list(
  textWhere(
    isAllowEntry,
    'a host, *.host, host:port or a preset',
    `write one per line; presets are ${Object.keys(NETWORK_PRESETS).join(', ')}`,
  ),
)

/** Patterns as in .gitignore, `#` lines dropped. */
export const globs = list(
  textWhere(
    (pattern) => !/^!?$|^!?\.\/|(^!?|\/)\.\.(\/|$)|(^|[^\\])(\\\\)*\\$/.test(pattern),
    'a pattern as in .gitignore, relative to the root of the repository',
    'write a pattern such as src/billing/**, without `./` and `..`',
  ),
  { comments: true },
)
