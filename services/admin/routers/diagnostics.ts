import { z } from 'zod'
import { boundedText, trimmedText } from '#shared/contracts/bounded-text.ts'
import { explanation } from '#shared/contracts/explanations.ts'
import { MODES, NETWORK_IDS } from '#shared/domain/enumerations.ts'
import { explainInvoice } from '#shared/usecases/diagnostics/explain-invoice.ts'
import { explainQuestion } from '#shared/usecases/diagnostics/explain-question.ts'
import { explainTransaction } from '#shared/usecases/diagnostics/explain-transaction.ts'
import { onlyMode } from '#shared/usecases/networks/only-mode.ts'
import { operatorQuery, router, workspaceQuery } from '../trpc.ts'
import { invoiceRowToWire, invoiceRowWire, paymentToWire, paymentWire } from '../wire/money-wire.ts'

const answerWire = explanation.extend({
  transfer: paymentWire.nullable(),
  invoice: invoiceRowWire.nullable(),
  tookMs: z.number(),
})

/** Explains why something counted, or not. */
export const diagnosticsRouter = router({
  explain: workspaceQuery('viewer', { work: 'nodes' })
    .input(z.object({ q: trimmedText(200).min(1) }))
    .output(answerWire)
    .query(async ({ ctx, input }) => {
      const { money } = ctx.deps
      const { workspaceId, mode, q } = input
      const began = performance.now()
      const answer = await explainQuestion(money, { workspaceId, mode, text: q })
      const { invoiceId } = answer
      const invoice = invoiceId === null ? null : await money.invoices.findInWorkspace(workspaceId, mode, invoiceId)
      return {
        ...answer,
        transfer: answer.transfer === null ? null : paymentToWire(answer.transfer, money),
        invoice: invoice === null ? null : invoiceRowToWire(invoice, money),
        tookMs: Math.round(performance.now() - began),
      }
    }),

  /** Everything that decides whether an invoice is paid, of any workspace. */
  invoice: operatorQuery()
    .input(z.object({ id: boundedText(100) }))
    .query(({ ctx, input }) => explainInvoice(ctx.deps.money, input.id)),

  /**
   * What is stored of a transaction, for every workspace, and what the node shows if nothing is. Without `mode`: the only one in which the
   * network has a node. `block` names its height, for nodes that cannot look up single transactions.
   */
  transaction: operatorQuery()
    .input(
      z.object({
        network: z.enum(NETWORK_IDS),
        txHash: boundedText(200),
        block: z.int().min(0).optional(),
        mode: z.enum(MODES).optional(),
      }),
    )
    .query(async ({ ctx, input: { network, txHash, block, ...input } }) => {
      const { money } = ctx.deps
      const mode = input.mode ?? onlyMode(money.catalog, network)
      const client = money.openClient(mode, network)
      try {
        return await explainTransaction({ ...money, client }, { mode, network, txHash, height: block ?? null })
      } finally {
        await client?.close()
      }
    }),
})
