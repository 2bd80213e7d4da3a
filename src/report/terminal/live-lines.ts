// Shows a run on a terminal: a live header over scrolling lines; plain lines in a pipe. An observer of the loop.

import type { AgentEvent } from '../../engine/model/agent-event.ts'
import type { Event } from '../../engine/model/event.ts'
import type { GateResult } from '../../engine/model/gate.ts'
import type { Observer } from '../../engine/model/ports.ts'
import type { State } from '../../engine/model/state.ts'
import { STEPS, type Step } from '../../engine/model/step.ts'
import { mapTexts } from '../../engine/model/text.ts'
import type { EndedSituation } from '../../engine/situation.ts'
import { terminalText } from '../escape.ts'
import { formatDuration } from '../figures.ts'
import { type Header, headerOf } from '../header.ts'
import { agentLines } from '../log/log-agent.ts'
import { eventLines } from '../log/log-events.ts'
import { gateLines } from '../log/log-gates.ts'
import { type Line, type LineFacts, warningLine } from '../log/log-line.ts'
import { startLines, stepLines, waitedLine, waitLine } from '../log/log-steps.ts'
import { type Facts, viewOf } from '../view.ts'
import { banner, countdown, type Field, plainBanner, resultBox } from './panels.ts'
import { formatLines, type Look, lookOf, type Screen } from './terminal-line.ts'
import { fit } from './width.ts'

/** `redact` masks secrets in a text. It is called before the text is cut or wrapped, because afterwards they could not be found. */
type LiveFacts = LineFacts & { redact?: (text: string) => string }

/** Adds the story, if it is given, to the tag of each line. */
function withStoryTag(lines: readonly Line[], story: string | undefined): Line[] {
  return lines.map((line) =>
    story === undefined || 'heading' in line ? line : { ...line, tag: `${story} ${line.tag}` },
  )
}

const tagOf = (name: string, story: string | undefined): string =>
  story === undefined ? name : `${story} ${name}`

/** How often a log without a terminal says that a command still runs. */
const LOG_MS = 60_000

export class Live implements Observer {
  readonly #screen: Screen
  readonly #facts: LineFacts
  readonly #redact: (text: string) => string
  readonly #look: Look
  readonly #now: () => number
  /** The state that the live header shows; null if there is no header. */
  #state: State | null = null
  /** The agent of the current step, if it is another one than the run's. */
  #stepAgent: string | null = null
  /** Lines that the header takes on the screen. */
  #rows = 0
  /** When the current step began; 0 if no clock is shown. */
  #stepStartedAt = 0
  #timer: NodeJS.Timeout | null = null
  /** Gates and `prepare` that run now, by tag: since when, and the last line that each has printed. */
  readonly #running = new Map<string, { since: number; line: string }>()
  #beat: NodeJS.Timeout | null = null
  /** The wait that is shown; it may take several steps. */
  #wait: { until: number; since: number } | null = null

  constructor(screen: Screen, facts: LiveFacts, noColour: boolean, now: () => number = Date.now) {
    this.#screen = screen
    this.#facts = facts
    this.#redact = facts.redact ?? ((text) => text)
    this.#now = now
    this.#look = lookOf(screen, noColour)
  }

