// What makefiles make of a gate: all of them are taken as one, before the change and after it.

import { quoted } from './gate-commands.ts'

/** `text` is all of it, with the conditions around it. */
type Rule = { targets: string[]; needs: string; recipe: string; text: string }

export type Makefile = {
  rules: Rule[]
  variables: Map<string, { value: string; text: string }[]>
  exported: Set<string>
  includes: string[]
  /** Directives that are not followed. */
  other: string[]
}

/** The makefiles of one side of a change. */
export type Make = {
  all: Makefile[]
  /** The files that they include, as a command that is followed. */
  includes: string
  /** Without a name for it, make makes this. */
  goal: string | null
  rules: Map<string, Set<Rule>>
  patterns: [string, Rule][]
  values: Map<string, string>
  /** The names of targets, where there are not too many. */
  names: string[]
  phony: Set<string>
  exported: Set<string>
  isAllExported: boolean
}

/** What of the variables a gate uses: their names, or any of them. */
export type Used = { names: Set<string>; isAny: boolean }

/** Lengths of a recipe with its variables in their place, of all names of targets made so, and of lists. */
const LONGEST = 20_000
const LONGEST_NAMES = 2_000_000
const MOST_NEEDS = 2000
const MOST_PATTERNS = 100
const MOST_CHANGES = 100

export function isMakefile(path: string): boolean {
  return /(?:^|\/)(?:GNUm|[mM])akefile(?:\.(?!am$|in$)[\w-]+)?$|\.(?:mk|mak|make)$/.test(path)
}

// ---------------------------------------------------------------- reading

