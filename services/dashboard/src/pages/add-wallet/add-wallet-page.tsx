import { PlaceholderPage } from '../../parts/placeholder-page.tsx'

/** Add a wallet. */
export function AddWalletPage() {
  return <PlaceholderPage title="Add a wallet" />
}
