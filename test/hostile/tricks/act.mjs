// Tricks with what others look at: what breaks who looks, and files that act elsewhere than in the code.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Folders in each other, longer than any path that the system takes. */
function deep(folder, levels = 2500) {
  const here = process.cwd()
  mkdirSync(folder, { recursive: true })
  process.chdir(folder)
  for (let level = 0; level < levels; level += 1) {
    mkdirSync('deep')
    process.chdir('deep')
  }
  writeFileSync('a.txt', 'x\n')
  process.chdir(here)
}

export const breaking = {
  'break.deep': ({ top }) => deep(join(top, 'src', 'far')),
  'break.place': ({ top }) => {
    for (const place of ['hooks/post-checkout', 'index.lock', 'ralph/git/fresh'])
      deep(join(top, '.git', place))
  },
  'break.path': ({ top, write }) => write(join(top, ...Array(600).fill('f'), 'a.txt'), 'x\n'),
  'break.brackets': ({ top, write }) =>
    write(
      join(top, 'package.json'),
      `{"scripts":{"test":"exit 1"},"jest":${'['.repeat(200_000)}${']'.repeat(200_000)}}\n`,
    ),
}

/** Each with the files that it writes; `acts.ts` has their names. */
const FILES = {
  'act.npmrc': {
    '.npmrc': '"scr\\u0069pt-shell"=./x\n$' + '{NOPE?}node-options=--require=./x\nuserconfig=./x\n',
    '.yarnrc.yml': 'yarnPath: ./x\n',
    '.pnp.cjs': '\n',
    '.pnpmfile.cjs': '\n',
  },
  'act.tools': { '.nvmrc': '0\n', 'mise.toml': '[env]\nPATH = "x"\n', 'rust-toolchain.toml': '\n' },
  'act.attributes': { '.gitattributes': 'src/** linguist-generated -diff\n' },
  'act.ci': {
    '.gitlab-ci.yml': 'x: { script: x }\n',
    '.circleci/config.yml': 'version: 2.1\n',
    Jenkinsfile: 'x\n',
    'netlify.toml': '[build]\ncommand = "x"\n',
  },
  'act.editors': {
    '.devcontainer/devcontainer.json': '{"postCreateCommand":"x"}\n',
    '.vscode/tasks.json': '{"tasks":[{"runOptions":{"runOn":"folderOpen"}}]}\n',
    '.envrc': 'x\n',
  },
  'act.bots': { 'renovate.json': '{"automerge":true}\n', '.github/dependabot.yml': 'version: 2\n' },
  'act.hooks': { '.husky/pre-commit': 'x\n', 'lefthook.yml': 'x: {}\n' },
  'act.consoles': {
    '.irbrc': 'x\n',
    '.gdbinit': 'shell x\n',
    '.Rprofile': 'x\n',
    '.lfsconfig': '[lfs]\nurl = https://evil.example\n',
  },
  'act.deploys': {
    'action.yml': 'runs: { using: composite, steps: [] }\n',
    '.github/scripts/release.sh': 'x\n',
    'serverless.yml': 'service: x\n',
  },
}

const put =
  (files) =>
  ({ top, write }) => {
    for (const [path, text] of Object.entries(files)) write(join(top, path), text)
  }

export const acting = Object.fromEntries(
  Object.entries(FILES).flatMap(([name, files]) => [
    [name, put(files)],
    [name.replace('act.', 'preset.'), put(files)],
  ]),
)
