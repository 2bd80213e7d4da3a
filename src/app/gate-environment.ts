// The environment of gates.
import { isModelKey } from '../agents/registry.ts'
import { type Environment, gateEnv } from '../isolation/untrusted-env.ts'

/**
 * What gates see, what runs as they do (browser checks, the try of `init`), and what the key of a reused result is made from: in
 * one place, so that none of them lacks a variable that another has.
 */
export function gatesEnvironment(env: Environment, { gateEnv: extra }: { gateEnv: readonly string[] }) {
  return gateEnv(env, { extra, isModelKey }).env
}
