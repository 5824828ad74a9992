import { PlaceholderPage } from '../../parts/placeholder-page.tsx'

/** Payments. */
export function PaymentsPage() {
  return <PlaceholderPage title="Payments" />
}
