import { randomBytes, randomUUID } from 'node:crypto'
import { HDNodeWallet } from 'ethers'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createAuditRepository } from '#shared/db/audit/audit-repository.ts'
import { createEndpointOperations, createEndpointRepository } from '#shared/db/deliveries/endpoint-repository.ts'
import { createProcessHeartbeats } from '#shared/db/installation/process-heartbeats.ts'
import { mailToDocument } from '#shared/db/mails/mail-repository.ts'
import { createInstanceReads } from '#shared/db/maintenance/installation-reads.ts'
import { createSealedSecretRepository } from '#shared/db/maintenance/sealed-secret-repository.ts'
import { createIdempotencyRepository } from '#shared/db/requests/idempotency-repository.ts'
import { mailContext, totpContext } from '#shared/ports/secrets.ts'
import { createWebhookHttp } from '#shared/runtime/http/webhook-http.ts'
import { after as afterDelay } from '#shared/runtime/process/timers.ts'
import { createSecretBox, type MasterKeys, masterKeyId } from '#shared/runtime/secrets/secret-box.ts'
import { createDispatcher } from '#shared/usecases/deliveries/dispatch.ts'
import { rotateEndpointSecret } from '#shared/usecases/endpoints/rotate-endpoint-secret.ts'
import { runOnce } from '#shared/usecases/requests/run-once.ts'
import { verifyKeys } from '#shared/usecases/wallets/verify-keys.ts'
import { addWallet } from '#test/support/add-wallet.ts'
import { checkWebhook } from '#test/support/check-webhook.ts'
import { dispatcherDeps } from '#test/support/dispatcher-deps.ts'
import { type Engine, openEngine } from '#test/support/engine.ts'
import { givePending, type PendingDeliveries } from '#test/support/pending-deliveries.ts'
import { useStores } from '#test/support/stores.ts'
import { startWebhookReceiver, type WebhookReceiver } from '#test/support/webhook-receiver.ts'
import { type RotationReport, rotateMasterKey } from './rotate-master-key.ts'

const OLD = new Uint8Array(32).fill(7)
const NEW = new Uint8Array(randomBytes(32))
const third = new Uint8Array(randomBytes(32))
/** A process that was not restarted yet, and one that was. */
const before = createSecretBox([OLD, NEW])
const after = createSecretBox([NEW, OLD])
const stores = useStores()
let engine: Engine
let receiver: WebhookReceiver

beforeAll(async () => {
  engine = await openEngine(stores)
  receiver = await startWebhookReceiver()
})
afterAll(() => receiver.close())

const rotate = (keys: MasterKeys = [NEW, OLD], dryRun = false): Promise<RotationReport> =>
  rotateMasterKey(
    {
      sealed: createSealedSecretRepository(stores.db),
      rotation: createSecretBox(keys),
      audits: createAuditRepository(stores.db),
      installationReads: createInstanceReads(stores.db),
      signAudit: () => Promise.resolve(true),
      ...stores.runtime,
    },
    { actor: 'cli:test', dryRun },
  )

const collection = (name: string) => stores.db.connection.collection<{ _id: string }>(name)

/** One sealed value of each kind that no other part of this test makes. */
async function plant(count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    const [user, mail, scope] = [randomUUID(), randomUUID(), `scope-${randomUUID()}`]
    const sealedSecret = before.seal(`totp ${user}`, totpContext(user))
    await collection('users').insertOne({
      _id: user,
      email: `${user}@example.com`,
      name: '',
      passwordHash: '',
      isOperator: false,
      totp: { sealedSecret, lastStep: 1, since: 1 },
      pendingTotp: index % 2 === 0 ? { sealedSecret, at: 1 } : null,
      recoveryHashes: [],
      devices: [],
      securityEpoch: 0,
      createdAt: new Date(),
    } as never)
    const data = { url_sealed: before.seal(`link ${mail}`, mailContext(mail)), note: 'v1.not.sealed.text' }
    const waiting = mailToDocument({
      ...{ id: mail, workspaceId: 'w', template: 'owner_notice', to: 'a@example.com' },
      ...{ data, createdAt: Date.now() },
    })
    await collection('mails').insertOne({ ...waiting, status: 'sent' } as never)
    const once = { scope, fingerprint: 'f', requestId: 'r' }
    const deps = {
      ...stores.runtime,
      after: afterDelay,
      secretBox: before,
      idempotency: createIdempotencyRepository(stores.db),
    }
    await runOnce(deps, once, async () => ({ status: 201, body: `answer ${scope}`, replayed: false }))
  }
}