export function readMakefile(text: string): Makefile {
  const made: Makefile = { rules: [], variables: new Map(), exported: new Set(), includes: [], other: [] }
  const conditions: string[] = []
  let where = ''
  let rule: Rule | null = null
  let definition: { value: string; text: string } | null = null
  const variable = (name: string, prefix: string, value: string, said: string) => {
    const own = { value, text: `${where}${said}` }
    const known = made.variables.get(name)
    if (known === undefined) made.variables.set(name, [own])
    else known.push(own)
    if (/(?:^|\s)export\b/.test(prefix)) made.exported.add(name)
    rule = null
    return own
  }
  for (const line of text.replace(/\\\r?\n[ \t]*/g, ' ').split(/\r?\n/)) {
    if (definition !== null) {
      if (/^\s*endef\b/.test(line)) definition = null
      else {
        definition.value += `${line}\n`
        definition.text += `\n${line.trim()}`
      }
      continue
    }
    if (line.startsWith('\t') && rule !== null) {
      rule.recipe += `${line.trim()}\n`
      rule.text += `\n${line.trim()}`
      continue
    }
    const plain = line.replace(/(?:^|\s)#.*$/, '').trim()
    if (plain === '') continue
    const condition = /^(?:(if(?:n?def|n?eq))\b|else\b|endif\b)(.*)$/.exec(plain)
    const defined = /^((?:(?:export|override)\s+)*)define\s+([^\s=]+)/.exec(plain)
    const assigned =
      /^((?:(?:export|override|private|unexport)\s+)*)([^\s:#=+?!]+)\s*(?::{1,3}|[?+!])?=(.*)$/.exec(plain)
    const head = /^\$[({](?:eval|call|foreach|if|info|warning|error|shell)\b/.test(plain)
      ? null
      : /^([^:=#]+)::?(?!=)([^;]*)(?:;(.*))?$/.exec(plain)
    if (condition !== null) {
      // A condition does not end a rule: its recipe may go on within.
      const [, kind, rest = ''] = condition
      const said = kind?.endsWith('def') ? `${kind} $(${rest.trim()})` : plain
      if (kind === undefined) conditions.push(`${conditions.pop() ?? ''} ${plain}`.slice(0, 200))
      else conditions.push(said.slice(0, 200))
      if (plain.startsWith('endif')) conditions.pop()
      where = conditions
        .slice(-3)
        .map((it) => `${it}: `)
        .join('')
      if (rule !== null) rule.text += `\n${said}`
    } else if (defined !== null) definition = variable(defined[2] ?? '', defined[1] ?? '', '', plain)
    else if (assigned !== null) variable(assigned[2] ?? '', assigned[1] ?? '', assigned[3] ?? '', plain)
    else if (head !== null) {
      const [, targets = '', needs = '', recipe] = head
      rule = {
        targets: words(targets),
        needs: needs.replace('|', ' '),
        recipe: recipe === undefined ? '' : `${recipe.trim()}\n`,
        text: `${where}${words(needs).join(' ')};${recipe?.trim() ?? ''}`,
      }
      made.rules.push(rule)
    } else {
      made.other.push(`${where}${plain}`)
      made.includes.push(...words(/^[-s]?include\s(.*)$/.exec(plain)?.[1] ?? ''))
      for (const name of words(/^export\s(.*)$/.exec(plain)?.[1] ?? '')) made.exported.add(name)
      rule = null
    }
  }
  return made
}

function words(text: string): string[] {
  return text.split(/\s+/).filter((it) => it !== '')
}

/** As one, `main` before those that they include. */
export function joined(main: Makefile[], included: Makefile[]): Make {
  const all = [...main, ...included]
  const make: Make = {
    all,
    includes: `include ${all.flatMap((it) => it.includes).join(' ')}`.slice(0, LONGEST / 4),
    goal: null,
    rules: new Map(),
    patterns: [],
    values: new Map(),
    names: [],
    phony: new Set(),
    exported: new Set(all.flatMap((it) => [...it.exported])),
    isAllExported: all.some((it) => it.other.includes('export')),
  }
  for (const [name, parts] of all.flatMap((it) => [...it.variables]))
    make.values.set(
      name,
      [make.values.get(name) ?? '', ...parts.map((it) => it.value.trim())].join(' ').trim(),
    )
  let left = LONGEST_NAMES
  const namesIn = (target: string): string[] => {
    if (!target.includes('$') || left < 0) return [target]
    const names = expanded(target, make)
    left -= names.length
    return words(names)
  }
  for (const rule of all.flatMap((it) => it.rules)) {
    for (const target of rule.targets.flatMap(namesIn)) {
      const own = make.rules.get(target)
      if (target.includes('%')) make.patterns.push([target, rule])
      else if (own === undefined) make.rules.set(target, new Set([rule]))
      else own.add(rule)
    }
  }
  make.names = [...make.rules.keys()].slice(0, MOST_NEEDS)
  make.isAllExported ||= make.rules.has('.EXPORT_ALL_VARIABLES')
  for (const rule of make.rules.get('.PHONY') ?? [])
    for (const name of words(rule.needs.includes('$') ? expanded(rule.needs, make) : rule.needs))
      make.phony.add(name)
  const first = all.map(firstOf).find((it) => it !== undefined)
  make.goal = words(expanded(make.values.get('.DEFAULT_GOAL') ?? first ?? '', make)).at(-1) ?? null
  return make
}

function firstOf(makefile: Makefile): string | undefined {
  return makefile.rules.find(({ targets: [it] }) => it !== undefined && !/^\.|%/.test(it))?.targets[0]
}

/** With the values of variables in their place, as far as they are known. */
function expanded(text: string, { values }: Make): string {
  let now = text.slice(0, LONGEST)
  for (let round = 0; round < 8; round += 1) {
    let left = LONGEST
    const next = now.replace(
      /\$\$|\$(?:[({]([^\s(){}$:,=]+)(?::[^(){}$]*)?[)}]|(\w))/g,
      (whole, long: string | undefined, short: string | undefined) => {
        const value = values.get(long ?? short ?? '')
        left -= value?.length ?? 0
        return value === undefined || left < 0 ? whole : value
      },
    )
    if (next === now) break
    now = next.slice(0, LONGEST)
  }
  return now
}

function fits(pattern: string, name: string): boolean {
  const at = pattern.indexOf('%')
  const end = pattern.slice(at + 1)
  return name.length >= pattern.length && name.startsWith(pattern.slice(0, at)) && name.endsWith(end)
}

function rulesFor(make: Make, target: string): Rule[] {
  const fitting = make.patterns.slice(0, MOST_PATTERNS).filter(([pattern]) => fits(pattern, target))
  return [...(make.rules.get(target) ?? []), ...fitting.map(([, rule]) => rule)]
}

// ---------------------------------------------------------------- what a target leads to

/** The recipes of a target as shell text; its prerequisites and included files as commands that are followed. */
export function targetTexts(make: Make, target: string): string[] {
  if (target === '') return make.goal === null ? [] : [`make ${quoted(make.goal)}`]
  const rules = rulesFor(make, target)
  if (rules.length === 0) return []
  const cut = (texts: string[]): string => expanded(texts.map((it) => it.slice(0, LONGEST)).join(' '), make)
  const needs = words(cut(rules.map((it) => it.needs))).slice(0, MOST_NEEDS)
  const known = needs.filter((it) => rulesFor(make, it).length > 0)
  // Of a prerequisite that is computed: all targets with a part of it in their names.
  const parts = needs
    .filter((it) => /[$(),]/.test(it))
    .flatMap((it) => it.replace(/\$[({][a-z-]*$/, '').match(/[\w.-]{3,}/g) ?? [])
  const likely = [...new Set(parts)]
    .slice(0, 20)
    .flatMap((part) => make.names.filter((it) => it.includes(part)))
  const calls = [...known, ...likely].map((it) => `make ${quoted(it)}`)
  const recipe = cut(rules.map((it) => it.recipe))
    .replace(/^[-@+\s]+/gm, '')
    .replace(/\$\(MAKE\)|\$\{MAKE\}/g, 'make')
    .replaceAll('$$', '$')
  return [recipe, make.includes, calls.join('\n')]
}

/** The variables in the rules of those targets, in directives, and in the values of these. */
export function usedVariables(makes: Make[], targets: Set<string>): Used {
  const used: Used = { names: new Set(), isAny: false }
  const rules = new Set(makes.flatMap((make) => [...targets].flatMap((it) => rulesFor(make, it))))
  const left = [
    ...[...rules].map((it) => it.text),
    ...makes.flatMap((it) => it.all.flatMap((one) => one.other)),
  ]
  for (let text = left.pop(); text !== undefined; text = left.pop()) {
    const plain = text.replaceAll('$$', '')
    // A name that is computed may be any.
    if (/\$[({][^\s(){}$,:=]*\$|\$[({](?:eval\b|call\s+\$)/.test(plain)) used.isAny = true
    const inside = plain.split(/\$[({]/).slice(1)
    const long = inside.flatMap((it) => it.replace(/[)}][\s\S]*$/, '').match(/[^\s(){}:,=]+/g) ?? [])
    const short = [...plain.matchAll(/\$(\w)/g)].map((it) => it[1] as string)
    for (const name of [...long, ...short]) {
      if (used.names.has(name)) continue
      used.names.add(name)
      for (const make of makes)
        for (const part of make.all.flatMap((it) => it.variables.get(name) ?? [])) left.push(part.text)
    }
  }
  return used
}

// ---------------------------------------------------------------- changes

/** Targets that are no names of files and change nothing of how others are made. */
const HARMLESS =
  /^\.(?:SUFFIXES|PRECIOUS|INTERMEDIATE|SECONDARY|DELETE_ON_ERROR|NOTPARALLEL|LOW_RESOLUTION_TIME)$/
/** Variables that make or every recipe reads. */
const EVERYWHERE =
  /^(?:SHELL|\.SHELLFLAGS|G?N?U?MAKEFLAGS|MFLAGS|MAKE|MAKEFILES|MAKEOVERRIDES|PATH|VPATH|\.RECIPEPREFIX|\.DEFAULT_GOAL)$/

/** What one makefile has otherwise than before, except for rules and variables that the targets do not lead to. */
export function makefileChanges(
  before: Makefile,
  after: Makefile,
  [old, now]: [Make, Make],
  targets: Set<string>,
  isEveryTarget: boolean,
  used: Used,
): string[] {
  const changes: string[] = []
  let looks = 500
  const isReached = (make: Make, target: string): boolean => {
    if (target === '.PHONY' || HARMLESS.test(target)) return false
    // `.IGNORE`, and `.c.o`, the way to make many files.
    if (isEveryTarget || /^\.(?:[A-Z_]+|\w+\.\w+)$/.test(target)) return true
    if (target.includes('$')) looks -= 1
    if (looks < 0) return true
    return words(expanded(target, make)).some((it) => {
      if (it.includes('$')) return true
      if (!it.includes('%')) return targets.has(it)
      return make.patterns.length > MOST_PATTERNS || [...targets].some((name) => fits(it, name))
    })
  }
  const ids = new Map<string, number>()
  const [oldRules, nowRules] = [rulesByTarget(before, ids), rulesByTarget(after, ids)]
  for (const target of new Set([...oldRules.keys(), ...nowRules.keys()])) {
    const [was, is] = [oldRules.get(target), nowRules.get(target)]
    if (changes.length >= MOST_CHANGES) break
    if (was === is || !(isReached(old, target) || isReached(now, target))) continue
    changes.push(
      `target ${target} was ${was === undefined ? 'added' : is === undefined ? 'removed' : 'changed'}`,
    )
  }
  const isExported = (name: string): boolean =>
    [old, now].some((make) => make.isAllExported || make.exported.has(name))
  for (const name of new Set([...before.variables.keys(), ...after.variables.keys()])) {
    const [was, is] = [before, after].map((it) =>
      it.variables
        .get(name)
        ?.map((part) => part.text)
        .join('\n'),
    )
    if (was === is) continue
    if (EVERYWHERE.test(name) || name.includes('$') || used.isAny || used.names.has(name) || isExported(name))
      changes.push(`variable ${name} was changed`)
  }
  // `include`, `vpath`, `$(eval)`: what they do is not followed.
  if (before.other.join('\n') !== after.other.join('\n'))
    changes.push('directives such as `include` were changed')
  // Without `.PHONY` a file of that name is enough.
  if (oldRules.get('.PHONY') !== nowRules.get('.PHONY')) {
    const lost = [...targets].find((it) => old.phony.has(it) && !now.phony.has(it))
    if (lost !== undefined) changes.push(`target ${lost} is no longer phony`)
  }
  if (targets.has('') && old.goal !== now.goal && firstOf(before) !== firstOf(after))
    changes.push('the first target is another one')
  return changes
}

/** What is said of each target, as numbers: many targets may share one long recipe. */
function rulesByTarget({ rules }: Makefile, ids: Map<string, number>): Map<string, string> {
  const all = new Map<string, string>()
  for (const { targets, text } of rules) {
    const id = ids.get(text) ?? ids.size
    ids.set(text, id)
    for (const target of targets) all.set(target, `${all.get(target) ?? ''} ${id}`)
  }
  return all
}
