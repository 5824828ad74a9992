import { PlaceholderPage } from '../../parts/placeholder-page.tsx'

/** Team. */
export function TeamPage() {
  return <PlaceholderPage title="Team" />
}
