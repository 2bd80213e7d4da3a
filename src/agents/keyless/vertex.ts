// Google's Vertex AI: the Security Token Service gives a token for the job's identity, and a service account's if one is named
// (cloud.google.com/iam/docs/reference/sts/rest, iamcredentials generateAccessToken).

import { asNumber, asString, jsonObject } from '../../engine/model/json.ts'
import { type Ask, type Keyless, KeylessRefusal, refusal } from './short-key.ts'

const SCOPE = 'https://www.googleapis.com/auth/cloud-platform'
const JSON_HEADERS = { 'content-type': 'application/json' }

export const vertexIdentity: Keyless = {
  name: 'Vertex AI with workload identity federation',
  when: 'CLAUDE_CODE_USE_VERTEX',
  needs: ['GOOGLE_WORKLOAD_IDENTITY_PROVIDER', 'ANTHROPIC_VERTEX_PROJECT_ID', 'CLOUD_ML_REGION'],
  identity: { kind: 'oidc', audience: (env) => `https:${audienceOf(env)}` },
  permission: 'id-token',
  async exchange(identity, env, ask, now) {
    const answer = await ask({
      url: 'https://sts.googleapis.com/v1/token',
      headers: JSON_HEADERS,
      body: JSON.stringify({
        audience: audienceOf(env),
        grantType: 'urn:ietf:params:oauth:grant-type:token-exchange',
        requestedTokenType: 'urn:ietf:params:oauth:token-type:access_token',
        subjectTokenType: 'urn:ietf:params:oauth:token-type:jwt',
        scope: SCOPE,
        subjectToken: identity,
      }),
    })
    if (answer.status !== 200) throw refusal('Google', answer, identity)
    const found = jsonObject(answer.body)
    const [key, seconds] = [asString(found?.access_token), asNumber(found?.expires_in)]
    if (key === null || seconds === null) throw new KeylessRefusal('Google answers without a token')
    const account = env.GOOGLE_SERVICE_ACCOUNT?.trim() ?? ''
    return account === '' ? { key, expiresAt: now + seconds * 1000 } : ofServiceAccount(account, key, ask)
  },
  upstream({ ANTHROPIC_VERTEX_BASE_URL: address = '', CLOUD_ML_REGION: region = '' }) {
    if (address.trim() !== '') return address.trim()
    const name = region.trim()
    if (!/^[a-z0-9-]+$/.test(name))
      throw new KeylessRefusal('CLOUD_ML_REGION is not a region such as us-east5')
    return `https://${name === 'global' ? '' : `${name}-`}aiplatform.googleapis.com/v1`
  },
  keyVariable: 'ANTHROPIC_AUTH_TOKEN',
  addressVariable: 'ANTHROPIC_VERTEX_BASE_URL',
  set: { CLAUDE_CODE_SKIP_VERTEX_AUTH: '1' },
}

async function ofServiceAccount(account: string, token: string, ask: Ask) {
  const answer = await ask({
    url: `https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/${encodeURIComponent(account)}:generateAccessToken`,
    headers: { ...JSON_HEADERS, authorization: `Bearer ${token}` },
    body: JSON.stringify({ scope: [SCOPE] }),
  })
  if (answer.status !== 200) throw refusal(`Google, for ${account},`, answer, token)
  const found = jsonObject(answer.body)
  const [key, until] = [asString(found?.accessToken), Date.parse(asString(found?.expireTime) ?? '')]
  if (key === null || Number.isNaN(until)) throw new KeylessRefusal('Google answers without a token')
  return { key, expiresAt: until }
}

/** `//iam.googleapis.com/projects/…/providers/…` */
function audienceOf({
  GOOGLE_WORKLOAD_IDENTITY_PROVIDER: provider = '',
}: Readonly<Record<string, string | undefined>>): string {
  return `//iam.googleapis.com/${provider.trim()}`
}
