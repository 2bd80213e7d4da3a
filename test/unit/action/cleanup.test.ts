// The post step comes when an agent was in the tree, and may be there still: it runs nothing that the tree names.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

test('the post step does not clean up inside submodules', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'mend-'))
  try {
    const top = join(folder, 'clone')
    mkdirSync(top)
    writeFileSync(join(folder, 'fire'), `#!/bin/sh\ntouch ${folder}/ran\n`, { mode: 0o755 })
    execFileSync(
      'bash',
      [
        '-ec',
        `git init -q --bare ../o/r.git; git init -q -b main ../library; git -C ../library commit -q --allow-empty -m a
        git init -q -b main .; git -c protocol.file.allow=always submodule --quiet add ../library lib; git commit -q -m base
        cd lib; git config core.fsmonitor ../../fire; git config extensions.partialClone origin; git config remote.origin.promisor true
        git config remote.origin.url ssh://example.invalid/x; git config core.sshCommand "${folder}/fire"; rm -rf ../.git/modules/lib/objects/??`,
      ],
      {
        cwd: top,
        env: {
          PATH: process.env.PATH,
          HOME: folder,
          GIT_AUTHOR_NAME: 'a',
          GIT_AUTHOR_EMAIL: 'a@b',
          GIT_COMMITTER_NAME: 'a',
          GIT_COMMITTER_EMAIL: 'a@b',
        },
      },
    )
    Object.assign(process.env, {
      GITHUB_SERVER_URL: `file://${folder}`,
      GITHUB_REPOSITORY: 'o/r',
      GITHUB_WORKSPACE: top,
      GITHUB_EVENT_NAME: 'workflow_dispatch',
      INPUT_TOKEN: 'none',
      HOME: folder,
    })
    // What it knows of the runner is read once, when it is loaded.
    const { releaseJob } = await import('../../../src/action/cleanup.ts')
    assert.match((await releaseJob('.ralph/2026-01-01-sample')).done, /nothing is held/)
    assert.ok(!existsSync(join(folder, 'ran')))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
