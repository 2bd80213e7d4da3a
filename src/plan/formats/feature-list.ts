// feature_list.json of long-running agents: features with the steps that verify them, in order of priority.
import { isObject } from '../../engine/model/json.ts'
import { formatCount, isGiven, type Raw } from '../../engine/prd/migrate.ts'
import type { OpenDocument } from '../open-document.ts'
import { isDone } from '../story-words.ts'
import { type Format, type ParsedStory, planPaths } from '../types.ts'
import { dropUnknownDependencies, nameEntries } from './left-out.ts'

export const featureList: Format = {
  name: 'feature list',
  rank: 'detailed',
  discoveryPath: planPaths('features?(?:[_-]list)?\\.json'),
  matches: (document) => entriesOf(document).length > 0,
  read(document) {
    const entries = entriesOf(document)
    const isLeft = ({ entry: { status } }: Entry) =>
      /^(?:cancell?ed|deferred|obsolete|wont[ _-]?do|skipped)$/i.test(String(status ?? ''))
    const left = entries.filter(isLeft)
    const kept = entries.filter((one) => !isLeft(one))
    const { stories, notes: waits } = dropUnknownDependencies(kept.map((one) => storyOf(document, one)))
    const done = stories.filter(({ raw }) => raw.passes === true).length
    const notes = [
      `${formatCount(stories.length, 'feature')} read as user stories, ${done} of them passed.`,
      ...waits,
    ]
    if (left.length > 0)
      notes.push(`left out, for they are not to be built: ${nameEntries(left.map(({ entry }) => entry))}.`)
    return { stories, notes }
  },
}

type Entry = { entry: Raw; at: readonly (string | number)[] }

function entriesOf({ path, text, data }: OpenDocument): Entry[] {
  if (!/\.json$/i.test(path) || !/"(?:passes|steps|acceptance)"\s*:/.test(text)) return []
  const value = data.data?.value
  const [name, list] = Array.isArray(value) ? [null, value] : listIn(value)
  const entries = list.flatMap((entry: unknown, index): Entry[] =>
    isObject(entry) ? [{ entry, at: name === null ? [index] : [name, index] }] : [],
  )
  const isFeature = ({ entry }: Entry) =>
    typeof (entry.description ?? entry.title ?? entry.name) === 'string' &&
    (typeof entry.passes === 'boolean' || Array.isArray(entry.steps) || 'acceptance' in entry)
  return entries.length > 0 && entries.every(isFeature) ? entries : []
}

function listIn(value: unknown): [string | null, unknown[]] {
  for (const name of ['features', 'cards', 'feature_list'])
    if (isObject(value) && Array.isArray(value[name])) return [name, value[name]]
  return [null, []]
}

function idOf(id: unknown): string {
  return String(id).replace(/[^\w.-]/g, '-')
}

function storyOf({ data: { data } }: OpenDocument, { entry, at }: Entry): ParsedStory {
  const {
    id,
    title,
    name,
    description,
    category,
    steps,
    acceptance,
    acceptance_criteria: criteria,
    passes,
    status,
  } = entry
  const needs = [entry.depends_on ?? entry.dependsOn ?? entry.dependencies ?? []].flat()
  const text = String(description ?? '').trim()
  const own = typeof (title ?? name) === 'string' ? String(title ?? name) : null
  const [first = ''] = text.split('\n', 1)
  const words = [acceptance ?? criteria ?? steps ?? []]
    .flat()
    .filter((one): one is string => typeof one === 'string')
  const done = typeof passes === 'boolean' ? passes : isDone(String(status ?? ''))
  const isByStatus = typeof passes !== 'boolean'
  return {
    line: data?.lineOf(at) ?? 1,
    raw: {
      ...{
        title: own ?? first,
        description: own === null && text === first ? '' : text,
        acceptanceCriteria: words,
        passes: done,
      },
      id: isGiven(id) ? idOf(id) : undefined,
      epicId: typeof category === 'string' ? category : null,
      dependsOn: needs.map(idOf),
      ...(typeof entry.priority === 'number' ? { priority: entry.priority } : {}),
    },
    marks:
      isByStatus && !isGiven(status)
        ? []
        : [
            {
              kind: 'value',
              at: [...at, isByStatus ? 'status' : 'passes'],
              value: isByStatus ? 'done' : true,
            },
          ],
  }
}
