// What @actions/core's OIDC client is built from. Ralph asks for no OIDC token, and says so if it ever does.
export class HttpClient {
  constructor() {
    throw new Error('Ralph Action is built without the HTTP client that OIDC tokens need.')
  }
}
export class BearerCredentialHandler {}
