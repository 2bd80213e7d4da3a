// The signs of a report as SVG icons: a machine without an emoji font would show empty boxes.
const RING = 'M8 1.5a6.5 6.5 0 1 0 0 13a6.5 6.5 0 1 0 0-13'

/** By the sign that all surfaces use: the icon's label, colour, and path in a viewBox of 16 by 16. */
const ICONS = new Map<string, readonly [label: string, colour: string, path: string]>([
  ['✅', ['passed', 'good', 'M3 8.5l3.5 3.5L13 4.5']],
  ['✔', ['met', 'good', 'M3 8.5l3.5 3.5L13 4.5']],
  ['❌', ['failed', 'bad', 'M4 4l8 8M12 4l-8 8']],
  ['⛔', ['blocked', 'bad', `${RING}M4.5 8h7`]],
  ['🛑', ['stopped', 'bad', `${RING}M4.5 8h7`]],
  ['⚠', ['warning', 'wait', 'M8 2L15 14H1ZM8 6.5v3.5M8 12v.1']],
  ['ℹ', ['note', 'run', `${RING}M8 7.5v4M8 4.5v.1`]],
  ['🔁', ['again', 'run', 'M3 7a5 5 0 0 1 9-2M12.5 1.5V5H9M13 9a5 5 0 0 1-9 2M3.5 14.5V11H7']],
  ['🔨', ['in progress', 'run', 'M5 3l8 5-8 5Z']],
  ['⏯', ['ready', 'run', 'M5 3l8 5-8 5Z']],
  ['⏩', ['skipped', 'soft', 'M3 3l5 5-5 5M8 3l5 5-5 5']],
  ['⏳', ['waiting', 'soft', `${RING}M8 4v4l3 2`]],
  ['⬜', ['open', 'soft', 'M3 3h10v10H3Z']],
  ['▫', ['not in this run', 'soft', 'M6 6h4v4H6Z']],
  ['⏸', ['paused', 'wait', 'M5 3v10M11 3v10']],
  ['⏹', ['ended', 'wait', 'M4 4h8v8H4Z']],
  ['📋', ['plan', 'wait', 'M3 2h10v12H3ZM6 6h4M6 9h4']],
  ['↩', ['given back', 'wait', 'M4 6h6a3 3 0 0 1 0 6H7M7 3L4 6l3 3']],
])

/** Splits a text at its signs: every second part is a sign. */
export const SIGNS = new RegExp(`(${[...ICONS.keys()].join('|')})\\ufe0f?`, 'u')

/** The icon of a sign; null for any other text. */
export function iconOf(sign: string): { label: string; colour: string; path: string } | null {
  const [label, colour, path] = ICONS.get(sign.replace('\ufe0f', '')) ?? []
  return label === undefined || colour === undefined || path === undefined ? null : { label, colour, path }
}
