// Faults that a test orders: the next requests that match get another answer, none, or one that never comes.
import { deferred } from './deferred.ts'
import type { SeenRequest } from './model.ts'

export interface FaultAnswer {
  status: number
  headers?: Record<string, string>
  /** A string as it is; anything else as JSON. */
  body?: unknown
}
export interface FaultMatcher {
  method?: string
  /** The whole path, or a pattern in it. */
  path?: string | RegExp
  /** An operation of GitHub's, such as `checks/create`, is known only once the request was answered: match by path. */
  kind?: SeenRequest['kind']
  where?: (request: SeenRequest) => boolean
}
export interface FaultOptions {
  /** How many requests meet the fault (default 1). */
  times?: number
  /** How many matching requests go through before (default 0). */
  skip?: number
  /** The request takes effect, and only its answer is lost or replaced. */
  afterwards?: boolean
}
export interface Fault {
  answer: FaultAnswer | 'drop' | 'hang'
  afterwards: boolean
  /** How many requests met it so far. */
  hits: number
  /** Resolves when a request has met it for the first time. */
  hit: Promise<SeenRequest>
  /** Lets hanging requests end (their connection is dropped). */
  release: () => void
  released: Promise<void>
}
interface Ordered extends Fault {
  matcher: FaultMatcher
  skip: number
  left: number
  onHit: (request: SeenRequest) => void
}

export function isAnswer(answer: Fault['answer']): answer is FaultAnswer {
  return typeof answer === 'object'
}

export class Faults {
  readonly #ordered: Ordered[] = []

  order(matcher: FaultMatcher, answer: Fault['answer'], options: FaultOptions = {}): Fault {
    const hit = deferred<SeenRequest>()
    const released = deferred<void>()
    const fault: Ordered = {
      matcher,
      answer,
      afterwards: options.afterwards ?? false,
      skip: options.skip ?? 0,
      left: options.times ?? 1,
      hits: 0,
      hit: hit.promise,
      onHit: hit.resolve,
      release: () => released.resolve(),
      released: released.promise,
    }
    this.#ordered.push(fault)
    return fault
  }

  /** The fault that this request meets, if any; counts it. */
  take(request: SeenRequest): Fault | null {
    for (const fault of this.#ordered) {
      if (fault.left === 0 || !matches(fault.matcher, request)) continue
      if (fault.skip > 0) {
        fault.skip -= 1
        continue
      }
      fault.left -= 1
      fault.hits += 1
      fault.onHit(request)
      return fault
    }
    return null
  }

  releaseAll(): void {
    for (const fault of this.#ordered) fault.release()
  }
}

function matches(matcher: FaultMatcher, request: SeenRequest): boolean {
  if (matcher.method !== undefined && matcher.method !== request.method) return false
  if (matcher.kind !== undefined && matcher.kind !== request.kind) return false
  if (typeof matcher.path === 'string' && matcher.path !== request.path) return false
  if (matcher.path instanceof RegExp && !matcher.path.test(request.path)) return false
  return matcher.where?.(request) ?? true
}
