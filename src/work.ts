// What works on a feature, in one chunk: the doors of all surfaces load it first, and what is loaded from here repeats nothing of it.
export { PROGRAMS } from './cli/programs.ts'
export { flagTable } from './settings/describe.ts'

export const loadAction = () => import(/* webpackChunkName: "action" */ './action/main.ts')
export const loadMend = () => import(/* webpackChunkName: "action" */ './action/mend.ts')
export const loadDemo = () => import(/* webpackChunkName: "cli" */ './cli/demo-project.ts')
