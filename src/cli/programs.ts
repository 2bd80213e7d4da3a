// The program of each command. Commands on a run are in the shared chunk; the others are loaded when they are called.
import type { CommandName } from '../engine/commands/command-table.ts'
import type { CommandResult, Context } from './command-context.ts'
import { next, status, validate } from './look.ts'
import { run } from './run.ts'

type Program = (context: Context) => Promise<CommandResult>

const steer: Program = async (context) =>
  (await import(/* webpackChunkName: "cli" */ './steer.ts')).steer(context)
const serve: Program = async (context) =>
  (await import(/* webpackChunkName: "cli" */ './serve.ts')).serve(context)

export const PROGRAMS: Readonly<Record<Exclude<CommandName, 'help'>, Program>> = {
  run,
  status,
  next,
  validate,
  demo: async (context) => (await import(/* webpackChunkName: "cli" */ './demo.ts')).demo(context),
  init: async (context) => (await import(/* webpackChunkName: "cli" */ './init.ts')).init(context),
  doctor: async (context) => (await import(/* webpackChunkName: "cli" */ './doctor.ts')).doctor(context),
  drill: async (context) => (await import(/* webpackChunkName: "cli" */ './drill.ts')).drill(context),
  notify: async (context) => (await import(/* webpackChunkName: "cli" */ './notify.ts')).notify(context),
  plan: async (context) => (await import(/* webpackChunkName: "cli" */ './plan.ts')).plan(context),
  why: async (context) => (await import(/* webpackChunkName: "cli" */ './why-diff.ts')).why(context),
  diff: async (context) => (await import(/* webpackChunkName: "cli" */ './why-diff.ts')).diff(context),
  prompt: async (context) => (await import(/* webpackChunkName: "cli" */ './prompt.ts')).prompt(context),
  log: async (context) => (await import(/* webpackChunkName: "cli" */ './log.ts')).log(context),
  verify: async (context) => (await import(/* webpackChunkName: "cli" */ './verify.ts')).verify(context),
  allow: steer,
  archive: async (context) => (await import(/* webpackChunkName: "cli" */ './archive.ts')).archive(context),
  report: async (context) => (await import(/* webpackChunkName: "report" */ './report.ts')).report(context),
  monitor: async (context) => {
    if (context.flags.web === true) return serve(context)
    return (await import(/* webpackChunkName: "cli" */ './monitor.ts')).monitor(context)
  },
  serve,
  pause: steer,
  stop: steer,
  retry: steer,
  redo: steer,
  skip: steer,
  note: steer,
  add: steer,
  fix: steer,
  drop: steer,
  update: steer,
  split: steer,
  'approve-plan': steer,
  limit: steer,
  worktree: async (context) =>
    (await import(/* webpackChunkName: "cli" */ './worktree.ts')).worktree(context),
  upgrade: async (context) => (await import(/* webpackChunkName: "cli" */ './upgrade.ts')).upgrade(context),
  completion: async (context) =>
    (await import(/* webpackChunkName: "cli" */ './completion.ts')).completion(context),
}
