// The redactor that knows the key shapes of all agents.
import { keyShapes } from '../agents/registry.ts'
import { createRedactor, type Redactor } from '../isolation/redact.ts'

export function redactorFor(values: string[]): Redactor {
  return createRedactor(values, keyShapes)
}
