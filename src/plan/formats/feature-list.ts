// feature_list.json of long-running agents: a list of things with a title, a state and criteria, whatever their keys are called.
import { isObject } from '../../engine/model/json.ts'
import { formatCount, isGiven, type Raw } from '../../engine/prd/migrate.ts'
import {
  criteriaOf,
  doneFlagOf,
  hasCriteriaKey,
  needsOf,
  priorityOf,
  stateFieldOf,
  stateOf,
} from '../../engine/prd/story-fields.ts'
import type { OpenDocument } from '../open-document.ts'
import { type Format, type Mark, type ParsedStory, planPaths } from '../types.ts'
import { dropUnknownDependencies, nameEntries } from './left-out.ts'

export const featureList: Format = {
  name: 'feature list',
  rank: 'detailed',
  discoveryPath: planPaths('features?(?:[_-]?list)?\\.json'),
  matches: (document) => isFeatureList(document),
  read(document) {
    const entries = entriesOf(document)
    const features = entries.filter(isFeature)
    const odd = entries.filter((one) => !isFeature(one))
    const isLeft = ({ entry }: Entry) => stateOf(stateFieldOf(entry)?.words ?? '') === 'left out'
    const left = features.filter(isLeft)
    const kept = features.filter((one) => !isLeft(one))
    const word = doneWord(kept)
    const { stories, notes: waits } = dropUnknownDependencies(
      kept.map((one) => parseStory(document, one, word)),
    )
    const done = stories.filter(({ raw }) => raw.passes === true).length
    const notes = [...waits]
    if (stories.length > 0)
      notes.unshift(`${formatCount(stories.length, 'feature')} read as user stories, ${done} of them passed.`)
    if (left.length > 0)
      notes.push(
        `left out, because they are marked as not to be built: ${nameEntries(left.map(({ entry }) => entry))}.`,
      )
    if (odd.length > 0)
      notes.push(
        `left out: ${formatCount(odd.length, 'entry')} without a title (${odd.slice(0, 10).map(placeOf).join(', ')}). To include them: give each a title.`,
      )
    const { project, project_name: name } = document.fields
    return { root: { project: typeof project === 'string' ? project : (name ?? null) }, stories, notes }
  },
}

/** `group`: the key or the title of the list that it is in. */
type Entry = { entry: Raw; at: readonly (string | number)[]; group: string | null }

function placeOf({ at }: Entry): string {
  return at.map((key) => (typeof key === 'number' ? `[${key}]` : key)).join('')
}

const LISTS = ['features', 'cards', 'feature_list', 'featureList', 'items', 'stories', 'backlog']
const GROUPS = ['phases', 'epics', 'milestones', 'categories', 'modules', 'areas', 'groups']
const NAME = /(?:^|\/)features?(?:[_-]?list)?[^/]*\.json$/i

/** A file of another name may hold any data: there a key that only features have is needed. */
function isFeatureList(document: OpenDocument): boolean {
  const { path, file, name, text } = document
  if (!/\.json$/i.test(path) || /^prd\.json$/i.test(name)) return false
  const isLikely = NAME.test(path) || file.isNamed === true
  if (!isLikely && !/"(?:passes|steps|acceptance\w*)"\s*:/.test(text)) return false
  const entries = entriesOf(document)
  const features = entries.filter(isFeature)
  const isSure = ({ entry }: Entry) =>
    typeof entry.passes === 'boolean' || (isLikely ? true : hasCriteriaKey(entry))
  return features.length > 0 && features.length * 2 >= entries.length && features.every(isSure)
}

function isFeature({ entry }: Entry): boolean {
  const hasState = doneFlagOf(entry) !== null || stateFieldOf(entry) !== null
  return titleOf(entry) !== '' && (hasState || hasCriteriaKey(entry))
}

/** The entries of the list: at the top, under one of its usual names, or of several lists by phase or category. */
function entriesOf({ data }: OpenDocument): Entry[] {
  const value = data.data?.value
  if (Array.isArray(value)) return entriesIn(value, [], null)
  if (!isObject(value)) return []
  for (const name of LISTS) {
    const list = value[name]
    if (Array.isArray(list)) return entriesIn(list, [name], null)
    if (isObject(list))
      return Object.entries(list).flatMap(([group, inner]) =>
        Array.isArray(inner) ? entriesIn(inner, [name, group], group) : [],
      )
  }
  return GROUPS.flatMap((name) => {
    const groups: unknown = value[name]
    // A list of groups, or an object with a group for each name.
    const named = isObject(groups) ? Object.entries(groups) : Array.isArray(groups) ? groups.entries() : []
    return [...named].flatMap(([key, group]: [string | number, unknown]) => {
      if (!isObject(group)) return []
      const inner = LISTS.find((one) => Array.isArray(group[one]))
      const list: unknown = inner === undefined ? null : group[inner]
      const title = titleOf(group) || (typeof key === 'string' ? key : null)
      return Array.isArray(list) ? entriesIn(list, [name, key, inner ?? ''], title) : []
    })
  })
}

function entriesIn(list: readonly unknown[], at: Entry['at'], group: string | null): Entry[] {
  return list.map((entry, index) => ({ entry: isObject(entry) ? entry : {}, at: [...at, index], group }))
}

const TITLES = ['title', 'name', 'feature', 'story', 'summary', 'description', 'user_visible_behavior']

function titleOf(entry: Raw): string {
  const found = TITLES.map((key) => entry[key]).find((one) => typeof one === 'string' && one.trim() !== '')
  return typeof found === 'string' ? (found.trim().split('\n', 1)[0] ?? '') : ''
}

function idOf(id: unknown): string {
  return String(id).replace(/[^\w.-]/g, '-')
}

/** The word for done that the file itself uses. */
function doneWord(entries: readonly Entry[]): string {
  const words = entries.map(({ entry }) => stateFieldOf(entry)?.words ?? '')
  const own = words.find((one) => stateOf(one) === 'done')
  return own ?? (words.some((one) => /^not[ _-]?started$/i.test(one)) ? 'completed' : 'done')
}

function parseStory(
  { data: { data } }: OpenDocument,
  { entry, at, group }: Entry,
  word: string,
): ParsedStory {
  const { id, category, priority } = entry
  const title = titleOf(entry)
  const text = typeof entry.description === 'string' ? entry.description.trim() : ''
  const flag = doneFlagOf(entry)
  const state = stateFieldOf(entry)
  const passes = flag?.value ?? stateOf(state?.words ?? '') === 'done'
  const mark: Mark | null =
    flag !== null
      ? { kind: 'value', at: [...at, flag.key], value: true }
      : state !== null
        ? { kind: 'value', at: [...at, state.key], value: word }
        : null
  const rank = typeof priority === 'string' ? priorityOf(priority) : priority
  return {
    line: data?.lineOf(at) ?? 1,
    raw: {
      title,
      description: text === title ? '' : text,
      acceptanceCriteria: criteriaOf(entry),
      passes,
      id: isGiven(id) ? idOf(id) : undefined,
      epicId: typeof category === 'string' ? category : group,
      dependsOn: (needsOf(entry) ?? []).map((need) => idOf(isObject(need) ? need.id : need)),
      ...(typeof rank === 'number' ? { priority: rank } : {}),
    },
    marks: mark === null ? [] : [mark],
  }
}
