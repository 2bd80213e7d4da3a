// The root of the bundle: three programs, each loaded when it is started, and the code that they share, once. Dynamic imports
// name their chunk (webpackChunkName): with a chunk for each, small files that several need would be repeated.

const loadShared = () => import(/* webpackChunkName: "shared" */ './shared.ts')

export async function startAction(): Promise<void> {
  const { bootstrap } = await import('./action/bootstrap.ts')
  await bootstrap(async () => (await loadShared()).loadJob())
}

export async function startPost(): Promise<void> {
  const { post } = await import('./action/post.ts')
  await post(async () => (await loadShared()).loadCleanup())
}

export async function startCli(): Promise<void> {
  const { main } = await import('./cli/main.ts')
  await main(loadShared)
}
