import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { createMerchant, type DemoInvoice, type Merchant } from '#scripts/demo/merchant.ts'
import { payOnLocalChain } from '#scripts/local-chain/pay.ts'
import type { DevInfo } from '#scripts/start/dev-info.ts'
import { readEnvironment } from '#scripts/start/environment.ts'
import { ASSETS } from '#shared/chains/assets.ts'
import { parseConfig } from '#shared/config/schema.ts'
import { connectDatabase } from '#shared/db/connect.ts'
import { INVOICES } from '#shared/db/invoice-model.ts'
import type { AssetId } from '#shared/domain/enumerations.ts'
import { createLogger } from '#shared/runtime/logger.ts'
import { verifyWebhook } from './verify-webhook.ts'
import { type ReceivedRequest, startWebhookReceiver, type WebhookReceiver } from './webhook-receiver.ts'

const run = promisify(execFile)

/** One delivered event, parsed from its raw body. */
export interface DeliveredEvent {
  readonly id: string
  readonly type: string
  readonly livemode: boolean
  readonly data: {
    readonly object: DemoInvoice & { readonly flags: { paid_late: boolean; underpaid_accepted: boolean } }
    readonly payment?: {
      readonly id: string
      readonly amount_base_units: string
      readonly status: string
      readonly tx_hash: string | null
    }
  }
}

/** A merchant with a webhook receiver on a running installation, and a payer on its local chain. */
export interface World {
  readonly dev: DevInfo
  readonly merchant: Merchant
  readonly receiver: WebhookReceiver
  readonly workspaceId: string
  createInvoice(body?: object): Promise<DemoInvoice>
  /** A real transfer on the local chain; `amount` in units of the asset, default what the invoice asks for. */
  pay(invoice: DemoInvoice, amountBase?: bigint): Promise<string>
  getInvoice(id: string): Promise<DemoInvoice>
  /** Resolves with the first event of this type for this invoice, already arrived or to come. */
  waitForEvent(invoiceId: string, type: string, timeoutMs?: number): Promise<DeliveredEvent>
  /** Types of distinct events that arrived for an invoice, in order of arrival; throws when a signature is not valid. */
  eventTypes(invoiceId: string): readonly string[]
  distinctEvents(invoiceId: string): readonly DeliveredEvent[]
  /** Runs `paymesh … --json` against the installation and returns what it printed. */
  cli<T>(...args: string[]): Promise<T>
  /** Moves an invoice's deadline (and its quote's end), as if it had been created that much earlier. */
  moveDeadline(invoiceId: string, to: Date): Promise<void>
  close(): Promise<void>
}

function parse(request: ReceivedRequest): DeliveredEvent {
  return JSON.parse(request.body.toString('utf8')) as DeliveredEvent
}

/** Runs the CLI on the data folder of an installation. */
export async function runCli<T>(dataDir: string, args: readonly string[]): Promise<T> {
  const { stdout } = await run(process.execPath, ['scripts/paymesh.mjs', ...args, '--json', '--data', dataDir])
  return JSON.parse(stdout) as T
}

/** Opens a fresh workspace with a test key and an endpoint for every event on the installation in `dataDir`. */
export async function openWorld(dataDir: string, dev: DevInfo): Promise<World> {
  const cli = async <T>(...args: string[]) => await runCli<T>(dataDir, args)
  const workspace = await cli<{ id: string }>(
    'workspace',
    'create',
    '--name',
    'Flow',
    '--owner-email',
    'owner@example.com',
  )
  const { key } = await cli<{ key: string }>(
    'key',
    'create',
    '--workspace',
    workspace.id,
    '--mode',
    'test',
    '--scopes',
    'all',
  )
  const merchant = createMerchant(dev.apiUrl, key)
  const receiver = await startWebhookReceiver()
  const endpoint = await merchant.post<{ secret: string }>('/webhook-endpoints', { url: receiver.url, events: ['*'] })

  const eventsOf = (invoiceId: string) => {
    const distinct = new Map<string, DeliveredEvent>()
    for (const request of receiver.requests) {
      const event = parse(request)
      if (event.data.object.id !== invoiceId) continue
      const verdict = verifyWebhook(request, endpoint.secret, request.receivedAt)
      if (verdict !== 'valid') throw new Error(`${event.type}: the signature is ${verdict}`)
      distinct.set(event.id, distinct.get(event.id) ?? event)
    }
    return [...distinct.values()]
  }

  return {
    dev,
    merchant,
    receiver,
    workspaceId: workspace.id,
    cli,
    createInvoice: async (body) =>
      await merchant.post('/invoices', { amount: '25.00', currency: 'USD', asset: 'usdt_ethereum', ...body }),
    getInvoice: async (id) => await merchant.get(`/invoices/${id}`),
    pay: async (invoice, amountBase) => {
      if (invoice.crypto === null) throw new Error('the invoice has no asset')
      const rpcUrl = dev.rpcUrls[invoice.crypto.network]
      if (rpcUrl === undefined) throw new Error(`no local ${invoice.crypto.network} chain`)
      const { txHash } = await payOnLocalChain({
        rpcUrl,
        contract: ASSETS[invoice.crypto.asset as AssetId].contract,
        to: invoice.crypto.address,
        amountBase: amountBase ?? BigInt(invoice.crypto.amount_base_units),
      })
      return txHash
    },
    waitForEvent: async (invoiceId, type, timeoutMs = 30_000) => {
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

async function moveDeadline(dataDir: string, invoiceId: string, to: Date): Promise<void> {
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
          locks: {
            $map: {
              input: '$locks',
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
