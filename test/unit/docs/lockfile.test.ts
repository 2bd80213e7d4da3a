import { strict as assert } from 'node:assert'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'

type Lock = { readonly packages: Record<string, { readonly optionalDependencies?: Record<string, string> }> }

test('the lockfile has every optional dependency of every platform, without which npm ci fails', async () => {
  const { packages } = JSON.parse(
    await readFile(new URL('../../../package-lock.json', import.meta.url), 'utf8'),
  ) as Lock
  const optional = Object.values(packages).flatMap((one) => Object.keys(one.optionalDependencies ?? {}))
  assert.deepEqual(
    optional.filter((name) => packages[`node_modules/${name}`] === undefined),
    [],
  )
})
