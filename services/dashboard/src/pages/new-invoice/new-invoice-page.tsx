import { PlaceholderPage } from '../../parts/placeholder-page.tsx'

/** New invoice. */
export function NewInvoicePage() {
  return <PlaceholderPage title="New invoice" />
}
