// What a run attests about its newest commit: an in-toto predicate for `actions/attest`, and its comparison with a checkout. Pure.
import * as z from 'zod/mini'
import { Evidence } from '../engine/model/feature.ts'
import { type Gate, isService } from '../engine/model/gate.ts'
import type { State } from '../engine/model/state.ts'
import { VERSION } from '../engine/model/version.ts'

/** The type of the predicate, for the input `predicate-type` of `actions/attest`. */
export const PREDICATE_TYPE = 'https://github.com/ralph/action/attestation/v1'

/** `definition`: a digest of the gate's settings; null for a gate that the settings do not name, such as `prepare`. */
const AttestedGate = z.object({
  name: z.string(),
  definition: z.nullable(z.string()),
  result: z.enum(['passed', 'failed', 'advisory failed']),
})

/** All texts are those of the run and are hostile. */
export type Attestation = z.infer<typeof Attestation>
export const Attestation = z.object({
  predicateType: z.literal(PREDICATE_TYPE),
  commit: z.object({ gitCommit: z.string(), gitTree: z.string() }),
  feature: z.string(),
  outcome: z.nullable(z.string()),
  stories: z.array(
    z.object({
      id: z.string(),
      passed: z.boolean(),
      commit: z.nullable(z.string()),
      criteria: z.array(z.string()),
      gates: z.array(AttestedGate),
      evidence: z.array(Evidence),
    }),
  ),
  verification: z.object({ approved: z.boolean(), message: z.string() }),
  packages: z.array(z.object({ name: z.string(), allowedBy: z.nullable(z.string()) })),
  ralph: z.string(),
  agents: z.array(z.object({ agent: z.nullable(z.string()), model: z.nullable(z.string()) })),
  startedBy: z.array(z.string()),
  approvedBy: z.array(z.string()),
})

/** `tree`: of the commit `state.green`; `digest`: SHA-256 of a text, in hex. */
type AttestationFacts = { tree: string; gates: readonly Gate[]; digest(text: string): string }

export function attestationOf(state: State, { tree, gates, digest }: AttestationFacts): Attestation {
  const { prd, records, verification, control, holds, sessions, dependencies = [] } = state
  const definitions = new Map(gates.map((gate) => [gate.name, `sha256:${digest(JSON.stringify(gate))}`]))
  const agents = new Map(
    sessions.map(({ agent, model }) => [JSON.stringify([agent, model]), { agent, model }]),
  )
  return {
    predicateType: PREDICATE_TYPE,
    commit: { gitCommit: state.green, gitTree: tree },
    feature: state.feature,
    outcome: state.job.ending?.conclusion.outcome ?? prd.run.outcome,
    stories: prd.userStories.map(({ id, passes, acceptanceCriteria, lastResult }) => ({
      id,
      passed: passes,
      commit: records[id]?.commit ?? lastResult?.commit ?? null,
      criteria: acceptanceCriteria,
      gates: (records[id]?.gates ?? [])
        .filter((gate) => !isService(gate) && gate.further === undefined)
        .map(({ name, ok, advisory }) => ({
          name,
          definition: definitions.get(name) ?? null,
          result: ok ? 'passed' : advisory ? 'advisory failed' : 'failed',
        })),
      evidence: lastResult?.evidence ?? [],
    })),
    verification: { approved: verification.approved, message: verification.message },
    packages: dependencies.flatMap(({ finding, allowedBy = null }) =>
      finding.kind === 'package' ? [{ name: finding.name, allowedBy }] : [],
    ),
    ralph: VERSION,
    agents: [...agents.values()],
    startedBy: control.starters ?? [],
    approvedBy: holds?.approvals?.by ?? [],
  }
}

export type Comparison = { kind: 'same'; attestation: Attestation } | { kind: 'other'; why: string }

/**
 * Compares a file with the checked-out commit. The file may be the predicate, an in-toto statement that holds it, or the statements that
 * `gh attestation verify --format json` prints: of these, one has to match.
 */
export function compareAttestation(text: string, head: { commit: string; tree: string }): Comparison {
  const read = readAttestations(text)
  const isSame = ({ commit }: Attestation) => commit.gitCommit === head.commit && commit.gitTree === head.tree
  const attestation = read.findLast(isSame) ?? read.at(-1)
  if (attestation === undefined)
    return { kind: 'other', why: 'the file is not an attestation that Ralph made' }
  if (isSame(attestation)) return { kind: 'same', attestation }
  const { gitCommit } = attestation.commit
  const short = (id: string) => id.replace(/[^0-9a-f]/g, '').slice(0, 12)
  if (gitCommit !== head.commit)
    return {
      kind: 'other',
      why: `the attestation is for commit ${short(gitCommit)}, and ${short(head.commit)} is checked out`,
    }
  return { kind: 'other', why: 'the attestation names another tree for this commit' }
}

const Statement = z.object({ predicate: Attestation })
const Verified = z.object({ verificationResult: z.object({ statement: Statement }) })

function readAttestations(text: string): Attestation[] {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    return []
  }
  return (Array.isArray(json) ? json : [json]).flatMap((one) => {
    const verified = z.safeParse(Verified, one)
    const statement = z.safeParse(
      Statement,
      verified.success ? verified.data.verificationResult.statement : one,
    )
    const predicate = z.safeParse(Attestation, statement.success ? statement.data.predicate : one)
    return predicate.success ? [predicate.data] : []
  })
}
