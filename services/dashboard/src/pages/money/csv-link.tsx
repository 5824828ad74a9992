import { Button } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { useScope } from '../../session/scope.ts'

/** Saves the payments of a time as CSV; the file of test mode says so in its name. */
export function CsvLink({ from, to }: { readonly from?: number | null; readonly to?: number | null }) {
  const { workspaceId, mode } = useScope()
  const query = new URLSearchParams({ workspaceId, mode })
  if (typeof from === 'number') query.set('from', String(from))
  if (typeof to === 'number') query.set('to', String(to))
  return (
    <Button
      component="a"
      href={`/export/payments.csv?${query}`}
      download
      variant="default"
      leftSection={<IconDownload size={16} aria-hidden />}
    >
      Export CSV
    </Button>
  )
}
