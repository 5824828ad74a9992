import { randomUUID } from 'node:crypto'
import { AUDIT_LOG } from '#shared/db/audit/audit-model.ts'
import type { WebhookEndpoint } from '#shared/db/endpoints/endpoint-model.ts'
import { MAILS } from '#shared/db/mails/mail-model.ts'
import { CHAIN_CURSORS } from '#shared/db/scanning/cursor-model.ts'
import type { Role } from '#shared/ports/users.ts'
import { createOperator } from '#shared/usecases/accounts/manage-operators.ts'
import { advanceInvoice } from '#shared/usecases/invoices/advance-invoice.ts'
import { createOutboxRelay } from '#shared/usecases/outbox/relay.ts'
import { confirmPayments, recordBlockTransfers } from '#shared/usecases/payments/record-payments.ts'
import { adminCaller } from '#test/support/admin.ts'
import { deliveryStage } from '#test/support/delivery-stage.ts'
import { blockWith, type Engine, openEngine, paymentMethodOf } from '#test/support/engine.ts'
import { digestOf } from '#test/support/store-digest.ts'
import type { TestStores } from '#test/support/stores.ts'
import { waitingJumpAt } from '#test/support/waiting-jump.ts'

const SCOPE = { mode: 'test', network: 'ethereum', epoch: 1 } as const
const HEIGHT = 100

/** The engine with a wallet, and a scanner at `HEIGHT`. */
async function openWalletedEngine(stores: TestStores) {
  const engine = await openEngine(stores)
  const { wallets } = engine.deps
  const material = (await wallets.listMaterials()).find(({ family }) => family === 'evm')
  await wallets.insertWallet({
    ...{ id: randomUUID(), workspaceId: engine.workspace.id, mode: 'test', family: 'evm', networks: ['ethereum'] },
    ...{ kind: 'xpub', materialId: material?.id ?? '', createdAt: 1, disabledAt: null },
  })
  await engine.setCursor(HEIGHT, engine.deps.clock.now())
  return engine
}

/** Opens exceptions. */
function openExceptions({ deps, workspace }: Engine) {
  return async (change: object = {}) => {
    const about = { workspaceId: workspace.id, mode: 'test' as const, invoiceId: null, paymentKey: null }
    const fresh = { id: `unmatched:${randomUUID()}`, kind: 'unmatched' as const, detail: 'money' }
    const row = { ...fresh, ...about, openedAt: 1, closedAt: null, ...change }
    await deps.exceptions.open([row])
    return row.id
  }
}

/** Endpoints of a workspace, and permanently failed deliveries. */
function webhooksOf(stores: TestStores, workspaceId: string) {
  const stage = deliveryStage(stores)
  const endpoint = (change: Partial<WebhookEndpoint> = {}) => stage.endpoint({ workspaceId, ...change })
  const failedDelivery = async () => {
    const [event] = await stage.events(workspaceId, 1)
    if (event === undefined) throw new Error('no event')
    const end = { attempt: 9, finishedAt: event.createdAt + 9, lastError: 'status_503', lastStatusCode: 503 }
    return await stage.delivery(await endpoint(), event, { status: 'failed', ...end })
  }
  return { endpoint, failedDelivery }
}

/**
 * Makes another network than that of the invoices fail on the block after its cursor, whose hash is new, so that no
 * earlier release applies.
 */
async function stickNetwork(stores: TestStores, now: number): Promise<void> {
  const [firstAt, lastAt] = [new Date(now - 600_000), new Date(now)]
  const trouble = {
    ...{ kind: 'node' as const, height: HEIGHT + 1, hash: null, method: 'trace_block', host: 'node.example' },
    ...{ reason: 'ResponseExceededMaxSizeError', firstAt, lastAt, tries: 30 },
  }
  const cursors = stores.db.collection(CHAIN_CURSORS)
  const pattern = await cursors.findOne({ _id: 'test:ethereum' })
  if (pattern === null) throw new Error('no scanner was here')
  const { _id, released: _released, ...same } = pattern
  const place = { hash: randomUUID(), height: HEIGHT, time: firstAt, headHeight: HEIGHT + 10, trouble }
  const stuck = { ...same, ...place, mode: 'live' as const, network: 'bsc' as const }
  await cursors.replaceOne({ _id: 'live:bsc' }, stuck, { upsert: true })
}