  async step(step: Step, state: State): Promise<void> {
    if (this.#look.plain && this.#state === null) this.say(plainBanner(this.#header(state)))
    this.#state = state
    this.#stepAgent = null
    const waited = this.#waitLines(step)
    this.#restartClock(STEPS[step.kind].takesLong)
    const story = 'attempt' in step ? this.#storyTag(step.attempt.storyId) : undefined
    this.#print([...waited, ...withStoryTag(stepLines(step, state, this.#facts), story)])
  }

  async event(event: Event, state: State): Promise<void> {
    const before = this.#state
    this.#state = state
    this.#restartClock(false)
    const story = 'storyId' in event ? this.#storyTag(event.storyId) : undefined
    this.#print(withStoryTag(eventLines(event, state, this.#facts, before), story))
  }

  warn = (message: string): void => this.#print([warningLine(message)])

  /** `story`: given if several stories are in work. */
  agent = (event: AgentEvent, story?: string): void => {
    if (event.kind === 'step') this.#stepAgent = event.agent
    // Output of agents and gates is redacted where it is read, so it is not redacted again here.
    const lines = agentLines(event, { ...this.#facts, agent: this.#stepAgent ?? this.#facts.agent })
    this.#write(formatLines(withStoryTag(lines, story), this.#look))
  }

  /** A command begins: `prepare` (which is left out if dependencies are unchanged), a service or a gate. */
  starts = (name: string, story?: string): void => {
    if (!name.startsWith('service ')) this.#running.set(tagOf(name, story), { since: this.#now(), line: '' })
    this.#keepMoving()
    this.#print(withStoryTag(startLines(name), story))
  }

  /** What a command has printed last. It is shown with the time, so that a person who waits sees it move. */
  output = (name: string, line: string, story?: string): void => {
    const one = this.#running.get(tagOf(name, story))
    if (one !== undefined) one.line = line
  }

  /** A gate has ended. It is printed at once, and not only when all gates have ended. */
  gate = (result: GateResult, story?: string): void => {
    this.#running.delete(tagOf(result.name, story))
    this.#keepMoving()
    this.#write(formatLines(withStoryTag(gateLines(result), story), this.#look))
  }

  say(text: string): void {
    this.#write(text.split('\n'))
  }

  /** Prints the result of a run. */
  end(
    state: State,
    ended: EndedSituation,
    places: readonly Field[],
    changes: NonNullable<Facts['changes']> = {},
  ): void {
    this.close()
    const [redactedState, situation, fields] = mapTexts([state, ended, places] as const, this.#redact)
    const view = viewOf(redactedState, { ...this.#facts, changes, now: this.#now() }, situation)
    this.say(resultBox(view, fields, this.#look))
  }

  /** Takes the live header off the screen. */
  close(): void {
    this.#restartClock(false)
    this.#running.clear()
    this.#keepMoving()
    this.#state = null
    if (!this.#look.plain) this.#screen.write(this.#eraseHeader())
  }

  /** The story's id, if lines have to name it because several stories may be in work. */
  #storyTag(storyId: string): string | undefined {
    return this.#facts.limits.maxParallel > 1 ? storyId : undefined
  }

  #header(state: State): Header {
    return mapTexts(headerOf(state, this.#facts.limits), this.#redact)
  }

  #print(lines: readonly Line[]): void {
    this.#write(formatLines(mapTexts(lines, this.#redact), this.#look))
  }

  /** Lines go above the header; the header is drawn again below them. */
  #write(lines: readonly string[]): void {
    const text = lines.map((line) => `${line}\n`).join('')
    if (!this.#look.plain) this.#screen.write(this.#eraseHeader() + text + this.#drawHeader())
    else if (text !== '') this.#screen.write(text)
  }

  #eraseHeader(): string {
    // `F` moves the cursor up and to the first column. It may be further right: keys that a person typed, such as ^C, are echoed there.
    const text = this.#rows === 0 ? '' : `\u001b[${this.#rows}F\u001b[0J`
    this.#rows = 0
    return text
  }

  #drawHeader(): string {
    if (this.#state === null) return ''
    const text = `${banner(this.#header(this.#state), this.#look)}${this.#clock()}\n`
    this.#rows = text.split('\n').length - 1
    return text
  }

  /** While a command runs: a terminal is drawn again every second, and a log gets a line now and then. */
  #keepMoving(): void {
    if (this.#running.size === 0) {
      if (this.#beat !== null) clearInterval(this.#beat)
      this.#beat = null
    } else if (this.#beat === null) {
      const { plain } = this.#look
      this.#beat = setInterval(() => (plain ? this.#sayRunning() : this.#write([])), plain ? LOG_MS : 1000)
      this.#beat.unref()
    }
  }

  #sayRunning(): void {
    for (const [tag, { since, line }] of this.#running) {
      const time = formatDuration(this.#now() - since)
      const text = `still running after ${time}${line === '' ? '' : `: ${line}`}`
      this.#write(formatLines([{ tag, text, colours: ['dim'] }], this.#look))
    }
  }

  /** `[prepare] 12s  added 345 packages`, for the command that began last. */
  #runningClock(): string {
    const [last] = [...this.#running].slice(-1)
    if (last === undefined) return ''
    const [tag, { since, line }] = last
    const text = `  [${terminalText(tag, 40)}] ${formatDuration(this.#now() - since)}  ${terminalText(line, 400)}`
    return `\n${fit(text.trimEnd(), Math.max(20, this.#look.width))}`
  }

  #clock(): string {
    if (this.#running.size > 0 && this.#wait === null) return this.#runningClock()
    if (this.#stepStartedAt === 0) return ''
    if (this.#wait === null) return `\n  ${formatDuration(this.#now() - this.#stepStartedAt)}`
    const { until } = this.#wait
    return `\n${countdown(until, this.#now(), this.#facts.surface, this.#look)}`
  }

  #restartClock(isLong: boolean): void {
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#timer = null
    this.#stepStartedAt = isLong ? this.#now() : 0
    if (!isLong || this.#look.plain) return
    this.#timer = setInterval(() => this.#screen.write(this.#eraseHeader() + this.#drawHeader()), 1000)
    this.#timer.unref()
  }

  /** A wait gets one line when it begins and one when it is over, although it may take several steps. */
  #waitLines(step: Step): Line[] {
    const wait = this.#wait
    if (step.kind === 'wait') {
      this.#wait = { until: step.until, since: wait?.since ?? this.#now() }
      return wait?.until === step.until ? [] : [waitLine(step.until, step.reason)]
    }
    if (wait === null || step.kind === 'sync') return []
    this.#wait = null
    return [waitedLine(this.#now() - wait.since)]
  }
}
