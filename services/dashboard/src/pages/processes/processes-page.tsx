import { PlaceholderPage } from '../../parts/placeholder-page.tsx'

/** System. */
export function ProcessesPage() {
  return <PlaceholderPage title="System" />
}
