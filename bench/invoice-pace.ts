import { Pool } from 'undici'

/** The invoices to create, and when. */
export interface InvoiceOrder {
  /** Scheme, host and port of the API. */
  readonly origin: string
  /** Used in turn. */
  readonly apiKeys: readonly string[]
  readonly body: string
  readonly seconds: number
  /**
   * `perSecond`: each at its own time, whatever happened to earlier ones. `outstanding`: a new one for each webhook that
   * arrives, so that this many are between request and webhook.
   */
  readonly pace: { readonly perSecond: number } | { readonly outstanding: number }
}

/** One invoice; times in ms of the machine's clock. */
export interface CreatedInvoice {
  readonly id: string
  /** Place of the key that made it. */
  readonly key: number
  /** Its scheduled time. */
  readonly intendedAt: number
  /** When the 201 arrived, so it was durable before. */
  readonly answeredAt: number
}

/** The result. */
export interface InvoiceRun {
  readonly created: readonly CreatedInvoice[]
  /** Responses other than 201, by status. */
  readonly refused: Readonly<Record<string, number>>
}

const CONNECTIONS = 64

/** Creates invoices at a pace for some seconds; `webhook` resolves with the next webhook. */
export async function createInvoices(order: InvoiceOrder, webhook: () => Promise<void>): Promise<InvoiceRun> {
  const pool = new Pool(order.origin, { connections: CONNECTIONS, pipelining: 1 })
  const created: CreatedInvoice[] = []
  const refused: Record<string, number> = {}
  let turn = 0
  const create = async (intendedAt: number): Promise<void> => {
    const key = turn % order.apiKeys.length
    const apiKey = order.apiKeys[key] ?? ''
    turn += 1
    const response = await pool.request({
      path: '/api/v1/invoices',
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: order.body,
    })
    const text = await response.body.text()
    const answeredAt = now()
    const id = /"id":"([0-9a-f-]{36})"/.exec(text)?.[1]
    if (response.statusCode === 201 && id !== undefined) created.push({ id, key, intendedAt, answeredAt })
    else refused[response.statusCode] = (refused[response.statusCode] ?? 0) + 1
  }
  const until = now() + order.seconds * 1_000
  if ('perSecond' in order.pace) await paced(create, order.pace.perSecond, until)
  else await outstanding(create, order.pace.outstanding, until, webhook)
  await pool.close()
  return { created, refused }
}

async function paced(create: (at: number) => Promise<void>, perSecond: number, until: number): Promise<void> {
  const work: Promise<void>[] = []
  const startedAt = now()
  for (let index = 0; ; index += 1) {
    const at = startedAt + (index * 1_000) / perSecond
    if (at >= until) break
    while (now() < at) await new Promise((resolve) => setTimeout(resolve, Math.max(0, at - now())))
    work.push(create(at))
  }
  await Promise.all(work)
}

async function outstanding(
  create: (at: number) => Promise<void>,
  count: number,
  until: number,
  webhook: () => Promise<void>,
): Promise<void> {
  const line = async (): Promise<void> => {
    while (now() < until) {
      const arrived = webhook()
      await create(now())
      await Promise.race([arrived, new Promise((resolve) => setTimeout(resolve, Math.max(0, until - now())))])
    }
  }
  await Promise.all(Array.from({ length: count }, line))
}

/** Milliseconds of a clock that all processes of the machine share closely enough. */
function now(): number {
  return performance.timeOrigin + performance.now()
}
