// Which kinds of project there are: one row each.
import { node } from './node.ts'
import { OTHER_ECOSYSTEMS } from './other-ecosystems.ts'
import { type Ecosystem, type Folder, firstOf, gatesFrom } from './project.ts'
import { python } from './python.ts'
import { targets } from './targets/conventional.ts'

const go: Ecosystem = {
  marks: ['go.mod'],
  independent: ['vet', 'test', 'build'],
  propose: (folder) => ({
    language: 'Go',
    prepare: folder.has('go.sum') ? 'go mod download' : null,
    // Without -v it does not say how many tests ran.
    gates: { vet: 'go vet ./...', test: 'go test -v ./...', build: 'go build ./...' },
    guesses: ['vet'],
  }),
}

/** Clippy and rustfmt only if the project has settings for them, for few trees are clean without. */
const rust: Ecosystem = {
  marks: ['Cargo.toml'],
  propose(folder) {
    const manifest = folder.text('Cargo.toml')
    const isWorkspace = /^\[workspace\]/m.test(manifest)
    const flags = `${isWorkspace ? ' --workspace' : ''}${folder.has('Cargo.lock') ? ' --locked' : ''}`
    const hasLints =
      /^\[(?:workspace\.)?lints\.clippy\]/m.test(manifest) ||
      firstOf(folder, ['clippy.toml', '.clippy.toml']) !== null
    const hasFormat = firstOf(folder, ['rustfmt.toml', '.rustfmt.toml']) !== null
    return {
      language: 'Rust',
      manager: 'cargo',
      gates: gatesFrom({
        format: hasFormat ? 'cargo fmt --check' : null,
        lint: hasLints ? `cargo clippy --all-targets${flags}` : null,
        test: hasRustTests(folder, manifest) ? `cargo test${flags}` : null,
        build: `cargo build${flags}`,
      }),
      // Settings only say how these tools work when they run.
      guesses: ['format', 'lint'],
      isWorkspace,
    }
  },
}

/** The maximum number of files that are searched for tests. With more, there are some. */
const MAX_RUST_FILES = 300
/** Tests, and examples in documentation, which `cargo test` runs as well. */
const RUST_TEST =
  /#\[[\w:]*(?:test|case|bench)\b|#\[[\w:]*(?:rstest|test_case|quickcheck|proptest)|\b(?:proptest|quickcheck)!|^\s*\/\/[/!]\s*(?:```|~~~)|^\s*\*?\s*```|\binclude_str!/m

/** `cargo test` in a project without a test is green, and tests nothing. */
function hasRustTests({ paths, text }: Folder, manifest: string): boolean {
  if (/^\[\[test\]\]/m.test(manifest)) return true
  const files = paths.filter((path) => path.endsWith('.rs'))
  const isUnknown = files.length === 0 || files.length > MAX_RUST_FILES
  return isUnknown || files.some((path) => RUST_TEST.test(text(path)))
}

/** By the project's own wrapper if there is one, as Gradle. */
const maven: Ecosystem = {
  marks: ['pom.xml'],
  propose(folder) {
    const pom = folder.text('pom.xml')
    const run = `${folder.has('mvnw') ? './mvnw' : 'mvn'} --batch-mode`
    const artifacts = (name: string) => [`${name}-maven-plugin`, `maven-${name}-plugin`]
    const check = ['spotless', 'checkstyle'].find((name) =>
      artifacts(name).some((artifact) => pom.includes(`<artifactId>${artifact}<`)),
    )
    return {
      language: 'Java',
      manager: 'maven',
      gates: gatesFrom({
        lint: check === undefined ? null : `${run} --quiet ${check}:check`,
        // Quiet, it does not say how many tests ran.
        test: `${run} test`,
        build: `${run} --quiet package -DskipTests`,
      }),
      ...(folder.has('mvnw')
        ? { alternatives: { test: [`sh ${run} test`], build: [`sh ${run} package -DskipTests`] } }
        : {}),
      isWorkspace: pom.includes('<modules>'),
    }
  },
}

const SETTINGS = ['settings.gradle', 'settings.gradle.kts']

const gradle: Ecosystem = {
  marks: ['build.gradle', 'build.gradle.kts', ...SETTINGS],
  propose(folder) {
    const run = folder.has('gradlew') ? './gradlew' : 'gradle'
    return {
      language: folder.text('build.gradle.kts').includes('kotlin(') ? 'Kotlin' : 'Java',
      manager: 'gradle',
      gates: { test: `${run} test`, build: `${run} assemble` },
      // Many repositories have the wrapper without its execute bit.
      ...(folder.has('gradlew')
        ? { alternatives: { test: [`sh ${run} test`], build: [`sh ${run} assemble`] } }
        : {}),
      isWorkspace: firstOf(folder, SETTINGS) !== null,
    }
  },
}

/** In the order in which their gates run. */
export const ECOSYSTEMS: readonly Ecosystem[] = [
  ...[node, python, go, rust, maven, gradle],
  ...OTHER_ECOSYSTEMS,
  targets,
]
