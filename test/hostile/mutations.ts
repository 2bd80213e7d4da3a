// Each defence as it stands in the source, and as it is when it is switched off. test/unit/hostile holds them to the source.

/** `batch`: which of the runs in prove.ts has the attempts that this defence is there for; `stories`: which of its stories; `level`: of isolation. */
export type Mutation = {
  name: string
  file: string
  /** Null: the redactor. */
  from: string | null
  to: string
  also?: [file: string, from: string, to: string]
  stories?: string
  batch?: number
  level?: 'same-user' | 'other-user'
}

export const MUTATIONS: readonly Mutation[] = [
  {
    name: 'the allow-list gives everything',
    stories: 'LOOK',
    file: 'src/system/untrusted-env.ts',
    from: 'for (const name of Object.keys(full)) if (isAllowed(name)) give(name, full[name], false)',
    to: "for (const [name, value] of Object.entries(full)) entries.set(name, value ?? '')",
  },
  {
    name: 'gates get the keys of models',
    stories: 'LOOK',
    file: 'src/app/ports.ts',
    from: 'env: gateEnv(options.env, { extra: settings.gateEnv, isModelKey }).env,',
    to: 'env: agentEnv(options.env, { extra: settings.agentEnv, vendor: [], set: {} }).env,',
  },
  {
    name: "the action's environment stays visible",
    stories: 'LOOK',
    file: 'src/action/clean-env.ts',
    from: "if (process.env.GITHUB_EVENT_NAME !== 'workflow_dispatch') return null",
    to: 'if (process.env.NOTHING === undefined) return null',
  },
  {
    name: 'persisted credentials stay',
    stories: 'LOOK',
    file: 'src/git/credentials.ts',
    from: 'const HEADER = ',
    to: 'const HEADER = /^never$/ as RegExp\nexport const UNUSED = ',
  },
  {
    name: 'output is not muted',
    stories: 'SPEAK,RED',
    file: 'src/system/workflow-commands.ts',
    from: 'export function muted(line: string): string {\n',
    to: "export function muted(line: string): string {\n  if (line !== '') return line\n",
    // The terminal's own renderer would do it as well.
    also: ['src/report/escape.ts', ".replaceAll('##[', '## [').replace(/^::/, ': :')", ''],
  },
  {
    name: 'git is looked up on the PATH every time',
    stories: 'USER,LAST',
    file: 'src/git/process.ts',
    from: "programs.get(path) ?? findProgram('git', path) ?? 'git'",
    to: "'git'",
  },
  {
    name: 'the clone is not put back',
    stories: 'REFS,RED',
    file: 'src/git/clone.ts',
    from: 'return await putRefsBack(git, snapshot)',
    to: 'return []',
  },
  {
    name: "the clone's files are not put back",
    stories: 'PLANT',
    file: 'src/git/clone.ts',
    from: 'for (const [file, bytes] of snapshot.files) {',
    to: 'for (const [file, bytes] of [] as [string, Buffer | null][]) {',
  },
  {
    name: 'hooks stay',
    stories: 'PLANT',
    file: 'src/git/clone.ts',
    from: 'if (wanted === undefined) removeNow(join(hooks, name))',
    to: 'if (wanted === undefined) continue',
  },
  {
    name: "Ralph's git directory is not written anew",
    stories: 'PLANT',
    file: 'src/git/clone.ts',
    from: '  await git.writeConfig()\n}\n\n/**\n * A person',
    to: '}\n\n/**\n * A person',
  },
  {
    name: "a commondir in Ralph's git directory stays",
    stories: 'PLANT',
    file: 'src/git/own-directory.ts',
    from: "if (own === shared) foreign.push(join(own, 'commondir'))\n  else ",
    to: 'if (own !== shared) ',
  },
  {
    name: 'commondir of the clone stays',
    stories: 'COMMONDIR',
    file: 'src/git/clone.ts',
    from: "['commondir', 'gitdir', 'config.worktree']",
    to: '[] as string[]',
  },
  {
    name: 'locks stay',
    stories: 'LOCKS',
    file: 'src/git/clone.ts',
    from: 'await removeLocks(folder)',
    to: '{}',
  },
  {
    name: 'our index is believed',
    stories: 'HIDE',
    file: 'src/git/own-index.ts',
    from: 'this.#write(this.#table.forgetful())',
    to: 'await this.reload()',
    also: [
      'src/git/work-tree.ts',
      'if (checkOut) await this.checkOutModified(',
      "if (checkOut && against === '') await this.checkOutModified(",
    ],
  },
  {
    name: 'objects are believed',
    file: 'src/git/cat-file.ts',
    from: 'if (objectId(header.type, content, header.oid.length) !== header.oid)',
    to: "if (header.oid === '')",
    batch: 2,
  },
  {
    name: 'replace refs count',
    stories: 'REPLACE',
    file: 'src/git/git.ts',
    from: "      GIT_NO_REPLACE_OBJECTS: '1',\n",
    to: '',
  },
  {
    name: 'the guard is content',
    stories: 'TREE',
    file: 'src/gates/guard.ts',
    from: '  return refusals\n}',
    to: '  return []\n}',
  },
  {
    name: 'links are not looked at',
    stories: 'TREE',
    file: 'src/gates/guard.ts',
    from: 'const wrong = linkFault(change, rules)',
    to: 'const wrong = null as string | null',
  },
  {
    name: 'names are compared as they are spelled',
    stories: 'TREE',
    file: 'src/gates/guard.ts',
    from: 'function foldText(text: string): string {\n',
    to: "function foldText(text: string): string {\n  if (text !== '') return text\n",
  },
  {
    name: 'secrets in diffs are not looked for',
    stories: 'TREE',
    file: 'src/gates/guard.ts',
    from: 'const secret = secretFault(change, rules)',
    to: 'const secret = null as string | null',
  },
  {
    name: 'weakened tests are not counted',
    stories: 'WEAKEN',
    file: 'src/review/examine.ts',
    from: "options.weakenedTests !== 'off' && mayHoldTests",
    to: "options.weakenedTests === 'off' && mayHoldTests",
  },
  {
    name: '.ralph/ is judged as any folder',
    stories: 'STATE,RED',
    file: 'src/gates/guard.ts',
    from: "return folded === '.ralph' || folded.startsWith('.ralph/')",
    to: "return folded === '.none'",
  },
  {
    name: 'links in the way are followed',
    stories: 'STATE,RED,SAY',
    file: 'src/system/files.ts',
    from: '  if (found !== null && !found.isFile()) removeNow(file)\n',
    to: '',
  },
  {
    name: 'survivors are not ended',
    stories: 'LEAVE,COUNT',
    file: 'src/system/orphans.ts',
    from: '  return at === 0 || (at > 0 && environment[at - 1] === 0)',
    to: '  return at === -2',
  },
  {
    name: 'texts are not redacted',
    stories: 'ECHO,ECHOGATE',
    file: 'src/system/redact.ts',
    from: null,
    to: '',
  },
  {
    name: 'transcripts are given away as they lie',
    stories: 'ECHO',
    file: 'src/action/open.ts',
    from: '    await redactFiles(',
    to: '    if (clone.gitDir === name) await redactFiles(',
  },
  {
    name: "the runner's files are not reclaimed",
    file: 'src/action/open.ts',
    from: '  reclaimFiles()\n',
    to: '  if (clone === null) reclaimFiles()\n',
    batch: 1,
  },
  {
    name: 'the report follows links',
    file: 'src/action/work.ts',
    from: 'await replaceFile(reportPath, summary)',
    to: "await (await import('node:fs/promises')).writeFile(reportPath, summary)",
    batch: 1,
  },
  {
    name: 'numbers are believed',
    stories: 'NEGATIVE,HUGE,HUGER',
    file: 'src/agents/cost.ts',
    from: 'return Math.min(Math.max(said, 0), 1e12) || 0',
    to: 'return said',
  },
  {
    name: 'a signal ends a job green',
    file: 'src/action/main.ts',
    from: "if (conclusion.outcome === 'interrupted' && stop.signal.aborted) process.exitCode = 1",
    to: '',
    batch: 2,
  },
  {
    name: 'ignored files stay for the final verification',
    file: 'src/git/repository.ts',
    from: 'await removeIgnored(git, ignoredBefore)',
    to: 'await git.unlock()',
    batch: 3,
  },
  {
    name: "the actions' folders stay open",
    file: 'src/system/other-user/later-programs.ts',
    from: 'await chmod(folder, mode & 0o770)',
    to: 'await chmod(folder, mode & 0o777)',
    also: ['src/system/other-user/probe.ts', '...laterScript(env)', '...laterScript(env).slice(99)'],
    batch: 1,
    level: 'other-user',
  },
  {
    name: 'the final verification has the old home',
    file: 'src/gates/gates.ts',
    from: 'await options.as?.renewHome()',
    to: '',
    batch: 4,
    level: 'other-user',
  },
]
