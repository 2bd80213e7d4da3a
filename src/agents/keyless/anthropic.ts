// Anthropic's workload identity federation: platform.claude.com/docs/en/manage-claude/wif-reference.

import { asNumber, asString, jsonObject } from '../../engine/model/json.ts'
import { type Keyless, KeylessRefusal, refusal } from './short-key.ts'

const SERVER = 'https://api.anthropic.com'
/** As the vendor's own library sends it (@anthropic-ai/sdk, lib/credentials). */
const EXCHANGE_BETAS = 'oauth-2025-04-20,oidc-federation-2026-04-01'
const REQUEST_BETA = 'oauth-2025-04-20'

export const anthropicIdentity: Keyless = {
  name: 'Anthropic workload identity federation',
  when: null,
  needs: ['ANTHROPIC_FEDERATION_RULE_ID', 'ANTHROPIC_ORGANIZATION_ID', 'ANTHROPIC_SERVICE_ACCOUNT_ID'],
  identity: { kind: 'oidc', audience: () => SERVER },
  permission: 'id-token',
  async exchange(identity, env, ask, now) {
    const workspace = env.ANTHROPIC_WORKSPACE_ID?.trim() ?? ''
    const answer = await ask({
      url: `${serverOf(env)}/v1/oauth/token`,
      headers: { 'content-type': 'application/json', 'anthropic-beta': EXCHANGE_BETAS },
      body: JSON.stringify({
        grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
        assertion: identity,
        federation_rule_id: env.ANTHROPIC_FEDERATION_RULE_ID?.trim(),
        organization_id: env.ANTHROPIC_ORGANIZATION_ID?.trim(),
        service_account_id: env.ANTHROPIC_SERVICE_ACCOUNT_ID?.trim(),
        ...(workspace === '' ? {} : { workspace_id: workspace }),
      }),
    })
    if (answer.status !== 200) throw refusal('Anthropic', answer, identity)
    const found = jsonObject(answer.body)
    const [key, seconds] = [asString(found?.access_token), asNumber(found?.expires_in)]
    if (key === null || seconds === null) throw new KeylessRefusal('Anthropic answers without a key')
    return { key, expiresAt: now + seconds * 1000 }
  },
  upstream: serverOf,
  keyVariable: 'ANTHROPIC_AUTH_TOKEN',
  addressVariable: 'ANTHROPIC_BASE_URL',
  headers: ({ 'anthropic-beta': sent }) => ({
    'anthropic-beta': typeof sent === 'string' && sent !== '' ? `${sent},${REQUEST_BETA}` : REQUEST_BETA,
  }),
}

function serverOf({
  ANTHROPIC_BASE_URL: address = '',
}: Readonly<Record<string, string | undefined>>): string {
  return address.trim() === '' ? SERVER : address.trim().replace(/\/+$/, '')
}
