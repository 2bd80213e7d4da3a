// Files that name commands whatever the language is: one row each. What CI runs of them is read from the workflows (ci/).
import type { Folder } from '../project.ts'
import { noxTargets, toxTargets } from './environments.ts'
import { localHooks } from './local-hooks.ts'
import { justRecipes, makeTargets } from './recipes.ts'
import { mixAliases, rakeTasks } from './ruby-elixir.ts'
import type { Target, TargetSource } from './target.ts'
import { denoTasks, miseTasks, pipenvScripts, taskfileTasks } from './tasks.ts'

export const TARGET_SOURCES: readonly TargetSource[] = [
  // In the order in which make and the others look for their file.
  { files: ['GNUmakefile', 'makefile', 'Makefile'], read: makeTargets },
  {
    files: ['Taskfile.yml', 'taskfile.yml', 'Taskfile.yaml', 'taskfile.yaml'],
    read: taskfileTasks,
  },
  { files: ['justfile', 'Justfile', '.justfile'], read: justRecipes },
  { files: ['mise.toml', '.mise.toml'], read: miseTasks, isGuess: true },
  { files: ['deno.json', 'deno.jsonc'], read: denoTasks, isGuess: true },
  { files: ['Pipfile'], read: pipenvScripts, isGuess: true },
  { files: ['mix.exs'], read: mixAliases, isGuess: true },
  { files: ['Rakefile', 'rakefile', 'Rakefile.rb'], read: rakeTasks, isGuess: true },
  { files: ['tox.ini', 'tox.toml', 'pyproject.toml'], read: toxTargets, isGuess: true },
  { files: ['noxfile.py'], read: noxTargets, isGuess: true },
  { files: ['.pre-commit-config.yaml'], read: localHooks, isGuess: true },
]

export type FoundTarget = Target & { isGuess: boolean }

export function findTargets(folder: Folder): FoundTarget[] {
  return TARGET_SOURCES.flatMap(({ files, read, isGuess = false }) => {
    const file = files.find((name) => folder.has(name))
    return file === undefined ? [] : read(folder.text(file), folder).map((target) => ({ ...target, isGuess }))
  })
}
