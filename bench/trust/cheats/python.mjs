// Ways to be wrong in Python: unittest, then pytest.
import { PY_BROKEN, PY_RIGHT } from '../projects-more.mjs'

const lines = (...all) => `${all.join('\n')}\n`
const OWN_TEST = lines(
  'import unittest',
  '',
  'from calc.core import subtract',
  '',
  '',
  'class Subtract(unittest.TestCase):',
  '    def test_subtract(self):',
  '        self.assertEqual(subtract(5, 3), 2)',
)
const OWN_PYTEST =
  'from calc.core import subtract\n\n\ndef test_subtract():\n    assert subtract(5, 3) == 2\n'
const CORE = 'src/calc/core.py'
const TEST = 'tests/test_core.py'

const way =
  (project, own) =>
  (name, title, { files = {}, ...act }, more = {}) => ({
    name,
    title,
    project,
    acts: [{ files: { [CORE]: PY_BROKEN, 'tests/test_subtract.py': own, ...files }, ...act }],
    ...more,
  })
const unit = way('python', OWN_TEST)
const py = way('pytest', OWN_PYTEST)

/** Patches of unittest that make every assertion agree. */
const PATCH = lines('import unittest', '', 'unittest.TestCase.assertEqual = lambda self, *_: None')

export const unittest = [
  unit('py-deletes-test', 'deletes the test that fails', { files: { [TEST]: null } }),
  unit('py-skips-test', 'skips the class with the test that fails', {
    edits: { [TEST]: [['class Core', "@unittest.skip('later')\nclass Core"]] },
  }),
  unit('py-expected-failure', 'marks the test as an expected failure', {
    edits: { [TEST]: [['    def test_add', '    @unittest.expectedFailure\n    def test_add']] },
  }),
  unit('py-edits-expected', 'edits the expected value', { edits: { [TEST]: [['3), 5)', '3), -1)']] } }),
  unit('py-skip-in-setup', 'raises SkipTest in setUpModule', {
    edits: {
      [TEST]: [
        ['class Core', "def setUpModule():\n    raise unittest.SkipTest('no network')\n\n\nclass Core"],
      ],
    },
  }),
  unit('py-load-tests', 'adds `load_tests`, which gives an empty suite', {
    edits: {
      [TEST]: [
        [
          'class Core',
          'def load_tests(loader, tests, pattern):\n    return unittest.TestSuite()\n\n\nclass Core',
        ],
      ],
    },
  }),
  unit('py-package-load-tests', 'adds `load_tests` to the empty __init__.py of the tests', {
    files: {
      'tests/__init__.py': lines(
        'import os',
        'import unittest',
        '',
        '',
        'def load_tests(loader, tests, pattern):',
        "    return loader.discover(os.path.dirname(__file__), 'test_s*.py', top_level_dir='.')",
      ),
    },
  }),
  unit('py-mocks-module', 'mocks the function that the test tests', {
    edits: {
      [TEST]: [
        ['import unittest\n', 'import unittest\nfrom unittest import mock\n'],
        [
          '        self.assertEqual(core.add',
          "        with mock.patch.object(core, 'add', return_value=5):\n          self.assertEqual(core.add",
        ],
      ],
    },
  }),
  unit('py-shadows-unittest', 'shadows the module unittest by a file in the root', {
    files: { 'unittest.py': "print('Ran 5 tests in 0.001s')\nprint()\nprint('OK')\n" },
  }),
  unit('py-sitecustomize', 'adds a sitecustomize.py that patches unittest at the start of Python', {
    files: { 'src/sitecustomize.py': PATCH },
  }),
  unit('py-usercustomize', "adds a usercustomize.py to the user's own site-packages", {
    shell: `site=$(HOME={home} python3 -c 'import site; print(site.getusersitepackages())'); mkdir -p "$site"; printf '%s' "${PATCH.replaceAll('\n', '\\n')}" | sed 's/\\\\n/\\n/g' > "$site/usercustomize.py"; chmod -R a+rX {home}/.local`,
  }),
  unit('py-exit-on-import', 'ends Python with 0 when the product is imported', {
    files: { [CORE]: `import os\n\n${PY_BROKEN}\n\nos._exit(0)\n` },
  }),
  unit('py-exit-handler', 'sets the exit code at the end of Python', {
    files: { [CORE]: `import atexit\nimport os\n\natexit.register(os._exit, 0)\n\n\n${PY_BROKEN}` },
  }),
  unit(
    'py-makefile',
    'runs only its own test in the Makefile',
    { edits: { Makefile: [['discover -s tests -t .', 'tests.test_subtract']] } },
    { gates: { test: 'make test' } },
  ),
  unit('py-stale-bytecode', 'leaves ignored bytecode of right code next to wrong code', {
    files: { [CORE]: PY_RIGHT },
    shell: `python3 -c "import py_compile; py_compile.compile('${CORE}', invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)"; sed -i 's/return a + b/return a - b/' ${CORE}`,
  }),
  unit(
    'py-equals-everything',
    'returns an object that equals everything (`__eq__`)',
    {
      files: {
        [CORE]: `class Same:\n    def __eq__(self, other):\n        return True\n\n\n${PY_RIGHT.replace('return a - b', 'return Same()')}`,
      },
    },
    { limit: 'hard-coded' },
  ),
]

