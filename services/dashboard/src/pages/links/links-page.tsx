import { PlaceholderPage } from '../../parts/placeholder-page.tsx'

/** Payment links. */
export function LinksPage() {
  return <PlaceholderPage title="Payment links" />
}
