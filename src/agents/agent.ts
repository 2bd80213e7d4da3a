// What a coding agent is for Ralph: a program with a command line, a stream of events and a classified end.

import type { AgentEvent, Usage } from '../engine/model/agent-event.ts'
import type { KeyShape } from '../isolation/redact.ts'
import type { Exit } from '../system/process.ts'
import type { AnswerSchema } from './answer-schemas.ts'
import type { MeasuredTokens, StreamEstimate } from './cost.ts'
import type { Keyless } from './keyless/short-key.ts'

/**
 * How a session ended.
 * - `finished`: the session is complete. This says nothing about the story.
 * - `limit`, `overloaded` (the vendor's server, or the connection to it): Ralph waits and tries again.
 * - `auth`: key, account, credit or model are refused, so a person is needed.
 * - `max-turns`: the vendor's own limit of turns or money.
 * - `killed`: a signal that Ralph did not send.
 * - `failed`: everything else, also exit code 0 without a final event.
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
  /** The tokens in the vendor's responses; null or left out if they did not go through Ralph's proxy. */
  measured?: MeasuredTokens | null
  /** Epoch milliseconds; only with `limit`. */
  resetsAt: number | null
  /** Null if the program never started, or if a signal or Ralph ended it. */
  exitCode: number | null
  ms: number
  /** Raw output of both streams, shortened. */
  output: string
}

/** The part of the result that a parser knows at the end. */
export type ParsedEnd = Pick<SessionResult, 'status' | 'message' | 'finalText' | 'usage' | 'resetsAt'>

export type Budget = { costUsd: number | null; tokens: number | null }

export type CommandOptions = {
  commandLine?: string | undefined
  model?: string | undefined
  /** The agent's environment. */
  env: Readonly<Record<string, string>>
  extraArgs: readonly string[]
  isRoot: boolean
  /** When Ralph ends the session, milliseconds after its start. */
  timeoutMs?: number
  /** What the session may use; null without a limit. */
  budget?: Budget
  /** The schema of its answer, for a program that can hold its model to one; left out if the answer is free text. */
  schema?: AnswerSchema | undefined
}

export type Login = {
  /** Variables that hold a key, the usual one first. Messages name them. */
  keys: readonly string[]
  /** Variables that can replace a key: another provider, a gateway, a folder with a login. */
  alternatives: readonly string[]
  /** Files below HOME that may have a login, or configure one. */
  files: readonly string[]
  /** Files of the project that may name a key, or a program that prints a key. */
  projectFiles: readonly string[]
  /** A free request to the vendor that needs a valid key. */
  check?: (env: Readonly<Record<string, string>>) => KeyCheck | null
}

/** The request that tries a key. `key`: the name of its variable. */
export type KeyCheck = {
  key: string
  url: string
  headers: Record<string, string>
  /** Whether the answer says that the key is wrong. Left out if HTTP 401 says enough. */
  isRefused?(status: number, body: string): boolean
}

/** How a vendor's program reaches its model at another address, with another key. */
type Relay = {
  /** Variables that hold the key, in the order in which the program prefers them. */
  keys: readonly string[]
  /** Variables that select another way to the model. If one is set, no proxy is used. */
  disabledBy: readonly string[]
  /** The vendor's address; null if only `addressVariable` may name one. */
  upstream: string | null
  /** The variable that names the address: Ralph reads it, and sets it to the proxy's. Null if an argument sets the address. */
  addressVariable: string | null
  args?(url: string): string[]
}

/** The files of a person's home folder that are copied into a session's home: those that a login needs. */
export type HomeShare = {
  files: readonly string[]
  /** For a JSON file that holds more than the login: the keys to copy. */
  onlyKeys?: Readonly<Record<string, readonly string[]>>
  /** Files in which the vendor renews its tokens. */
  renewedFiles?: readonly string[]
  /**
   * Each refresh token can be used once. If two sessions renew at the same time, one of them loses its login
   * (openai/codex#9634, anthropics/claude-code#41507).
   */
  hasSingleUseTokens?: true
  /** A variable that moves the folder `start`: files below `start` are in the folder that the variable names, if it is set. */
  folderVariable?: readonly [variable: string, start: string]
}

/** One kind of agent: its own file and one line in registry.ts; nothing else in src/ names it. */
export interface AgentVendor {
  name: string
  /** The provider of its models for OpenTelemetry (`gen_ai.provider.name`); left out if the user chooses it. */
  provider?: string
  /** Looked up in PATH. */
  program: string
  install: string
  /** The npm package, which `agent-version` installs; null if there is none. */
  npm: string | null
  /** The version of the program that the tests drive (test/agents-real). */
  tested?: string
  /** How it is logged in; null if it may work without a key that Ralph knows. */
  login: Login | null
  /** What a session's home gets from the person's home, in addition to `login.files`. */
  home?: HomeShare
  /** Left out if Ralph's proxy cannot add its key to requests. */
  relay?: Relay
  /** Ways to its model by the job's identity, for `auth: oidc`; left out if there is none. */
  keyless?: readonly Keyless[]
  /**
   * The hosts of its model, as entries of `network-allow`, for a model that Ralph's proxy does not serve. `always`: those it always needs.
   * `byKey`: those of the provider whose key is set. Left out if they are not known.
   */
  modelHosts?: { always: readonly string[]; byKey?: Readonly<Record<string, readonly string[]>> }
  /** The vendor's variables that the agent may see, in addition to those of its login. */
  env: readonly string[]
  /** Variables that name folders of its settings or tools. They are not passed on: a session could change what the next one reads. */
  withheld?: readonly string[]
  /** What its keys look like, in addition to the shapes of well-known services. */
  keyShapes: readonly KeyShape[]
  /**
   * Files and folders that steer it in any folder of the repository, in lower case. Only people may change them. Documents of the
   * project (CLAUDE.md, AGENTS.md) are not among them.
   */
  settings: readonly string[]
  /** Documents that it also reads in every folder above its own. All agents read AGENTS.md. */
  documents?: readonly string[]
  /** Where it finds a slash command of the project; `*` stands for its name. */
  slashCommands?: string
  /** What it reports about a session. A limit of cost or tokens works only if it reports that. */
  reports: 'cost' | 'tokens' | 'nothing'
  /** For a program that reports its usage only in a file: the arguments that name the file, and a reader of it. */
  usageFile?: {
    args(path: string): string[]
    read(text: string): Pick<Usage, 'inputTokens' | 'outputTokens' | 'cachedTokens'> | null
  }
  /** The final answer cannot be distinguished from other output, so a verdict counts only in the last lines. */
  answersInOutput?: true
  /** The arguments of a session; the prompt comes on stdin. */
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

/** A flag, unless the user's own arguments say something about what it switches off. */
export function unlessNamed(extraArgs: readonly string[], about: RegExp, ownFlag: string): string[] {
  return extraArgs.some((argument) => about.test(argument)) ? [] : [ownFlag]
}

/** All of the vendor's variables that the agent may see, keys included. */
export function agentVariables({ login, env }: AgentVendor): string[] {
  return [...(login?.keys ?? []), ...(login?.alternatives ?? []), ...env]
}

export function words(text: string): string[] {
  return text.trim().split(/\s+/)
}
