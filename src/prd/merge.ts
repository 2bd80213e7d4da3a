// What people changed in prd.json while Ralph works: theirs are the words and the plan, Ralph's is what passed.
import type { Prd, Story } from '../model/feature.ts'

/** One thing people did, to be told to them. `text` is a plain sentence. */
type PeopleChange = {
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
  const { id, passes, skipped, blocked } = wanted
  changes.push({ kind: 'added', storyId: id, text: `${id} was added to prd.json.` })
  if (passes || skipped || blocked) {
    const claim = passes ? 'passed' : skipped ? 'skipped' : 'blocked'
    const text = `${id} came in as ${claim}: Ralph decides that, so it is open.`
    changes.push({ kind: 'claimed', storyId: id, text })
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
  // Criteria that differ in white space only ask for the same: a reformatted file must not cost a new attempt.
  const isReopened =
    passes && !isSame(before.acceptanceCriteria.map(plain), wanted.acceptanceCriteria.map(plain))
  const changed = changesOf(before, wanted, written, isReopened)
  changes.push(...changed)
  const merged: Story = { ...wanted, passes, retries, blocked, skipped, lastResult, notes }
  if (isReopened) return reopened(merged)
  // The same object tells everybody that nothing is to be written or redacted again.
  const isUntouched = changed.length === 0 && notes === before.notes && isSame(before.extra, wanted.extra)
  return isUntouched ? before : merged
}

const reopenedNote = 'Its acceptance criteria were changed after it passed: it is worked on again.'

/** The notes without what a merge has put there. */
export function withoutReopened(notes: string): string {
  const lines = notes.split('\n').filter((line) => line !== reopenedNote)
  return lines.join('\n')
}

/** A story that had passed, to be worked on again, with the reason in its notes. */
export function reopened(story: Story): Story {
  const before = withoutReopened(story.notes)
  const notes = before === '' ? reopenedNote : `${before}\n${reopenedNote}`
  return { ...story, passes: false, retries: 0, blocked: false, lastResult: null, notes }
}

/** What people may word anew, and what it is called in a report. */
const wordings = [
  ['title', 'title'],
  ['description', 'description'],
  ['acceptanceCriteria', 'criteria'],
  ['tags', 'tags'],
  ['epicId', 'epic'],
] as const

function changesOf(before: Story, wanted: Story, written: Story, isReopened: boolean): PeopleChange[] {
  const { id: storyId } = before
  const changes: PeopleChange[] = []
  const report = (kind: PeopleChange['kind'], text: string) =>
    changes.push({ kind, storyId, text: `${storyId}: ${text}` })
  if (isReopened) report('reopened', reopenedNote)
  const reworded = wordings
    .filter(
      ([field]) => !isSame(before[field], wanted[field]) && !(isReopened && field === 'acceptanceCriteria'),
    )
    .map(([, name]) => name)
  if (reworded.length > 0) report('reworded', `changed ${reworded.join(', ')}.`)
  if (before.priority !== wanted.priority)
    report('reprioritised', `priority ${before.priority} is now ${wanted.priority}.`)
  if (!isSame(before.dependsOn, wanted.dependsOn)) report('dependencies', dependenciesText(wanted, written))
  return changes
}

function dependenciesText(wanted: Story, written: Story): string {
  const gone = written.dependsOn.filter((other) => !wanted.dependsOn.includes(other))
  if (gone.length > 0) return `no longer waits for ${gone.join(', ')}, which was removed.`
  return `now waits for ${wanted.dependsOn.length === 0 ? 'nothing' : wanted.dependsOn.join(', ')}.`
}

function isSame(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b)
}

function plain(criterion: string): string {
  return criterion.replace(/\s+/g, ' ').trim()
}
