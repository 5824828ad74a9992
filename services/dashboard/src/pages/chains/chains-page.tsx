import { PlaceholderPage } from '../../parts/placeholder-page.tsx'

/** System. */
export function ChainsPage() {
  return <PlaceholderPage title="System" />
}
