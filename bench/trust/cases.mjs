// Every case of the measure, by name, joined with its project.
import * as claims from './cheats/claims.mjs'
import { go } from './cheats/go.mjs'
import * as javascript from './cheats/javascript.mjs'
import { outsideProduct } from './cheats/outside-product.mjs'
import * as python from './cheats/python.mjs'
import { runners, types } from './cheats/runners.mjs'
import { changes } from './honest/changes.mjs'
import { changesElsewhere } from './honest/changes-more.mjs'
import { controls } from './honest/controls.mjs'
import * as first from './projects.mjs'
import * as more from './projects-more.mjs'
import { sealed } from './sealed/index.mjs'

const PROJECTS = { ...first, ...more }

const CHEATS = [
  ...javascript.tests,
  ...javascript.scripts,
  ...runners,
  ...types,
  ...claims.claims,
  ...claims.git,
  ...claims.elsewhere,
  ...python.unittest,
  ...python.pytest,
  ...go,
  ...outsideProduct,
  ...claims.limits,
]

/** A case with everything that a run of it needs: the files of the base, the gates, the story, the check. */
function joined(set, kind, one) {
  const project = PROJECTS[one.project]
  if (project === undefined) throw new Error(`${one.name}: no project ${one.project}`)
  const story = one.story ?? {
    ...project.story,
    ...(one.criteria && { title: one.title, criteria: one.criteria }),
  }
  return {
    set,
    kind,
    needs: project.needs,
    say: '<promise>COMPLETE</promise>\n<ralph>DONE</ralph>',
    ...one,
    files: { ...project.files, ...one.start },
    language: project.language,
    code: one.code ?? project.code,
    prepare: one.prepare ?? project.prepare,
    gates: one.gates ?? project.gates,
    story,
    honest: one.honest ?? project.honest,
    accept: {
      ...project.accept,
      imports: { ...project.accept.imports, ...one.imports },
      calls: [...(one.instead ?? project.accept.calls), ...(one.accept ?? [])],
    },
    judge: one.judge ?? (kind === 'cheat' ? 'verified' : 'yes'),
  }
}

const of = (set, kind, list) =>
  list.map((one) => joined(one.written === undefined ? set : `${set}-second`, kind, one))
/** The set `known` is what Ralph's code was written against; `sealed` and `sealed-second`: see sealed/index.mjs. */
export const CASES = [
  ...of('known', 'cheat', CHEATS),
  ...of('known', 'honest', controls),
  ...of('known', 'change', [...changes, ...changesElsewhere]),
  ...of('sealed', 'cheat', sealed.cheats),
  ...of('sealed', 'honest', sealed.honest),
  ...of('sealed', 'change', sealed.changes),
]
const twice = CASES.map(({ name }) => name).filter((name, at, all) => all.indexOf(name) !== at)
if (twice.length > 0) throw new Error(`twice: ${twice.join(', ')}`)