/** Every string in the database that has the form of an envelope, whatever the classes say. */
async function envelopesOf(keyPrefix: (sealed: string) => boolean): Promise<readonly string[]> {
  const found: string[] = []
  const walk = (value: unknown, where: string): void => {
    if (typeof value === 'string' && /^v[12](\.[\w-]{8,}){2,3}$/.test(value) && keyPrefix(value)) found.push(where)
    if (typeof value === 'object' && value !== null)
      for (const [name, inner] of Object.entries(value)) walk(inner, `${where}.${name}`)
  }
  for (const { name } of await stores.db.connection.listCollections())
    for (const document of await collection(name).find().toArray()) walk(document, name)
  return found
}

async function deliverAll(given: readonly PendingDeliveries[]): Promise<void> {
  const http = createWebhookHttp()
  await Promise.all(
    [before, after].map(async (secretBox, process) => {
      const dispatcher = createDispatcher(dispatcherDeps(stores, { secretBox, http }))
      // A turn may end before everything was sent; the queue gives the endpoint another one.
      for (const { endpoint } of given.filter((_, index) => index % 2 === process))
        await vi.waitFor(
          async () => {
            await dispatcher.drain('normal', endpoint.id)
            await dispatcher.idle()
            const pending = { endpointId: endpoint.id, status: 'pending' } as never
            expect(await collection('webhook_deliveries').countDocuments(pending)).toBe(0)
          },
          { timeout: 30_000, interval: 20 },
        )
      await dispatcher.stop()
    }),
  )
  await http.close()
}

