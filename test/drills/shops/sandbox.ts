import { join } from 'node:path'
import { createPaymesh } from '#clients/typescript/src/main.ts'
import { ROOT } from '#scripts/bundle.mjs'
import { startStack } from '#scripts/start/stack.ts'
import type { EventType } from '#shared/domain/enumerations.ts'
import { commandLineOf } from '../command-line.ts'
import { post } from '../requests.ts'
import { startRelay } from './relay.ts'

/** A whole Paymesh on this machine in test mode, and one endpoint of a workspace whose deliveries go through a relay. */
export async function startSandbox(dir: string, report: (line: string) => void) {
  const dataDir = join(dir, 'paymesh')
  const stack = await startStack({ dataDir, report })
  const cli = commandLineOf(ROOT, dataDir)
  /** A key and an endpoint for a shop, in a workspace where no other shop is. */
  const openWorkspace = async (name: string) => {
    const { id } = await cli.json<{ id: string }>(
      'workspace',
      'create',
      '--name',
      name,
      '--owner-email',
      `${name}@shop.test`,
    )
    const newKey = async (): Promise<string> =>
      (await cli.json<{ apiKey: string }>('api-key', 'create', '--workspace', id, '--mode', 'test', '--scopes', 'all'))
        .apiKey
    const ownKey = await newKey()
    const client = createPaymesh({ apiKey: ownKey, baseUrl: stack.dev.apiUrl })
    const relay = await startRelay()
    const { secret } = await client.webhookEndpoints.create({ url: relay.url, events: ['*'] })
    const trigger = async (event: EventType, invoice: string): Promise<void> => {
      const headers = { authorization: `Bearer ${ownKey}` }
      await post(`${stack.dev.adminUrl}/listen/trigger`, { event, invoice_id: invoice }, headers)
    }
    return {
      client,
      relay,
      secret,
      trigger,
      apiKey: await newKey(),
      apiUrl: stack.dev.apiUrl,
      adminUrl: stack.dev.adminUrl ?? '',
    }
  }
  return { openWorkspace, stop: () => stack.stop() }
}

/** What the scenes of a shop do at Paymesh. */
export type Workspace = Awaited<ReturnType<Awaited<ReturnType<typeof startSandbox>>['openWorkspace']>>
