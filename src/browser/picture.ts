// A page's picture as WebP, small enough to be kept in a state.
import type { CDPSession } from 'puppeteer-core/internal/api/CDPSession.js'

export type Viewport = { width: number; height: number }

/** From good to bad; what is too large in the last is taken at half the size. */
const QUALITIES = [80, 60, 40, 20, 5]

/** Null where none can be taken within the time (each try has it), or none is small enough. */
export async function takePicture(
  session: CDPSession,
  { width, height }: Viewport,
  mostBytes: number,
  timeoutMs: number,
): Promise<Buffer | null> {
  const tries = [1, 0.5].flatMap((scale) => QUALITIES.map((quality) => ({ scale, quality })))
  for (const { scale, quality } of tries) {
    const clip = { x: 0, y: 0, width, height, scale }
    const how = { format: 'webp', quality, clip, optimizeForSpeed: false } as const
    const taken = await session.send('Page.captureScreenshot', how, { timeout: timeoutMs }).catch(() => null)
    if (taken === null) return null
    const picture = Buffer.from(taken.data, 'base64')
    if (picture.length <= mostBytes) return picture
  }
  return null
}
