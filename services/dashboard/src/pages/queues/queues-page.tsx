import { PlaceholderPage } from '../../parts/placeholder-page.tsx'

/** System. */
export function QueuesPage() {
  return <PlaceholderPage title="System" />
}
