import { PlaceholderPage } from '../../parts/placeholder-page.tsx'

/** Invoices. */
export function InvoicesPage() {
  return <PlaceholderPage title="Invoices" />
}
