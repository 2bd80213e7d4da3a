// Whether the project's actionlint stops at Ralph's workflow: it does not know `concurrency.queue` yet.
import { pathsIn } from '../../git/trees.ts'
import { findActionlint, LINTER_FILES, QUEUE_RULE_LINE, UNKNOWN_QUEUE } from '../init/actionlint.ts'
import { type CheckResult, okResult, requireCheckout, type Subject, warningResult } from './subject.ts'

const HAS_QUEUE = /^ +queue:/m

export async function checkActionlint(subject: Subject): Promise<CheckResult[]> {
  const { ci, workspace, commit } = requireCheckout(subject)
  const { objects } = workspace
  const path = ci?.file.path ?? '.github/workflows/ralph.yml'
  if (!HAS_QUEUE.test((await objects.text(`${commit}:${path}`)) ?? '')) return []
  const paths = [...(await pathsIn(objects, commit, '.github/')), ...LINTER_FILES]
  const texts = new Map<string, string>()
  for (const one of paths.filter((name) => LINTER_FILES.includes(name) || /\.ya?ml$/.test(name)))
    texts.set(one, (await objects.text(`${commit}:${one}`)) ?? '')
  const found = findActionlint({ paths: [...texts.keys()], text: (name) => texts.get(name) ?? '' })
  if (found === null) return []
  if (found.allowsQueue) return [okResult(`${found.config} allows \`queue\``)]
  const text = `${found.usedBy} runs actionlint, which ${UNKNOWN_QUEUE}`
  return [warningResult(text, '', `add to ${found.config}: ${QUEUE_RULE_LINE}`)]
}
