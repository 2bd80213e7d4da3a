import { keyShapes } from '../agents/registry.ts'
import { createRedactor, type Redactor } from '../system/redact.ts'

/** A redactor that knows the agents' keys, too. */
export function redactorFor(values: string[]): Redactor {
  return createRedactor(values, keyShapes)
}
