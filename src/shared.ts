// What works on a feature, in one chunk: each of the three programs loads it first, and what is loaded from here repeats nothing of it.
export { PROGRAMS } from './cli/programs.ts'
export { flagTable } from './settings/describe.ts'

export const loadJob = () => import(/* webpackChunkName: "action" */ './action/start-job.ts')
export const loadCleanup = () => import(/* webpackChunkName: "action" */ './action/cleanup.ts')
export const loadDemo = () => import(/* webpackChunkName: "cli" */ './cli/demo-project.ts')
