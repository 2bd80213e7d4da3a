// `actions/attest` and `gh attestation verify` on a machine that reaches no Sigstore: real keys, certificates, log entries and signatures
// of a test root, and Sigstore's own library to verify them. What is signed is kept in the folder $ATTESTATIONS.
//   node attestations.mjs attest PREDICATE-TYPE PREDICATE SUBJECT WORKFLOW REF      signs; with $OTHER_ROOT: by keys that nobody trusts
//   node attestations.mjs gh attestation verify SUBJECT --repo ... --format json    https://cli.github.com/manual/gh_attestation_verify
import { createHash, generateKeyPairSync } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { bundleFromJSON, bundleToJSON } from '@sigstore/bundle'
import { fulcioHandler, initializeCA, initializeCTLog, initializeTLog, rekorHandler } from '@sigstore/mock'
import { HashAlgorithm, PublicKeyDetails, TrustedRoot } from '@sigstore/protobuf-specs'
import { DSSEBundleBuilder, FulcioSigner, RekorWitness } from '@sigstore/sign'
import { toSignedEntity, toTrustMaterial, Verifier } from '@sigstore/verify'

const ISSUER = 'https://token.actions.githubusercontent.com'
const MEDIA_TYPE = 'application/vnd.dev.sigstore.trustedroot+json;version=0.1'
/** The extensions of a certificate that name the repository and the ref of a workflow: https://github.com/sigstore/fulcio/blob/main/docs/oid-info.md */
const [REPOSITORY, REF] = ['1.3.6.1.4.1.57264.1.12', '1.3.6.1.4.1.57264.1.14']
const { ATTESTATIONS = '', OTHER_ROOT, GH_TOKEN } = process.env
const ROOT = join(ATTESTATIONS, 'root.json')
const sha256 = (bytes) => createHash('sha256').update(bytes).digest()

const [program, ...args] = process.argv.slice(2)
try {
  if (program === 'attest') await attest(...args)
  else verify(args)
} catch (error) {
  console.error(`Error: ${error instanceof Error ? error.message : error}`)
  process.exitCode = 1
}

async function attest(predicateType, predicatePath, subjectPath, workflow, ref) {
  const digest = sha256(readFileSync(subjectPath)).toString('hex')
  const statement = {
    _type: 'https://in-toto.io/Statement/v1',
    subject: [{ name: subjectPath.split('/').at(-1), digest: { sha256: digest } }],
    predicateType,
    predicate: JSON.parse(readFileSync(predicatePath, 'utf8')),
  }
  const service = await openService()
  try {
    const repository = workflow.split('/').slice(0, 2).join('/')
    const claims = {
      iss: ISSUER,
      sub: `https://github.com/${workflow}@${ref}`,
      ref,
      repository,
      repository_visibility: 'private',
    }
    const part = (value) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const token = `${part({ alg: 'none' })}.${part(claims)}.${part('')}`
    const builder = new DSSEBundleBuilder({
      signer: new FulcioSigner({
        fulcioBaseURL: service.url,
        identityProvider: { getToken: async () => token },
      }),
      witnesses: [new RekorWitness({ rekorBaseURL: service.url, entryType: 'intoto' })],
    })
    const data = Buffer.from(JSON.stringify(statement))
    const bundle = await builder.create({ data, type: 'application/vnd.in-toto+json' })
    mkdirSync(join(ATTESTATIONS, digest), { recursive: true })
    const at = readdirSync(join(ATTESTATIONS, digest)).length
    writeFileSync(join(ATTESTATIONS, digest, `${at}.json`), JSON.stringify(bundleToJSON(bundle)))
    if (OTHER_ROOT === undefined) trust(service)
  } finally {
    service.close()
  }
}

