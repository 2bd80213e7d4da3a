// The wire formats that coding agents speak with a model: what a request holds, and an answer in its bytes. Pure.

type Json = Readonly<Record<string, unknown>>

/** A tool that the agent offers. `freeform`: its input is a text, not an object. */
export type Tool = { name: string; freeform: boolean; properties: readonly string[] }

/** What a request asks. `results`: tool results that it carries already, so the number of turns behind it. */
export type Asked = {
  tools: readonly Tool[]
  results: number
  stream: boolean
  model: string
  /** The answer has to be JSON of a schema. */
  isShaped?: boolean
}

export type Part =
  | { kind: 'text'; text: string }
  | { kind: 'call'; name: string; input: Json }
  | { kind: 'freeform'; name: string; input: string }

/** Tokens as the answer reports them. `input` is what is new, `cached` what came from the cache beside it. */
export type Tokens = { input: number; cached: number; output: number }

export type Answer = { contentType: string; body: string }

export interface Dialect {
  /** Of the request's path, without the query. */
  path: RegExp
  read(body: Json, path: string): Asked
  answer(parts: readonly Part[], asked: Asked, tokens: Tokens, id: string): Answer
  error(status: number, message: string): Json
}

/** Anthropic's `/v1/messages`: claude. */
export const anthropic: Dialect = {
  path: /\/messages$/,
  read: (body) => ({
    tools: objects(body.tools).map((tool) => toolOf(tool, object(tool.input_schema))),
    results: objects(body.messages)
      .flatMap((message) => objects(message.content))
      .filter((block) => block.type === 'tool_result').length,
    stream: body.stream === true,
    model: text(body.model),
  }),
  answer(parts, asked, tokens, id) {
    const content = parts.map((part, index) =>
      part.kind === 'text'
        ? { type: 'text', text: part.text }
        : { type: 'tool_use', id: `toolu_${id}_${index}`, name: part.name, input: part.input },
    )
    const stop = parts.some((part) => part.kind !== 'text') ? 'tool_use' : 'end_turn'
    const usage = {
      input_tokens: tokens.input,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: tokens.cached,
      output_tokens: tokens.output,
    }
    const message = {
      id: `msg_${id}`,
      type: 'message',
      role: 'assistant',
      model: asked.model,
      content,
      usage,
    }
    if (!asked.stream) return json({ ...message, stop_reason: stop, stop_sequence: null })
    const start = { ...message, content: [], stop_reason: null, stop_sequence: null }
    const events: Json[] = [{ type: 'message_start', message: start }]
    for (const [index, block] of content.entries()) {
      const empty = block.type === 'text' ? { type: 'text', text: '' } : { ...block, input: {} }
      const delta =
        block.type === 'text'
          ? { type: 'text_delta', text: block.text }
          : { type: 'input_json_delta', partial_json: JSON.stringify(block.input) }
      events.push({ type: 'content_block_start', index, content_block: empty })
      events.push({ type: 'content_block_delta', index, delta })
      events.push({ type: 'content_block_stop', index })
    }
    events.push({
      type: 'message_delta',
      delta: { stop_reason: stop, stop_sequence: null },
      usage: { output_tokens: tokens.output },
    })
    events.push({ type: 'message_stop' })
    return named(events)
  },
  error: (status, message) => ({ type: 'error', error: { type: errorName(status), message } }),
}

/** OpenAI's `/v1/responses`: codex. */
export const responses: Dialect = {
  path: /\/responses$/,
  read(body) {
    const items = objects(body.input)
    const offered = [body, ...items.filter((item) => item.type === 'additional_tools')]
    return {
      tools: offered
        .flatMap((one) => objects(one.tools))
        .flatMap((tool) => (tool.type === 'namespace' ? objects(tool.tools) : [tool]))
        .map((tool) => toolOf(tool, object(tool.parameters))),
      results: items.filter((item) => text(item.type).endsWith('_call_output')).length,
      stream: body.stream === true,
      isShaped: object(object(body.text).format).type === 'json_schema',
      model: text(body.model),
    }
  },
  answer(parts, asked, tokens, id) {
    const output = parts.map((part, index): Json => {
      const call = { call_id: `call_${id}_${index}`, status: 'completed' }
      if (part.kind === 'freeform')
        return {
          type: 'custom_tool_call',
          id: `ctc_${id}_${index}`,
          name: part.name,
          input: part.input,
          ...call,
        }
      if (part.kind === 'call') {
        const args = JSON.stringify(part.input)
        return { type: 'function_call', id: `fc_${id}_${index}`, name: part.name, arguments: args, ...call }
      }
      const content = [{ type: 'output_text', text: part.text, annotations: [] }]
      return { type: 'message', id: `msg_${id}_${index}`, role: 'assistant', status: 'completed', content }
    })
    const whole = tokens.input + tokens.cached
    const response = {
      id: `resp_${id}`,
      object: 'response',
      model: asked.model,
      status: 'completed',
      output,
      usage: {
        input_tokens: whole,
        input_tokens_details: { cached_tokens: tokens.cached },
        output_tokens: tokens.output,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: whole + tokens.output,
      },
    }
    if (!asked.stream) return json(response)
    const started = { ...response, status: 'in_progress', output: [], usage: null }
    const events: Json[] = [{ type: 'response.created', response: started }]
    for (const [index, item] of output.entries()) {
      const added = { ...item, status: 'in_progress' }
      events.push({ type: 'response.output_item.added', output_index: index, item: added })
      const part = parts[index]
      // droid reads a text from its deltas, codex from the item.
      if (part?.kind === 'text') {
        const place = { item_id: `msg_${id}_${index}`, output_index: index, content_index: 0 }
        events.push({ type: 'response.output_text.delta', ...place, delta: part.text })
        events.push({ type: 'response.output_text.done', ...place, text: part.text })
      }
      events.push({ type: 'response.output_item.done', output_index: index, item })
    }
    events.push({ type: 'response.completed', response })
    return named(events.map((event, index) => ({ ...event, sequence_number: index })))
  },
  error: (status, message) => ({ error: { type: errorName(status), code: errorName(status), message } }),
}

