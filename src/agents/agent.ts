// What a coding agent is for Ralph: a program with a command line, a stream of events and a classified end.

import type { AgentEvent, Usage } from '../engine/model/agent-event.ts'
import type { KeyShape } from '../isolation/redact.ts'
import type { Exit } from '../system/process.ts'
import type { StreamEstimate } from './cost.ts'

/**
 * How a session ended. `finished` alone is well; it says nothing about the story. `limit` and `overloaded` (the vendor's
 * server, or the connection to it) are waited for; `auth` (key, account, credit, model) needs a person; `max-turns` is a limit of
 * turns or money; `killed` was a signal that Ralph did not send; `failed` is everything else, also exit code 0 without a final event.
 */
export type SessionStatus =
  | 'finished'
  | 'failed'
  | 'limit'
  | 'overloaded'
  | 'auth'
  | 'refused-permission'
  | 'context'
  | 'max-turns'
  | 'timeout'
  | 'idle'
  | 'crashed'
  | 'killed'
  | 'aborted'
  | 'not-started'

export type SessionResult = {
  status: SessionStatus
  /** One line for people, never a secret. */
  message: string
  /** The agent's last answer. Markers count only there. */
  finalText: string
  usage: Usage
  /** An estimate for what the vendor did not report. */
  estimate: StreamEstimate
  /** Epoch milliseconds; only with `limit`. */
  resetsAt: number | null
  /** Null when it never started, or a signal or Ralph ended it. */
  exitCode: number | null
  ms: number
  /** Raw output of both streams, shortened. */
  output: string
}

/** The part of the result that a parser knows at the end. */
export type ParsedEnd = Pick<SessionResult, 'status' | 'message' | 'finalText' | 'usage' | 'resetsAt'>

export type CommandOptions = {
  commandLine?: string | undefined
  model?: string | undefined
  /** What the agent will see. */
  env: Readonly<Record<string, string>>
  extraArgs: readonly string[]
  root: boolean
}

export type Login = {
  /** Variables that hold a key, the usual one first. Messages name them. */
  keys: readonly string[]
  /** Variables that can replace a key: another provider, a gateway, a folder with a login. */
  others: readonly string[]
  /** Files below HOME that may have a login, or configure one. */
  files: readonly string[]
  /** Files of the project that may name a key, or a program that gives one. */
  project: readonly string[]
  /** A free request to the vendor that needs a valid key. */
  check?: (env: Readonly<Record<string, string>>) => KeyCheck | null
}

/** `key`: the variable that is tried. */
export type KeyCheck = {
  key: string
  url: string
  headers: Record<string, string>
  /** Whether the answer says that the key is wrong; else HTTP 401 does. */
  isRefused?(status: number, body: string): boolean
}

/** How a vendor's program reaches its model at another address, with another key instead of its own. */
export type Relay = {
  /** Variables that hold the key, the one that counts first. */
  keys: readonly string[]
  /** Variables that select another way to the model: then no proxy is used. */
  unless: readonly string[]
  /** The vendor's own address; null where only `base` may name one. */
  upstream: string | null
  /** The variable that names another address, read and set; null where an argument sets it. */
  base: string | null
  args?(url: string): string[]
}

/** The files of a person's home folder that are copied into a session's home: those that a login needs. */
export type HomeShare = {
  files: readonly string[]
  /** For a JSON file that holds more than the login: the keys to copy. */
  onlyKeys?: Readonly<Record<string, readonly string[]>>
  /** Files in which the vendor renews its tokens. */
  renews?: readonly string[]
  /**
   * A renewal ends the refresh token that it was made with: of two sessions that renew at the same time, one has no login any more
   * (openai/codex#9634, anthropics/claude-code#41507).
   */
  singleUse?: true
  /** `variable`, where it is set, names the folder of the files whose paths begin with `start`. */
  folder?: readonly [variable: string, start: string]
}

/** One kind of agent: a file of its own and one line in registry.ts; nothing else in src/ names it. */
export interface AgentVendor {
  name: string
  /** The provider of its models for OpenTelemetry (`gen_ai.provider.name`); left out if the user chooses it. */
  provider?: string
  /** Looked up in PATH. */
  program: string
  install: string
  /** Its package, which `agent-version` installs; null where there is none. */
  npm: string | null
  /** The version of it that our tests drive (test/agents-real). */
  tested?: string
  /** How it is logged in; null where it may work without a key that Ralph knows. */
  login: Login | null
  /** What a session's home gets from the person's home, in addition to `login.files`. */
  home?: HomeShare
  /** Left out where Ralph's proxy cannot add its key to requests. */
  relay?: Relay
  /** The vendor's variables that the agent may see, in addition to those of its login. */
  env: readonly string[]
  /** Variables that name folders of its settings or tools. Not passed on, as a session could change what the next one reads. */
  withheld?: readonly string[]
  /** What its keys look like, in addition to the shapes of well-known services. */
  keyShapes: readonly KeyShape[]
  /**
   * Files and folders that steer it in any folder of the repository, in lower case: changed by people only. Documents of
   * the project (CLAUDE.md, AGENTS.md) are none of them.
   */
  settings: readonly string[]
  /** Documents that it also reads in every folder above its own. All agents read AGENTS.md. */
  documents?: readonly string[]
  /** Where it finds a slash command of the project; `*` stands for its name. */
  slashCommands?: string
  /** What it reports about a session. A limit of cost or tokens works only where that is reported. */
  reports: 'cost' | 'tokens' | 'nothing'
  /** For a program that reports its usage only in a file: the arguments that name the file, and a reader of it. */
  usageFile?: {
    args(path: string): string[]
    read(text: string): Pick<Usage, 'inputTokens' | 'outputTokens' | 'cachedTokens'> | null
  }
  /** Its answer cannot be told from its other output: a verdict counts in the last lines only. */
  answersInOutput?: true
  /** Its command line; the prompt comes on stdin. */
  args(options: CommandOptions): string[]
  /** Variables that are set for it, in addition to those that it may see. */
  variables?(options: CommandOptions): Record<string, string>
  /** `now`: epoch milliseconds, for a vendor that says times of day only. */
  parser(now: () => number): StreamParser
}

/** Reads one session's output, line by line. It never throws, whatever the line or the end. */
export interface StreamParser {
  line(stream: 'stdout' | 'stderr', line: string): AgentEvent[]
  end(exit: Exit): ParsedEnd
}

/** The usage of a session that was started and has not used anything yet. */
export function noUsage(): Usage {
  return {
    calls: 1,
    inputTokens: 0,
    outputTokens: 0,
    cachedTokens: 0,
    costUsd: null,
    agentSeconds: 0,
    turns: null,
  }
}

export function flag(name: string, value: string | undefined): string[] {
  return value === undefined ? [] : [name, value]
}

/** All of the vendor's variables that the agent may see, keys included. */
export function agentVariables({ login, env }: AgentVendor): string[] {
  return [...(login?.keys ?? []), ...(login?.others ?? []), ...env]
}

export function words(text: string): string[] {
  return text.trim().split(/\s+/)
}
