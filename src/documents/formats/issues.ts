// GitHub issues as `gh issue list --json ...` or the API gives them.
import { cut } from '../../model/text.ts'
import { isRaw, many, type Raw } from '../../prd/migrate.ts'
import { blocksOf } from '../markdown.ts'
import { type Data, type Opened, unparsable } from '../opened.ts'
import { type Format, planAt, type Reading, type ToldStory } from '../types.ts'
import { urgencyOf } from '../words.ts'
import { storyFields } from './story-section.ts'

export const issues: Format = {
  name: 'GitHub issues',
  found: planAt('(?:github-)?issues\\.json'),
  reads: (document) => issuesIn(document).length > 0,
  read,
}

type Issue = {
  number: number
  title: string
  body: string
  labels: string[]
  isClosed: boolean
  line: number
}

function issuesIn(document: Opened): Issue[] {
  // A long file that is no list of issues is not parsed for it.
  if (!/\.json$/i.test(document.path) || !/"number"\s*:/.test(document.text)) return []
  const { data } = document.data
  if (data === null) return []
  const list = Array.isArray(data.value) ? data.value : [data.value]
  return list.flatMap((one: unknown, index) => {
    const at = Array.isArray(data.value) ? [index] : []
    return isRaw(one) &&
      typeof one.number === 'number' &&
      typeof one.title === 'string' &&
      !('pull_request' in one)
      ? [issueOf(one, one.number, one.title, data, at)]
      : []
  })
}

function issueOf(one: Raw, number: number, title: string, data: Data, at: number[]): Issue {
  const labels = Array.isArray(one.labels) ? one.labels : []
  const names = labels.map((label: unknown) => (isRaw(label) ? label.name : label))
  return {
    number,
    title,
    body: typeof one.body === 'string' ? one.body.replace(/\r\n?/g, '\n') : '',
    labels: names.filter((name) => typeof name === 'string'),
    isClosed: /^closed$/i.test(String(one.state ?? '')),
    line: data.lineOf(at),
  }
}

function read(document: Opened): Partial<Reading> {
  const all = issuesIn(document)
  const known = new Set(all.map(({ number }) => number))
  const stories = all.map((issue) => storyOf(document.path, issue, known))
  const closed = all.filter(({ isClosed }) => isClosed).length
  const words = closed > 0 ? `, ${closed} of them closed` : ''
  return { stories, notes: [`${many(all.length, 'issue')} read as user stories${words}.`] }
}

function storyOf(path: string, issue: Issue, known: ReadonlySet<number>): ToldStory {
  const { number, title, body, labels, isClosed, line } = issue
  const needs = [...body.matchAll(/\b(?:depends on|blocked by)((?:[ \t,]|and|#\d+)+)/gi)].flatMap(
    ([, ids = '']) => [...ids.matchAll(/#(\d{1,9})/g)].map(([, id]) => Number(id)),
  )
  const dependsOn = [...new Set(needs)].filter((id) => known.has(id) && id !== number).map((id) => `GH-${id}`)
  const { description, acceptanceCriteria } = partsOf(path, number, body)
  return {
    line,
    raw: {
      ...{ id: `GH-${number}`, title, description, acceptanceCriteria, dependsOn },
      ...(labels.length === 0 ? {} : { tags: labels }),
      passes: isClosed,
    },
    urgency: labels.map(urgencyOf).find((one) => one !== 1) ?? 1,
  }
}

/** A body that costs a parser minutes is taken as it is. */
function partsOf(path: string, number: number, body: string) {
  if (unparsable(path, body).length > 0) return { description: cut(body, 20_000), acceptanceCriteria: [] }
  const blocks = blocksOf(body.replace(/^[ \t]*(?:depends on|blocked by)\b.*$/gim, ''))
  return storyFields(blocks, `GH-${number}`).raw
}
