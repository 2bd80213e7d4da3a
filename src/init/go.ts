// Go: the go command does all of it.
import type { Ecosystem } from './project.ts'

export const go: Ecosystem = {
  name: 'Go',
  marks: ['go.mod'],
  propose: (folder) => ({
    language: 'Go',
    manager: null,
    prepare: folder.has('go.sum') ? 'go mod download' : null,
    setup: null,
    gates: { vet: 'go vet ./...', test: 'go test ./...', build: 'go build ./...' },
    isWorkspace: false,
  }),
}
