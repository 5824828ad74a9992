import { PlaceholderPage } from '../../parts/placeholder-page.tsx'

/** Payment link. */
export function LinkPage() {
  return <PlaceholderPage title="Payment link" />
}
