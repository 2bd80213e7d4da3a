// A key for Amazon Bedrock, made of a role's credentials: the same bytes as @aws/bedrock-token-generator makes.

import { createHash, createHmac } from 'node:crypto'

const HOST = 'bedrock.amazonaws.com'

type Credentials = { id: string; secret: string; session: string }

/** The key for Bedrock, valid for `seconds`: an address that is signed with the credentials (Signature Version 4). */
export function bedrockKey(
  { id, secret, session }: Credentials,
  region: string,
  now: number,
  seconds: number,
) {
  const time = new Date(now).toISOString().replace(/[-:]|\.\d+/g, '')
  const scope = `${time.slice(0, 8)}/${region}/bedrock/aws4_request`
  const query = [
    ['Action', 'CallWithBearerToken'],
    ['X-Amz-Algorithm', 'AWS4-HMAC-SHA256'],
    ['X-Amz-Credential', `${id}/${scope}`],
    ['X-Amz-Date', time],
    ['X-Amz-Expires', String(seconds)],
    ['X-Amz-Security-Token', session],
    ['X-Amz-SignedHeaders', 'host'],
  ].map(([name, value]) => `${name}=${encode(value ?? '')}`)
  const request = ['POST', '/', query.join('&'), `host:${HOST}`, '', 'host', sha256('')].join('\n')
  const text = ['AWS4-HMAC-SHA256', time, scope, sha256(request)].join('\n')
  const signingKey = scope
    .split('/')
    .reduce((key: string | Buffer, part) => createHmac('sha256', key).update(part).digest(), `AWS4${secret}`)
  const signature = createHmac('sha256', signingKey).update(text).digest('hex')
  // The order of the vendor's own program, which a server may compare byte by byte.
  const address = `${HOST}/?${[...query, `X-Amz-Signature=${signature}`].sort().join('&')}&Version=1`
  return `bedrock-api-key-${Buffer.from(address).toString('base64')}`
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/** Percent-encoding of RFC 3986. */
function encode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}
