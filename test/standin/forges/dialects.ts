// The servers that the stand-in can be, a row each.
import { actionsApp, actionsBot } from '../accounts.ts'
import type { Identity, Json } from '../model.ts'
import type { ContractName } from '../openapi.ts'
import type { World } from '../world.ts'
import { giteaEvent } from './render.ts'

export type DialectName = 'github' | 'ghes' | 'gitea' | 'forgejo'

export interface Dialect {
  /** Whose description judges requests and answers. */
  contract: ContractName
  /** Where the API begins. */
  api: string
  graphql: string | null
  version: string
  /** Who comments and pushes with the token of a job. */
  jobLogin: string
  jobApp: Identity['app']
  /** The first of these folders that exists has the workflows. */
  workflowFolders: readonly string[]
  /** Variables that its runner sets besides GitHub's, or instead of them; null: it does not set this one. */
  variables: Readonly<Record<string, string | null>>
  /** Whether jobs have the service for artifacts and caches. */
  hasResults: boolean
  event: (world: World, payload: Json) => Json
}

const GITHUB: Dialect = {
  contract: 'github',
  api: '',
  graphql: '/graphql',
  version: '',
  jobLogin: actionsBot,
  jobApp: actionsApp,
  workflowFolders: ['.github/workflows'],
  variables: {},
  hasResults: true,
  event: (_world, payload) => payload,
}

// GITHUB_WORKFLOW is the file of the workflow there, and GITHUB_WORKFLOW_REF is not set.
const GITEA_ROW: Dialect = {
  ...GITHUB,
  contract: 'gitea',
  api: '/api/v1',
  graphql: null,
  version: '1.27.3',
  jobLogin: 'gitea-actions',
  jobApp: null,
  workflowFolders: ['.gitea/workflows', '.github/workflows'],
  variables: { GITEA_ACTIONS: 'true', GITHUB_WORKFLOW_REF: null, GITHUB_WORKFLOW_SHA: null },
  hasResults: false,
  event: giteaEvent,
}

export const DIALECTS: Readonly<Record<DialectName, Dialect>> = {
  github: GITHUB,
  ghes: { ...GITHUB, api: '/api/v3', graphql: '/api/graphql', hasResults: false },
  gitea: GITEA_ROW,
  forgejo: {
    ...GITEA_ROW,
    contract: 'forgejo',
    version: '15.0.0+gitea-1.22.0',
    jobLogin: 'forgejo-actions',
    workflowFolders: ['.forgejo/workflows', '.gitea/workflows', '.github/workflows'],
    variables: { ...GITEA_ROW.variables, FORGEJO_ACTIONS: 'true' },
  },
}
