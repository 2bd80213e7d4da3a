/** Folders of the engine that the events of attempts are made of. */
const BELOW_ATTEMPTS = [
  'planning',
  'corrections',
  'examples',
  'gating',
  'prompts',
  'state',
  'prd',
  'model',
].map((folder) => `engine/${folder}`)

// Which room of src imports which: a line a room, with all that it may import, and nothing else. `npm run lint` holds the source to it,
// and the picture in docs/internals/architecture.md is made of it (scripts/rooms.mjs). Which files are pure is said in biome.json, and that no files import each other in a circle.
// A folder with its own line (engine/model) may import less than its room; the lines of the engine go one way. Adapters never import each other.
export const ROOMS = {
  system: [],
  'engine/model': ['system'],
  'engine/prd': ['engine/model', 'system'],
  'engine/state': ['engine/prd', 'engine/model', 'system'],
  'engine/planning': ['engine/state', 'engine/prd', 'engine/model', 'system'],
  'engine/corrections': ['engine/state', 'engine/prd', 'engine/model', 'system'],
  'engine/examples': ['engine/planning', 'engine/state', 'engine/prd', 'engine/model', 'system'],
  'engine/gating': ['engine/state', 'engine/prd', 'engine/model', 'system'],
  'engine/prompts': ['engine/gating', 'engine/state', 'engine/prd', 'engine/model', 'system'],
  'engine/attempts': [...BELOW_ATTEMPTS, 'system'],
  'engine/parallel': ['engine/attempts', ...BELOW_ATTEMPTS, 'system'],
  'engine/commands': ['engine/parallel', 'engine/attempts', ...BELOW_ATTEMPTS, 'system'],
  engine: ['engine/commands', 'engine/parallel', 'engine/attempts', ...BELOW_ATTEMPTS, 'system'],
  'engine/executors': ['engine', 'system'],
  isolation: ['engine/model', 'system'],
  plan: ['engine/model', 'engine/prd', 'system'],
  report: ['plan', 'engine', 'system'],
  git: ['engine/model', 'system'],
  branch: ['git', 'report', 'engine', 'system'],
  agents: ['isolation', 'engine', 'system'],
  gates: ['isolation', 'engine/model', 'system'],
  github: ['report', 'engine', 'system'],
  settings: ['agents/registry.ts', 'isolation', 'engine/model', 'system'],
  notify: ['settings', 'report', 'isolation', 'engine', 'system'],
  app: [
    'notify',
    'settings',
    'gates',
    'agents',
    'branch',
    'git',
    'report',
    'plan',
    'isolation',
    'engine',
    'system',
  ],
  setup: [
    'app',
    'github',
    'settings',
    'gates',
    'agents',
    'branch',
    'git',
    'report',
    'isolation',
    'engine',
    'system',
  ],
  action: ['setup', 'app', 'github', 'settings', 'branch', 'git', 'report', 'isolation', 'engine', 'system'],
  // biome-ignore format: a line a room
  cli: ['setup', 'app', 'github', 'notify', 'settings', 'agents', 'branch', 'git', 'report', 'plan', 'isolation', 'engine', 'system'],
}

const pathOf = (name) => (name.endsWith('.ts') ? `^src/${name.replace('.', '\\.')}$` : `^src/${name}/`)
const inner = (room) => Object.keys(ROOMS).filter((name) => name.startsWith(`${room}/`))
/** The files of a room that are in no folder with its own line. */
const ownPathOf = (room) => (inner(room).length === 0 ? pathOf(room) : `^src/${room}/[^/]+$`)

export default {
  forbidden: [
    ...Object.entries(ROOMS).map(([room, below]) => ({
      name: `${room} imports only what its line names`,
      severity: 'error',
      from: { path: pathOf(room), pathNot: inner(room).map(pathOf) },
      to: { path: '^src/', pathNot: [ownPathOf(room), ...below.map(pathOf)] },
    })),
    {
      // It reads the event of a job when it is loaded.
      name: 'only the action imports @actions/github',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/action/' },
      to: { path: '(^|/)@actions/github(/|$)' },
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
  },
}
