// A work tree for each story that is worked on side by side with others. It is linked to the clone and removed when the run ends.
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { slotOf } from '../engine/model/attempt.ts'
import type { Lane, Ports } from '../engine/model/ports.ts'
import { fixedPort, OWN_PORT_NAME } from '../engine/model/service.ts'
import { findLeftoverClones, removeClone } from '../git/clean-clone.ts'
import { detachHead } from '../git/clone.ts'
import type { Clone } from '../git/git.ts'
import { giveOwnRefs, takeCommits } from '../git/lane-refs.ts'
import type { Environment } from '../isolation/untrusted-env.ts'
import type { Settings } from '../settings/read-settings.ts'
import { type Mistake, messageOf, UserError } from '../system/errors.ts'
import { readRegularFile } from '../system/files.ts'
import { markOfPart } from '../system/process.ts'
import { createPorts } from './loop-ports.ts'
import type { PortOptions } from './port-options.ts'
import { workTreesFolder } from './work-trees-folder.ts'
import { openWorkspace } from './workspace.ts'

/** Gives the function that opens lanes for a run on this machine. It throws UserError if a work tree cannot be made. */
export function laneOpener(options: PortOptions): NonNullable<Ports['openLane']> {
  const { clone } = options.workspace
  const place = workTreesFolder(options.env)
  const prefix = lanePrefix(clone)
  let count = 0
  return async (state) => {
    // The lane has its own mark: the processes that it leaves are ended, and those of other lanes are not.
    const mark = markOfPart(options.mark, `lane${++count}`)
    return openLane({ ...options, mark, worker: String(count) }, { place, prefix }, state.green)
  }
}

function lanePrefix({ gitDir }: Pick<Clone, 'gitDir'>): string {
  return `lane-${createHash('sha256').update(gitDir).digest('hex').slice(0, 8)}-`
}

/** Work trees that killed runs in this clone left: the next run removes them. */
export function findStaleLanes(place: string, clone: Clone): Promise<string[]> {
  return findLeftoverClones(place, lanePrefix(clone))
}

/** Why the stories of a run cannot be worked on side by side on this machine. */
export function laneMistakes({ maxParallel, isolation, services }: Settings, submodules: number): Mistake[] {
  if (maxParallel === 1) return []
  const mistake = (found: string): Mistake => ({
    path: 'max-parallel',
    found: `Ralph cannot work on ${maxParallel} stories at a time: ${found}.`,
    expected: '',
    fix: 'remove the cause, or leave max-parallel out',
  })
  return [
    ...(isolation === 'same-user'
      ? []
      : [mistake(`this needs isolation: same-user, but isolation is ${isolation}`)]),
    ...services.flatMap(({ name, start, ready }) => {
      const port = start === null ? undefined : fixedPort(ready)
      if (port === undefined) return []
      const found = `each would start service ${name} on port ${port}. Use $${OWN_PORT_NAME} in its \`ready\` and \`start\` instead`
      return [mistake(found)]
    }),
    ...(submodules === 0 ? [] : [mistake('the repository has submodules')]),
  ]
}

async function openLane(
  options: PortOptions,
  { place, prefix }: { place: string; prefix: string },
  commit: string,
): Promise<Lane> {
  const { settings, env, workspace, mark, worker, run = null, as, warn, signal } = options
  const { clone, git } = workspace
  const folder = await newFolder(place, prefix)
  // The tests of some projects depend on the name of their folder.
  const top = join(folder, basename(clone.workTree))
  await git
    .runOnClone(['worktree', 'add', '--quiet', '--detach', '--no-checkout', top, commit])
    .catch((error) => {
      throw noRoomError(place, error)
    })
  const renewRefs = () => giveOwnRefs(git, top, join(folder, 'refs'), workspace.snapshot.states)
  await renewRefs()
  const laneWorkspace = await openWorkspace({
    settings,
    env,
    directory: top,
    remote: null,
    identity: null,
    run: { clone, snapshot: workspace.snapshot },
    warn,
  })
  let story: string | undefined
  const ports = await createPorts({
    settings: { ...settings, maxParallel: 1 },
    env,
    workspace: laneWorkspace,
    observers: null,
    notes: options.notes ?? git,
    warn,
    signal,
    as,
    mark,
    ...(worker === undefined ? {} : { worker }),
    run,
    folder: options.folder ?? join(clone.gitDir, 'ralph'),
    onAgent: (event) => options.onAgent(event, story),
    onGateStart: (name) => options.onGateStart(name, story),
    onGateOutput: (name, line) => options.onGateOutput?.(name, line, story),
    onGateEnd: (result) => options.onGateEnd(result, story),
  })
  const { repository } = ports
  return {
    agent: {
      ...ports.agent,
      async work(state, attempt, ...more) {
        // An earlier candidate in this work tree may have left branches and a stash.
        if (slotOf(attempt) !== undefined) await renewRefs()
        return ports.agent.work(state, attempt, ...more)
      },
    },
    gates: ports.gates,
    repository: {
      ...repository,
      async checkOut(at, savedWork) {
        const result = await repository.checkOut(at, savedWork)
        await detachHead(laneWorkspace.git, laneWorkspace.snapshot, at)
        return result
      },
      async inspect(...given) {
        await takeCommits(laneWorkspace.git, laneWorkspace.snapshot.head)
        return repository.inspect(...given)
      },
    },
    assign(storyId) {
      story = storyId
    },
    async [Symbol.asyncDispose]() {
      await ports[Symbol.asyncDispose]()
      laneWorkspace[Symbol.dispose]()
      await removeClone(folder)
      await removeClone(laneWorkspace.clone.gitDir)
    },
  }
}

async function newFolder(place: string, prefix: string): Promise<string> {
  try {
    await mkdir(place, { recursive: true })
    return await mkdtemp(join(place, prefix))
  } catch (error) {
    throw noRoomError(place, error)
  }
}

/** Removes the work trees of killed runs in this clone, and git's entries for them in `worktrees`. */
export async function removeStaleLanes({ gitDir, commonDir }: Clone, env: Environment): Promise<void> {
  const place = workTreesFolder(env)
  const prefix = lanePrefix({ gitDir })
  for (const folder of await findLeftoverClones(place, prefix)) await removeClone(folder)
  const linked = join(commonDir, 'worktrees')
  for (const name of await readdir(linked).catch(() => [])) {
    const linkedPath = (await readRegularFile(join(linked, name, 'gitdir')))?.toString('utf8') ?? ''
    if (linkedPath.startsWith(join(place, prefix))) await removeClone(join(linked, name))
  }
}

function noRoomError(place: string, error: unknown): UserError {
  return new UserError({
    path: 'max-parallel',
    found: `Ralph could not make a work tree for each story in ${place}: ${messageOf(error)}`,
    expected: '',
    fix: 'free up space there, or lower max-parallel',
  })
}
