// Hooks of pre-commit that a project defines itself (`repo: local`), and that look at the whole tree.
import { asObjects, asString } from '../../../engine/model/json.ts'
import { yamlObject } from '../../yaml-object.ts'
import type { Target } from './target.ts'

/** Languages whose entry is a command of the checkout; for others pre-commit makes an environment. */
const PLAIN_LANGUAGES = ['system', 'script', 'unsupported', 'unsupported_script']
/** Words that mean the same to a shell and a workflow as to pre-commit. */
const PLAIN = /^[\w@%+=:,./ -]+$/
/** Stages before a commit. Other hooks look at messages or pushes, or a person calls them. */
const STAGES = ['pre-commit', 'commit']

/** A hook that gets the names of changed files checks only these, so it is left out. */
export function localHooks(text: string): Target[] {
  const repos = asObjects(yamlObject(text)?.repos).filter(({ repo }) => repo === 'local')
  return repos.flatMap(({ hooks }) =>
    asObjects(hooks).flatMap(({ id, entry, args, language, pass_filenames, stages }) => {
      const words = [entry, ...(Array.isArray(args) ? args : [])].map((one) => asString(one) ?? '')
      const start = words.join(' ')
      const isChecked = !Array.isArray(stages) || stages.some((stage) => STAGES.includes(String(stage)))
      const isPlain = PLAIN_LANGUAGES.includes(String(language)) && PLAIN.test(start)
      if (!isPlain || pass_filenames !== false || !isChecked) return []
      return [{ name: asString(id) ?? '', start, lines: [start] }]
    }),
  )
}
