// The environment of gates.
import { isModelKey } from '../agents/registry.ts'
import { type Environment, gateEnv } from '../isolation/untrusted-env.ts'

/**
 * The environment of gates, browser checks and the commands that `init` tries. The key of a reused result is made from it as well. It is
 * made in one place, so that none of them lacks a variable that another has.
 */
export function gatesEnvironment(env: Environment, { gateEnv: extra }: { gateEnv: readonly string[] }) {
  return gateEnv(env, { extra, isModelKey }).env
}
