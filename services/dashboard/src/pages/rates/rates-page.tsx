import { PlaceholderPage } from '../../parts/placeholder-page.tsx'

/** System. */
export function RatesPage() {
  return <PlaceholderPage title="System" />
}
