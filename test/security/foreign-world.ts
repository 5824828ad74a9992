import { createHash, randomUUID } from 'node:crypto'
import { SESSIONS } from '#shared/db/accounts/operator-models.ts'
import { createOperator } from '#shared/usecases/accounts/manage-operators.ts'
import { advanceInvoice } from '#shared/usecases/invoices/advance-invoice.ts'
import type { AdminCaller } from '#test/support/admin.ts'
import { deliveryStage } from '#test/support/delivery-stage.ts'
import { evmAccounts, proofOf, type Subject } from '#test/support/prove-control.ts'
import type { TestStores } from '#test/support/stores.ts'
import type { twoTenants } from '#test/support/two-tenants.ts'

const op = () => ({ opId: randomUUID() })
const base64 = (text: string) => Buffer.from(text).toString('base64url')
const pool = (accounts: readonly { readonly address: string }[]): Subject => ({
  ...({ family: 'evm', kind: 'pool' } as const),
  value: accounts.map(({ address }) => address).join('\n'),
})
const FIXED = { amount: '20', currency: 'USD' }

/** Well-formed ids of nothing, by what they would be the id of. A place is a cursor of a list. */
const UNKNOWN = {
  ...{ login: randomUUID(), invitation: randomUUID(), member: randomUUID(), apiKey: `${randomUUID()} abcd` },
  ...{ actor: 'user:nobody@example.com', auditPlace: base64(`1:${randomUUID()}`) },
  ...{ invoice: randomUUID(), openInvoice: randomUUID(), testInvoice: randomUUID(), invoicePlace: base64('nothing') },
  ...{ refund: randomUUID(), payment: randomUUID(), unmatchedPayment: randomUUID(), paymentPlace: base64('nothing') },
  ...{ link: randomUUID(), linkPlace: base64('nothing'), product: randomUUID(), productPlace: base64('nothing') },
  ...{ exception: `unmatched:${randomUUID()}`, exceptionPlace: base64(`1:unmatched:${randomUUID()}`) },
  ...{ endpoint: randomUUID(), delivery: `whd_${'0'.repeat(26)}`, deliveryPlace: base64(`1:whd_${'0'.repeat(26)}`) },
  ...{ event: `evt_${'0'.repeat(32)}_0`, eventPlace: base64(`1:evt_${'0'.repeat(32)}_0`) },
  ...{ wallet: randomUUID(), nonce: 'cd'.repeat(16) },
}
/** What a workspace has that has an id. */
export type ForeignKind = keyof typeof UNKNOWN
export type Ids = Readonly<Record<ForeignKind, string>>
/** Somebody who may do everything in a workspace that has one of each. */
export interface Tenant extends AdminCaller {
  readonly own: Ids
}

export const unknownIds: Ids = UNKNOWN

