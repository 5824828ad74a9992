import { PlaceholderPage } from '../../parts/placeholder-page.tsx'

/** API keys. */
export function KeysPage() {
  return <PlaceholderPage title="API keys" />
}
