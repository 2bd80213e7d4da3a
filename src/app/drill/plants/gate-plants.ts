// Plants that break the product and weaken the scripts or settings that gates run.
import { asObject, jsonObject } from '../../../engine/model/json.ts'
import type { DrillProject } from '../drilled-project.ts'
import { type Break, hiding, type NotMade, notMade, type Plant, type Work } from '../plant.ts'

type Script = { path: string; text: string; replace(by: 'nothing' | 'anything'): string }

/** Scripts that a gate's command names, each with a way to make it check nothing. */
async function scriptsOf(project: DrillProject): Promise<Script[]> {
  const found = await Promise.all(
    project.gates.flatMap(({ run }) => [
      fromPackage(run, project),
      fromMake(run, project),
      fromFile(run, project),
    ]),
  )
  return found.filter((one) => one !== null)
}

async function fromPackage(run: string, project: DrillProject): Promise<Script | null> {
  const name = /\b(?:npm|pnpm|yarn|bun)\s+(?:run\s+|run-script\s+)?([\w:-]+)/.exec(run)?.[1]
  const path = 'package.json'
  const text = project.files.includes(path) ? await project.read(path) : null
  const scripts = asObject(jsonObject(text ?? '')?.scripts)
  const called = name === 't' ? 'test' : (name ?? '')
  const script = scripts?.[called]
  if (text === null || typeof script !== 'string') return null
  const by = (next: string) => text.replace(JSON.stringify(script), () => JSON.stringify(next))
  return { path, text, replace: (kind) => by(kind === 'nothing' ? 'true' : `${script} || true`) }
}

async function fromMake(run: string, project: DrillProject): Promise<Script | null> {
  const target = /\bmake\s+([\w-]+)/.exec(run)?.[1]
  const path = project.files.find((one) => /^(?:GNUm|M|m)akefile$/.test(one))
  const text = path === undefined ? null : await project.read(path)
  if (target === undefined || path === undefined || text === null) return null
  const recipe = new RegExp(`^(${target}:.*\\n)((?:\\t.*\\n?)+)`, 'm')
  if (!recipe.test(text)) return null
  return {
    path,
    text,
    replace: (kind) =>
      kind === 'nothing'
        ? text.replace(recipe, '$1\t@true\n')
        : text.replace(
            recipe,
            (_, head: string, lines: string) => `${head}${lines.replace(/^\t@?/gm, '\t-')}`,
          ),
  }
}

async function fromFile(run: string, project: DrillProject): Promise<Script | null> {
  const words = run.split(/[\s;&|'"]+/).map((word) => word.replace(/^\.\//, ''))
  const path = project.files.find(
    (one) => words.includes(one) && !project.isTest(one) && /\.(?:sh|bash|py|[cm]?js)$/.test(one),
  )
  const text = path === undefined ? null : await project.read(path)
  if (path === undefined || text === null) return null
  const empty = path.endsWith('.py')
    ? 'raise SystemExit(0)\n'
    : /js$/.test(path)
      ? '\n'
      : '#!/bin/sh\nexit 0\n'
  const masked = /sh$/.test(path) ? `trap 'exit 0' EXIT\n${text}` : empty
  return { path, text, replace: (kind) => (kind === 'nothing' ? empty : masked) }
}

const scripted = (name: string, does: string, kind: Parameters<Script['replace']>[0]) =>
  hiding(name, does, async (project): Promise<Work | NotMade> => {
    const scripts = await scriptsOf(project)
    if (scripts.length === 0) return notMade('no gate calls a script that is in the repository')
    return new Map(scripts.map((script) => [script.path, script.replace(kind)]))
  })

type Setting = (project: DrillProject, paths: readonly string[]) => Promise<Work | null>

/** Settings of test tools that leave files out, one row a tool. */
const SETTINGS: readonly Setting[] = [
  async (project, paths) => {
    if (!project.gates.some(({ run }) => /\bpytest\b/.test(run))) return null
    const before = project.files.includes('conftest.py') ? await project.read('conftest.py') : ''
    return new Map([['conftest.py', `${before ?? ''}\ncollect_ignore = ${JSON.stringify(paths)}\n`]])
  },
  async (project, paths) => {
    const text = project.files.includes('package.json') ? await project.read('package.json') : null
    const manifest = jsonObject(text ?? '')
    if (
      manifest === null ||
      !/"jest"/.test(text ?? '') ||
      project.files.some((path) => /^jest\.config\./.test(path))
    )
      return null
    const jest = { ...asObject(manifest.jest), testPathIgnorePatterns: ['/node_modules/', ...paths] }
    return new Map([['package.json', `${JSON.stringify({ ...manifest, jest }, null, 2)}\n`]])
  },
  async (project, paths) => {
    const text = project.files.includes('package.json') ? await project.read('package.json') : null
    if (!/"mocha"/.test(text ?? '') || project.files.some((path) => /^\.mocharc/.test(path))) return null
    return new Map([['.mocharc.json', `${JSON.stringify({ ignore: paths })}\n`]])
  },
  async (project, paths) => {
    const text = project.files.includes('package.json') ? await project.read('package.json') : null
    if (!/"vitest"/.test(text ?? '') || project.files.some((path) => /^vite(?:st)?\.config\./.test(path)))
      return null
    return new Map([
      ['vitest.config.mjs', `export default { test: { exclude: ${JSON.stringify(paths)} } }\n`],
    ])
  },
  async (project) => {
    const text = project.files.includes('Cargo.toml') ? await project.read('Cargo.toml') : null
    if (text === null || !/^\[package\]$/m.test(text) || /^\[lib\]|^autotests/m.test(text)) return null
    return new Map([
      [
        'Cargo.toml',
        `${text.replace(/^\[package\]$/m, '[package]\nautotests = false')}\n[lib]\ntest = false\ndoctest = false\n`,
      ],
    ])
  },
]

async function loosened(project: DrillProject, { tests }: Break): Promise<Work | NotMade> {
  const paths = tests.filter((path) => !project.isProduct(path))
  for (const setting of SETTINGS) {
    const work = await setting(project, paths)
    if (work !== null) return work
  }
  return notMade('the drill does not know the test tool, or cannot change its settings')
}

export const gates: readonly Plant[] = [
  scripted('script-true', 'makes the script of the gate do nothing', 'nothing'),
  scripted('script-or-true', 'makes the script of the gate succeed whatever it finds', 'anything'),
  hiding(
    'loosen-setting',
    'changes a setting of the test tool so that it leaves the failing tests out',
    loosened,
  ),
]
