import { PlaceholderPage } from '../../parts/placeholder-page.tsx'

/** Wallets. */
export function WalletsPage() {
  return <PlaceholderPage title="Wallets" />
}
