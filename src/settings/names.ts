// Names that become branches, refs, files or variables: what is safe, and what to write instead.
import { isModelKey } from '../agents/registry.ts'
import { isForbidden } from '../system/untrusted-env.ts'
import { mistakeSaid, note, type Place } from './place.ts'
import { list, type Read, text, textWhere } from './readers.ts'
import { oneLine } from './show.ts'

const longestName = 100

const hidden = text()

/** A text on one line that no message shows. */
export const secretText: Read<string> = (value, at) => hidden(value, { ...at, shownAs: '(hidden)' })

/** A feature: the end of a folder's and of a branch's name. */
export const featureName: Read<string> = textWhere((name) => {
  const safe = /^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(name) && !/\.\.|\.lock$|\.$/i.test(name)
  if (safe && name.length <= longestName) return null
  const expected =
    'letters, digits, `.`, `_` and `-`, starting with a letter or digit, without `..` or an ending `.` or `.lock`, at most 100 characters'
  return { expected, fix: instead(name) }
})

function instead(name: string): string {
  const slug = name
    .slice(0, 200)
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/\.{2,}/g, '.')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, 60)
    .replace(/(\.lock|[.-])+$/i, '')
  return slug === '' ? 'choose a name such as auth' : `write ${slug}`
}

/** What git refuses in a ref (git-check-ref-format(1)), and what a command line would take for an option. */
function refFault(ref: string): string | null {
  if (ref.length > longestName) return `at most ${longestName} characters`
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what git refuses here.
  if (/[\u0000-\u0020\u007f~^:?*[\\]/.test(ref))
    return 'no spaces, control characters or any of ~ ^ : ? * [ \\'
  if (/\.\.|@\{|\/\/|^[/-]|(^|\/)\.|\.lock(\/|$)/i.test(ref)) {
    return 'no `..`, `//`, `@{`, no part that starts with `.` or ends in `.lock`, no `/` or `-` at the start'
  }
  return null
}

/** What stands before the feature in a branch's name; usually ends in `/`. */
export const branchPrefix: Read<string> = textWhere((prefix) => {
  const fault = /^refs\//.test(prefix) ? 'no `refs/heads/` before it' : refFault(prefix)
  return fault === null
    ? null
    : { expected: `the start of a branch name: ${fault}`, fix: 'write a prefix such as ralph/' }
})

/** A branch, without `refs/heads/`. */
export const branchName: Read<string> = textWhere((name) => {
  if (/^refs\/heads\//.test(name)) {
    return { expected: 'a branch name without `refs/heads/`', fix: `write ${oneLine(name.slice(11))}` }
  }
  const fault = refFault(name) ?? (/[/.]$|^@$/.test(name) ? 'no `/` or `.` at the end' : null)
  return fault === null ? null : { expected: `a branch name: ${fault}`, fix: 'write a name such as main' }
})

/** Where the state refs live: below `refs/`, but not where tags, remotes and pull requests are. */
export const stateNamespace: Read<string> = textWhere((name) => {
  const fault = /^refs\/./.test(name) ? refFault(name) : 'starts with `refs/`'
  const taken =
    /^refs\/(heads$|(tags|remotes|pull|replace|stash|notes)(\/|$))/.test(name) || /[/.]$/.test(name)
  if (fault === null && !taken) return null
  return {
    expected: `a ref namespace of its own${fault === null ? '' : `: ${fault}`}`,
    fix: 'write refs/ralph',
  }
})

/** Safe as a gate's name, which is also a log file's and part of a check's. */
export function gateNameFault(name: string): { expected: string; fix: string } | null {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name)) return null
  const expected =
    'a name of letters, digits, `.`, `_` and `-`, starting with a letter or digit, at most 64 characters'
  return { expected, fix: instead(name) }
}

/** A workflow's file name; a path below .github/workflows is cut to it, since that is where it must lie. */
export const workflowFile: Read<string> = (value, at) => {
  const path = workflowPath(value, at)
  return path?.slice(path.lastIndexOf('/') + 1)
}

const workflowPath = textWhere((path) => {
  if (/^(\.github\/workflows\/)?[^/\\]+\.ya?ml$/.test(path) && !path.startsWith('-')) return null
  return { expected: 'the name of a file in .github/workflows', fix: 'write a name such as ralph.yml' }
})

/** A path inside the repository (no way up); it is not looked at. */
export const insidePath: Read<string> = textWhere((path) => {
  if (!path.split(/[\\/]/).includes('..')) return null
  return { expected: 'a path inside the repository', fix: 'write it without `..`' }
})

/** A configuration file's path; its ending says how it is read. */
export const configPath: Read<string> = textWhere((path) => {
  if (/\.(ya?ml|json)$/i.test(path) && !path.split(/[\\/]/).includes('..')) return null
  return {
    expected: 'a path inside the repository that ends in .yml, .yaml or .json',
    fix: 'write ralph.config.yml',
  }
})

/** A version as package managers take it. */
export const version: Read<string> = textWhere((written) => {
  if (/^[\^~]?[A-Za-z0-9][A-Za-z0-9.+-]*$/.test(written)) return null
  return { expected: 'a version such as 2.1.0 or latest', fix: 'write the version alone' }
})

const variableName = textWhere((name) => {
  if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return null
  const before = /^([A-Za-z_][A-Za-z0-9_]*)\s*[=:]/.exec(name)?.[1]
  const fix =
    before === undefined
      ? 'write one name a line'
      : `write ${oneLine(before)}; the value comes from the environment`
  return { expected: 'the name of an environment variable', fix }
})

const variableNames = list(variableName)

/** Names of variables for the agent. Those that nobody gets are said so; untrusted-env.ts leaves them out. */
export const agentVariables: Read<string[]> = (value, at) => {
  const names = variableNames(value, at)
  for (const name of names ?? []) if (isForbidden(name)) note(at, `${name} is never handed to the agent`)
  return names
}

/** Names of variables for the gates, which get no key that pays for a model either. */
export const gateVariables: Read<string[]> = (value, at) => {
  const names = variableNames(value, at)
  for (const name of names ?? []) {
    if (isForbidden(name) || isModelKey(name)) note(at, `${name} is never handed to gates`)
  }
  return names
}

const glob = textWhere((pattern) => {
  const bare = pattern.replace(/^!/, '')
  if (/^(\.\/|\/?\.\.\/)/.test(bare) || bare.split('/').includes('..')) {
    return {
      expected: 'a pattern as in .gitignore, from the root of the repository',
      fix: 'write it without `./` and `..`',
    }
  }
  const odd = /(^|[^\\])(\\\\)*\\$/.test(bare) || bare === ''
  return odd
    ? { expected: 'a pattern as in .gitignore', fix: 'write a pattern such as src/billing/**' }
    : null
})

/** Patterns as in .gitignore, `#` lines dropped. */
export const globs: Read<string[]> = list(glob, { comments: true })

const argument = text()

/** Arguments, one an item. One that looks like several gets a note, since nothing splits it later. */
export const commandArguments: Read<string[]> = (value, at) => {
  const items = list(argument)(value, at)
  const joined = items?.find((item) => /^-\S+\s+\S/.test(item) && !item.includes('='))
  if (joined !== undefined)
    note(at, 'an item with a space in it is one argument; write each argument on its own line')
  return items
}

/** A model's price in `prices` and such: any name that fits on a line. */
export function lineKey(key: string, at: Place): boolean {
  if (key.trim() !== '' && oneLine(key) === key) return true
  mistakeSaid(at, 'an unsafe name', 'a short name without control characters', 'rename it')
  return false
}
