// The one graph that is bundled: three programs, each loaded when it is started, with what they share bundled once.

export const startAction = () => import('./action/door.ts')
export const startPost = () => import('./action/post.ts')
export const startCli = () => import('./cli/main.ts')