/** OpenAI's `/v1/chat/completions`: opencode, copilot. */
export const chat: Dialect = {
  path: /\/chat\/completions$/,
  read: (body) => ({
    tools: objects(body.tools)
      .map((tool) => object(tool.function))
      .map((tool) => toolOf(tool, object(tool.parameters))),
    results: objects(body.messages).filter((message) => message.role === 'tool').length,
    stream: body.stream === true,
    model: text(body.model),
  }),
  answer(parts, asked, tokens, id) {
    const content = parts.map((part) => (part.kind === 'text' ? part.text : '')).join('')
    const calls = parts
      .filter((part) => part.kind !== 'text')
      .map((part, index) => ({
        index,
        id: `call_${id}_${index}`,
        type: 'function',
        function: { name: part.name, arguments: JSON.stringify(part.input) },
      }))
    const whole = tokens.input + tokens.cached
    const usage = {
      prompt_tokens: whole,
      completion_tokens: tokens.output,
      total_tokens: whole + tokens.output,
      prompt_tokens_details: { cached_tokens: tokens.cached },
    }
    const finish = calls.length > 0 ? 'tool_calls' : 'stop'
    const asking = calls.length > 0 ? { tool_calls: calls } : {}
    const base = { id: `chatcmpl_${id}`, created: 1_700_000_000, model: asked.model }
    if (!asked.stream) {
      const message = { role: 'assistant', content: content === '' ? null : content, ...asking }
      const choices = [{ index: 0, message, finish_reason: finish }]
      return json({ ...base, object: 'chat.completion', choices, usage })
    }
    const chunk = (choices: Json[], more: Json = {}) => ({
      ...base,
      object: 'chat.completion.chunk',
      choices,
      ...more,
    })
    const delta = (given: Json, end: string | null = null) =>
      chunk([{ index: 0, delta: given, finish_reason: end }])
    const chunks = [delta({ role: 'assistant', content }), ...(calls.length > 0 ? [delta(asking)] : [])]
    const events = [...chunks, delta({}, finish), chunk([], { usage })]
    return stream([...events.map((event) => `data: ${JSON.stringify(event)}\n\n`), 'data: [DONE]\n\n'])
  },
  error: responses.error,
}

/** Google's `:streamGenerateContent` and `:generateContent`: gemini. */
export const google: Dialect = {
  path: /:(?:streamGenerateContent|generateContent)$/,
  read: (body, path) => ({
    tools: objects(body.tools)
      .flatMap((tool) => objects(tool.functionDeclarations))
      .map((tool) => toolOf(tool, object(tool.parametersJsonSchema ?? tool.parameters))),
    results: objects(body.contents)
      .flatMap((content) => objects(content.parts))
      .filter((part) => part.functionResponse !== undefined).length,
    stream: path.endsWith(':streamGenerateContent'),
    model: /models\/([^:]+):/.exec(path)?.[1] ?? '',
  }),
  answer(parts, asked, tokens, id) {
    const said = parts.map((part) =>
      part.kind === 'text' ? { text: part.text } : { functionCall: { name: part.name, args: part.input } },
    )
    const whole = tokens.input + tokens.cached
    const response = {
      candidates: [{ index: 0, content: { role: 'model', parts: said }, finishReason: 'STOP' }],
      usageMetadata: {
        promptTokenCount: whole,
        candidatesTokenCount: tokens.output,
        totalTokenCount: whole + tokens.output,
        cachedContentTokenCount: tokens.cached,
      },
      modelVersion: asked.model,
      responseId: id,
    }
    return asked.stream ? stream([`data: ${JSON.stringify(response)}\n\n`]) : json(response)
  },
  error: (status, message) => ({
    error: { code: status, message, status: GOOGLE_NAMES[status] ?? 'UNKNOWN' },
  }),
}

export const dialects: readonly Dialect[] = [anthropic, responses, chat, google]

const GOOGLE_NAMES: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
}

function errorName(status: number): string {
  if (status === 401) return 'authentication_error'
  if (status === 429) return 'rate_limit_error'
  if (status === 529) return 'overloaded_error'
  return status >= 500 ? 'api_error' : 'invalid_request_error'
}

function toolOf(tool: Json, schema: Json): Tool {
  return {
    name: text(tool.name) || text(tool.type),
    freeform: tool.type === 'custom',
    properties: Object.keys(object(schema.properties)),
  }
}

function json(value: Json): Answer {
  return { contentType: 'application/json', body: JSON.stringify(value) }
}

function stream(events: readonly string[]): Answer {
  return { contentType: 'text/event-stream', body: events.join('') }
}

function named(events: readonly Json[]): Answer {
  return stream(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`))
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function object(value: unknown): Json {
  return isObject(value) ? value : {}
}

function objects(value: unknown): Json[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
