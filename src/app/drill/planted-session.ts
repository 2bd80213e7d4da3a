// The agent of a drill: its session is the plant. Its judge never approves, so that no plant passes by chance.
import { lstat, mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Session } from '../../engine/model/attempt.ts'
import type { AgentPort } from '../../engine/model/ports.ts'
import { emptyUsage } from '../../engine/model/usage.ts'
import type { Work } from './plant.ts'

export type PlantedAgent = AgentPort & {
  /** The work that the next session leaves. */
  plant(work: Work): void
}

/** `top`: the work tree of the clone, which is the drill's own. */
export function plantedAgent(top: string): PlantedAgent {
  let next: Work = new Map()
  return {
    plant(work) {
      next = work
    },
    async work() {
      await leave(next, top)
      return DONE
    },
    setUp: async () => null,
    judge: async () => ({
      verdict: { kind: 'none', message: 'a drill has no judge' },
      usage: emptyUsage(),
    }),
    plan: async () => Promise.reject(new Error('a drill plans nothing')),
  }
}

const DONE: Session = {
  status: 'finished',
  message: 'planted',
  usage: emptyUsage(),
  resetsAt: null,
  hints: { done: true, notDone: false, stuck: null },
  learnings: [],
}

async function leave(work: Work, top: string): Promise<void> {
  for (const [path, file] of work) {
    const target = join(top, path)
    const before = await lstat(target).catch(() => null)
    if (file === null || before?.isSymbolicLink() === true) await rm(target, { force: true })
    if (file === null) continue
    await mkdir(dirname(target), { recursive: true })
    if (typeof file === 'string') await writeFile(target, file)
    else {
      await rm(target, { force: true })
      await symlink(file.linkTo, target)
    }
  }
}