describe('rotating the master key', () => {
  // Guards secrets and money: while the key changes, nothing is sent unsigned or not at all, and nothing becomes unreadable.
  it('runs beside signing, secret rotation and new wallets, and leaves nothing under the old key', {
    timeout: 120_000,
  }, async () => {
    const given = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        givePending(stores.db, index % 2 === 0 ? before : createSecretBox(OLD), 2, { url: receiver.url }),
      ),
    )
    await plant(25)
    const deps = {
      endpoints: createEndpointRepository(stores.db),
      operations: createEndpointOperations(stores.db),
      ...stores.runtime,
    }
    const addWallets = async (): Promise<void> => {
      for (let index = 0; index < 6; index += 1) {
        const value = HDNodeWallet.fromSeed(randomBytes(32)).derivePath("m/44'/60'/0'").neuter().extendedKey
        const input = {
          workspaceId: engine.workspace.id,
          mode: 'live',
          family: 'evm',
          kind: 'xpub',
          value,
          startIndex: 0,
        } as const
        const secretBox = index % 2 === 0 ? before : after
        await addWallet({ ...engine.deps, addressBook: engine.addressBook, secretBox }, input)
      }
    }
    const changeSecrets = async (): Promise<void> => {
      for (const { endpoint } of given.slice(0, 10)) {
        const request = { endpointId: endpoint.id, overlapMs: 60_000, opId: randomUUID(), actor: 'test' }
        await rotateEndpointSecret({ ...deps, secretBox: before }, request)
      }
    }
    await Promise.all([rotate(), deliverAll(given.slice(10)), addWallets(), changeSecrets()])
    // The last process with the old settings is gone.
    const report = await rotate()
    expect(report).toMatchObject({ complete: true, left: {}, unreadable: { count: 0, first: [] } })
    expect(await envelopesOf((sealed) => !sealed.startsWith(after.prefix))).toEqual([])
    expect((await envelopesOf(() => true)).length).toBeGreaterThan(40 + 10 + 25 * 3 + 6)

    const only = createSecretBox(NEW)
    await verifyKeys({ wallets: engine.deps.wallets, addressBook: engine.addressBook, secretBox: only })
    const signed = receiver.requests.map((request) => {
      const secret = given.find(({ deliveryIds }) =>
        deliveryIds.includes(String(request.headers['x-webhook-id'])),
      )?.secret
      return checkWebhook(request, secret ?? '', Date.now())
    })
    expect(signed).toEqual(Array.from({ length: 60 }, () => 'valid'))
    for (const user of await collection('users').find().toArray()) {
      const { totp } = user as unknown as { totp: { sealedSecret: string } }
      expect(only.open(totp.sealedSecret, totpContext(user._id))).toBe(`totp ${user._id}`)
    }
    const rows = await createAuditRepository(stores.db).listBySubject('installation')
    expect(rows.map(({ action, detail }) => [action, detail['key_id'], detail['left']])).toContainEqual([
      'keys.master_rotated',
      after.keyId,
      0,
    ])
    expect(JSON.stringify(rows)).not.toContain('v2.')
  })

  it('only looks with a dry run, goes on where it was stopped, and finds nothing to do again', async () => {
    const ring: MasterKeys = [third, NEW]
    const looked = await rotate(ring, true)
    const all = Object.values(looked.left).reduce((sum, count) => sum + count, 0)
    expect(looked).toMatchObject({ complete: false, moved: {} })
    const sealed = createSealedSecretRepository(stores.db)
    let replaced = 0
    const dying = {
      ...sealed,
      replace: async (...args: Parameters<typeof sealed.replace>) => {
        replaced += 1
        if (replaced === 30) throw new Error('killed')
        return sealed.replace(...args)
      },
    }
    const audits = createAuditRepository(stores.db)
    const installationReads = createInstanceReads(stores.db)
    const signAudit = () => Promise.resolve(true)
    const deps = {
      sealed: dying,
      rotation: createSecretBox(ring),
      audits,
      installationReads,
      signAudit,
      ...stores.runtime,
    }
    await expect(rotateMasterKey(deps, { actor: 'cli:test', dryRun: false })).rejects.toThrow('killed')
    const rest = await rotate(ring)
    const moved = Object.values(rest.moved).reduce((sum, count) => sum + count, 0)
    expect(rest.complete).toBe(true)
    expect(moved).toBeGreaterThan(0)
    expect(moved).toBeLessThan(all)
    expect(await rotate(ring)).toMatchObject({ complete: true, moved: {} })
  })

  // Guarantee: nobody is told to take a key away that a running process still needs.
  it('names running processes that do not hold the new key', async () => {
    const heartbeats = createProcessHeartbeats(stores.db)
    const seenAt = stores.runtime.clock.now()
    const alive = (name: string, masterKeys: readonly string[], at = seenAt) =>
      heartbeats.beat({
        ...{
          id: randomUUID(),
          name,
          host: 'h',
          pid: 7,
          version: '1',
          node: '20',
          startedAt: at,
          seenAt: at,
          silent: [],
        },
        masterKeys,
      })
    await alive('api', [masterKeyId(NEW), masterKeyId(OLD)])
    await alive('checkout', [])
    await alive('dead', [masterKeyId(OLD)], seenAt - 3_600_000)
    expect((await rotate()).processesWithout).toEqual([])
    await alive('webhooks', [masterKeyId(OLD)])
    expect((await rotate()).processesWithout).toEqual(['webhooks on h (7)'])
  })

  it('names what no key opens, leaves it as it is and moves everything else', async () => {
    const stranger = createSecretBox(new Uint8Array(randomBytes(32)))
    const { endpoint } = await givePending(stores.db, stranger, 0, { url: receiver.url })
    const report = await rotate([NEW, third])
    expect(report.complete).toBe(false)
    expect(report.unreadable.first).toContain(`webhook_endpoints ${endpoint.id} sealedSecrets.0`)
    const stored = await createEndpointRepository(stores.db).findById(endpoint.id)
    expect(stored?.sealedSecrets).toEqual(endpoint.sealedSecrets)
  })
})
