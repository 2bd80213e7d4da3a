// stories.yaml of BMAD: the stories of a SPEC.md in their order. The status of each is in its own file, `stories/<id>-*.md`.
import { isObject } from '../../engine/model/json.ts'
import { formatCount, isGiven } from '../../engine/prd/migrate.ts'
import type { OpenDocument } from '../open-document.ts'
import { type DocumentSet, type Format, planPaths } from '../types.ts'

export const bmadStories: Format = {
  name: 'stories.yaml',
  discoveryPath: planPaths(
    'stories\\.ya?ml',
    '^(?:_bmad-output|docs|specs)/(?:[^/]+/)*(?:stories\\.ya?ml|SPEC\\.md)$',
  ),
  matches: (document, documents) => isList(document) || isSpec(document, documents),
  read(document) {
    if (!isList(document)) return { prose: 'background', what: 'the specification of its stories' }
    const { data } = document.data
    const list: unknown[] = Array.isArray(data?.value) ? data.value : []
    const stories = list.flatMap((entry, index) => {
      if (!isObject(entry)) return []
      const { id, title, description, depends_on: needs, invoke_dev_with: hint } = entry
      const dependsOn = Array.isArray(needs) ? needs.map(String) : null
      const raw = {
        id: isGiven(id) ? String(id) : undefined,
        title,
        description: [description, hint].filter((one) => typeof one === 'string' && one !== '').join('\n\n'),
        dependsOn,
      }
      return [{ line: data?.lineOf([index]) ?? 1, raw }]
    })
    return { stories, notes: [`${formatCount(stories.length, 'story')} read from this list.`] }
  },
}

function isList({ name, isYaml, data }: OpenDocument): boolean {
  return isYaml && /^stories\.ya?ml$/i.test(name) && Array.isArray(data.data?.value)
}

function isSpec({ name, folder }: OpenDocument, documents: DocumentSet): boolean {
  return name === 'SPEC.md' && ['yaml', 'yml'].some((end) => documents.at(`${folder}stories.${end}`) !== null)
}
