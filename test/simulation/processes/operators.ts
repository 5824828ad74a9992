import { assembleAdmin } from '#services/admin/assemble.ts'
import { assembleCheckout } from '#services/checkout/assemble.ts'
import type { AssetId, Mode, NetworkId } from '#shared/domain/enumerations.ts'
import { resendDelivery } from '#shared/usecases/deliveries/resend.ts'
import { quoteAsset } from '#shared/usecases/invoices/quote-asset.ts'
import { releaseDeadlines } from '#shared/usecases/networks/release-deadlines.ts'
import { attachPayment } from '#shared/usecases/payments/attach-payment.ts'
import { requestCommand } from '#shared/usecases/scanning/request-chain-command.ts'
import { revokeApiKey } from '#shared/usecases/workspaces/issue-api-key.ts'
import { updateWorkspace } from '#shared/usecases/workspaces/update-workspace.ts'
import type { Program } from '../world/supervisor.ts'
import { createSimEpochs, createSimLimiter } from './limiter.ts'
import { surround } from './surroundings.ts'

/** The chain of a request, and its id. */
interface Place {
  readonly mode: Mode
  readonly network: NetworkId
  readonly opId: string
}

/** A part that nothing here uses. */
function absent<T extends object>(name: string): T {
  const fail = (): never => {
    throw new Error(`the simulation has no ${name}`)
  }
  return new Proxy({} as T, { get: fail })
}

/** What payers do on the checkout page and operators on theirs: use cases on the wiring of `checkout` and `admin`, without their servers. */
export const operatorProgram: Program = async (sim, running) => {
  const parts = await surround(sim, running)
  const checkout = assembleCheckout({
    ...parts,
    config: { pagesDir: null, trustedProxies: 0 },
    payees: absent('reader of addresses'),
    buckets: absent('buckets'),
    nodePrices: absent('prices of nodes'),
    nodes: { clientOf: () => null, close: async () => undefined },
  })
  const admin = assembleAdmin({
    ...parts,
    epochs: createSimEpochs(parts),
    config: absent('configuration'),
    auditKeys: absent('keys of the audit chain'),
    auditMarks: absent('marks of the audit chain'),
    codes: absent('codes'),
    guessAddress: () => [],
    lanes: absent('lanes'),
    limiter: createSimLimiter(parts),
    listCursor: absent('list cursor'),
    logoReader: absent('reader of logos'),
    nodePrices: absent('prices of nodes'),
    nodes: absent('nodes'),
    openChain: () => null,
    passwords: absent('passwords'),
    payees: absent('reader of addresses'),
    queueCounts: absent('counts of queues'),
    refundLinks: absent('refund links'),
    urlGuard: absent('guard of addresses'),
    walletDelayMs: 0,
  })
  const { handlers } = running
  handlers.set('paymentMethod', ({ invoiceId, asset, opId }: { invoiceId: string; asset: AssetId; opId: string }) =>
    quoteAsset(checkout, { invoiceId, asset, opId }),
  )
  handlers.set('resend', (deliveryId: string) =>
    resendDelivery(admin.instance, { id: deliveryId, actor: 'simulation' }),
  )
  handlers.set('revoke', (keyId: string) =>
    revokeApiKey(admin, { keyId, action: { opId: keyId, actor: 'simulation', reason: null } }),
  )
  handlers.set('status', ({ workspaceId, status }: { workspaceId: string; status: 'active' | 'suspended' }) =>
    updateWorkspace(admin, { workspaceId, change: { status } }),
  )
  handlers.set('skip', ({ opId, ...place }: Place) =>
    requestCommand(parts, {
      ...place,
      ...{ kind: 'skip', from: null, to: null, acceptReorg: false, dryRun: false, actor: 'simulation', reason: 'gone' },
    }),
  )
  handlers.set('release', ({ through, ...place }: Place & { readonly through: number }) =>
    releaseDeadlines(parts, { ...place, through, actor: 'simulation', reason: 'looked at' }),
  )
  handlers.set(
    'attach',
    ({ paymentId, invoiceId, value }: { paymentId: string; invoiceId: string; value: bigint | null }) =>
      attachPayment(admin.money, { paymentId, invoiceId, valueBase: value, dryRun: false, actor: 'simulation' }),
  )
}
