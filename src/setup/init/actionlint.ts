// actionlint does not know `concurrency.queue`, which our workflows have: whether a project uses it, and the rule that allows it.
import { asObject } from '../../engine/model/json.ts'
import { yamlObject } from '../yaml-object.ts'
import type { FileTree } from './detect.ts'
import type { PlannedFile } from './init-files.ts'

/** What actionlint 1.7 says of our workflows. */
export const QUEUE_MESSAGE =
  'unexpected key "queue" for "concurrency" section. expected one of "cancel-in-progress", "group"'

export const QUEUE_RULE = `paths:
  .github/workflows/ralph*.yml:
    ignore:
      - 'unexpected key "queue" for "concurrency" section'
`

/** The same on one line. */
export const QUEUE_RULE_LINE =
  'paths: { ".github/workflows/ralph*.yml": { ignore: [\'unexpected key "queue" for "concurrency" section\'] } }'

export const UNKNOWN_QUEUE = 'does not know `queue` of the workflow yet'

const CONFIG = /^\.github\/(?:linters\/)?actionlint\.ya?ml$/
/** The workflows that Ralph writes also name it. */
const WORKFLOW = /^\.github\/workflows\/(?!ralph)[^/]+\.ya?ml$/
/** Other files that name the linters of a project. */
export const LINTER_FILES = [
  ...[
    '.pre-commit-config.yaml',
    '.pre-commit-config.yml',
    'lefthook.yml',
    '.lefthook.yml',
    '.mega-linter.yml',
  ],
  ...[
    'package.json',
    'Makefile',
    'justfile',
    'Justfile',
    'Taskfile.yml',
    'mise.toml',
    '.mise.toml',
    '.tool-versions',
  ],
]
const NAMES_ACTIONLINT = /\bactionlint\b|\bsuper-linter\/super-linter\b/

export type Actionlint = {
  /** The file that shows it. */
  usedBy: string
  /** Its configuration, or where that would stand. */
  config: string
  isThere: boolean
  allowsQueue: boolean
}

/** Null where nothing shows that the project uses actionlint. */
export function findActionlint({ paths, text }: FileTree): Actionlint | null {
  const config = paths.find((path) => CONFIG.test(path)) ?? null
  const linters = paths.filter(
    (path) => (WORKFLOW.test(path) || LINTER_FILES.includes(path)) && NAMES_ACTIONLINT.test(text(path)),
  )
  const usedBy = config ?? linters[0]
  if (usedBy === undefined) return null
  const isSuper = linters.some((path) => !/\bactionlint\b/.test(text(path)))
  return {
    usedBy,
    config: config ?? (isSuper ? '.github/linters/actionlint.yml' : '.github/actionlint.yaml'),
    isThere: config !== null,
    allowsQueue: config !== null && allowsQueue(text(config)),
  }
}

function allowsQueue(text: string): boolean {
  const paths = asObject(yamlObject(text)?.paths) ?? {}
  return Object.entries(paths).some(([pattern, rules]) => {
    const ignore = asObject(rules)?.ignore
    const isOurs = pattern.includes('*') || /\bralph/.test(pattern)
    return isOurs && Array.isArray(ignore) && ignore.some((one) => matchesQueue(String(one)))
  })
}

function matchesQueue(expression: string): boolean {
  try {
    return new RegExp(expression).test(QUEUE_MESSAGE)
  } catch {
    return false
  }
}

/** What a person adds to a configuration that has paths of its own. */
export function actionlintNote(tree: FileTree): string | null {
  const found = findActionlint(tree)
  if (found === null || found.allowsQueue || actionlintFile(tree) !== null) return null
  return `actionlint (${found.usedBy}) ${UNKNOWN_QUEUE}: add to ${found.config}: ${QUEUE_RULE_LINE}`
}

/** The configuration with the rule in it; null where none is needed, or where a person has to merge it with what is there. */
export function actionlintFile(tree: FileTree): PlannedFile | null {
  const found = findActionlint(tree)
  if (found === null || found.allowsQueue) return null
  if (!found.isThere)
    return { path: found.config, text: `# actionlint does not know concurrency.queue yet.\n${QUEUE_RULE}` }
  const before = tree.text(found.config)
  const rules = yamlObject(before)
  if (before.trim() !== '' && (rules === null || 'paths' in rules)) return null
  return { path: found.config, text: `${before.trimEnd()}\n\n${QUEUE_RULE}`.trimStart(), adds: true }
}
