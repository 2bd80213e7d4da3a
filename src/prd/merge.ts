// What people changed in prd.json while Ralph works: theirs are the words and the plan, Ralph's is what passed.
import type { Prd, Story } from '../model/feature.ts'

/** One thing people did, to be told to them. `text` is a plain sentence. */
export type PeopleChange = {
  kind: 'added' | 'removed' | 'reworded' | 'reopened' | 'reprioritised' | 'dependencies' | 'claimed'
  storyId: string
  text: string
}

/**
 * Ralph's state with what people wrote: `ours` wins for passes, retries, blocked, skipped, lastResult, run,
 * branchName, and notes unless empty; `theirs` wins for everything else and for the order. Nothing passes
 * through a merge, and merging the same file again changes nothing. `changes` are for telling: unknown fields
 * and the order are taken over without a word. `seen`: the ids in the file that people edited; a story of ours that
 * was not in it is newer, and stays. Without it every story that theirs lacks was removed.
 * `isNoted`: whether Ralph's own word stands in the notes of a story; where it does not, they are people's.
 */
export function mergePeople(
  ours: Prd,
  theirs: Prd,
  seen: ReadonlySet<string> | null = null,
  isNoted: (id: string) => boolean = () => true,
): { prd: Prd; changes: PeopleChange[] } {
  const changes: PeopleChange[] = []
  const known = new Map(ours.userStories.map((story) => [story.id, story]))
  const written = new Set(theirs.userStories.map((story) => story.id))
  const newer = ours.userStories.filter(({ id }) => seen?.has(id) === false && !written.has(id))
  const present = new Set([...written, ...newer.map(({ id }) => id)])
  const merged = theirs.userStories.map((story) => {
    const wanted = withoutGone(story, present)
    const before = known.get(story.id)
    return before === undefined
      ? addedStory(wanted, changes)
      : mergedStory(before, wanted, story, changes, isNoted(story.id))
  })
  const userStories = [...merged, ...newer.map((story) => withoutGone(story, present))]
  for (const { id } of ours.userStories) {
    if (!present.has(id))
      changes.push({ kind: 'removed', storyId: id, text: `${id} was removed from prd.json.` })
  }
  const { currentStoryId } = ours.run
  const isGone = currentStoryId !== null && !present.has(currentStoryId)
  const run = isGone ? { ...ours.run, currentStoryId: null } : ours.run
  // A branch that moved in the middle of a run would orphan everything done so far.
  const branchName = ours.branchName === '' ? theirs.branchName : ours.branchName
  return { prd: { ...theirs, branchName, run, userStories }, changes }
}

function withoutGone(story: Story, present: ReadonlySet<string>): Story {
  if (story.dependsOn.every((id) => present.has(id))) return story
  return { ...story, dependsOn: story.dependsOn.filter((id) => present.has(id)) }
}

/** A story that nobody of ours has seen passes by no claim of its file. */
function addedStory(wanted: Story, changes: PeopleChange[]): Story {
  const { id } = wanted
  changes.push({ kind: 'added', storyId: id, text: `${id} was added to prd.json.` })
  if (wanted.passes || wanted.skipped || wanted.blocked) {
    const claim = wanted.passes ? 'passed' : wanted.skipped ? 'skipped' : 'blocked'
    changes.push({
      kind: 'claimed',
      storyId: id,
      text: `${id} came in as ${claim}: Ralph decides that, so it is open.`,
    })
  }
  return { ...wanted, passes: false, retries: 0, blocked: false, skipped: false, lastResult: null }
}

function mergedStory(
  before: Story,
  wanted: Story,
  written: Story,
  changes: PeopleChange[],
  isNoted: boolean,
): Story {
  const { passes, retries, blocked, skipped, lastResult } = before
  const notes = isNoted && before.notes !== '' ? before.notes : wanted.notes
  const merged: Story = { ...wanted, passes, retries, blocked, skipped, lastResult, notes }
  const isReopened = passes && !saysTheSame(before.acceptanceCriteria, wanted.acceptanceCriteria)
  changes.push(...changesOf(before, wanted, written, isReopened))
  return isReopened ? reopened(merged) : merged
}

const reopenedNote = 'Its acceptance criteria were changed after it passed: it is worked on again.'

/** The notes without what a merge has put there. */
export function withoutReopened(notes: string): string {
  const lines = notes.split('\n').filter((line) => line !== reopenedNote)
  return lines.join('\n')
}

function reopened(story: Story): Story {
  const before = withoutReopened(story.notes)
  const notes = before === '' ? reopenedNote : `${before}\n${reopenedNote}`
  return { ...story, passes: false, retries: 0, blocked: false, lastResult: null, notes }
}

function changesOf(before: Story, wanted: Story, written: Story, isReopened: boolean): PeopleChange[] {
  const { id: storyId } = before
  const changes: PeopleChange[] = []
  if (isReopened) changes.push({ kind: 'reopened', storyId, text: `${storyId}: ${reopenedNote}` })
  const reworded = [
    ...(before.title === wanted.title ? [] : ['title']),
    ...(before.description === wanted.description ? [] : ['description']),
    ...(isReopened || isSame(before.acceptanceCriteria, wanted.acceptanceCriteria) ? [] : ['criteria']),
    ...(isSame(before.tags, wanted.tags) ? [] : ['tags']),
    ...(before.epicId === wanted.epicId ? [] : ['epic']),
  ]
  if (reworded.length > 0) {
    changes.push({ kind: 'reworded', storyId, text: `${storyId}: changed ${reworded.join(', ')}.` })
  }
  if (before.priority !== wanted.priority) {
    const text = `${storyId}: priority ${before.priority} is now ${wanted.priority}.`
    changes.push({ kind: 'reprioritised', storyId, text })
  }
  if (!isSame(before.dependsOn, wanted.dependsOn)) {
    changes.push({ kind: 'dependencies', storyId, text: dependenciesText(storyId, wanted, written) })
  }
  return changes
}

function dependenciesText(id: string, wanted: Story, written: Story): string {
  const gone = written.dependsOn.filter((other) => !wanted.dependsOn.includes(other))
  if (gone.length > 0) return `${id}: no longer waits for ${gone.join(', ')}, which was removed.`
  return `${id}: now waits for ${wanted.dependsOn.length === 0 ? 'nothing' : wanted.dependsOn.join(', ')}.`
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((item, index) => item === b[index])
}

/** Criteria that differ in white space only ask for the same: a reformatted file must not cost a new attempt. */
function saysTheSame(a: readonly string[], b: readonly string[]): boolean {
  return isSame(a.map(plain), b.map(plain))
}

function plain(criterion: string): string {
  return criterion.replace(/\s+/g, ' ').trim()
}
