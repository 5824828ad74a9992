import { Button } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { useScope } from '../../session/scope.ts'
import type { InvoiceFilters, PaymentFilters } from './answers.ts'

/** Saves what a list shows under its filters as CSV, however long it is; the file of test mode says so in its name. */
export function CsvLink(
  props:
    | { readonly what: 'invoices'; readonly filters: InvoiceFilters }
    | { readonly what: 'payments'; readonly filters: PaymentFilters },
) {
  const { workspaceId, mode } = useScope()
  const query = new URLSearchParams({ workspaceId, mode })
  for (const [name, value] of Object.entries(props.filters)) {
    if (value !== null && value !== '') query.set(name, String(value))
  }
  return (
    <Button
      component="a"
      href={`/export/${props.what}.csv?${query}`}
      download
      variant="default"
      leftSection={<IconDownload size={16} aria-hidden />}
    >
      Export CSV
    </Button>
  )
}