/** Gives a live shop one of everything that an id names, each in the state in which it can be changed. */
export async function stockedShop(
  stores: TestStores,
  world: ReturnType<typeof twoTenants>,
  who: AdminCaller,
  { isProved }: { readonly isProved: boolean },
): Promise<Tenant> {
  const { caller, at, deps, workspaceId } = who
  const accounts = evmAccounts(5)
  const { wallet } = await world.add(who, pool(accounts), isProved ? accounts : [])
  const paid = await world.invoice(who)
  const open = await world.invoice(who)
  if (paid === null || open === null) throw new Error('no address')
  const payment = await world.pay(paid.address, paid.due)
  await advanceInvoice(world.engine().deps, paid.id)
  const free = accounts.find(({ address }) => address !== paid.address && address !== open.address)
  const unmatched = await world.pay(free?.address ?? '', 10n ** 16n)
  // Lists of two, so that their first page of one ends with a cursor.
  const twice = async <T>(make: () => Promise<T>) => [await make(), await make()] as const
  const [link] = await twice(() => caller.paymentLinks.create({ ...at, ...op(), link: { title: 'Mug', ...FIXED } }))
  const [product] = await twice(() =>
    caller.products.create({ ...at, ...op(), product: { name: 'Mug', price: '5.00', currency: 'USD' } }),
  )
  await world.pay(paid.address, 10n ** 15n)
  const refund = await caller.invoices.openRefund({
    ...{ ...at, ...op(), id: paid.id, amount: '0.001' },
    asset: 'eth_ethereum',
  })
  const testInvoice = await caller.invoices.create({ ...at, mode: 'test', ...op(), invoice: FIXED })
  const email = `m${randomUUID()}@example.com`
  const person = { email, name: 'Mia', password: 'four words are good', isOperator: false, actor: 'test' }
  const { id: member } = await createOperator(deps, { ...person, member: { workspaceId, role: 'viewer' } })
  const invitation = await caller.members.invite({ ...at, ...op(), email: `i${email}`, role: 'viewer' })
  const { key } = await caller.apiKeys.create({ ...at, ...op(), name: 'Shop', scopes: ['invoices:read'] })
  const { nonce } = await proofOf(who, pool(evmAccounts(1)), [])
  const page = { ...at, limit: 1 }
  const cursor = async (list: Promise<{ readonly nextCursor: string | null }>) => {
    const { nextCursor } = await list
    if (nextCursor === null) throw new Error('a list of one page')
    return nextCursor
  }
  return {
    ...who,
    own: {
      ...{ invitation: invitation.id, member, apiKey: `${key.id} ${key.last4}`, actor: `user:${who.session.email}` },
      ...{ invoice: paid.id, openInvoice: open.id, testInvoice: testInvoice.id, refund: refund.id },
      ...{ payment: payment.id, unmatchedPayment: unmatched.id, link: link.id, product: product.id },
      ...{ exception: `unmatched:${unmatched.key}:${workspaceId}`, wallet: wallet.id, nonce },
      ...(await sentThings(stores, who)),
      login: await storedLogin(stores, who),
      invoicePlace: await cursor(caller.invoices.list(page)),
      paymentPlace: await cursor(caller.payments.list(page)),
      linkPlace: await cursor(caller.paymentLinks.list(page)),
      productPlace: await cursor(caller.products.list(page)),
      auditPlace: await cursor(caller.audit.list(page)),
      exceptionPlace: base64(`${unmatched.createdAt}:unmatched:${unmatched.key}:${workspaceId}`),
    },
  }
}

/** An endpoint of the shop with a failed delivery. */
async function sentThings(stores: TestStores, { workspaceId, caller, at }: AdminCaller) {
  const stage = deliveryStage(stores)
  const endpoint = await stage.endpoint({ workspaceId, mode: 'live' })
  const made = await stage.events(workspaceId, 2, { mode: 'live' })
  const end = { attempt: 9, lastError: 'status_503', lastStatusCode: 503 }
  const rows = []
  for (const event of made)
    rows.push(await stage.delivery(endpoint, event, { status: 'failed', finishedAt: event.createdAt + 9, ...end }))
  const [event, delivery] = [made[0]?.id ?? '', rows[0]?.id ?? '']
  const [events, deliveries] = [
    await caller.deliveries.events({ ...at, limit: 1 }),
    await caller.deliveries.list({ ...at, limit: 1 }),
  ]
  const places = { eventPlace: events.nextCursor ?? '', deliveryPlace: deliveries.nextCursor ?? '' }
  return { endpoint: endpoint.id, event, delivery, ...places }
}

/** Another log-in of the person, in another browser. */
async function storedLogin(stores: TestStores, { session }: AdminCaller): Promise<string> {
  const loginId = randomUUID()
  const now = new Date(stores.runtime.clock.now())
  await stores.db.collection(SESSIONS).insertOne({
    ...{ _id: createHash('sha256').update(loginId).digest('hex'), loginId, userId: session.userId, securityEpoch: 0 },
    ...{
      secondFactor: 'given',
      steppedUpUntil: null,
      loggedInAt: now,
      seenAt: now,
      ip: '127.0.0.1',
      userAgent: 'test',
    },
    ...{ endsAt: new Date(now.getTime() + 3_600_000), replaced: false },
  })
  return loginId
}
