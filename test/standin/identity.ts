// A stand-in for the runner's identity tokens and for the providers that exchange them, as a program of its own. It refuses what the
// real ones refuse: another audience, another subject, an expired token, one that was used before, one that it did not sign.
// `node test/standin/identity.ts` prints its address. The first part of a path is the host that it stands in for.

import { createHmac, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import { fileURLToPath } from 'node:url'

export type IdentityRules = {
  /** The only subject that the providers accept. */
  subject: string
  /** The subject of the tokens that the runner gives; left out: the accepted one. */
  tokenSubject?: string
  /** What the runner writes as audience instead of the one that was asked for. */
  tokenAudience?: string
  /** How long the runner's tokens are valid, seconds; negative: they have expired. */
  tokenSeconds?: number
  /** The runner gives the same token again. */
  repeatsToken?: boolean
  /** How long the providers' keys are valid, seconds. */
  keySeconds?: number
}

export type Exchange = { host: string; status: number; why: string }
export type IdentityServer = AsyncDisposable & {
  url: string
  rules: IdentityRules
  /** By which a job asks its runner for an identity. */
  requestToken: string
  exchanges: readonly Exchange[]
  /** The keys that were given, the newest last. */
  keys: readonly string[]
}

const SECRET = 'the stand-in signs with this'
const AUDIENCES: Readonly<Record<string, string>> = {
  'api.anthropic.com': 'https://api.anthropic.com',
  'sts.us-east-1.amazonaws.com': 'sts.amazonaws.com',
  'sts.googleapis.com':
    'https://iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/github',
}

export async function startIdentityServer(rules: IdentityRules, port = 0): Promise<IdentityServer> {
  const exchanges: Exchange[] = []
  const keys: string[] = []
  const used = new Set<string>()
  // A shape that the hostile agent looks for.
  const requestToken = `CANARY_IDENTITY_${randomBytes(12).toString('hex')}`
  let lastToken: string | null = null

  const token = (audience: string): string => {
    const now = Math.floor(Date.now() / 1000)
    const claims = {
      iss: 'https://token.actions.githubusercontent.com',
      sub: rules.tokenSubject ?? rules.subject,
      aud: rules.tokenAudience ?? audience,
      iat: now,
      exp: now + (rules.tokenSeconds ?? 300),
      jti: randomUUID(),
    }
    if (rules.repeatsToken !== true || lastToken === null) lastToken = signed(claims)
    return lastToken
  }
  /** Why the provider refuses the token; null if it accepts it. */
  const refusalOf = (host: string, jwt: string): string | null => {
    const claims = claimsOf(jwt)
    if (claims === null) return 'the signature is not valid'
    if (claims.aud !== AUDIENCES[host]) return 'audience does not match'
    if (claims.sub !== rules.subject) return 'no rule matches the subject'
    if (Number(claims.exp) * 1000 <= Date.now()) return 'the token has expired'
    if (used.has(`${host} ${claims.jti}`)) return 'the token was used before'
    used.add(`${host} ${claims.jti}`)
    return null
  }
  const newKey = (start: string): string => {
    keys.push(`${start}${randomUUID().replaceAll('-', '')}`)
    return keys.at(-1) ?? ''
  }

  const server = createServer(async (request, response) => {
    const body = await bodyOf(request)
    const [, host = '', ...rest] = (request.url ?? '').split('?')[0]?.split('/') ?? []
    const path = `/${rest.join('/')}`
    const give = (status: number, type: string, text: string, why = '') => {
      exchanges.push({ host, status, why })
      response.writeHead(status, { 'content-type': type })
      response.end(text)
    }
    const json = (status: number, value: unknown, why = '') =>
      give(status, 'application/json', JSON.stringify(value), why)
    const seconds = rules.keySeconds ?? 3600
    if (host === 'runner') {
      if (request.headers.authorization !== `Bearer ${requestToken}`) return json(401, {}, 'no request token')
      const audience = new URL(request.url ?? '', 'http://x').searchParams.get('audience') ?? ''
      return json(200, { value: token(audience) })
    }
    if (host === 'api.anthropic.com' && path === '/v1/oauth/token') {
      const asked = JSON.parse(body)
      const isWhole = /^fdrl_/.test(asked.federation_rule_id) && /^svac_/.test(asked.service_account_id)
      const betas = String(request.headers['anthropic-beta'])
      const why =
        !betas.includes('oidc-federation') || !isWhole ? 'invalid request' : refusalOf(host, asked.assertion)
      if (why !== null) return json(401, { error: { type: 'authentication_error', message: why } }, why)
      return json(200, { access_token: newKey('sk-ant-oat01-'), token_type: 'Bearer', expires_in: seconds })
    }
    if (host === 'sts.us-east-1.amazonaws.com') {
      const asked = new URLSearchParams(body)
      const why = refusalOf(host, asked.get('WebIdentityToken') ?? '')
      if (why !== null) {
        const code = why.includes('expired') ? 'ExpiredTokenException' : 'InvalidIdentityToken'
        return give(
          400,
          'text/xml',
          `<ErrorResponse><Error><Code>${code}</Code><Message>${why}</Message></Error></ErrorResponse>`,
          why,
        )
      }
      const until = new Date(Date.now() + seconds * 1000).toISOString()
      const fields = `<SecretAccessKey>${newKey('secret-')}</SecretAccessKey><SessionToken>${newKey('session-')}</SessionToken><AccessKeyId>ASIAEXAMPLE</AccessKeyId><Expiration>${until}</Expiration>`
      return give(
        200,
        'text/xml',
        `<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials>${fields}</Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`,
      )
    }
    if (host === 'sts.googleapis.com') {
      const asked = JSON.parse(body)
      const why =
        `https:${asked.audience}` === AUDIENCES[host]
          ? refusalOf(host, asked.subjectToken)
          : 'unknown provider'
      if (why !== null) return json(400, { error: 'invalid_grant', error_description: why }, why)
      return json(200, { access_token: newKey('ya29.'), token_type: 'Bearer', expires_in: seconds })
    }
    if (host === 'iamcredentials.googleapis.com') {
      if (request.headers.authorization !== `Bearer ${keys.at(-1)}`)
        return json(403, {}, 'not the federated token')
      const expireTime = new Date(Date.now() + seconds * 1000).toISOString()
      return json(200, { accessToken: newKey('ya29.'), expireTime })
    }
    return json(404, {}, 'unknown')
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return {
    url: `http://127.0.0.1:${address.port}`,
    rules,
    requestToken,
    exchanges,
    keys,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function signed(claims: object): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const text = `${part({ alg: 'HS256', typ: 'JWT' })}.${part(claims)}`
  return `${text}.${createHmac('sha256', SECRET).update(text).digest('base64url')}`
}

function claimsOf(jwt: string): Record<string, unknown> | null {
  const [head = '', claims = '', signature = ''] = jwt.split('.')
  const own = createHmac('sha256', SECRET).update(`${head}.${claims}`).digest()
  const given = Buffer.from(signature, 'base64url')
  if (given.length !== own.length || !timingSafeEqual(given, own)) return null
  return JSON.parse(Buffer.from(claims, 'base64url').toString('utf8'))
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , rules = '{"subject":"repo:o/r:environment:ralph"}', port = '0'] = process.argv
  const server = await startIdentityServer(JSON.parse(rules), Number(port))
  process.stdout.write(`${server.url}\n`)
}
