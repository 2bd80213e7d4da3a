import assert from 'node:assert/strict'
import test from 'node:test'
import { bedrockKey } from '../../../src/isolation/bedrock-key.ts'

test('a key for Bedrock has the bytes that @aws/bedrock-token-generator makes of the same credentials', () => {
  const credentials = {
    id: 'ASIAEXAMPLE',
    secret: 'se/cret+',
    session: "to/ken+=with(odd)*chars'",
  }
  const key = bedrockKey(credentials, 'us-west-2', Date.UTC(2026, 10, 28, 12), 3600)
  const [start, text = ''] = [key.slice(0, 16), key.slice(16)]
  assert.equal(start, 'bedrock-api-key-')
  // Recorded with version 1.1.0 of that package.
  const signature = '8a7c0ad4717879f79359237c5795690b470d04e160b29fb64f84c924b5e3d1a8'
  assert.equal(
    Buffer.from(text, 'base64').toString('utf8'),
    'bedrock.amazonaws.com/?Action=CallWithBearerToken&X-Amz-Algorithm=AWS4-HMAC-SHA256' +
      '&X-Amz-Credential=ASIAEXAMPLE%2F20261128%2Fus-west-2%2Fbedrock%2Faws4_request&X-Amz-Date=20261128T120000Z' +
      '&X-Amz-Expires=3600&X-Amz-Security-Token=to%2Fken%2B%3Dwith%28odd%29%2Achars%27' +
      `&X-Amz-Signature=${signature}&X-Amz-SignedHeaders=host&Version=1`,
  )
})
