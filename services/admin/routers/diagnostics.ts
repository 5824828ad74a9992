import { z } from 'zod'
import { trimmedText } from '#shared/contracts/bounded-text.ts'
import { NETWORK_IDS } from '#shared/domain/enumerations.ts'
import { VERDICTS } from '#shared/usecases/diagnostics/explain-answer.ts'
import { explainQuestion } from '#shared/usecases/diagnostics/explain-question.ts'
import { router, workspaceQuery } from '../trpc.ts'
import { invoiceRowToWire, invoiceRowWire, paymentToWire, paymentWire } from '../wire/money-wire.ts'

const checkWire = z.object({ ok: z.boolean().nullable(), title: z.string(), detail: z.string() })
const stepWire = z.object({
  kind: z.enum(['open_exception', 'open_invoice', 'attach', 'wait', 'return', 'ask_operator']),
  title: z.string(),
  detail: z.string(),
  id: z.string().nullable(),
})
const answerWire = z.object({
  verdict: z.enum(VERDICTS),
  tone: z.enum(['good', 'wait', 'bad', 'plain']),
  title: z.string(),
  sentence: z.string(),
  checks: z.array(checkWire),
  next: z.array(stepWire),
  transfer: paymentWire.nullable(),
  invoice: invoiceRowWire.nullable(),
  looked: z.array(z.enum(NETWORK_IDS)),
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
        verdict: answer.verdict,
        tone: answer.tone,
        title: answer.title,
        sentence: answer.sentence,
        checks: [...answer.checks],
        next: [...answer.next],
        transfer: answer.transfer === null ? null : paymentToWire(answer.transfer, money),
        invoice: invoice === null ? null : invoiceRowToWire(invoice, money),
        looked: [...answer.looked],
        tookMs: Math.round(performance.now() - began),
      }
    }),
})
