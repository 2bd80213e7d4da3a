export const VERSION = '1.0.0' // x-release-please-version
/** Where it is released. */
export const ACTION = 'ralph/action'
/** The command line on npm. */
export const PACKAGE = '@ralph/action'
