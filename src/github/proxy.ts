// Requests through the proxy that the environment names (`https_proxy`, `no_proxy`), as the toolkit's own packages make them. The package
// `@actions/github` has the same function, but it reads the event of a job when it is loaded, which no other program has.

import { HttpClient } from '@actions/http-client'
import { fetch as request } from 'undici'

/** The `fetch` for this server. A proxy needs the one of undici: Node's own takes no dispatcher of another version. */
export function fetchByProxy(server: string): typeof fetch {
  const dispatcher = new HttpClient().getAgentDispatcher(server)
  const ask = request as unknown as typeof fetch
  return (input, init) => ask(input, Object.assign({}, init, dispatcher === undefined ? {} : { dispatcher }))
}
