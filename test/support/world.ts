import {
  createPaymesh,
  type Invoice,
  type InvoiceCreate,
  type Paymesh,
  verifyWebhook,
  type WebhookEvent,
} from '#clients/typescript/src/main.ts'
import { payLocally } from '#dev/local-chain/pay-locally.ts'
import type { DevInfo } from '#scripts/start/dev-info.ts'
import { readEnvironment } from '#scripts/start/environment.ts'
import { ASSETS } from '#shared/chains/definitions/assets.ts'
import { parseConfig } from '#shared/config/schema.ts'
import { connectDatabase } from '#shared/db/connection/connect.ts'
import { INVOICES } from '#shared/db/invoices/invoice-model.ts'
import { createLogger } from '#shared/runtime/observability/logger.ts'
import { openTenant } from './open-tenant.ts'
import { runCommand } from './run-command.ts'
import { type ReceivedRequest, startWebhookReceiver, type WebhookReceiver } from './webhook-receiver.ts'

/** A merchant with a webhook receiver on a running installation, and a payer on its local chain. */
export interface World {
  readonly dev: DevInfo
  /** The client that merchants use, without its retries: no test may pass because of a second attempt. */
  readonly merchant: Paymesh
  readonly receiver: WebhookReceiver
  readonly workspaceId: string
  createInvoice(input?: Partial<InvoiceCreate>): Promise<Invoice>
  /** A real transfer on the local chain; `amount` in units of the asset, default what the invoice asks for. */
  pay(invoice: Invoice, amountBase?: bigint): Promise<string>
  getInvoice(id: string): Promise<Invoice>
  /** Resolves with the first event of this type for this invoice, already arrived or to come. */
  waitForEvent(invoiceId: string, type: string, timeoutMs?: number): Promise<WebhookEvent>
  /** Types of distinct events that arrived for an invoice, in order of arrival; throws when a signature is not valid. */
  eventTypes(invoiceId: string): readonly string[]
  distinctEvents(invoiceId: string): readonly WebhookEvent[]
  /** Runs `paymesh … --json` against the installation and returns what it printed. */
  cli<T>(...args: string[]): Promise<T>
  /** Moves an invoice's deadline (and its quote's end), as if it had been created that much earlier. */
  moveDeadline(invoiceId: string, to: Date): Promise<void>
  close(): Promise<void>
}

function parse(request: ReceivedRequest): WebhookEvent {
  return JSON.parse(request.body.toString('utf8')) as WebhookEvent
}

/** Runs a command on the data folder of an installation. Throws with what it wrote to stderr when it fails. */
export async function runCli<T>(dataDir: string, args: readonly string[]): Promise<T> {
  const { status, stdout, stderr } = await runCommand([...args, '--json', '--data', dataDir])
  if (status !== 0) throw new Error(`paymesh ${args.join(' ')} ended with ${status}: ${stderr}${stdout}`)
  return JSON.parse(stdout) as T
}

/** Opens a fresh workspace with a test key and an endpoint for every event on the installation in `dataDir`. */
export async function openWorld(dataDir: string, dev: DevInfo): Promise<World> {
  const cli = async <T>(...args: string[]) => await runCli<T>(dataDir, args)
  const { workspaceId, testKey } = await openTenant(dataDir)
  const merchant = createPaymesh({ apiKey: testKey, baseUrl: dev.apiUrl, maxRetries: 0 })
  const receiver = await startWebhookReceiver()
  const endpoint = await merchant.webhookEndpoints.create({ url: receiver.url, events: ['*'] })

  const eventsOf = (invoiceId: string) => {
    const distinct = new Map<string, WebhookEvent>()
    for (const request of receiver.requests) {
      const event = parse(request)
      if (event.data.object.id !== invoiceId) continue
      const header = request.headers['x-webhook-signature']
      const verified = verifyWebhook(request.body, header, endpoint.secret, { now: () => request.receivedAt })
      distinct.set(event.id, distinct.get(event.id) ?? verified)
    }
    return [...distinct.values()]
  }

  return {
    dev,
    merchant,
    receiver,
    workspaceId,
    cli,
    createInvoice: async (input) =>
      await merchant.invoices.create({ amount: '25.00', currency: 'USD', asset: 'usdt_ethereum', ...input }),
    getInvoice: async (id) => await merchant.invoices.get(id),
    pay: async (invoice, amountBase) => {
      if (invoice.crypto === null) throw new Error('the invoice has no asset')
      const rpcUrl = dev.rpcUrls[invoice.crypto.network]
      if (rpcUrl === undefined) throw new Error(`no local ${invoice.crypto.network} chain`)
      const asset = invoice.crypto.asset as keyof typeof ASSETS
      const { txHash } = await payLocally({
        rpcUrl,
        asset,
        contract: ASSETS[asset].contract,
        to: invoice.crypto.address,
        amountBase: amountBase ?? BigInt(invoice.crypto.amount_base_units),
      })
      return txHash
    },
    waitForEvent: async (invoiceId, type, timeoutMs = 90_000) => {
      const matches = (request: ReceivedRequest) => {
        const event = parse(request)
        return event.type === type && event.data.object.id === invoiceId
      }
      return parse(await receiver.waitFor(matches, timeoutMs))
    },
    eventTypes: (invoiceId) => eventsOf(invoiceId).map((event) => event.type),
    distinctEvents: eventsOf,
    moveDeadline: async (invoiceId, to) => await moveDeadline(dataDir, invoiceId, to),
    close: async () => await receiver.close(),
  }
}

/** Moves the deadline of an invoice of an installation, and the end of its quotes. */
export async function moveDeadline(dataDir: string, invoiceId: string, to: Date): Promise<void> {
  const { mongoUrl, mongoDatabase } = parseConfig(readEnvironment(dataDir) ?? {}).stores
  const logger = createLogger({ name: 'world', level: 'silent' })
  const db = await connectDatabase({ url: mongoUrl, name: mongoDatabase, logger })
  try {
    const moved = await db.collection(INVOICES).updateOne({ _id: invoiceId, nextActionAt: { $exists: true } }, [
      {
        $set: {
          expiresAt: to,
          nextActionAt: to,
          version: { $add: ['$version', 1] },
          paymentMethods: {
            $map: {
              input: '$paymentMethods',
              in: {
                $mergeObjects: [
                  '$$this',
                  {
                    quotes: {
                      $map: {
                        input: '$$this.quotes',
                        as: 'quote',
                        in: { $mergeObjects: ['$$quote', { expiresAt: to }] },
                      },
                    },
                  },
                ],
              },
            },
          },
        },
      },
    ])
    if (moved.modifiedCount !== 1) throw new Error(`invoice ${invoiceId} has no deadline to move`)
  } finally {
    await db.close()
  }
}
