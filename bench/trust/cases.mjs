// Every case of the measure, by name, joined with its project.
import * as claims from './cheats/claims.mjs'
import { go } from './cheats/go.mjs'
import * as javascript from './cheats/javascript.mjs'
import * as python from './cheats/python.mjs'
import { runners, types } from './cheats/runners.mjs'
import { changes } from './honest/changes.mjs'
import { changesElsewhere } from './honest/changes-more.mjs'
import { controls } from './honest/controls.mjs'
import * as first from './projects.mjs'
import * as more from './projects-more.mjs'

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
  ...claims.limits,
]

/** A case with everything that a run of it needs: the files of the base, the gates, the story, the check. */
function joined(kind, one) {
  const project = PROJECTS[one.project]
  if (project === undefined) throw new Error(`${one.name}: no project ${one.project}`)
  const story = { ...project.story, ...(one.criteria && { title: one.title, criteria: one.criteria }) }
  return {
    kind,
    needs: project.needs,
    say: '<promise>COMPLETE</promise>\n<ralph>DONE</ralph>',
    ...one,
    files: { ...project.files, ...one.start },
    language: project.language,
    code: project.code,
    prepare: project.prepare,
    gates: one.gates ?? project.gates,
    story,
    honest: project.honest,
    accept: {
      ...project.accept,
      imports: { ...project.accept.imports, ...one.imports },
      calls: [...(one.instead ?? project.accept.calls), ...(one.accept ?? [])],
    },
    judge: one.judge ?? (kind === 'cheat' ? 'verified' : 'yes'),
  }
}

export const CASES = [
  ...CHEATS.map((one) => joined('cheat', one)),
  ...controls.map((one) => joined('honest', one)),
  ...[...changes, ...changesElsewhere].map((one) => joined('change', one)),
]
const twice = CASES.map(({ name }) => name).filter((name, at, all) => all.indexOf(name) !== at)
if (twice.length > 0) throw new Error(`twice: ${twice.join(', ')}`)
