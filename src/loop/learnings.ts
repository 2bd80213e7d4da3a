// What sessions learned for later ones: the same thing is kept once, and what is about the story comes into its prompt first.

const MOST = 50

/** The learnings with new ones; one that says the same as before is said anew, so that it counts as the newest. */
export function withLearnings(known: readonly string[], fresh: readonly string[]): string[] {
  const all = new Map<string, string>()
  for (const learning of [...known, ...fresh]) {
    const key = sameLearning(learning)
    if (key === '') continue
    all.delete(key)
    all.set(key, learning)
  }
  return [...all.values()].slice(-MOST)
}

/** The learnings in the order in which they are worth a place: by the words they share with the story, then the newest. */
export function ranked(learnings: readonly string[], story: string): string[] {
  const about = new Set(wordsOf(story))
  const score = (learning: string) => new Set(wordsOf(learning).filter((word) => about.has(word))).size
  return learnings
    .map((learning, age) => ({ learning, age, score: score(learning) }))
    .sort((one, other) => other.score - one.score || other.age - one.age)
    .map(({ learning }) => learning)
}

/** A learning without what does not change its meaning: the same text is the same learning. */
export function sameLearning(learning: string): string {
  return wordsOf(learning, 1).join(' ')
}

function wordsOf(text: string, shortest = 4): string[] {
  return (text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? []).filter((word) => word.length >= shortest)
}
