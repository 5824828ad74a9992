import { useRef, useState } from 'react'
import { type Failure, failureOf, PageFailure } from '../../api/failure.ts'
import { api } from '../../api/trpc.ts'
import { useScope } from '../../session/scope.ts'
import type { Attached } from './answers.ts'
import { invoiceOfNumber } from './invoice-of-number.ts'

/** Money, the number of the invoice as typed, and its value where it is in another coin. */
export interface AttachRequest {
  readonly paymentId: string
  readonly number: string
  readonly valueBase?: string
}

/** Reads what applying money to an invoice would do, before a person may confirm it. */
export function useAttachPlan() {
  const scope = useScope()
  const [plan, setPlan] = useState<Attached | null>(null)
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
