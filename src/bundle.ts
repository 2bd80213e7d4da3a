// The one graph that is bundled: three programs, each loaded when it is started, with what they share bundled once. What is
// imported when it is called has one chunk (webpackChunkName): a chunk for each repeats the small files that several need.

export const startAction = () => import('./action/door.ts')
export const startPost = () => import('./action/post.ts')
export const startCli = () => import('./cli/main.ts')
