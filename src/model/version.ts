export const VERSION = '1.0.0'
/** Where it is released. */
export const ACTION = 'ralph/action'
