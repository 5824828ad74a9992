import { openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '#dev/embedded/free-port.ts'
import { type GuardedChild, startGuarded } from '#dev/embedded/guarded-child.ts'
import type { Postgres } from './postgres.ts'
import type { Workspace } from './sandbox.ts'
import { until } from './until.ts'

/** An order as the merchant sees it. */
export interface VendureOrder {
  readonly id: string
  readonly code: string
  readonly state: string
  readonly payments: readonly {
    readonly id: string
    readonly state: string
    readonly amount: number
    readonly transactionId: string
    readonly metadata: { readonly url?: string }
    readonly refunds: readonly { readonly id: string; readonly state: string }[]
  }[]
  readonly history: { readonly items: readonly { readonly type: string; readonly data: { readonly note?: string } }[] }
}

/** A row of the list of money to return. */
export interface Money {
  readonly invoiceId: string
  readonly orderCode: string
  readonly amountBase: string
  readonly amount: string
  readonly symbol: string
  readonly reason: string
  readonly url: string
}

/** Sends a query of a GraphQL API; rejects with its errors. */
type Query = <T>(text: string, variables?: object) => Promise<T>

/** A real Vendure on PostgreSQL: its database, and its APIs for the merchant and for each customer. */
export interface VendureShop {
  readonly url: string
  readonly admin: Query
  customer(): Query
  sql(text: string): Promise<readonly string[]>
  stop(): Promise<void>
}

/** Sends queries to one API, with the token that it gave. */
function connect(url: string): Query {
  let token = ''
  return async <T>(query: string, variables: object = {}) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(token !== '' && { authorization: `Bearer ${token}` }) },
      body: JSON.stringify({ query, variables }),
    })
    token = response.headers.get('vendure-auth-token') ?? token
    const { data, errors } = (await response.json()) as { data: T; errors?: readonly { message: string }[] }
    if (errors !== undefined) throw new Error(errors.map(({ message }) => message).join('; '))
    return data
  }
}

/** Starts the shop of a folder with a separate database; resolves when the merchant is logged in. */
export async function startVendure(folder: string, postgres: Postgres, workspace: Workspace): Promise<VendureShop> {
  const port = await freePort(0)
  const url = `http://127.0.0.1:${port}`
  const log = openSync(join(folder, 'shop.log'), 'a')
  const env = {
    ...process.env,
    VENDURE_DISABLE_TELEMETRY: 'true',
    PORT: String(port),
    SHOP_URL: url,
    DATABASE_URL: await postgres.createDatabase('vendure'),
    PAYMESH_KEY: workspace.apiKey,
    PAYMESH_API: workspace.apiUrl,
    PAYMESH_SECRET: workspace.secret,
    PAYMESH_ADMIN: workspace.adminUrl,
  }
  const child: GuardedChild = await startGuarded(process.execPath, ['shop.mjs'], {
    cwd: folder,
    env,
    stdio: ['ignore', log, log],
  })
  const admin = connect(`${url}/admin-api`)
  const LOG_IN = 'mutation { login(username: "superadmin", password: "superadmin") { __typename } }'
  try {
    const answers = until('Vendure answers', async () => (await admin<{ login: object }>(LOG_IN)).login)
    await Promise.race([answers, ended(child, folder)])
    await until(
      'the product is there',
      async () => (await postgres.query('vendure', 'select count(*) from payment_method'))[0] === '1',
    )
  } catch (error) {
    await child.stop(1_000)
    throw error
  }
  workspace.relay.target = `${url}/paymesh/webhook`
  const sql = (text: string): Promise<readonly string[]> => postgres.query('vendure', text)
  return { url, admin, sql, customer: () => connect(`${url}/shop-api`), stop: () => child.stop(5_000) }
}

/** Rejects with the end of a shop's log when it ends. */
export async function ended(child: GuardedChild, folder: string): Promise<never> {
  await child.exited
  throw new Error(`the shop ended: ${readFileSync(join(folder, 'shop.log'), 'utf8').slice(-2_000)}`)
}

const ORDER = `id code state payments { id state amount transactionId metadata refunds { id state } } history { items { type data } }`

/** The order as the merchant sees it now. */
export async function orderOf({ admin }: VendureShop, id: string): Promise<VendureOrder> {
  return (await admin<{ order: VendureOrder }>(`query($id: ID!) { order(id: $id) { ${ORDER} } }`, { id })).order
}

/** The list of money to return. */
export async function moneyOf({ admin }: VendureShop): Promise<readonly Money[]> {
  const fields = 'invoiceId orderCode amount amountBase symbol reason url'
  return (await admin<{ list: readonly Money[] }>(`{ list: paymeshMoneyToReturn { ${fields} } }`)).list
}

/** A customer with one pack of coffee in the cart, who has entered everything. */
export async function openCart(shop: VendureShop) {
  const query = shop.customer()
  const add = async (): Promise<{ id: string; code: string }> =>
    (
      await query<{ order: { id: string; code: string } }>(
        'mutation { order: addItemToOrder(productVariantId: 1, quantity: 1) { ... on Order { id code } ... on ErrorResult { message } } }',
      )
    ).order
  const order = await add()
  const move = async (state: string): Promise<string> =>
    (
      await query<{ order: { state?: string; message?: string } }>(
        `mutation { order: transitionOrderToState(state: "${state}") { ... on Order { state } ... on OrderStateTransitionError { message: transitionError } } }`,
      )
    ).order.state ?? 'refused'
  await query(
    'mutation { setCustomerForOrder(input: { emailAddress: "ada@example.com", firstName: "Ada", lastName: "Lovelace" }) { __typename } }',
  )
  await query(
    'mutation { setOrderShippingAddress(input: { streetLine1: "Weg 1", city: "Jena", postalCode: "07743", countryCode: "DE" }) { __typename } }',
  )
  await query('mutation { setOrderShippingMethod(shippingMethodId: ["1"]) { __typename } }')
  /** Presses "Pay": the invoice of the cart. */
  const checkout = async () => {
    await move('ArrangingPayment')
    const text = 'mutation { invoice: createPaymeshInvoice { id url status orderState } }'
    return (await query<{ invoice: { id: string; url: string; status: string; orderState: string } }>(text)).invoice
  }
  const remove = async (): Promise<void> => {
    const { activeOrder } = await query<{ activeOrder: { lines: readonly { id: string; quantity: number }[] } }>(
      '{ activeOrder { lines { id quantity } } }',
    )
    const [line] = activeOrder.lines
    await query(
      'mutation($id: ID!, $quantity: Int!) { adjustOrderLine(orderLineId: $id, quantity: $quantity) { __typename } }',
      { id: line?.id, quantity: (line?.quantity ?? 1) - 1 },
    )
  }
  return { ...order, query, add, remove, move, checkout }
}
