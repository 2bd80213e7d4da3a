// The one graph that is bundled: three programs, each loaded when it is started, with what they share bundled once. What is
// imported when it is called has one chunk (webpackChunkName): a chunk for each repeats the small files that several need.

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
