import { createRefundRepository } from '#shared/db/refunds/refund-repository.ts'
import { createRefundLinks, refundTokenHash } from '#shared/usecases/refunds/refund-link.ts'
import type { Engine } from './engine.ts'
import type { TestStores } from './stores.ts'

/** A refund of 1.41 USDT that waits for its customer's address, and the token of its link. */
export async function openRefund(
  { db, runtime }: Pick<TestStores, 'db' | 'runtime'>,
  engine: Engine,
): Promise<{ readonly token: string; readonly id: string; readonly invoiceId: string }> {
  const { terms } = await engine.open({ asset: 'usdt_ethereum' })
  const id = runtime.random.uuid()
  const token = createRefundLinks(new Uint8Array(32).fill(7)).tokenOf(id)
  const at = engine.deps.clock.now()
  const by = { actor: 'user:owner@example.com', workspaceId: engine.workspace.id, mode: 'test' } as const
  const coin = { asset: 'usdt_ethereum', network: 'ethereum', amountBase: 1_410_000n } as const
  const refund = {
    ...{ id, workspaceId: by.workspaceId, mode: by.mode, invoiceId: terms.id, requestedBy: by.actor, createdAt: at },
    ...{ ...coin, status: 'requested' as const, tokenHash: refundTokenHash(token) ?? '', expiresAt: at + 86_400_000 },
    ...{ address: null, addressedAt: null, txHash: null, sentAt: null, market: null, sentBy: null },
  }
  const row = { id: `refund:${id}`, at, action: 'refund.requested' as const, subject: terms.id, detail: {}, ...by }
  await createRefundRepository(db).open(refund, row, async () => [])
  return { token, id, invoiceId: terms.id }
}
