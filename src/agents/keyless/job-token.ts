// GitHub Copilot with the job's own token, which `permissions: copilot-requests: write` allows
// (docs.github.com/copilot/how-tos/copilot-cli/use-copilot-cli-in-actions). The token is used on the way to the model only.

import type { Keyless } from './short-key.ts'

export const copilotIdentity: Keyless = {
  name: "Copilot with the job's token",
  when: null,
  needs: [],
  identity: { kind: 'job-token' },
  permission: 'copilot-requests',
  // The token lives as long as the job.
  exchange: async (identity) => ({ key: identity, expiresAt: Number.POSITIVE_INFINITY }),
  upstream: ({ COPILOT_API_URL: address = '' }) =>
    address.trim() === '' ? 'https://api.githubcopilot.com' : address.trim(),
  keyVariable: 'COPILOT_GITHUB_TOKEN',
  addressVariable: 'COPILOT_API_URL',
  // The program refuses what does not begin like a token.
  keyStart: 'ghs_',
}
