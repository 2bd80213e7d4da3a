// The gate job runs the gates, with a token that can only read; their results are handed over with the code they saw.
import type { Workspace } from '../app/workspace.ts'
import { loop } from '../loop/loop.ts'
import type { GatesPort } from '../model/ports.ts'
import { stepsOf } from '../model/step.ts'
import { type FromGate, fitGates, writeHandover } from './handover.ts'
import { codeOf } from './pack.ts'
import { withPictures } from './pictures.ts'
import type { Done, Run } from './work.ts'

export async function runGate({ state, limits, ports, workspace, nonce, settle }: Run): Promise<Done> {
  const results: FromGate = { nonce, code: null, gates: [] }
  const gates = recording(ports.gates, workspace, results)
  await loop(state, limits, { ...ports, gates }, stepsOf('gate')).finally(settle)
  const red = results.gates.filter((gate) => !gate.ok && !gate.advisory).map((gate) => gate.name)
  const read = (blob: string) => workspace.store.readScreenshot(blob)
  return {
    handover: writeHandover(await withPictures(fitGates(results), results.gates, read)),
    summary: red.length === 0 ? 'every gate is green' : `red: ${red.join(', ')}`,
  }
}

/** The gates, with their results written down. */
function recording(gates: GatesPort, { git, objects }: Workspace, results: FromGate): GatesPort {
  return {
    renew: () => gates.renew(),
    async prepare(commit, signal, what) {
      results.code = await codeOf(git, objects, commit)
      const prepared = await gates.prepare(commit, signal, what)
      results.gates = prepared === null ? [] : [prepared]
      return prepared
    },
    async run(run, signal) {
      const ran = await gates.run(run, signal)
      results.gates.push(...ran)
      return ran
    },
  }
}
