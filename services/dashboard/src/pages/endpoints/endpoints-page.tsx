import { PlaceholderPage } from '../../parts/placeholder-page.tsx'

/** Webhooks. */
export function EndpointsPage() {
  return <PlaceholderPage title="Webhooks" />
}
