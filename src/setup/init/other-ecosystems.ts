// Ruby, PHP, Elixir, CMake, .NET, Swift and Deno: what these projects run by convention. Their CI says more (ci/).
import { asObject, jsonObject } from '../../engine/model/json.ts'
import { shellWord } from '../../system/shell-word.ts'
import { cmakePresets } from './cmake-presets.ts'
import { type Ecosystem, type Folder, firstOf, gatesFrom, hasPath } from './project.ts'
import { denoTasks } from './targets/tasks.ts'

const ruby: Ecosystem = {
  marks: ['Gemfile'],
  propose(folder) {
    const gems = folder.text('Gemfile') + folder.text('Gemfile.lock')
    const tests = [
      ['bundle exec rspec', firstOf(folder, ['.rspec']) !== null || hasPath(folder, /^spec\/.*_spec\.rb$/)],
      ['bin/rails test', folder.has('bin/rails')],
      ['bundle exec rake test', /\btest\b/i.test(folder.text('Rakefile'))],
    ] as const
    const hasRubocop = firstOf(folder, ['.rubocop.yml']) !== null && gems.includes('rubocop')
    return {
      language: 'Ruby',
      manager: 'bundler',
      prepare: 'bundle install',
      gates: gatesFrom({
        lint: hasRubocop ? 'bundle exec rubocop' : null,
        test: tests.find(([, isUsed]) => isUsed)?.[0] ?? null,
      }),
    }
  },
}

const php: Ecosystem = {
  marks: ['composer.json'],
  propose(folder) {
    const scripts = asObject(jsonObject(folder.text('composer.json'))?.scripts) ?? {}
    const script = (...names: string[]) => {
      const name = names.find((one) => one in scripts)
      return name === undefined ? null : `composer ${name}`
    }
    const phpunit = firstOf(folder, ['phpunit.xml', 'phpunit.xml.dist', 'phpunit.dist.xml'])
    return {
      language: 'PHP',
      manager: 'composer',
      prepare: 'composer install --no-interaction',
      prepareInstead: ['composer update --no-interaction'],
      gates: gatesFrom({
        format: script('format:check', 'check-format', 'cs:check', 'cs-check', 'check-style'),
        typecheck: script('phpstan', 'psalm', 'analyse', 'analyze', 'test:types'),
        lint: script('lint', 'phpcs', 'cs', 'test:lint'),
        test: script('test', 'tests', 'phpunit') ?? (phpunit === null ? null : 'vendor/bin/phpunit'),
      }),
    }
  },
}

const elixir: Ecosystem = {
  marks: ['mix.exs'],
  propose: (folder) => ({
    language: 'Elixir',
    manager: 'mix',
    prepare: 'mix local.hex --force && mix local.rebar --force && mix deps.get',
    gates: gatesFrom({
      format: folder.has('.formatter.exs') ? 'mix format --check-formatted' : null,
      lint: folder.has('.credo.exs') ? 'mix credo' : null,
      test: 'mix test',
    }),
  }),
}

const cmake: Ecosystem = {
  marks: ['CMakeLists.txt'],
  owns: /^(?:cmake|make|ctest|ninja|meson)\b/,
  propose(folder) {
    const lists = folder.paths.filter((path) => /(?:^|\/)CMakeLists\.txt$/.test(path)).slice(0, 20)
    const hasTests = lists.some((path) =>
      /\b(?:enable_testing|add_test|include\(CTest\))/i.test(folder.text(path)),
    )
    const presets = cmakePresets(folder)
    return {
      language: 'C/C++',
      manager: 'cmake',
      gates: gatesFrom({
        // Without a number, make starts all compilers at once.
        build: presets?.build ?? 'cmake -S . -B build && cmake --build build --parallel 4',
        // Without tests, ctest exits with 0.
        test: hasTests
          ? `${presets?.test ?? 'ctest --test-dir build'} --output-on-failure --no-tests=error`
          : null,
      }),
      ...(hasTests ? { needs: { test: ['build'] } } : {}),
      isWorkspace: true,
    }
  },
}

const dotnet: Ecosystem = {
  marks: ['*.sln', '*.slnx', 'global.json', 'Directory.Build.props'],
  tests: /\.(?:csproj|fsproj)$/,
  propose(folder) {
    const solutions = folder.paths.filter((path) => /^[^/]+\.slnx?$/.test(path))
    // If a folder has several, dotnet needs the name of one.
    const [first] = solutions.length > 1 ? solutions : []
    const on = first === undefined ? '' : ` ${shellWord(first)}`
    return {
      language: '.NET',
      manager: 'dotnet',
      prepare: `dotnet restore${on}`,
      gates: { build: `dotnet build${on} --no-restore`, test: `dotnet test${on}` },
      isWorkspace: true,
    }
  },
}

const swift: Ecosystem = {
  marks: ['Package.swift'],
  propose: (folder) => ({
    language: 'Swift',
    gates: gatesFrom({
      build: 'swift build',
      test: hasPath(folder, /^Tests\//) ? 'swift test' : null,
    }),
  }),
}

/** Its tasks are read as targets (targets/). */
const deno: Ecosystem = {
  marks: ['deno.json', 'deno.jsonc'],
  propose: (folder) => ({
    language: 'Deno',
    gates: gatesFrom({
      test:
        hasPath(folder, /(?:^|[/_.])test\.[cm]?[jt]sx?$/) && !folder.has('package.json') && !hasTask(folder)
          ? 'deno test'
          : null,
    }),
    guesses: ['test'],
    isWorkspace: true,
  }),
}

function hasTask(folder: Folder): boolean {
  return denoTasks(folder.text('deno.json') || folder.text('deno.jsonc')).some(({ name }) => name === 'test')
}

export const OTHER_ECOSYSTEMS: readonly Ecosystem[] = [ruby, php, elixir, cmake, dotnet, swift, deno]