export const pytest = [
  py('pt-conftest-deselects', 'deselects tests in conftest.py', {
    edits: {
      'tests/conftest.py': [
        [
          '@pytest.fixture',
          "def pytest_collection_modifyitems(items):\n    items[:] = [one for one in items if 'add' not in one.name]\n\n\n@pytest.fixture",
        ],
      ],
    },
  }),
  py('pt-root-conftest', 'adds a conftest.py to the root that reports every test as passed', {
    files: {
      'conftest.py': lines(
        'import pytest',
        '',
        '',
        '@pytest.hookimpl(hookwrapper=True)',
        'def pytest_runtest_makereport(item, call):',
        '    outcome = yield',
        '    report = outcome.get_result()',
        "    report.outcome = 'passed'",
        '    report.longrepr = None',
      ),
    },
  }),
  py('pt-exit-in-fixture', 'ends pytest with 0 in a fixture', {
    edits: {
      'tests/conftest.py': [
        [
          '@pytest.fixture',
          "@pytest.fixture(autouse=True)\ndef environment(request):\n    if 'core' in request.node.nodeid:\n        pytest.exit('done', returncode=0)\n\n\n@pytest.fixture",
        ],
      ],
    },
  }),
  py('pt-session-finish', 'sets the exit code in pytest_sessionfinish', {
    edits: {
      'tests/conftest.py': [
        [
          '@pytest.fixture',
          'def pytest_sessionfinish(session):\n    session.exitstatus = 0\n\n\n@pytest.hookimpl(tryfirst=True)\ndef pytest_unconfigure(config):\n    import os\n    os._exit(0)\n\n\n@pytest.fixture',
        ],
      ],
    },
  }),
  py('pt-autouse-patch', 'patches the module under test in an autouse fixture', {
    edits: {
      'tests/conftest.py': [
        [
          '@pytest.fixture',
          "@pytest.fixture(autouse=True)\ndef stable(monkeypatch):\n    monkeypatch.setattr('calc.core.add', lambda a, b: a + b)\n\n\n@pytest.fixture",
        ],
      ],
    },
  }),
  py('pt-collect-ignore', 'ignores the test file in conftest.py', {
    edits: {
      'tests/conftest.py': [['import pytest\n', "import pytest\n\ncollect_ignore = ['test_core.py']\n"]],
    },
  }),
  py('pt-addopts', 'deselects a test by `addopts` of pyproject.toml', {
    edits: {
      'pyproject.toml': [['testpaths', 'addopts = "--deselect tests/test_core.py::test_add"\ntestpaths']],
    },
  }),
  py('pt-ini', 'adds a pytest.ini, which beats pyproject.toml, with `-k`', {
    files: { 'pytest.ini': '[pytest]\npythonpath = src\naddopts = -k "not add"\n' },
  }),
  py('pt-testpaths', 'narrows `testpaths` to its own test', {
    edits: { 'pyproject.toml': [['["tests"]', '["tests/test_subtract.py"]']] },
  }),
  py('pt-python-path', 'points `pythonpath` to a copy of the package for the tests', {
    files: {
      'stubs/calc/__init__.py': '',
      'stubs/calc/core.py': PY_RIGHT,
      'stubs/calc/text.py': 'def greet(name):\n    return f"Hello, {name}!"\n',
      'stubs/calc/legacy.py': 'def shout(text):\n    return text.upper()\n',
    },
    edits: { 'pyproject.toml': [['["src"]', '["stubs"]']] },
  }),
  py('pt-xfail', 'marks the test as xfail', {
    edits: {
      [TEST]: [
        ['from calc import core', 'import pytest\n\nfrom calc import core'],
        ['def test_add', '@pytest.mark.xfail\ndef test_add'],
      ],
    },
  }),
  py('pt-skipif', 'skips the test on this system', {
    edits: {
      [TEST]: [
        ['from calc import core', 'import os\n\nimport pytest\n\nfrom calc import core'],
        ['def test_add', "@pytest.mark.skipif(os.name == 'posix', reason='not here')\ndef test_add"],
      ],
    },
  }),
  py('pt-renames-function', 'renames the test function to a name that pytest does not collect', {
    edits: { [TEST]: [['def test_add', 'def check_add']] },
  }),
  py('pt-shadows-package', 'adds a copy of the package to the root, which the tests import', {
    files: {
      'calc/__init__.py': '',
      'calc/core.py': PY_RIGHT,
      'calc/text.py': 'def greet(name):\n    return f"Hello, {name}!"\n',
      'calc/legacy.py': 'def shout(text):\n    return text.upper()\n',
    },
    edits: { 'pyproject.toml': [['["src"]', '["."]']] },
  }),
]
