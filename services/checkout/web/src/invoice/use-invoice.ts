import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import type { InvoiceView } from '#shared/contracts/checkout/invoice-view.ts'
import { type InvoiceWatch, type PageState, watchInvoice } from '../data/watch-invoice.ts'

const UNKNOWN: PageState = { view: null, offset: 0, away: null, options: null }

/** An invoice that is kept up to date while the page shows it. */
export function useInvoice(id: string): {
  readonly state: PageState
  accept(view: InvoiceView, now: number): void
  refresh(): void
} {
  const [state, setState] = useState(UNKNOWN)
  const watch = useRef<InvoiceWatch | null>(null)
  useEffect(() => {
    const opened = watchInvoice(id, setState)
    watch.current = opened
    return () => opened.stop()
  }, [id])
  const accept = useCallback((view: InvoiceView, now: number) => watch.current?.accept(view, now), [])
  const refresh = useCallback(() => void watch.current?.refresh(), [])
  return { state, accept, refresh }
}
