// Whether an account is a person's, on GitHub and elsewhere. Pure.

/**
 * The type of an account: `User` or `Bot`. Gitea and Forgejo name no type, but the accounts of jobs and deleted users have numbers below zero.
 */
export function accountType({ type, id }: { type?: unknown; id?: unknown }): string {
  if (typeof type === 'string' && type !== '') return type
  return typeof id === 'number' && id > 0 ? 'User' : 'Bot'
}
