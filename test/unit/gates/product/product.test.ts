// What counts as product in a project that does not say it.
import assert from 'node:assert/strict'
import test from 'node:test'
import { createProductRules } from '../../../../src/gates/product/rules.ts'

type Files = Readonly<Record<string, string>>

/** Which of the paths are product. The files are those of the fork, and of a later commit. */
async function product(fork: Files, paths: string[], { configured = [] as string[], later = fork } = {}) {
  const at = (commit: string) => (commit === 'fork' ? fork : later)
  const rules = createProductRules(configured, {
    paths: async (commit) => Object.keys(at(commit)),
    read: async (commit, path) => at(commit)[path] ?? null,
  })
  const isProduct = await rules.of('fork', 'later')
  return paths.filter(isProduct)
}

test('folders of code and code in the top folder are product; tests, expectations and settings are not', async () => {
  const is = ['src/a.ts', 'lib/b.js', 'index.js', 'main.py', 'packages/x/src/c.ts', 'src/locales/en.json']
  const isNot = [
    ...['test/a.js', 'src/a.test.ts', 'src/__tests__/a.ts', 'src/__mocks__/fs.ts', 'test_main.py'],
    ...['conftest.py', 'expected/a.json', 'schema/a.json', 'support/b.js', 'features/steps.js', 't/a.pl'],
    ...['jest/setup.js', 'vitest.config.ts', '.eslintrc.js', 'Makefile', 'package.json', 'README.md'],
    ...['lib/tests/helper.py', 'vendor/a.go', 'node_modules/a/index.js', 'src/a_spec.rb', 'setup.py'],
  ]
  assert.deepEqual(await product({ 'src/a.ts': '' }, [...is, ...isNot]), is)
})

test('what manifests name is product', async () => {
  const fork = {
    'package.json':
      '{"main":"./dist/a.js","exports":{".":{"import":"./core/index.js"}},"files":["assets/x"]}',
    'core/index.js': '',
    'core/checks/a.js': '',
    'assets/x': '',
    'shop/__init__.py': '',
    'shop/cart/__init__.py': '',
    'tool/package.json': '{}',
    'tool/run.js': '',
    'Web/Web.csproj': '<Project/>',
    'WebChecks/WebChecks.csproj': '<PackageReference Include="Microsoft.NET.Test.Sdk"/>',
  }
  assert.deepEqual(
    await product(fork, ['core/new.js', 'assets/y', 'shop/cart/b.py', 'tool/a.js', 'Web/A/B.cs']),
    ['core/new.js', 'assets/y', 'shop/cart/b.py', 'tool/a.js', 'Web/A/B.cs'],
  )
  assert.deepEqual(await product(fork, ['support/a.js', 'tool/x/a.js', 'WebChecks/A.cs', 'shops/a.py']), [])
  const go = { 'go.mod': '', 'main.go': '' }
  assert.deepEqual(await product(go, ['store/a.go', 'store/a_test.go', 'store/testdata/a.go']), [
    'store/a.go',
  ])
})

test('a story cannot declare what is product, unless the fork has no code', async () => {
  const later = { 'package.json': '{"main":"support/a.js"}', 'support/a.js': '' }
  assert.deepEqual(await product({ 'src/a.js': '' }, ['support/a.js'], { later }), [])
  assert.deepEqual(await product({ 'README.md': '' }, ['support/a.js'], { later }), ['support/a.js'])
})

test('the setting says it; an exclusion holds whatever its place', async () => {
  const configured = ['!*.gen.ts', 'web/']
  const paths = ['web/a.ts', 'web/a.gen.ts', 'src/a.ts']
  assert.deepEqual(await product({}, paths, { configured }), ['web/a.ts'])
})

test('a manifest that is no JSON, or nested deeply, names nothing', async () => {
  const deep = `${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`
  for (const text of ['{', '[]', 'null', `{"exports":${deep}}`])
    assert.deepEqual(await product({ 'package.json': text, 'a/b.js': '' }, ['a/b.js']), [])
})
