// Screenshots that the gate job hands over to the land job: as many as fit in addition to everything else.
import { isPicture } from '../../branch/screenshot-blobs.ts'
import type { GateResult, Screenshot } from '../../engine/model/gate.ts'
import { type FromGate, LIMIT_BYTES, writeHandover } from './handover.ts'

/** The hand-over with the first pictures of these gates that fit. A remark says how many do not. */
export async function withPictures(
  fitted: FromGate,
  gates: readonly GateResult[],
  read: (blob: string) => Promise<Buffer | null>,
  limitBytes = LIMIT_BYTES,
): Promise<FromGate> {
  let handover = fitted
  for (const [at, { screenshots = [] }] of gates.entries()) {
    let leftOut = 0
    for (const one of screenshots) {
      const picture = await read(one.blob)
      const withNext = picture === null ? null : withPicture(handover, at, one, picture)
      if (withNext !== null && Buffer.byteLength(writeHandover(withNext)) <= limitBytes) handover = withNext
      else leftOut += 1
    }
    if (leftOut > 0) handover = withGate(handover, at, withRemark(leftOut))
  }
  return handover
}

function withPicture(value: FromGate, at: number, one: Screenshot, picture: Buffer): FromGate {
  const extended = withGate(value, at, (gate) => ({
    ...gate,
    screenshots: [...(gate.screenshots ?? []), one],
  }))
  return { ...extended, pictures: { ...extended.pictures, [one.blob]: picture.toString('base64') } }
}

function withRemark(leftOut: number): (gate: GateResult) => GateResult {
  const remark = `${leftOut} screenshots are not shown, because they were too large to pass from job to job`
  return (gate) => ({ ...gate, remarks: [...(gate.remarks ?? []), remark] })
}

function withGate(value: FromGate, at: number, change: (gate: GateResult) => GateResult): FromGate {
  const { event } = value
  if (event === null) return value
  const gates = event.gates.map((gate, index) => (index === at ? change(gate) : gate))
  return { ...value, event: { ...event, gates } }
}

/**
 * Writes the pictures as objects of this clone, by `keep`. What the gate job says of them is not trusted: ids are computed from the
 * bytes, and `before` has to be one of `known`.
 */
export async function landPictures(
  screenshots: readonly Screenshot[],
  pictures: Readonly<Record<string, string>>,
  known: readonly Screenshot[],
  keep: (picture: Buffer) => Promise<string>,
): Promise<Screenshot[]> {
  const all: Screenshot[] = []
  for (const { url, viewport, blob: named, before: old } of screenshots) {
    const picture = Buffer.from(pictures[named] ?? '', 'base64')
    if (!isPicture(picture)) continue
    const before = known.some(({ blob }) => blob === old) ? old : null
    all.push({ url, viewport, blob: await keep(picture), bytes: picture.length, before })
  }
  return all
}
