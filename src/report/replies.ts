// What people can type after `/ralph`, and the short replies to it.
import { code, markdownText } from './escape.ts'

/** The commands that are understood, as they are typed, with what they do. The words are markdown of ours. */
export const COMMANDS: readonly (readonly [string, string])[] = [
  ['run', 'go on now; ends a pause'],
  ['pause', 'the iteration in work ends, then nothing more until `run`'],
  ['stop', 'the session in work is ended now, uncharged; then as `pause`'],
  [
    'retry US-002 -- guidance',
    'unblock it and try again; several ids or `all`; the guidance goes into the next prompt',
  ],
  ['redo US-002 -- why', 'work on it again although it passed; its code stays'],
  ['skip US-002 -- why', 'leave it out; what depends on it goes on'],
  ['note US-002 -- text', 'guidance for its next prompt, nothing else'],
  ['add -- title', 'a new story; the lines below are its description and criteria'],
  ['verify', 'run the final verification now'],
  ['limit iterations +20', 'raise a limit; `limit cost +5` raises the one in dollars'],
  ['status', 'a 🚀 and no more: the summary shows how it stands'],
  ['help', 'this list'],
]

/** The commands as a table. */
export function commandTable(): string {
  const rows = COMMANDS.map(([command, meaning]) => `| ${code(`/ralph ${command}`)} | ${meaning} |`)
  return ['| Comment | What it does |', '| :-- | :-- |', ...rows].join('\n')
}

/** The reply to `/ralph help`. */
export function helpReply(): string {
  return `Write one of these as the first line of a comment (people with write access):\n\n${commandTable()}\n`
}

/** The reply to a command or story that does not exist. `suggestion` is the nearest valid first line, or null. */
export function unknownReply(given: string, suggestion: string | null): string {
  const shown = markdownText(given, 80)
  const known = shown === '' ? 'There is no command in the first line' : `I do not know “${shown}”`
  const meant = suggestion === null ? '' : ` Did you mean ${code(suggestion, 80)}?`
  return `😕 ${known}.${meant} ${code('/ralph help')} lists what there is. Nothing was changed.\n`
}

/** The reply to a command on another pull request from the run's branch: nobody reads the queue there. */
export function elsewhereReply(pull: number): string {
  return `😕 The commands of this run are read in #${pull}. Nothing was changed.\n`
}

/** The reply to a command that is for us and cannot be done: what is wrong, and what to write instead. */
export function mistakeReply(problem: string, fix: string): string {
  const said = markdownText(problem, 160)
  return `😕 ${said.charAt(0).toUpperCase()}${said.slice(1)}. Try ${code(fix, 120)}. Nothing was changed.\n`
}
