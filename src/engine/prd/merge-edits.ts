// Merges people's edits of prd.json during a run: their text and order count, and Ralph's passes and progress.
import type { Prd, Story } from '../model/feature.ts'

/**
 * Merges Ralph's state (`ours`) with what people wrote (`theirs`). `ours` wins for passes, retries, blocked, skipped, lastResult, run and
 * branchName; `theirs` wins for everything else and for the order. A merge never makes a story pass, and merging the same file again
 * changes nothing. `seen`: the ids in the file that people edited; a story of ours that was not in it is newer, and stays. Without `seen`,
 * every story that `theirs` lacks counts as removed. `hasRalphNote`: whether a story's notes hold a note of Ralph's; then our notes win
 * unless they are empty. `untouched`: the stories that people left unchanged. There `ours` wins completely, because Ralph may have changed
 * their dependencies (`split`).
 */
export function mergePeople(
  ours: Prd,
  theirs: Prd,
  seen: ReadonlySet<string> | null = null,
  hasRalphNote: (id: string) => boolean = () => true,
  untouched: ReadonlySet<string> = new Set(),
): Prd {
  const known = new Map(ours.userStories.map((story) => [story.id, story]))
  const written = new Set(theirs.userStories.map((story) => story.id))
  const newer = ours.userStories.filter(({ id }) => seen?.has(id) === false && !written.has(id))
  const present = new Set([...written, ...newer.map(({ id }) => id)])
  const merged = theirs.userStories.map((story) => {
    const before = known.get(story.id)
    const words = untouched.has(story.id) && before !== undefined ? before : story
    const edited = withoutRemovedDependencies(words, present)
    return before === undefined ? unstarted(edited) : mergedStory(before, edited, hasRalphNote(story.id))
  })
  const userStories = inserted(
    merged,
    newer.map((story) => withoutRemovedDependencies(story, present)),
    ours.userStories,
  )
  const { currentStoryId } = ours.run
  const isGone = currentStoryId !== null && !present.has(currentStoryId)
  const run = isGone ? { ...ours.run, currentStoryId: null } : ours.run
  // A branch that moved in the middle of a run would orphan everything done so far.
  const branchName = ours.branchName === '' ? theirs.branchName : ours.branchName
  return { ...theirs, branchName, run, userStories }
}

/** The stories with the newer ones, each after the story that it follows in `order`: a part stays at the place of its whole. */
function inserted(stories: readonly Story[], newer: readonly Story[], order: readonly Story[]): Story[] {
  const all = [...stories]
  for (const story of newer) {
    const before = order[order.findIndex(({ id }) => id === story.id) - 1]?.id
    const at = before === undefined ? -1 : all.findIndex(({ id }) => id === before)
    all.splice(at === -1 ? all.length : at + 1, 0, story)
  }
  return all
}

/** The ids of the stories that people left as they were in the file that they edited. */
export function untouchedStories(edited: Prd, theirs: Prd): string[] {
  const found = new Map(edited.userStories.map((story) => [story.id, story]))
  const isUntouched = (story: Story) => {
    const was = found.get(story.id)
    return was !== undefined && isSame(editableFields(was), editableFields(story))
  }
  return theirs.userStories.filter(isUntouched).map(({ id }) => id)
}

function withoutRemovedDependencies(story: Story, present: ReadonlySet<string>): Story {
  if (story.dependsOn.every((id) => present.has(id))) return story
  return { ...story, dependsOn: story.dependsOn.filter((id) => present.has(id)) }
}

/** A new story of people: its file cannot claim that it passed. */
function unstarted(story: Story): Story {
  const { corrects: _, ...words } = story
  return { ...words, passes: false, retries: 0, blocked: false, skipped: false, lastResult: null }
}

function mergedStory(before: Story, edited: Story, hasRalphNote: boolean): Story {
  const { passes, retries, blocked, skipped, lastResult } = before
  const notes = hasRalphNote && before.notes !== '' ? before.notes : edited.notes
  const { corrects: _, ...words } = edited
  const corrects = before.corrects === undefined ? {} : { corrects: before.corrects }
  const merged: Story = { ...words, passes, retries, blocked, skipped, lastResult, notes, ...corrects }
  if (passes && !asksTheSame(before, edited)) return reopenStory(merged)
  // An unchanged story stays the same object, so that memoized writing and redaction skip it.
  const now = editableFields(merged)
  return editableFields(before).every((one, at) => isSame(one, now[at])) ? before : merged
}

/**
 * A warning about stories that people set to `passes: true` by hand, which a merge ignores; null without any. `before`: the stories as
 * they were before people edited them.
 */
export function claimedPassWarning(path: string, ours: Prd, before: Prd, edited: Prd): string | null {
  const passedIn = ({ userStories }: Prd) =>
    new Set(userStories.flatMap(({ id, passes }) => (passes ? [id] : [])))
  const [known, passed] = [passedIn(before), passedIn(ours)]
  const ids = [...passedIn(edited)].filter((id) => !known.has(id) && !passed.has(id))
  if (ids.length === 0) return null
  const [story, it] = ids.length === 1 ? ['this story', 'it'] : ['these stories', 'them']
  return `${path} has \`passes: true\` for ${ids.join(', ')}, which Ralph ignores, because only gates pass a story. It works on ${it}. To leave ${story} out, use the command skip.`
}

/** The ids of the stories of which people changed the acceptance criteria. */
export function storiesWithOtherCriteria(before: Prd, after: Prd): string[] {
  const known = new Map(before.userStories.map((story) => [story.id, story]))
  const isChanged = (story: Story) => {
    const old = known.get(story.id)
    return old !== undefined && !asksTheSame(old, story)
  }
  return after.userStories.filter(isChanged).map(({ id }) => id)
}

/** Criteria that differ in white space only ask for the same: a reformatted file must not cost a new attempt. */
function asksTheSame(before: Story, after: Story): boolean {
  return isSame(before.acceptanceCriteria.map(collapseSpaces), after.acceptanceCriteria.map(collapseSpaces))
}

function editableFields(story: Story) {
  const { title, description, acceptanceCriteria, tags, epicId, priority, dependsOn, notes, extra } = story
  const words = [title, description, acceptanceCriteria, tags, epicId, priority, dependsOn, notes, extra]
  return [...words, story.examples]
}

const reopenedNote = 'Its acceptance criteria changed after it passed, so Ralph works on it again.'

/** The notes without the sentence that a merge has added. */
export function withoutReopenedNote(notes: string): string {
  const lines = notes.split('\n').filter((line) => line !== reopenedNote)
  return lines.join('\n')
}

/** A story that had passed, to be worked on again, with the reason in its notes. */
export function reopenStory(story: Story): Story {
  const before = withoutReopenedNote(story.notes)
  const notes = before === '' ? reopenedNote : `${before}\n${reopenedNote}`
  return { ...story, passes: false, retries: 0, blocked: false, lastResult: null, notes }
}

function isSame(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b)
}

export function collapseSpaces(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}
