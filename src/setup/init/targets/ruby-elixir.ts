// Tasks of rake, and aliases of mix, as far as they are written out.
import type { Folder } from '../project.ts'
import type { Target } from './target.ts'

/** Libraries that define a task, with the name that it has without an argument. */
const RAKE_LIBRARIES: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/\bRake::TestTask\.new(?:\(\s*:?["']?([\w:]+))?/g, 'test'],
  [/\bMinitest::TestTask\.create(?:\(\s*:?["']?([\w:]+))?/g, 'test'],
  [/\bRSpec::Core::RakeTask\.new(?:\(\s*:?["']?([\w:]+))?/g, 'spec'],
  [/\bRuboCop::RakeTask\.new(?:\(\s*:?["']?([\w:]+))?/g, 'rubocop'],
  [/\brequire ["']standard\/rake["']/g, 'standard'],
]
const RAKE_TASK = /^task[ (]+:?["']?([\w:]+?)["']?(?:\s*=>|:\s|[ ,)]|$)/gm

/** Tasks within a namespace have another name, and are left out: their lines are indented. */
export function rakeTasks(text: string, folder: Folder): Target[] {
  const start = folder.has('Gemfile') ? 'bundle exec rake' : 'rake'
  const named = [...text.matchAll(RAKE_TASK)].map(([, name = '']) => name)
  const made = RAKE_LIBRARIES.flatMap(([pattern, name]) =>
    [...text.matchAll(pattern)].map(([, own]) => own ?? name),
  )
  const names = [...new Set([...made, ...named])]
  return names.map((name) => ({ name, start: `${start} ${name}`, lines: [] }))
}

export function mixAliases(text: string): Target[] {
  const [, block = ''] = /\bdefp?\s+aliases\b[^\n]*\bdo\b([\s\S]*?)^ {2}end\b/m.exec(text) ?? []
  return [...block.matchAll(/^\s*\[?\s*(?:"([\w.]+)"|(\w+)):\s*(.*)$/gm)].map(
    ([, quoted, plain, value = '']) => {
      const name = quoted ?? plain ?? ''
      const lines = [...value.matchAll(/"([^"]*)"/g)].map(([, line = '']) => `mix ${line}`)
      return { name, start: `mix ${name}`, lines }
    },
  )
}
