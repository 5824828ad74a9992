import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { freePort } from '#dev/embedded/free-port.ts'
import { type GuardedChild, startGuarded } from '#dev/embedded/guarded-child.ts'
import type { Document } from '#test/deploy/deploy-files.ts'
import type { Programs } from './build.ts'

/** A control plane without controllers and machines: it checks, completes and stores what it is sent. */
export interface Cluster {
  /** Sends a request; the answer is parsed JSON. */
  request(method: string, path: string, body?: unknown, type?: string): Promise<Answer>
  /** The path of a kind's objects, or of one object. Null when the cluster has no such kind. */
  pathOf(document: Document, name?: string): Promise<string | null>
  stop(): Promise<void>
}

export interface Answer {
  readonly status: number
  readonly body: Document
  /** Texts of the `Warning` headers. */
  readonly warnings: readonly string[]
}

const HOST = '127.0.0.1'
const START_MS = 180_000

/** Starts etcd and the API server on loopback, with data in `dir`. */
export async function startCluster(programs: Programs, dir: string): Promise<Cluster> {
  const children: GuardedChild[] = []
  const stop = async (): Promise<void> => {
    for (const child of children.splice(0).reverse()) await child.stop(10_000)
  }
  try {
    return await open(programs, dir, children, stop)
  } catch (error) {
    await stop()
    throw error
  }
}

async function open(
  programs: Programs,
  dir: string,
  children: GuardedChild[],
  stop: () => Promise<void>,
): Promise<Cluster> {
  mkdirSync(dir, { recursive: true })
  const start = async (program: string, name: string, args: readonly string[]): Promise<void> => {
    const log = openSync(join(dir, `${name}.log`), 'a')
    children.push(await startGuarded(program, args, { stdio: ['ignore', log, log] }))
    closeSync(log)
  }
  const [clients, peers, port] = [await freePort(0), await freePort(0), await freePort(0)]
  const store = `http://${HOST}:${clients}`
  await start(programs.etcd, 'etcd', [
    ...['--data-dir', join(dir, 'etcd'), '--listen-client-urls', store, '--advertise-client-urls', store],
    ...['--listen-peer-urls', `http://${HOST}:${peers}`, '--initial-advertise-peer-urls', `http://${HOST}:${peers}`],
    ...['--initial-cluster', `default=http://${HOST}:${peers}`, '--unsafe-no-fsync'],
  ])
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const [signing, verifying, tokens] = ['sa.key', 'sa.pub', 'tokens.csv'].map((name) => join(dir, name)) as [
    string,
    string,
    string,
  ]
  const token = randomBytes(16).toString('hex')
  writeFileSync(signing, privateKey.export({ type: 'pkcs8', format: 'pem' }))
  writeFileSync(verifying, publicKey.export({ type: 'spki', format: 'pem' }))
  writeFileSync(tokens, `${token},drill,drill,"system:masters"\n`)
  await start(programs.apiServer, 'kube-apiserver', [
    ...['--etcd-servers', store, '--bind-address', HOST, '--secure-port', String(port), '--cert-dir', dir],
    ...['--service-account-issuer', 'https://kubernetes.default.svc', '--service-account-key-file', verifying],
    ...['--service-account-signing-key-file', signing, '--service-cluster-ip-range', '10.0.0.0/24'],
    ...['--authorization-mode', 'RBAC', '--token-auth-file', tokens],
  ])
  const cluster = connect(`https://${HOST}:${port}`, token, join(dir, 'apiserver.crt'), stop)
  let reason = ''
  for (const until = Date.now() + START_MS; Date.now() < until; await delay(300)) {
    if (children.some((child) => child.hasExited())) break
    try {
      const { status, body } = await cluster.request('GET', '/readyz')
      if (status === 200) return cluster
      reason = `${status} ${JSON.stringify(body).slice(0, 500)}`
    } catch (error) {
      reason = error instanceof Error ? error.message : String(error)
    }
  }
  const end = readFileSync(join(dir, 'kube-apiserver.log'), 'utf8').split('\n').slice(-15).join('\n')
  throw new Error(`the API server is not ready: ${reason}\n${end}`)
}

function connect(url: string, token: string, certificate: string, stop: () => Promise<void>): Cluster {
  let agent: Agent | null = null
  const kinds = new Map<string, Promise<Document>>()
  const send: Cluster['request'] = async (method, path, body, type = 'application/json') => {
    // The server writes its certificate, for its own names, when it starts.
    agent ??= new Agent({ connect: { ca: readFileSync(certificate), checkServerIdentity: () => undefined } })
    const response = await request(`${url}${path}`, {
      method: method as 'GET',
      dispatcher: agent,
      headers: { authorization: `Bearer ${token}`, 'content-type': type },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.body.text()
    const { warning = [] } = response.headers
    return { status: response.statusCode, body: parsed(text), warnings: [warning].flat() }
  }
  return {
    request: send,
    stop: async () => {
      await agent?.destroy()
      await stop()
    },
    pathOf: async ({ apiVersion, kind, metadata }, name) => {
      const root = apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`
      const find = async (listing: Promise<Document>) =>
        (await listing).resources?.find((one: Document) => one.kind === kind && !one.name.includes('/'))
      let found = await find(kinds.get(root) ?? Promise.resolve({}))
      if (found === undefined) {
        // Kinds may appear later, with their definitions.
        kinds.set(
          root,
          send('GET', root).then(({ body }) => body),
        )
        found = await find(kinds.get(root) ?? Promise.resolve({}))
      }
      if (found === undefined) return null
      const where = found.namespaced
        ? `${root}/namespaces/${metadata.namespace}/${found.name}`
        : `${root}/${found.name}`
      return name === undefined ? where : `${where}/${name}`
    },
  }
}

function parsed(text: string): Document {
  try {
    return JSON.parse(text)
  } catch {
    return { text }
  }
}
