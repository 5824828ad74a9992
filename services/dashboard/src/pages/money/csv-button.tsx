import { Button } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { useState } from 'react'
import { save } from '../../parts/save-file.ts'
import { showToast } from '../../parts/toast/toast.tsx'
import { useScope } from '../../session/scope.ts'
import type { InvoiceFilters, LedgerFilters, PaymentFilters, SettlementFilters } from './answers.ts'

/**
 * Saves the rows that a list shows under its filters as CSV, however many there are; the file name says when they are of test mode.
 * A search is often a customer's address, so the filters travel in the body and not in the URL. A refusal, or a file that breaks off,
 * saves nothing and says why.
 */
export function CsvButton(
  props:
    | { readonly what: 'invoices'; readonly filters: InvoiceFilters }
    | { readonly what: 'payments'; readonly filters: PaymentFilters }
    | { readonly what: 'settlements'; readonly filters: SettlementFilters }
    | { readonly what: 'ledger'; readonly filters: LedgerFilters; readonly label: string },
) {
  const { workspaceId, mode } = useScope()
  const [busy, setBusy] = useState(false)
  const download = async () => {
    setBusy(true)
    try {
      const filters = Object.entries(props.filters).filter(([, value]) => value !== null && value !== '')
      const fields = Object.entries({ workspaceId, mode, ...Object.fromEntries(filters) })
      const body = new URLSearchParams(fields.map(([name, value]) => [name, String(value)]))
      const response = await fetch(`/export/${props.what}.csv`, { method: 'POST', body })
      if (!response.ok) throw new ExportRefusal(await response.text())
      const name = response.headers.get('content-disposition')?.match(/filename="([^"]+)"/)?.[1]
      save(await response.blob(), name ?? `${props.what}.csv`)
    } catch (error) {
      const message = error instanceof ExportRefusal ? error.message : 'The file was not saved. Please try again.'
      showToast({ color: 'red', message })
    } finally {
      setBusy(false)
    }
  }
  return (
    <Button
      variant="default"
      loading={busy}
      leftSection={<IconDownload size={16} aria-hidden />}
      onClick={() => void download()}
    >
      {props.what === 'ledger' ? props.label : 'Export CSV'}
    </Button>
  )
}

/** The server refused an export; the message is its sentence. */
class ExportRefusal extends Error {}
