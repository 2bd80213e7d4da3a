// stories.yaml of BMAD: the stories of a SPEC.md in their order. What each has come to stands in its own file, `stories/<id>-*.md`.
import { isRaw, many } from '../../prd/migrate.ts'
import { type Format, planAt } from '../types.ts'

export const bmadStories: Format = {
  name: 'stories.yaml',
  found: planAt('stories\\.ya?ml', '^(?:_bmad-output|docs|specs)/(?:[^/]+/)*stories\\.ya?ml$'),
  reads: ({ name, isYaml, data }) =>
    isYaml && /^stories\.ya?ml$/i.test(name) && Array.isArray(data.data?.value),
  read({ data: { data } }) {
    const list: unknown[] = Array.isArray(data?.value) ? data.value : []
    const stories = list.flatMap((entry, index) => {
      if (!isRaw(entry)) return []
      const { id, title, description, depends_on: needs } = entry
      const raw = {
        id,
        title,
        description: description ?? null,
        dependsOn: Array.isArray(needs) ? needs.map(String) : null,
      }
      return [{ line: data?.lineOf([index]) ?? 1, raw: { ...raw, id: id === undefined ? id : String(id) } }]
    })
    return { stories, notes: [`${many(stories.length, 'story')} listed.`] }
  },
}
