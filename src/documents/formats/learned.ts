// What earlier runs learned: learnings.md, and the patterns on top of a progress.txt.

import { many } from '../../prd/migrate.ts'
import type { Point } from '../markdown.ts'
import type { Opened } from '../opened.ts'
import { planAt } from '../places.ts'
import { type Format, type Reading, reading } from '../types.ts'

export const learned: Format = {
  name: 'learnings',
  found: planAt('learnings\\.md|progress\\.txt'),
  reads: ({ name }) => /^(?:learnings\.md|progress\.txt)$/i.test(name),
  read,
}

/** A run's diary has hundreds of entries: what it puts under "Codebase Patterns" is what it found worth keeping. */
function read({ name, blocks }: Opened): Reading {
  const isDiary = /\.txt$/i.test(name)
  const learnings: string[] = []
  let counts = !isDiary
  for (const block of blocks) {
    if (block.kind === 'heading' && isDiary)
      counts = /^(?:codebase )?(?:patterns|learnings)\b/i.test(block.text)
    if (block.kind === 'points' && counts) learnings.push(...block.points.map(words))
  }
  const kept = [...new Set(learnings)].filter((one) => one !== '').slice(0, 100)
  return reading({ root: { run: { learnings: kept } }, notes: [`${many(kept.length, 'learning')} read.`] })
}

function words({ text, more, points }: Point): string {
  return [text, ...more, ...points.map(words)].join(' ').slice(0, 500)
}
