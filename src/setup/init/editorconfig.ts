// How a project indents its YAML, by its .editorconfig (https://spec.editorconfig.org), as far as one level of it says.

/** Columns, or `none` if only tabs are taken, which YAML is not indented with. */
export type Indent = number | 'none'

const DEFAULT_INDENT = 2
/** Sections that mean ralph.config.yml; of more than one the last holds. */
const MATCHES_CONFIG = /^(?:\*|\*\.(?:ya?ml|\{[^}]*\bya?ml\b[^}]*\})|ralph\.config\.yml)$/

export function parseIndent(text: string): Indent {
  let isOurs = false
  const found: Record<string, string> = {}
  for (const line of text.split(/\r?\n/)) {
    const [, glob] = /^\s*\[(.*)\]\s*$/.exec(line) ?? []
    const [, name = '', value = ''] = /^\s*([\w-]+)\s*=\s*([^\s#;]+)/.exec(line) ?? []
    if (glob !== undefined) isOurs = MATCHES_CONFIG.test(glob)
    else if (isOurs) found[name.toLowerCase()] = value.toLowerCase()
  }
  if (found.indent_style === 'tab') return 'none'
  const size = Number(found.indent_size)
  return Number.isInteger(size) && size >= 1 && size <= 8 ? size : DEFAULT_INDENT
}
