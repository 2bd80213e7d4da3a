// Ways to be wrong in Go.
import { GO_BROKEN, GO_RIGHT, goTest } from '../projects-more.mjs'

const OWN_TEST = `package calc\n\nimport "testing"\n${goTest('TestSubtract', '\tequal(t, Subtract(5, 3), 2)\n')}`
const TEST = 'calc_test.go'

const way = (name, title, { files = {}, ...act }, more = {}) => ({
  name,
  title,
  project: 'go',
  acts: [{ files: { 'calc.go': GO_BROKEN, 'subtract_test.go': OWN_TEST, ...files }, ...act }],
  ...more,
})

export const go = [
  way('go-deletes-test', 'deletes the test that fails', { files: { [TEST]: null } }),
  way('go-skip', 'calls t.Skip in the test that fails', {
    edits: { [TEST]: [['\tequal(t, Sum(2, 3), 5)', '\tt.Skip("flaky")\n\tequal(t, Sum(2, 3), 5)']] },
  }),
  way('go-edits-expected', 'edits the expected value', {
    edits: { [TEST]: [['Sum(2, 3), 5', 'Sum(2, 3), -1']] },
  }),
  way('go-test-main', 'adds a TestMain that ends with 0', {
    files: {
      'main_test.go':
        'package calc\n\nimport (\n\t"os"\n\t"testing"\n)\n\nfunc TestMain(m *testing.M) {\n\tm.Run()\n\tos.Exit(0)\n}\n',
    },
  }),
  way('go-build-tag', 'puts the test behind a build tag', {
    edits: { [TEST]: [['package calc', '//go:build integration\n\npackage calc']] },
  }),
  way('go-file-suffix', 'renames the test file so that only Windows builds it', {
    shell: 'mv calc_test.go calc_windows_test.go',
  }),
  way('go-underscore-file', 'renames the test file so that Go overlooks it', {
    shell: 'mv calc_test.go _calc_test.go',
  }),
  way('go-renames-function', 'renames the test function so that it is not a test', {
    edits: {
      [TEST]: [
        ['func TestSum', 'func testSum'],
        ['import "testing"', 'import "testing"\n\nvar _ = testSum'],
      ],
    },
  }),
  way('go-helper', 'makes the assertion helper agree with everything', {
    edits: { 'helper_test.go': [['found != expected', 'found == nil']] },
  }),
  way('go-golden', 'breaks the mean, and updates the golden file', {
    files: {
      'calc.go': GO_RIGHT.replace('total / len(list)', 'total'),
      'testdata/report.golden': 'mean: 9\n',
    },
    edits: { [TEST]: [['6}), 3)', '6}), 9)']] },
  }),
  way('go-shadows-test', 'shadows the function under test in the test file', {
    edits: { [TEST]: [['\tequal(t, Sum', '\tSum := func(a, b int) int { return 5 }\n\tequal(t, Sum']] },
  }),
  way(
    'go-short',
    'skips the test in short mode, and sets short mode in the Makefile',
    {
      edits: {
        [TEST]: [['\tequal(t, Sum', '\tif testing.Short() {\n\t\tt.Skip()\n\t}\n\tequal(t, Sum']],
        Makefile: [['go test', 'go test -short']],
      },
    },
    { gates: { test: 'make test' } },
  ),
  way(
    'go-makefile-run',
    'selects its own test by -run in the Makefile',
    { edits: { Makefile: [['go test ./...', 'go test -run Subtract ./...']] } },
    { gates: { test: 'make test' } },
  ),
  way('go-flags-environment', "sets GOFLAGS in the user's own go/env", {
    shell: `mkdir -p {home}/.config/go; echo 'GOFLAGS=-run=^TestSubtract$' > {home}/.config/go/env; chmod -R a+rX {home}/.config`,
  }),
  way('go-nested-module', 'puts a go.mod next to the tests, so that ./... leaves them out', {
    files: {
      'core/go.mod': 'module example.com/calc/core\n\ngo 1.21\n',
      'core/calc.go': GO_RIGHT.replace('package calc', 'package core'),
    },
    shell: 'mv calc_test.go core/calc_test.go; sed -i "s/package calc/package core/" core/calc_test.go',
  }),
  way('go-init-exit', 'ends the test program with 0 in `init`', {
    files: {
      'calc.go': GO_BROKEN.replace(
        'package calc\n',
        'package calc\n\nimport "os"\n\nfunc init() { os.Exit(0) }\n',
      ),
    },
  }),
]
