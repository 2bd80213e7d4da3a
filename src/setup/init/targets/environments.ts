// Environments of tox, and sessions of nox, that are named after a task.
import type { Folder } from '../project.ts'
import { noxSessions, toxEnvironments } from '../test-environments.ts'
import type { Target } from './target.ts'

export function toxTargets(_text: string, folder: Folder): Target[] {
  return toxEnvironments(folder).map(({ name, commands }) => {
    const own = name.replace(/^testenv:?/, '')
    return { name: own, start: `tox -e ${own}`, lines: commands }
  })
}

export function noxTargets(text: string): Target[] {
  return noxSessions(text).map(({ name, commands }) => ({ name, start: `nox -s ${name}`, lines: commands }))
}
