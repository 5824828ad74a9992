import { execFile } from 'node:child_process'
import { openSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePort } from '#dev/embedded/free-port.ts'
import { type GuardedChild, startGuarded } from '#dev/embedded/guarded-child.ts'
import type { Postgres } from './postgres.ts'
import type { Workspace } from './sandbox.ts'
import { until } from './until.ts'
import { ended } from './vendure-shop.ts'

const run = promisify(execFile)
/** Its first start on a busy machine. */
const START_MS = 180_000

/** Sends a request; resolves with status and body, whatever they are. */
type Call = <T>(method: string, path: string, body?: object) => Promise<{ readonly status: number; readonly body: T }>

/** A real Medusa on PostgreSQL: its database, and its APIs for the merchant and for customers. */
export interface MedusaShop {
  readonly admin: Call
  readonly store: Call
  readonly region: string
  readonly variant: string
  sql(text: string): Promise<readonly string[]>
  /** Ends it by force and starts it again on the same database. */
  restart(): Promise<void>
  stop(): Promise<void>
}

/** Starts the shop of a folder with a separate database; resolves when the merchant is logged in. */
export async function startMedusa(folder: string, postgres: Postgres, workspace: Workspace): Promise<MedusaShop> {
  const port = await freePort(0)
  const url = `http://127.0.0.1:${port}`
  const env = {
    ...process.env,
    PORT: String(port),
    SHOP_URL: url,
    DATABASE_URL: await postgres.createDatabase('medusa'),
    MEDUSA_DISABLE_TELEMETRY: 'true',
    PAYMESH_KEY: workspace.apiKey,
    PAYMESH_API: workspace.apiUrl,
    PAYMESH_SECRET: workspace.secret,
    PAYMESH_ADMIN: workspace.adminUrl,
  }
  const cli = createRequire(join(folder, 'package.json')).resolve('@medusajs/cli/cli.js')
  for (const args of [['db:migrate'], ['exec', './seed.js']]) {
    const done = run(process.execPath, [cli, ...args], { cwd: folder, env, maxBuffer: 1 << 26, timeout: START_MS })
    await done.catch((error) => {
      throw new Error(
        `medusa ${args.join(' ')}: ${String(error.stdout).slice(-2_000)}${String(error.stderr).slice(-2_000)}`,
      )
    })
  }
  const seed = JSON.parse(readFileSync(join(folder, 'seed.json'), 'utf8'))
  const log = openSync(join(folder, 'shop.log'), 'a')
  let token = ''
  const call =
    (headers: () => Record<string, string>): Call =>
    async (method, path, body) => {
      const init = { method, headers: { 'content-type': 'application/json', ...headers() } }
      const response = await fetch(`${url}${path}`, { ...init, ...(body && { body: JSON.stringify(body) }) })
      const text = await response.text()
      return { status: response.status, body: text.startsWith('{') ? JSON.parse(text) : (text as never) }
    }
  const admin = call(() => (token === '' ? {} : { authorization: `Bearer ${token}` }))
  let child: GuardedChild
  const start = async (): Promise<void> => {
    child = await startGuarded(process.execPath, [cli, 'start'], { cwd: folder, env, stdio: ['ignore', log, log] })
    const { email, password } = seed
    const answers = until(
      'Medusa answers',
      async () => {
        const { body } = await admin<{ token?: string }>('POST', '/auth/user/emailpass', { email, password })
        token = body.token ?? ''
        return token !== ''
      },
      START_MS,
    )
    await Promise.race([answers, ended(child, folder)])
  }
  await start()
  workspace.relay.target = `${url}/hooks/payment/paymesh_paymesh`
  return {
    ...{ admin, region: seed.region, variant: seed.variant },
    store: call(() => ({ 'x-publishable-api-key': seed.key })),
    sql: (text) => postgres.query('medusa', text),
    restart: async () => {
      child.kill('SIGKILL')
      await child.exited
      await start()
    },
    stop: () => child.stop(5_000),
  }
}

/** What came of a request that must succeed. */
export async function good<T>(answer: Promise<{ readonly status: number; readonly body: T }>): Promise<T> {
  const { status, body } = await answer
  if (status >= 300) throw new Error(`answered ${status}: ${JSON.stringify(body)}`)
  return body
}

/** A customer with one bag of coffee in the cart. */
export async function openCart({ store, region, variant }: MedusaShop) {
  const { cart } = await good(
    store<{ cart: { id: string } }>('POST', '/store/carts', { region_id: region, email: 'ada@shop.test' }),
  )
  const add = () => good(store('POST', `/store/carts/${cart.id}/line-items`, { variant_id: variant, quantity: 1 }))
  await add()
  /** Presses "Pay": a session, and its invoice. */
  const checkout = async (data: object = {}): Promise<{ session: string; invoice: string }> => {
    const { payment_collection: collection } = await good(
      store<{ payment_collection: { id: string } }>('POST', '/store/payment-collections', { cart_id: cart.id }),
    )
    const { payment_collection: made } = await good(
      store<{ payment_collection: { payment_sessions: readonly { id: string; data: { id: string } }[] } }>(
        ...(['POST', `/store/payment-collections/${collection.id}/payment-sessions`] as const),
        { provider_id: 'pp_paymesh_paymesh', data },
      ),
    )
    const session = made.payment_sessions.at(-1)
    return { session: session?.id ?? '', invoice: session?.data.id ?? '' }
  }
  const complete = async (): Promise<string> => {
    const { status, body } = await store<{ type?: string }>('POST', `/store/carts/${cart.id}/complete`)
    return status === 200 ? (body.type ?? '') : String(status)
  }
  return { id: cart.id, add, checkout, complete }
}
