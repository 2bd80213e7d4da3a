// Shows a run on a terminal: a live header over scrolling lines; plain lines in a pipe. Implements ReporterPort.
import type { AgentEvent } from '../agents/agent.ts'
import type { Event } from '../model/event.ts'
import type { GateResult } from '../model/gate.ts'
import type { ReporterPort } from '../model/ports.ts'
import type { State } from '../model/state.ts'
import type { Step } from '../model/step.ts'
import {
  agentLine,
  banner,
  countdown,
  eventLines,
  gateLines,
  type LineFacts,
  type Look,
  plainBanner,
  startLines,
  stepLines,
  waitedLine,
  waitLine,
  warningLine,
} from '../report/terminal.ts'
import { humanMs, utc } from '../report/words.ts'

/** Characters of what an agent says that a line shows. */
const SHOWN = 300

/** The part of a stream that is needed. */
export type Screen = { write(text: string): unknown; isTTY?: boolean; columns?: number }

export type Live = ReporterPort & {
  agent(event: AgentEvent): void
  /** A gate, or `prepare`, begins: it need not, where dependencies are as they were. */
  starts(name: string): void
  /** A gate has ended: said at once, not when all have. */
  gate(result: GateResult): void
  say(text: string): void
  /** Takes the live header off the screen. */
  close(): void
  look: Look
}

export function createLive(
  screen: Screen,
  facts: LineFacts,
  noColour: boolean,
  now: () => number = Date.now,
): Live {
  const tty = screen.isTTY === true
  const look: Look = { width: Math.min(100, screen.columns ?? 80), colour: tty && !noColour, plain: !tty }
  let shown = 0
  let state: State | null = null
  let since = 0
  let timer: NodeJS.Timeout | null = null
  /** The wait that is shown; it may take several steps. */
  let wait: { until: number; since: number } | null = null

  /** Lines go above the header; the header is drawn again below them. */
  function print(lines: readonly string[]): void {
    if (!tty) {
      for (const line of lines) screen.write(`${line}\n`)
      return
    }
    const text = lines.map((line) => `${line}\n`).join('')
    screen.write(erase() + text + draw())
  }

  function erase(): string {
    // What a person typed, such as ^C, stands on the cursor's line and has moved it to the right.
    const text = shown === 0 ? '' : `\u001b[${shown}F\u001b[0J`
    shown = 0
    return text
  }

  function draw(): string {
    if (state === null) return ''
    const left = wait === null ? null : countdown(wait.until - now(), wait.until, facts.voice, look)
    const clock = since === 0 ? '' : `\n${left ?? `  ${humanMs(now() - since)}`}`
    const text = `${banner(state, facts.limits, look.width, look.colour)}${clock}\n`
    shown = text.split('\n').length - 1
    return text
  }

  function tick(on: boolean): void {
    if (timer !== null) clearInterval(timer)
    timer = null
    since = on ? now() : 0
    if (!on || !tty) return
    timer = setInterval(() => screen.write(erase() + draw()), 1000)
    timer.unref()
  }

  /** A wait has one line when it begins and one when it is over, however often it is looked at in between. */
  function waitLines(step: Step): string[] {
    if (step.kind === 'wait') {
      const isShown = wait?.until === step.until
      wait = { until: step.until, since: wait?.since ?? now() }
      return isShown ? [] : [waitLine(step.until, step.reason, look)]
    }
    if (wait === null || step.kind === 'sync') return []
    const { since: begun } = wait
    wait = null
    return [waitedLine(now() - begun, look)]
  }

  return {
    look,
    async step(step, at) {
      if (!tty && state === null) print([plainBanner(at, facts.limits)])
      state = at
      const waited = waitLines(step)
      const working =
        step.kind === 'agent' || step.kind === 'gates' || step.kind === 'verify' || step.kind === 'wait'
      tick(working)
      print([...waited, ...stepLines(step, at, facts, look)])
    },
    async event(event, now) {
      state = now
      tick(false)
      print(eventLines(withoutGates(event), now, facts, look))
    },
    beforePublish: async (state) => state.github,
    async opened(now) {
      return now.github
    },
    merged: async () => false,
    async finished(now) {
      return now.github
    },
    warn: (message) => print([warningLine(message, look)]),
    agent(event) {
      const text = sayAgent(event)
      if (text !== null) print([agentLine(text, facts, look)])
    },
    starts: (name) => print(startLines(name, look)),
    gate: (result) => print(gateLines([result], look)),
    say: (text) => print(text.split('\n')),
    close() {
      tick(false)
      state = null
      if (tty) screen.write(erase())
    },
  }
}

/** Gates are said as they end. */
function withoutGates(event: Event): Event {
  return event.kind === 'baselined' || event.kind === 'gated' || event.kind === 'verified'
    ? { ...event, gates: [] }
    : event
}

/** The transcript has all of it. */
function short(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length <= SHOWN ? line : `${line.slice(0, SHOWN - 1).replace(/[\uD800-\uDBFF]$/, '')}…`
}

/** One readable line for what an agent does, or nothing. */
export function sayAgent(event: AgentEvent): string | null {
  switch (event.kind) {
    case 'text':
      return event.text.trim() === '' ? null : short(event.text)
    case 'tool':
      return event.target === null ? event.name : `${event.name} ${event.target}`
    case 'limit':
      return event.resetsAt === null
        ? 'a usage or rate limit is reached'
        : `the usage limit is reached, until ${utc(event.resetsAt)}`
    case 'retry':
      return `asks its server again after ${event.status === null ? 'a failed request' : `HTTP ${event.status}`} (attempt ${event.attempt})`
    case 'error':
      return short(event.message)
    case 'usage':
      return null
  }
}
