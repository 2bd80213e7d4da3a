// Which room of src imports which: a line a room, with all that it may import, and nothing else. `npm run lint` holds the source to it,
// and the picture in docs/architecture.md is made of it (scripts/rooms.mjs). Which files are pure is said in biome.json, and that no files import each other in a circle.
export const ROOMS = {
  system: [],
  model: ['system'],
  prd: ['model', 'system'],
  loop: ['prd', 'model', 'system'],
  documents: ['prd', 'model', 'system'],
  report: ['documents', 'loop', 'prd', 'model', 'system'],
  git: ['model', 'system'],
  branch: ['git', 'report', 'loop', 'prd', 'model', 'system'],
  agents: ['loop', 'model', 'system'],
  gates: ['model', 'system'],
  review: ['gates', 'model', 'system'],
  browser: ['model', 'system'],
  proxy: ['model', 'system'],
  settings: ['agents/registry.ts', 'model', 'system'],
  github: ['report', 'loop', 'model', 'system'],
  notify: ['report', 'settings', 'loop', 'prd', 'model', 'system'],
  telemetry: ['report', 'prd', 'model', 'system'],
  terminal: ['report', 'loop', 'model', 'system'],
  init: ['settings', 'agents/registry.ts', 'model', 'system'],
  // biome-ignore format: a line a room
  app: ['branch', 'git', 'agents', 'gates', 'review', 'browser', 'proxy', 'notify', 'telemetry', 'documents', 'report', 'settings', 'loop', 'prd', 'model', 'system'],
  jobs: ['app', 'branch', 'git', 'settings', 'loop', 'model', 'system'],
  // biome-ignore format: a line a room
  checks: ['init', 'app', 'branch', 'git', 'github', 'agents', 'browser', 'report', 'settings', 'loop', 'prd', 'model', 'system'],
  // biome-ignore format: a line a room
  action: ['work.ts', 'jobs', 'checks', 'app', 'terminal', 'branch', 'git', 'github', 'report', 'settings', 'loop', 'model', 'system'],
  // biome-ignore format: a line a room
  cli: ['work.ts', 'checks', 'init', 'app', 'terminal', 'branch', 'git', 'github', 'agents', 'notify', 'documents', 'report', 'settings', 'loop', 'prd', 'model', 'system'],
}

const pathOf = (name) => (name.endsWith('.ts') ? `^src/${name.replace('.', '\\.')}$` : `^src/${name}/`)

export default {
  forbidden: Object.entries(ROOMS).map(([room, below]) => ({
    name: `${room} imports only what its line names`,
    severity: 'error',
    from: { path: pathOf(room) },
    to: { path: '^src/', pathNot: [room, ...below].map(pathOf) },
  })),
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
  },
}