/** A certificate authority and a log of their own keys, on one port. */
async function openService() {
  const keys = () => generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  const ctLog = await initializeCTLog(keys())
  const ca = await initializeCA(keys(), ctLog)
  let handlers = []
  const server = createServer(async (request, response) => {
    const body = (await request.toArray()).map(String).join('')
    const handler = handlers.find(({ path }) => path === request.url)
    const { statusCode, response: text, contentType } = await handler.fn(body)
    response.writeHead(statusCode, { 'content-type': contentType ?? 'text/plain' }).end(text)
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${server.address().port}`
  const tLog = await initializeTLog(url, keys())
  handlers = [fulcioHandler(ca), rekorHandler(tLog)]
  return { ca, ctLog, tLog, url, close: () => server.close() }
}

function trust({ ca, ctLog, tLog, url }) {
  const root = existsSync(ROOT)
    ? TrustedRoot.fromJSON(JSON.parse(readFileSync(ROOT, 'utf8')))
    : { mediaType: MEDIA_TYPE, tlogs: [], ctlogs: [], certificateAuthorities: [], timestampAuthorities: [] }
  const validFor = { start: new Date(Date.now() - 24 * 3600_000) }
  const log = (publicKey, keyId) => ({
    baseUrl: url,
    hashAlgorithm: HashAlgorithm.SHA2_256,
    logId: { keyId },
    publicKey: {
      rawBytes: publicKey,
      keyDetails: PublicKeyDetails.PKIX_ECDSA_P256_SHA_256,
      validFor,
    },
  })
  root.certificateAuthorities.push({
    subject: { organization: 'test', commonName: 'test' },
    uri: url,
    certChain: { certificates: [{ rawBytes: Buffer.from(ca.rootCertificate) }] },
    validFor,
  })
  root.tlogs.push(log(tLog.publicKey, sha256(tLog.publicKey)))
  root.ctlogs.push(log(ctLog.publicKey, Buffer.from(ctLog.logID)))
  writeFileSync(ROOT, JSON.stringify(TrustedRoot.toJSON(root)))
}

function verify([area, command, subjectPath, ...flags]) {
  const text = { type: 'string' }
  const { values } = parseArgs({
    args: flags,
    options: {
      repo: text,
      format: text,
      'predicate-type': text,
      'signer-workflow': text,
      'source-ref': text,
    },
  })
  if (area !== 'attestation' || command !== 'verify' || values.format !== 'json')
    throw new Error('not known here')
  if (GH_TOKEN === undefined) throw new Error('set GH_TOKEN')
  const digest = sha256(readFileSync(subjectPath)).toString('hex')
  const folder = join(ATTESTATIONS, digest)
  const files = existsSync(folder) ? readdirSync(folder) : []
  const verified = files.flatMap((file) => {
    const bundle = bundleFromJSON(JSON.parse(readFileSync(join(folder, file), 'utf8')))
    const statement = JSON.parse(bundle.content.dsseEnvelope.payload.toString('utf8'))
    const isMeant =
      statement.predicateType === values['predicate-type'] &&
      statement.subject.some((subject) => subject.digest.sha256 === digest)
    return isMeant && isSigned(bundle, values) ? [{ verificationResult: { statement } }] : []
  })
  if (verified.length === 0) throw new Error(`no attestation of ${digest} satisfies the policy`)
  process.stdout.write(`${JSON.stringify(verified)}\n`)
}

function isSigned(bundle, { repo, 'signer-workflow': workflow, 'source-ref': ref }) {
  const root = toTrustMaterial(TrustedRoot.fromJSON(JSON.parse(readFileSync(ROOT, 'utf8'))))
  // A UTF8String in DER. These values are shorter than 128 bytes.
  const der = (text) => Buffer.concat([Buffer.from([0x0c, text.length]), Buffer.from(text)])
  const oid = (id, value) => ({ oid: { id: id.split('.').map(Number) }, value: der(value) })
  try {
    new Verifier(root, { tlogThreshold: 1, ctlogThreshold: 1 }).verify(toSignedEntity(bundle), {
      subjectAlternativeName: new RegExp(`^https://github\\.com/${RegExp.escape(workflow)}@`),
      extensions: { issuer: ISSUER },
      oids: [oid(REPOSITORY, `https://github.com/${repo}`), oid(REF, ref)],
    })
    return true
  } catch (error) {
    console.error(`not counted: ${error.message}`)
    return false
  }
}
