export const VERSION = '1.0.0' // x-release-please-version
/** The repository that releases it. */
export const ACTION = 'ralph/action'
/** The command line on npm. */
export const PACKAGE = '@ralph/action'

/** Compares `x.y.z` versions, with or without a `v`; any other text is not newer. */
export function isNewer(tag: string, version: string): boolean {
  const isNumbers = [tag, version].every((text) => /^v?\d+\.\d+\.\d+$/.test(text.trim()))
  const bare = (text: string) => text.trim().replace(/^v/, '')
  return isNumbers && bare(tag).localeCompare(bare(version), 'en', { numeric: true }) > 0
}
