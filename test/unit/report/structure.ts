// A strict reading of our markdown: what hostile text must never add to it.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { hostileStrings } from '../../fixtures/hostile-strings.ts'

type Entry = string | { repeat: string; times: number }

/** What renderers of ours have tripped over. Long strings are written as a part and how often it stands. */
export function tripped(): string[] {
  const file = new URL('../../fixtures/report/hostile.json', import.meta.url)
  const entries = JSON.parse(readFileSync(file, 'utf8')) as Entry[]
  return entries.map((entry) => (typeof entry === 'string' ? entry : entry.repeat.repeat(entry.times)))
}

/** All of the hostile strings, each once. */
export function corpus(): string[] {
  return [...new Set([...tripped(), ...hostileStrings.map(({ text }) => text)])]
}

/** What GitHub draws a picture for, whatever the letters' case: a line number (`a.ts:12:5`) is none but for two. */
export const EMOJI = /:(?:100|1234|(?!\d+:|-+:)[\w+-]+):/

const TAGS = /<(?:details(?: open)?|\/details|summary|\/summary|sub|\/sub|br)>/g
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u
const OWN_BREAK = /(?<=[@#:[]|www|GH-|<!-|\*(?=\u200b\*\*NO_CI))\u200b/gi
const JOINED = '\\p{Script_Extensions=Arabic}\\p{Script_Extensions=Devanagari}\\p{Script_Extensions=Sinhala}'
const SIGHTED = new RegExp(
  [
    `(?<=[${JOINED}])[\\u200c\\u200d](?=[${JOINED}])`,
    String.raw`(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f])\u200d(?=\p{Extended_Pictographic})`,
    String.raw`(?<=\p{Extended_Pictographic})[\ufe0e\ufe0f]|(?<=[\d#*])\ufe0f(?=\u20e3)|\n`,
  ].join('|'),
  'gu',
)

/** Nothing that cannot be seen, but our own breaks and the joiners of a script. */
export function assertVisible(text: string, what: string): void {
  const found = HIDDEN.exec(text.replace(OWN_BREAK, '').replace(SIGHTED, ''))
  assert.equal(
    found,
    null,
    `${what}: hidden character ${JSON.stringify(found?.[0])} in ${JSON.stringify(text.slice(0, 300))}`,
  )
}

export type Shape = {
  headings: number
  tasks: number
  tables: number[]
  fences: { info: string; lines: string[] }[]
  prose: string[]
}

/** The blocks of the text. Fails on a fence that is not closed. */
export function shapeOf(markdown: string): Shape {
  const shape: Shape = { headings: 0, tasks: 0, tables: [], fences: [], prose: [] }
  let fence: { mark: string; info: string; lines: string[] } | null = null
  let inTable = false
  for (const line of markdown.split('\n')) {
    if (fence !== null) {
      if (line === fence.mark) {
        shape.fences.push(fence)
        fence = null
      } else {
        assert.ok(
          !new RegExp(`^ {0,3}\`{${fence.mark.length},}\\s*$`).test(line),
          `the fence is closed by ${line}`,
        )
        fence.lines.push(line)
      }
      continue
    }
    const opened = /^(`{3,})(.*)$/.exec(line)
    if (opened !== null) {
      assert.match(opened[2] ?? '', /^(?:text|diff|mermaid)$/, 'a fence of nobody')
      fence = { mark: opened[1] ?? '', info: opened[2] ?? '', lines: [] }
      inTable = false
      continue
    }
    shape.prose.push(line)
    if (/^#{1,6} /.test(line)) shape.headings += 1
    if (/^- \[[x ]\] /.test(line)) shape.tasks += 1
    if (line.startsWith('|')) {
      if (!inTable) shape.tables.push(0)
      shape.tables[shape.tables.length - 1] = (shape.tables.at(-1) ?? 0) + 1
      inTable = true
    } else inTable = false
  }
  assert.equal(fence, null, 'a fence stays open')
  return shape
}

/** Everything that holds for any report, whatever people and agents wrote. `links` are the addresses that we link to. */
export function assertHarmless(
  markdown: string,
  marker: string | null,
  links: readonly string[],
  what: string,
): Shape {
  const body = marker === null ? markdown : markdown.slice(marker.length)
  if (marker !== null) assert.equal(markdown.slice(0, marker.length), marker, what)
  assert.ok(!/<!--\s*\/?ralph/i.test(body), `${what}: a forged marker`)
  const shape = shapeOf(body)
  for (const { info, lines } of shape.fences) {
    if (info === 'mermaid') assertGraph(lines)
    assertVisible(lines.join('\n').replaceAll('\t', ''), `${what}: fence`)
  }
  const prose = shape.prose.join('\n')
  assertVisible(prose, what)
  assertTables(shape.prose, what)
  // What stands in code spans is not interpreted; our spans never go over a line.
  const open = prose.replace(/`[^`\n]+`/g, '§')
  refute(/`/, open, `${what}: a backtick`)
  refute(/</, open.replace(TAGS, '').replace(/^> /gm, ''), `${what}: a tag`)
  assertLinks(open, links, what)
  const unlinked = open.replace(/\]\([^)]*\)/g, '')
  for (const active of [
    /@[\w-]/,
    /(?<!&)#\d/,
    /\bGH-\d/i,
    /:\/\//,
    /\bwww\./i,
    /~~/,
    /\*\*\*/,
    EMOJI,
    /(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/u,
  ]) {
    refute(active, unlinked, `${what}: ${active}`)
  }
  for (const line of shape.prose) {
    assert.ok(
      !/^(?: {4}|\t| {0,3}(?:[*+] |\d+[.)]\s|=+\s*$|~~~|(?:- ?){3,}$))/.test(line),
      `${what}: a block begins: ${line.slice(0, 60)}`,
    )
    assert.ok(
      !/^- (?:[-+*>]|#{1,6} |\d+[.)] |`{3}|~~~|={1,} *$)/.test(line),
      `${what}: a block begins in an item: ${line.slice(0, 60)}`,
    )
  }
  return shape
}

/** The text has no such thing; the message shows where it stands (made only then: it is costly). */
function refute(pattern: RegExp, text: string, what: string): void {
  const at = text.search(pattern)
  if (at !== -1) assert.fail(`${what} in ${JSON.stringify(text.slice(Math.max(0, at - 40), at + 40))}`)
}

function assertTables(lines: readonly string[], what: string): void {
  lines.forEach((line, at) => {
    if (!line.startsWith('|')) {
      assert.ok(!line.includes('|'), `${what}: a bar outside of a table: ${line.slice(0, 80)}`)
      return
    }
    const cells = line.split('|').length
    const above = lines[at - 1] ?? ''
    if (above.startsWith('|')) assert.equal(cells, above.split('|').length, `${what}: ${line.slice(0, 200)}`)
    else assert.match(lines[at + 1] ?? '', /^\|(?: :?-+:? \|)+$/, `${what}: a table without a head`)
  })
}

function assertLinks(prose: string, links: readonly string[], what: string): void {
  for (const [, url] of prose.matchAll(/\]\(([^)]*)\)/g)) {
    assert.ok(
      links.some((link) => url?.startsWith(link)),
      `${what}: a link to ${url}`,
    )
  }
  const rest = prose
    .replace(/\[[^[\]\n]*\]\([^)\n]*\)/g, '')
    .replace(/^> \[![A-Z]+\]$/gm, '')
    .replace(/^- \[[x ]\] /gm, '')
  refute(/[[\]]/, rest, `${what}: a bracket`)
}

const LABEL = String.raw`(?:[\p{L}\p{N}\p{M}\p{Emoji_Presentation} ,!?'%…–-]|#\d+;)*`
const NODE = new RegExp(
  String.raw`^ {2}s\d+\["\p{Emoji_Presentation} ${LABEL}<br/>${LABEL}"\]:::(?:passed|skipped|blocked|working|rejected|waiting|open)$`,
  'u',
)

/** Mermaid in the only form that we write. */
export function assertGraph(lines: readonly string[]): void {
  assert.equal(lines[0], 'graph LR')
  for (const line of lines.slice(1)) {
    const known =
      NODE.test(line) || /^ {2}s\d+ --> s\d+$/.test(line) || /^ {2}classDef \w+ [\w#:, -]+$/.test(line)
    assert.ok(known, `not our mermaid: ${line}`)
  }
}
