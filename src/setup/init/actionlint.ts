// actionlint does not know `concurrency.queue`, which Ralph's workflows have. Here: whether a project uses actionlint, and the rule for
// its configuration that allows the key.
import { asObject } from '../../engine/model/json.ts'
import { yamlObject } from '../yaml-object.ts'
import type { FileTree } from './detect.ts'
import type { PlannedFile } from './init-files.ts'

/** The message of actionlint 1.7 for Ralph's workflows. */
export const QUEUE_MESSAGE =
  'unexpected key "queue" for "concurrency" section. expected one of "cancel-in-progress", "group"'

export const QUEUE_RULE = `paths:
  .github/workflows/ralph*.yml:
    ignore:
      - 'unexpected key "queue" for "concurrency" section'
`

/** QUEUE_RULE on one line. */
export const QUEUE_RULE_LINE =
  'paths: { ".github/workflows/ralph*.yml": { ignore: [\'unexpected key "queue" for "concurrency" section\'] } }'

export const UNKNOWN_QUEUE = 'does not know the key `queue` of ralph.yml yet'

const CONFIG = /^\.github\/(?:linters\/)?actionlint\.ya?ml$/
/** Ralph's own workflows are not searched: they name actionlint as well. */
const WORKFLOW = /^\.github\/workflows\/(?!ralph)[^/]+\.ya?ml$/
/** Other files that name the linters of a project. */
export const LINTER_FILES = [
  '.pre-commit-config.yaml',
  '.pre-commit-config.yml',
  'lefthook.yml',
  '.lefthook.yml',
  '.mega-linter.yml',
  'package.json',
  'Makefile',
  'justfile',
  'Justfile',
  'Taskfile.yml',
  'mise.toml',
  '.mise.toml',
  '.tool-versions',
]
const NAMES_ACTIONLINT = /\bactionlint\b|\bsuper-linter\/super-linter\b/

export type Actionlint = {
  /** The file that shows that the project uses actionlint. */
  usedBy: string
  /** The path of its configuration, also if that does not exist yet. */
  config: string
  hasConfig: boolean
  allowsQueue: boolean
}

/** Null if nothing shows that the project uses actionlint. */
export function findActionlint({ paths, text }: FileTree): Actionlint | null {
  const config = paths.find((path) => CONFIG.test(path)) ?? null
  const linters = paths.filter(
    (path) => (WORKFLOW.test(path) || LINTER_FILES.includes(path)) && NAMES_ACTIONLINT.test(text(path)),
  )
  const usedBy = config ?? linters[0]
  if (usedBy === undefined) return null
  const usesSuperLinter = linters.some((path) => !/\bactionlint\b/.test(text(path)))
  return {
    usedBy,
    config: config ?? (usesSuperLinter ? '.github/linters/actionlint.yml' : '.github/actionlint.yaml'),
    hasConfig: config !== null,
    allowsQueue: config !== null && allowsQueue(text(config)),
  }
}

function allowsQueue(text: string): boolean {
  const paths = asObject(yamlObject(text)?.paths) ?? {}
  return Object.entries(paths).some(([pattern, rules]) => {
    const ignore = asObject(rules)?.ignore
    const mayMatchRalph = pattern.includes('*') || /\bralph/.test(pattern)
    return mayMatchRalph && Array.isArray(ignore) && ignore.some((rule) => matchesQueue(String(rule)))
  })
}

function matchesQueue(expression: string): boolean {
  try {
    return new RegExp(expression).test(QUEUE_MESSAGE)
  } catch {
    return false
  }
}

/** Asks a person to add the rule to a configuration that has `paths` already; null if that is not needed. */
export function actionlintNote(tree: FileTree): string | null {
  const found = findActionlint(tree)
  if (found === null || found.allowsQueue || actionlintFile(tree) !== null) return null
  return `actionlint (${found.usedBy}) ${UNKNOWN_QUEUE}: add to ${found.config}: ${QUEUE_RULE_LINE}`
}

/** The configuration with the rule. Null if the rule is not needed, or if a person has to merge it with `paths` that are there. */
export function actionlintFile(tree: FileTree): PlannedFile | null {
  const found = findActionlint(tree)
  if (found === null || found.allowsQueue) return null
  if (!found.hasConfig)
    return { path: found.config, text: `# actionlint does not know concurrency.queue yet.\n${QUEUE_RULE}` }
  const before = tree.text(found.config)
  const rules = yamlObject(before)
  if (before.trim() !== '' && (rules === null || 'paths' in rules)) return null
  return { path: found.config, text: `${before.trimEnd()}\n\n${QUEUE_RULE}`.trimStart(), adds: true }
}
