// Stories that the plan says touch the same files are not worked on side by side. Pure.
import type { Story } from '../model/feature.ts'

/** Paths that a story is expected to change, as the plan has them: files, or folders for all below them. */
function touchesOf({ extra }: Story): string[] {
  const touches = extra?.touches
  const paths = Array.isArray(touches) ? touches.filter((path) => typeof path === 'string') : []
  return paths.map((path) => path.replace(/^\.\/|\/(?:\*{1,2})?$/g, ''))
}

/** Whether both are expected to change the same file, or one of them a folder that the other's file is in. */
export function touchSame(one: Story, other: Story): boolean {
  const others = touchesOf(other)
  return touchesOf(one).some((path) => others.some((also) => isWithin(path, also) || isWithin(also, path)))
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`)
}
