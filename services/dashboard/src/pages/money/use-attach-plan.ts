import { useRef, useState } from 'react'
import { type Failure, failureOf, PageFailure } from '#services/dashboard/src/api/failure.ts'
import { api } from '#services/dashboard/src/api/trpc.ts'
import { useScope } from '#services/dashboard/src/session/scope.ts'
import type { Mode } from '#shared/domain/enumerations.ts'
import type { AttachPlan } from './answers.ts'

/** Money, the number of the invoice as typed, and its value where it is in another coin. */
interface AttachRequest {
  readonly paymentId: string
  readonly number: string
  readonly valueBase?: string
}

/** Reads what applying money to an invoice would do, before a person may confirm it. */
export function useAttachPlan() {
  const scope = useScope()
  const [plan, setPlan] = useState<AttachPlan | null>(null)
  const [problem, setProblem] = useState<Failure | string | null>(null)
  const [looking, setLooking] = useState(false)
  const [notReturned, setNotReturned] = useState(false)
  /** The last request: what an earlier one finds is about another number by now. */
  const last = useRef(0)
  const clear = () => {
    last.current += 1
    setPlan(null)
    setProblem(null)
    setLooking(false)
    setNotReturned(false)
  }
  const look = async ({ number, ...money }: AttachRequest) => {
    clear()
    const mine = last.current
    setLooking(true)
    try {
      const invoiceId = await invoiceOfNumber(scope, number)
      const found = await api.payments.previewAttach.query({ ...scope, ...money, invoiceId })
      if (last.current === mine) setPlan(found)
    } catch (error) {
      if (last.current === mine) setProblem(error instanceof PageFailure ? error.message : failureOf(error))
    } finally {
      if (last.current === mine) setLooking(false)
    }
  }
  return { plan, problem, looking, notReturned, setNotReturned, look, clear }
}

/** As printed on pages: `1042` or `#1042`. */
const NUMBER = /^#?(\d{1,9})$/

/**
 * Id of the invoice with exactly this number. The search behind it also finds orders with such a reference, customers and addresses: money must
 * never go to one of those. Throws `PageFailure` when there is none.
 */
async function invoiceOfNumber(
  scope: { readonly workspaceId: string; readonly mode: Mode },
  typed: string,
): Promise<string> {
  const digits = NUMBER.exec(typed.trim())?.[1]
  // The invoice with the number comes first, whatever else is found.
  const found = digits === undefined ? [] : (await api.invoices.list.query({ ...scope, q: digits, limit: 2 })).items
  const invoice = found.find(({ number }) => number === Number(digits))
  if (invoice === undefined) throw new PageFailure('No invoice has this number.')
  return invoice.id
}
