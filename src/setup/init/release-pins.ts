// The release of the action in a workflow, or of the package in package.json, changed in place; every other byte stays.
import { isMap, isScalar, parseDocument, visit } from 'yaml'
import { ACTION, PACKAGE } from '../../engine/model/version.ts'

/** A release to move to. */
type Target = { tag: string; commit: string }

export type Pin = {
  line: number
  /** As it is written: `v1.2.3`, `v1`, a commit, `^1.2.3`. */
  ref: string
  /** `v1.2.3` if the file says it; else null. */
  tag: string | null
  /** `none`: nothing that could be moved, such as a branch. */
  kind: 'tag' | 'major' | 'commit' | 'range' | 'none'
}

type Found = Pin & { edits: (target: Target) => readonly Edit[] }
type Edit = { from: number; to: number; text: string }

/** The pins of a text, and the text with all of them moved. Null if it is not YAML or JSON that can be read. */
export type Pinned = { pins: Pin[]; movedTo: (target: Target) => string }

const USES = new RegExp(`^(?:https?://[^/\\s]+/)?${ACTION}@(\\S+)$`)
const COMMIT = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/

export function actionPins(text: string): Pinned | null {
  return findPins(text, (found) => {
    const { key, value, from, to } = found
    const [, ref] = (key === 'uses' && USES.exec(value)) || []
    if (ref === undefined) return null
    const kind = kindOf(ref)
    const written = text.slice(from, to)
    const at = from + written.lastIndexOf(`@${ref}`) + 1
    const remark = remarkBehind(text, to)
    return {
      line: lineOf(text, from),
      ref,
      tag: kind === 'tag' ? ref : isRelease(remark.tag) ? remark.tag : null,
      kind,
      edits({ tag, commit }) {
        const range = { from: at, to: at + ref.length }
        if (kind === 'none') return []
        if (kind === 'tag') return [{ ...range, text: tag }]
        if (kind === 'major') return [{ ...range, text: majorOf(tag) }]
        return [{ ...range, text: commit }, ...remark.edits(tag)]
      },
    }
  })
}

export function packagePins(text: string): Pinned | null {
  return findPins(text, ({ key, value, from, to }) => {
    if (key !== PACKAGE) return null
    const [, sign, version] = /^([~^]?)(\d+\.\d+\.\d+)$/.exec(value) ?? []
    return {
      line: lineOf(text, from),
      ref: value,
      tag: version === undefined ? null : `v${version}`,
      kind: version === undefined ? 'none' : 'range',
      edits: ({ tag }) =>
        version === undefined ? [] : [{ from: from + 1, to: to - 1, text: `${sign}${tag.slice(1)}` }],
    }
  })
}

type Pair = { key: string; value: string; from: number; to: number }

/** JSON is YAML: both are read by one parser, which gives the position of each value. */
function findPins(text: string, look: (pair: Pair) => Found | null): Pinned | null {
  const document = parseDocument(text, { logLevel: 'silent' })
  if (document.errors.length > 0 || !isMap(document.contents)) return null
  const found: Found[] = []
  visit(document, {
    Pair(_index, { key, value }) {
      if (!isScalar(key) || !isScalar(value) || typeof value.value !== 'string' || value.range == null) return
      const [from, to] = value.range
      const one = look({ key: String(key.value), value: value.value, from, to })
      if (one !== null) found.push(one)
    },
  })
  return {
    pins: found.map(({ line, ref, tag, kind }) => ({ line, ref, tag, kind })),
    movedTo: (target) =>
      applyEdits(
        text,
        found.flatMap(({ edits }) => edits(target)),
      ),
  }
}

function applyEdits(text: string, edits: readonly Edit[]): string {
  return [...edits]
    .sort((a, b) => b.from - a.from)
    .reduce(
      (before, { from, to, text: replacement }) => before.slice(0, from) + replacement + before.slice(to),
      text,
    )
}

function kindOf(ref: string): Pin['kind'] {
  if (isRelease(ref)) return 'tag'
  if (/^v\d+$/.test(ref)) return 'major'
  return COMMIT.test(ref) || ref === '<sha>' ? 'commit' : 'none'
}

function isRelease(tag: string | null): tag is string {
  return tag !== null && /^v\d+\.\d+\.\d+$/.test(tag)
}

function majorOf(tag: string): string {
  return tag.split('.')[0] ?? tag
}

function lineOf(text: string, at: number): number {
  return text.slice(0, at).split('\n').length
}

/** The version in the remark behind a commit, for people and Dependabot; one is added if the line ends with the commit. */
function remarkBehind(text: string, at: number): { tag: string | null; edits: (tag: string) => Edit[] } {
  const [rest = ''] = /^[^\r\n]*/.exec(text.slice(at)) ?? []
  const [, before = '', tag = ''] = /^([ \t]+#[ \t]*)(v\d+(?:\.\d+){0,2})(?![\w.])/.exec(rest) ?? []
  if (tag !== '') {
    const from = at + before.length
    return { tag, edits: (next) => [{ from, to: from + tag.length, text: next }] }
  }
  const isEnd = rest.trim() === ''
  return { tag: null, edits: (next) => (isEnd ? [{ from: at, to: at, text: ` # ${next}` }] : []) }
}