/** Real transfers to addresses of the workspace, each in a separate block. */
function moneyOn(engine: Engine, relay: () => Promise<void>) {
  let height = HEIGHT
  const transfer = async (to: { matchKey: string; address: string }, amountBase: bigint) => {
    height += 10
    const key = `k${randomUUID()}`
    const block = blockWith(height, engine.deps.clock.now(), to, [{ key, amountBase }])
    await recordBlockTransfers(engine.deps, { ...SCOPE, blocks: [block] })
    await confirmPayments(engine.deps, { ...SCOPE, height: height + 9, finalizedHeight: null })
    const [payment] = await engine.deps.payments.findByKeys([key])
    if (payment === undefined) throw new Error('no payment was stored')
    return payment
  }
  /** An expired invoice whose money arrived hours late. */
  const latePayment = async () => {
    const opened = await engine.open({ asset: 'usdt_ethereum' })
    const { id } = opened.terms
    engine.advance(3 * 3_600_000)
    await engine.publishRates()
    await engine.setCursor(height, engine.deps.clock.now())
    await advanceInvoice(engine.deps, id)
    const payment = await transfer(paymentMethodOf(opened), opened.state.paymentMethods[0]?.quotes[0]?.amountBase ?? 0n)
    await advanceInvoice(engine.deps, id)
    await relay()
    return { invoiceId: id, payment, exceptionId: `late:${payment.key}` }
  }
  /** Confirmed dust on an open invoice. */
  const dustPayment = async () => {
    const opened = await engine.open({ asset: 'usdt_ethereum' })
    const payment = await transfer(paymentMethodOf(opened), 1n)
    await advanceInvoice(engine.deps, opened.terms.id)
    await relay()
    return payment
  }
  /** Confirmed money on an address of the workspace that no invoice holds. */
  const unmatchedPayment = async () => {
    const materials = await engine.deps.wallets.listMaterials()
    const material = materials.find(({ family, sandbox }) => family === 'evm' && sandbox)
    // The last one derived: earlier ones are offered first.
    const [address] = await engine.deps.wallets.addressesAt(material?.id ?? '', [(material?.derivedCount ?? 0) - 1])
    if (address === undefined) throw new Error('no address')
    return await transfer(address, 20_000_000n)
  }
  return { latePayment, dustPayment, unmatchedPayment }
}

/** An installation on which every operator change can be tried, with a user who may do all of them. */
export type AttackWorld = Awaited<ReturnType<typeof openAttackWorld>>

/** Opens the world; call it in a hook of a file that uses `useStores`. */
export async function openAttackWorld(stores: TestStores) {
  const engine = await openWalletedEngine(stores)
  const workspaceId = engine.workspace.id
  const boss = await adminCaller(stores, { workspaceId, operator: true })

  const person = async (role: Role | null) => {
    const email = `p${randomUUID()}@example.com`
    const facts = { email, name: 'Paz', password: 'four words are good', isOperator: false, actor: 'test' }
    return await createOperator(boss.deps, { ...facts, member: role === null ? null : { workspaceId, role } })
  }
  const relay = async () => {
    for (let shard = 0; shard < 8; shard += 1) await createOutboxRelay(engine.deps).relayShard(shard)
  }
  const invoice = async (fields: object = {}) => {
    const request = { ...boss.at, opId: randomUUID(), invoice: { amount: '20', currency: 'USD', ...fields } }
    return (await boss.caller.invoices.create(request)).id
  }
  const paid = async () => {
    const id = await invoice({ asset: 'usdt_ethereum' })
    await boss.caller.invoices.simulate({ ...boss.at, id, opId: randomUUID(), scenario: 'paid' })
    return id
  }
  const money = moneyOn(engine, relay)
  return {
    engine,
    boss,
    ...{ person, invoice, paid, ...money, exception: openExceptions(engine) },
    stuckNetwork: () => stickNetwork(stores, boss.deps.clock.now()),
    /** A jump of the official peso to 800 that waits. */
    waitingJump: () => boss.deps.instance.rates.insert(waitingJumpAt(boss.deps.clock.now())),
    ...webhooksOf(stores, workspaceId),
    /** Relays the outbox entries of requests, and counts the rows. */
    count: async () => {
      await relay()
      const [rows, mails] = await Promise.all(
        [AUDIT_LOG, MAILS].map((model) => stores.db.connection.collection(model.name).countDocuments()),
      )
      return { rows: rows ?? 0, mails: mails ?? 0 }
    },
    /** A digest of all stored data, including the audit log and the mails. */
    digest: () => digestOf(stores),
  }
}
