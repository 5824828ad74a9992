import { PlaceholderPage } from '../../parts/placeholder-page.tsx'

/** Invoice. */
export function InvoicePage() {
  return <PlaceholderPage title="Invoice" />
}
