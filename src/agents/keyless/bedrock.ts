// Amazon Bedrock: STS gives credentials of a role for the job's identity. A signed address made of them is the key.
// See AssumeRoleWithWebIdentity and Amazon Bedrock API keys (docs.aws.amazon.com).

import { bedrockKey } from '../../isolation/bedrock-key.ts'
import { type Keyless, KeylessRefusal, refusal } from './short-key.ts'

/** The default maximum of a role's session. */
const SESSION_SECONDS = 3600

export const bedrockIdentity: Keyless = {
  name: 'Amazon Bedrock with a role',
  when: 'CLAUDE_CODE_USE_BEDROCK',
  needs: ['AWS_ROLE_ARN', 'AWS_REGION'],
  identity: { kind: 'oidc', audience: () => 'sts.amazonaws.com' },
  permission: 'id-token',
  async exchange(identity, env, ask, now) {
    const region = regionOf(env)
    const answer = await ask({
      url: `https://sts.${region}.amazonaws.com/`,
      headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/xml' },
      body: new URLSearchParams({
        Action: 'AssumeRoleWithWebIdentity',
        Version: '2011-06-15',
        RoleArn: env.AWS_ROLE_ARN?.trim() ?? '',
        RoleSessionName: 'ralph',
        DurationSeconds: String(SESSION_SECONDS),
        WebIdentityToken: identity,
      }).toString(),
    })
    if (answer.status !== 200) throw refusal('AWS', answer, identity)
    const field = (name: string) =>
      new RegExp(`<${name}>([^<]*)</${name}>`).exec(answer.body)?.[1]?.trim() ?? ''
    const credentials = {
      id: field('AccessKeyId'),
      secret: field('SecretAccessKey'),
      session: field('SessionToken'),
    }
    const expiresAt = Date.parse(field('Expiration'))
    if (Object.values(credentials).includes('') || Number.isNaN(expiresAt))
      throw new KeylessRefusal('AWS answers without credentials')
    const seconds = Math.max(1, Math.floor((expiresAt - now) / 1000))
    return { key: bedrockKey(credentials, region, now, seconds), expiresAt }
  },
  upstream: (env) => `https://bedrock-runtime.${regionOf(env)}.amazonaws.com`,
  keyVariable: 'AWS_BEARER_TOKEN_BEDROCK',
  addressVariable: 'ANTHROPIC_BEDROCK_BASE_URL',
}

/** A region is a part of host names, so nothing else may be in it. */
function regionOf({ AWS_REGION: region = '' }: Readonly<Record<string, string | undefined>>): string {
  if (/^[a-z]{2}(?:-[a-z]+)+-\d$/.test(region.trim())) return region.trim()
  throw new KeylessRefusal('AWS_REGION is not a region such as us-east-1')
}
