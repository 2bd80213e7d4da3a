// The primary rate limit: how much of its hour a token has used. (The secondary limits are not simulated.)
import type { Identity } from './model.ts'
import type { World } from './world.ts'

export interface Rate {
  limit: number
  used: number
  remaining: number
  reset: number
}
function rateKey(identity: Identity, resource: string): string {
  // The jobs of a repository share one account (facts 3.5).
  return `${resource}:${identity.kind === 'job' ? 'jobs' : identity.token}`
}
function used(world: World, identity: Identity, resource: string): number {
  return world.used.get(rateKey(identity, resource)) ?? 0
}
export function rate(world: World, identity: Identity, resource: string): Rate {
  const limit = identity.kind === 'job' ? world.settings.requestsPerHour : 5000
  const spent = used(world, identity, resource)
  const reset = Math.floor(world.born.getTime() / 1000) + 3600
  return { limit, used: spent, remaining: Math.max(0, limit - spent), reset }
}
export function rateHeaders(now: Rate, resource: string): Record<string, string> {
  return {
    'x-ratelimit-limit': String(now.limit),
    'x-ratelimit-remaining': String(now.remaining),
    'x-ratelimit-used': String(now.used),
    'x-ratelimit-reset': String(now.reset),
    'x-ratelimit-resource': resource,
  }
}

export function charge(world: World, identity: Identity, resource: string): void {
  world.used.set(rateKey(identity, resource), used(world, identity, resource) + 1)
}
