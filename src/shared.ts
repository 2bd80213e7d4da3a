// The chunk that all three programs share. It is loaded first, so that the chunks below repeat nothing of it.
export { PROGRAMS } from './cli/programs.ts'
export { flagTable } from './settings/describe.ts'

export const loadJob = () => import(/* webpackChunkName: "action" */ './action/start-job.ts')
export const loadCleanup = () => import(/* webpackChunkName: "action" */ './action/cleanup.ts')
export const loadDemo = () => import(/* webpackChunkName: "cli" */ './cli/demo-project.ts')
