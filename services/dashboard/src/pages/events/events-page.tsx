import { PlaceholderPage } from '../../parts/placeholder-page.tsx'

/** Webhooks. */
export function EventsPage() {
  return <PlaceholderPage title="Webhooks" />
}
