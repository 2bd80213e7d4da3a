// Rust: cargo; clippy and rustfmt only where the project has settings for them, for few trees are clean without.
import { type Ecosystem, firstOf, gatesFrom } from './project.ts'

export const rust: Ecosystem = {
  name: 'Rust',
  marks: ['Cargo.toml'],
  propose(folder) {
    const manifest = folder.text('Cargo.toml')
    const isWorkspace = /^\[workspace\]/m.test(manifest)
    const flags = [isWorkspace ? ' --workspace' : '', folder.has('Cargo.lock') ? ' --locked' : ''].join('')
    const hasLints = /^\[(?:workspace\.)?lints\.clippy\]/m.test(manifest)
    return {
      language: 'Rust',
      manager: 'cargo',
      prepare: null,
      setup: null,
      gates: gatesFrom({
        format: firstOf(folder, ['rustfmt.toml', '.rustfmt.toml']) === null ? null : 'cargo fmt --check',
        lint:
          hasLints || firstOf(folder, ['clippy.toml', '.clippy.toml']) !== null
            ? `cargo clippy --all-targets${flags}`
            : null,
        test: `cargo test${flags}`,
        build: `cargo build${flags}`,
      }),
      isWorkspace,
    }
  },
}
