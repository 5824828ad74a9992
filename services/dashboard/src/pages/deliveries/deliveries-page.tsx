import { PlaceholderPage } from '../../parts/placeholder-page.tsx'

/** Webhooks. */
export function DeliveriesPage() {
  return <PlaceholderPage title="Webhooks" />
}
