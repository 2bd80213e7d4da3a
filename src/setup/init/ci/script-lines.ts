// Splits the script of a step into commands, each with the folder that it runs in. A script that only a shell understands stays one
// command. Pure.

export type Command = { run: string; folder: string }

const CONTROL = /^(?:if|for|while|until|select|function)\b|^\w+\s*\(\)|^(?:fi|done|then|else|elif|do|\}|\{)\b/
/** Texts over several lines, and what a join of lines would change. */
const UNREADABLE = /<<|^case\b|\bcase .* in$/m
const ASSIGNMENT = /^(?:export\s+)?[A-Za-z_]\w*=(?:"[^"]*"|'[^']*'|[^\s;&|]*)$/
const CD = /^(?:cd|pushd)\s+("?)([\w@+./-]+)\1\s*(?:(?:;|&&)\s*(.+))?$/

export function commandsIn(script: string, folder: string): Command[] {
  const lines = linesOf(script)
  if (UNREADABLE.test(script)) return []
  if (lines.some((line) => CONTROL.test(line) || hasOpenQuote(line) || hasOpenParenthesis(line))) {
    return lines.some(hasOpenQuote) ? [] : [{ run: `set -e; ${joined(lines)}`, folder }]
  }
  const found: Command[] = []
  let place = folder
  const assigned: string[] = []
  for (const line of lines) {
    const [, , target, rest] = CD.exec(line) ?? []
    if (target !== undefined && rest === undefined) place = resolvePath(place, target)
    else if (ASSIGNMENT.test(line)) assigned.push(line)
    else {
      const at = target === undefined ? place : resolvePath(place, target)
      found.push({ run: [...assigned, rest ?? line].join(' && '), folder: at })
    }
  }
  return found
}

function linesOf(script: string): string[] {
  return script
    .replace(/\\\r?\n\s*/g, ' ')
    .split(/\r?\n/)
    .map((line) => line.trim().replace(/ {2,}(?=\S)/g, ' '))
    .filter((line) => line !== '' && !line.startsWith('#'))
}

function hasOpenQuote(line: string): boolean {
  return /["']/.test(withoutQuotes(line))
}

/** A subshell, or the output of a command, that ends in a later line. */
function hasOpenParenthesis(line: string): boolean {
  const plain = withoutQuotes(line)
  return plain.split('(').length > plain.split(')').length
}

function withoutQuotes(line: string): string {
  return line.replace(/\\./g, '').replace(/'[^']*'|"[^"]*"/g, '')
}

/** In one line: after a word that opens a block no semicolon may follow. */
function joined(lines: readonly string[]): string {
  return lines
    .map((line, at) => {
      if (at === lines.length - 1) return line
      return /(?:\b(?:then|do|else)|[{(|]|&&|\|\|)$/.test(line) ? `${line} ` : `${line.replace(/;$/, '')}; `
    })
    .join('')
}

function resolvePath(folder: string, target: string): string {
  const parts = folder === '' ? [] : folder.split('/')
  for (const part of target.split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '.' && part !== '') parts.push(part)
  }
  return target.startsWith('/') ? target : parts.join('/')
}
